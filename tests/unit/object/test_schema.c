/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_schema - the tables of fields hold what OpenAPI and patches rely on; values of each type;
 * fields that no schema names
 */
#include "object/schema/schema.h"

#include "base/cleanup.h"
#include "object/json/base64.h"
#include "object/kind.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CORE "io.k8s.api.core.v1"

/* ---- the tables ---- */

/* Every schema that some kind reaches, once. */
static struct {
	const struct schema *schemas[300];
	size_t count;
} all;

static void collect(const struct schema *schema)
{
	for (size_t i = 0; i < all.count; i++) {
		if (all.schemas[i] == schema)
			return;
	}
	assert_true(all.count < ARRAY_SIZE(all.schemas));
	all.schemas[all.count++] = schema;
	for (const struct schema_field *field = schema->fields; field->name; field++) {
		if (field->of)
			collect(field->of);
	}
}

static int collect_all(void **state)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		collect(kind_row((enum object_kind) kind)->schema);
	return 0;
}

static const char *package_of(const struct schema *schema)
{
	return schema->package ? schema->package : CORE;
}

static void test_a_name_means_one_schema(void **state)
{
	assert_true(all.count > 180);
	for (size_t i = 0; i < all.count; i++) {
		assert_non_null(all.schemas[i]->name);
		for (size_t k = 0; k < i; k++)
			assert_false(strcmp(all.schemas[i]->name, all.schemas[k]->name) == 0 &&
				     strcmp(package_of(all.schemas[i]),
					    package_of(all.schemas[k])) == 0);
	}
}

static const struct schema_field *field_of(const struct schema *schema, const char *name)
{
	const struct schema_field *field = schema->fields;

	while (field->name && strcmp(field->name, name) != 0)
		field++;
	return field->name ? field : NULL;
}

static void check_field(const struct schema *schema, const struct schema_field *field)
{
	assert_ptr_equal(field_of(schema, field->name), field); /* no name twice */
	assert_true(!field->description || *field->description);
	assert_true((field->type != SCHEMA_OBJECTS) || field->of);
	assert_true(!field->of || field->type == SCHEMA_OBJECT || field->type == SCHEMA_OBJECTS);
	assert_true(!(field->flags & RETAIN_KEYS) || field->merge_key);
	if (!field->merge_key)
		return;
	if (*field->merge_key)
		assert_non_null(field_of(field->of, field->merge_key));
	else
		assert_int_equal(field->type, SCHEMA_STRINGS);
}

static void test_fields_are_whole(void **state)
{
	for (size_t i = 0; i < all.count; i++) {
		const struct schema *schema = all.schemas[i];

		assert_true(!schema->description || *schema->description);
		for (const struct schema_field *field = schema->fields; field->name; field++)
			check_field(schema, field);
	}
}

static void test_kinds_explain_themselves(void **state)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);
		const struct schema *schema = row->schema;

		assert_string_equal(schema->name, row->name);
		assert_string_equal(package_of(schema), row->schema_package);
		assert_int_equal(row->has_status, field_of(schema, "status") != NULL);
		assert_string_equal(field_of(schema, "metadata")->of->name, "ObjectMeta");
		for (const struct schema_field *field = schema->fields; field->name; field++)
			assert_true(field->description && *field->description);
	}
}

/* Kubernetes merges these lists and no others. */
static void test_merge_keys(void **state)
{
	static const struct {
		const char *schema, *field, *key;
	} rows[] = {
		{ "ObjectMeta", "finalizers", "" },
		{ "ObjectMeta", "ownerReferences", "uid" },
		{ "PodSpec", "containers", "name" },
		{ "PodSpec", "volumes", "name" },
		{ "PodSpec", "tolerations", NULL },
		{ "Container", "env", "name" },
		{ "Container", "volumeMounts", "mountPath" },
		{ "Container", "volumeDevices", "devicePath" },
		{ "Container", "ports", "containerPort" },
		{ "Container", "args", NULL },
		{ "NodeStatus", "conditions", "type" },
		{ "CSINodeSpec", "drivers", "name" },
		{ "PersistentVolumeSpec", "accessModes", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t k = 0;

		while (k < all.count && strcmp(all.schemas[k]->name, rows[i].schema) != 0)
			k++;
		assert_true(k < all.count);
		if (rows[i].key)
			assert_string_equal(field_of(all.schemas[k], rows[i].field)->merge_key,
					    rows[i].key);
		else
			assert_null(field_of(all.schemas[k], rows[i].field)->merge_key);
	}
}

/* ---- values ---- */

#define SECRET "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
#define EVENT                                                                                      \
	"apiVersion: v1\nkind: Event\nmetadata: {name: e}\ninvolvedObject: {namespace: default}\n"
#define LEASE "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: l}\n"
#define POD   "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
#define PROBE "    livenessProbe: {tcpSocket: {port: "

static void test_values_by_their_type(void **state)
{
	static const char *const accepted[] = {
		SECRET "data: {a: ''}\n",
		SECRET "data: {a: aGk=, b: aGkh, c: \"aG\\nk=\"}\n",
		EVENT "lastTimestamp: '2026-11-21T08:35:00Z'\n",
		LEASE "spec: {renewTime: '2026-11-21T08:35:00.123456+01:00'}\n",
		POD PROBE "80}}\n",
		POD PROBE "http}}\n",
	};
	static const struct {
		const char *yaml, *text;
	} refused[] = {
		{ SECRET "data: {a: 'hello'}\n", "data: Invalid value: illegal base64 data" },
		{ SECRET "data: {a: 7}\n",
		  "data: Invalid value: must be a string of base64, not a number" },
		{ EVENT "lastTimestamp: yesterday\n",
		  "lastTimestamp: Invalid value: \"yesterday\": must be a time of RFC 3339: "
		  "\"2006-01-02T15:04:05Z\"" },
		{ EVENT "lastTimestamp: 5\n",
		  "lastTimestamp: Invalid value: must be a time, not a number" },
		{ POD PROBE "true}}\n",
		  "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: must be an "
		  "integer or a string, not a boolean" },
		{ POD "    env: {A: b}\n",
		  "spec.containers[0].env: Invalid value: must be a list, not a map" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++)
		(void) object_unref(object_of(accepted[i]));
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_refused(refused[i].yaml, refused[i].text);
}

static void test_base64(void **state)
{
	static const struct {
		const char *bytes, *text;
	} pairs[] = {
		{ "", "" },        { "f", "Zg==" },        { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "\xff\xfe\xfd", "//79" },
	};
	static const char *const wrong[] = { "Z",    "Zg",       "Zg=",  "Zg===", "=",
					     "Z===", "Zg==Zg==", "Zm9-", "Zm 9",  "====" };
	size_t bytes = 99;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		cleanup_free char *text = base64_encode(pairs[i].bytes, strlen(pairs[i].bytes));

		assert_string_equal(text, pairs[i].text);
		assert_true(base64_measure(text, &bytes));
		assert_int_equal(bytes, strlen(pairs[i].bytes));
	}
	bytes = 99;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(base64_measure(wrong[i], &bytes));
	assert_int_equal(bytes, 99);
}

/* ---- unknown fields ---- */

struct told {
	char text[1000];
	unsigned int count;
	int answer;
};

static int note(const char *path, void *userdata)
{
	struct told *told = userdata;
	size_t used = strlen(told->text);

	told->count++;
	(void) snprintf(told->text + used, sizeof(told->text) - used, "%s ", path);
	return told->answer;
}

static int unknown_of(const char *json, enum object_kind kind, struct told *ret)
{
	cleanup_json struct cJSON *tree = tree_of_json(json);

	return object_unknown_fields(tree, kind, note, ret);
}

static void test_unknown_fields(void **state)
{
	struct told told = { .count = 0 };

	assert_int_equal(
		unknown_of("{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"extra\": 1,"
			   " \"metadata\": {\"name\": \"p\", \"labels\": {\"free\": \"x\"}, "
			   "\"lables\": {}},"
			   " \"spec\": {\"containers\": [{\"name\": \"a\"}, {\"imge\": \"b\"}],"
			   " \"volumes\": [{\"hostpath\": {\"path\": \"/\"}}],"
			   " \"nodeSelector\": {\"any\": \"y\"}}}",
			   KIND_POD, &told),
		0);
	assert_string_equal(told.text, "extra metadata.lables spec.containers[1].imge "
				       "spec.volumes[0].hostpath ");
}

static void test_wrong_types_are_no_unknown_fields(void **state)
{
	struct told told = { .count = 0 };

	assert_int_equal(unknown_of("{\"metadata\": 5, \"spec\": {\"containers\": {\"x\": {}}, "
				    "\"volumes\": [1, \"x\"]}}",
				    KIND_POD, &told),
			 0);
	assert_int_equal(told.count, 0);
	assert_int_equal(unknown_of("[]", KIND_POD, &told), 0);
	assert_int_equal(told.count, 0);
}

static void test_unknown_fields_are_bounded(void **state)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct told told = { .count = 0 };

	for (int i = 0; i < 2 * UNKNOWN_FIELDS_MAX; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "x%d", i);
		json_set_int(tree, name, i);
	}
	assert_int_equal(object_unknown_fields(tree, KIND_LEASE, note, &told), 0);
	assert_int_equal(told.count, UNKNOWN_FIELDS_MAX);
	told = (struct told){ .answer = -EPERM };
	assert_int_equal(object_unknown_fields(tree, KIND_LEASE, note, &told), -EPERM);
	assert_int_equal(told.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_means_one_schema),
		cmocka_unit_test(test_fields_are_whole),
		cmocka_unit_test(test_kinds_explain_themselves),
		cmocka_unit_test(test_merge_keys),
		cmocka_unit_test(test_values_by_their_type),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_wrong_types_are_no_unknown_fields),
		cmocka_unit_test(test_unknown_fields_are_bounded),
	};

	return cmocka_run_group_tests(tests, collect_all, NULL);
}
