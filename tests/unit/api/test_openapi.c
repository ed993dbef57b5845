/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_openapi - the documents hold every kind, field and merge key of the tables
 *
 * The form in protocol buffers is read by a reader of its own, which knows the published field
 * numbers of gnostic's openapi.v2.Document; tests/system/api/test_discovery has kubectl read it.
 */
#include "api_world.h"

#include "api/openapi/openapi.h"
#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct cJSON *parse(const char *text)
{
	const struct json_limits limits = { .bytes = 8 << 20, .depth = 64 };
	struct cJSON *tree = NULL;
	struct failure why = { 0 };

	if (json_parse(text, strlen(text), &limits, &tree, &why) < 0)
		fail_msg("%s", why.text);
	return tree;
}

static struct cJSON *get(struct world *world, const char *uri)
{
	assert_int_equal(world_request(world, METHOD_GET, uri, NULL), 200);
	return parse(world_reply(world));
}

/* A document of one version that tells of a kind. */
static struct cJSON *get_document(struct world *world, enum openapi_version version,
				  const struct kind_row *row)
{
	char uri[256] = "/openapi/v2";

	if (version == OPENAPI_V3)
		(void) snprintf(uri, sizeof(uri), "/openapi/v3/%s%s/%s",
				*row->group ? "apis/" : "api", row->group, row->version);
	return get(world, uri);
}

static const struct cJSON *definitions_of(const struct cJSON *document)
{
	const struct cJSON *v2 = json_get(document, "definitions");

	return v2 ? v2 : json_get(json_get(document, "components"), "schemas");
}

/* What a schema refers to, itself or in its allOf; the schema itself when it does not. */
static const struct cJSON *resolve(const struct cJSON *document, const struct cJSON *entry)
{
	const struct cJSON *all = json_get(entry, "allOf");
	const char *reference = json_string(json_get(all ? json_at(all, 0) : entry, "$ref"), NULL);
	const struct cJSON *found;

	if (!reference)
		return entry;
	found = json_get(definitions_of(document), strrchr(reference, '/') + 1);
	if (!found)
		fail_msg("%s is not there", reference);
	return found;
}

static void check_references(const struct cJSON *document, const struct cJSON *tree)
{
	if (json_is_string(json_get(tree, "$ref")))
		assert_ptr_not_equal(resolve(document, tree), tree);
	if (json_is_object(tree) || json_is_array(tree))
		for (const struct cJSON *item = json_first(tree); item; item = json_next(item))
			check_references(document, item);
}

/* ---- schemas against schemas ---- */

enum { DEPTH_MAX = 12 }; /* schemas that contain themselves end here */

static void check_schema(const struct cJSON *document, const struct cJSON *entry,
			 const struct schema *schema, int depth);

static void check_field(const struct cJSON *document, const struct cJSON *property,
			const struct schema_field *field, int depth)
{
	const struct cJSON *type = json_get(resolve(document, property), "type");
	const char *strategy = json_string(json_get(property, "x-kubernetes-patch-strategy"), "");

	assert_string_equal(json_string(json_get(property, "x-kubernetes-patch-merge-key"), ""),
			    field->merge_key ? field->merge_key : "");
	assert_int_equal(strncmp(strategy, "merge", 5) == 0, field->merge_key != NULL);
	if (field->description)
		assert_string_equal(json_string(json_get(property, "description"), ""),
				    field->description);
	switch (field->type) {
	case SCHEMA_OBJECT:
		assert_string_equal(json_string(type, ""), "object");
		if (field->of)
			check_schema(document, resolve(document, property), field->of, depth);
		break;
	case SCHEMA_OBJECTS:
		assert_string_equal(json_string(type, ""), "array");
		if (field->of)
			check_schema(document, resolve(document, json_get(property, "items")),
				     field->of, depth);
		break;
	case SCHEMA_STRINGS:
	case SCHEMA_INTEGERS:
		assert_string_equal(json_string(type, ""), "array");
		break;
	case SCHEMA_STRING_MAP:
	case SCHEMA_BYTES_MAP:
	case SCHEMA_QUANTITY_MAP:
		assert_non_null(json_get(property, "additionalProperties"));
		break;
	case SCHEMA_BOOL:
		assert_string_equal(json_string(type, ""), "boolean");
		break;
	case SCHEMA_INTEGER:
		assert_string_equal(json_string(type, ""), "integer");
		break;
	default: /* strings, some of which may be numbers as well in version 3 */
		assert_true(strcmp(json_string(type, ""), "string") == 0 ||
			    json_count(json_get(resolve(document, property), "oneOf")) == 2);
	}
}

static void check_schema(const struct cJSON *document, const struct cJSON *entry,
			 const struct schema *schema, int depth)
{
	const struct cJSON *properties = json_get(entry, "properties"), *required;

	if (depth == DEPTH_MAX)
		return;
	for (const struct schema_field *field = schema->fields; field->name; field++) {
		const struct cJSON *property = json_get(properties, field->name);
		bool is_required = false;

		if (!property)
			fail_msg("no property %s", field->name);
		check_field(document, property, field, depth + 1);
		for (required = json_first(json_get(entry, "required")); required;
		     required = json_next(required))
			if (strcmp(json_string(required, ""), field->name) == 0)
				is_required = true;
		assert_int_equal(is_required, (field->flags & REQUIRED) != 0);
	}
}

static void check_kind(const struct cJSON *document, const struct kind_row *row)
{
	char name[OPENAPI_NAME_BYTES];
	const struct cJSON *definition, *kind, *list;

	openapi_kind_name(row, "", name);
	definition = json_get(definitions_of(document), name);
	assert_non_null(definition);
	kind = json_at(json_get(definition, "x-kubernetes-group-version-kind"), 0);
	assert_string_equal(json_string(json_get(kind, "group"), "-"), row->group);
	assert_string_equal(json_string(json_get(kind, "version"), ""), row->version);
	assert_string_equal(json_string(json_get(kind, "kind"), ""), row->name);
	assert_non_null(json_get(json_get(definition, "properties"), "apiVersion"));
	assert_non_null(json_get(json_get(definition, "properties"), "kind"));
	check_schema(document, definition, row->schema, 0);

	openapi_kind_name(row, "List", name);
	list = json_get(json_get(json_get(definitions_of(document), name), "properties"), "items");
	assert_ptr_equal(resolve(document, json_get(list, "items")), definition);
}

static const enum openapi_version versions[] = { OPENAPI_V2, OPENAPI_V3 };

#define FOR_EACH_KIND(row)                                                                         \
	for (int kind = 0; kind < KIND_COUNT; kind++)                                              \
		for (const struct kind_row *row = kind_row((enum object_kind) kind); row;          \
		     row = NULL)

static void test_every_kind_and_field(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		FOR_EACH_KIND(row)
		{
			cleanup_json struct cJSON *document =
				get_document(*state, versions[i], row);

			check_references(document, document);
			check_kind(document, row);
		}
}

/* kubectl leaves the checking of fields to the server by this. */
static bool has_parameter(const struct cJSON *operation, const char *name)
{
	const struct cJSON *parameters = json_get(operation, "parameters"), *item;

	for (item = json_first(parameters); item; item = json_next(item))
		if (strcmp(json_string(json_get(item, "name"), ""), name) == 0)
			return true;
	return false;
}

static void test_every_path(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		FOR_EACH_KIND(row)
		{
			cleanup_json struct cJSON *document =
				get_document(*state, versions[i], row);
			const struct cJSON *object, *patch;
			char path[512];

			(void) snprintf(path, sizeof(path), "/%s%s/%s%s/%s/{name}",
					*row->group ? "apis/" : "api", row->group, row->version,
					row->namespaced ? "/namespaces/{namespace}" : "",
					row->plural);
			object = json_get(json_get(document, "paths"), path);
			assert_int_equal(json_count(json_get(object, "parameters")),
					 row->namespaced ? 2 : 1);
			patch = json_get(object, "patch");
			assert_true(has_parameter(patch, "fieldValidation"));
			assert_true(has_parameter(patch, "dryRun"));
			assert_false(has_parameter(patch, "watch"));
			assert_string_equal(
				json_string(json_get(json_get(patch, "x-kubernetes-group-version-"
								     "kind"),
						     "kind"),
					    ""),
				row->name);
			(void) strncat(path, "/status", sizeof(path) - strlen(path) - 1);
			assert_int_equal(json_get(json_get(document, "paths"), path) != NULL,
					 row->has_status);
		}
}

static void test_operation_ids_are_the_known_ones(void **state)
{
	static const struct {
		const char *path, *method, *id;
	} rows[] = {
		{ "/api/v1/pods", "get", "listCoreV1PodForAllNamespaces" },
		{ "/api/v1/namespaces/{namespace}/pods", "get", "listCoreV1NamespacedPod" },
		{ "/api/v1/namespaces/{namespace}/pods", "post", "createCoreV1NamespacedPod" },
		{ "/api/v1/namespaces/{namespace}/pods", "delete",
		  "deleteCoreV1CollectionNamespacedPod" },
		{ "/api/v1/namespaces/{namespace}/pods/{name}", "get", "readCoreV1NamespacedPod" },
		{ "/api/v1/namespaces/{namespace}/pods/{name}/status", "patch",
		  "patchCoreV1NamespacedPodStatus" },
		{ "/api/v1/persistentvolumes/{name}", "put", "replaceCoreV1PersistentVolume" },
		{ "/apis/storage.k8s.io/v1/storageclasses", "get", "listStorageV1StorageClass" },
	};
	cleanup_json struct cJSON *document = get(*state, "/openapi/v2");
	const struct cJSON *paths = json_get(document, "paths");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(json_string(json_get(json_get(json_get(paths, rows[i].path),
								  rows[i].method),
							 "operationId"),
						""),
				    rows[i].id);
}

/* No two operations have one name, or generated clients would not compile. */
static void test_operation_ids_differ(void **state)
{
	cleanup_json struct cJSON *document = get(*state, "/openapi/v2");
	cleanup_json struct cJSON *seen = json_new_object();
	const struct cJSON *path, *operation;

	for (path = json_first(json_get(document, "paths")); path; path = json_next(path))
		for (operation = json_first(path); operation; operation = json_next(operation)) {
			const char *id = json_string(json_get(operation, "operationId"), NULL);

			if (!id)
				continue;
			if (json_get(seen, id))
				fail_msg("%s is there twice", id);
			(void) json_set_bool(seen, id, true);
		}
	assert_true(json_count(seen) > KIND_COUNT * 7);
}

static void test_index_of_version_3(void **state)
{
	cleanup_json struct cJSON *index = get(*state, "/openapi/v3");
	cleanup_json struct cJSON *again = get(*state, "/openapi/v3");
	const struct cJSON *path;

	assert_true(json_equal(index, again));
	FOR_EACH_KIND(row)
	{
		char key[256];

		(void) snprintf(key, sizeof(key), "%s%s/%s", *row->group ? "apis/" : "api",
				row->group, row->version);
		path = json_get(json_get(index, "paths"), key);
		assert_non_null(path);
	}
	for (path = json_first(json_get(index, "paths")); path; path = json_next(path)) {
		const char *url = json_string(json_get(path, "serverRelativeURL"), "");
		cleanup_json struct cJSON *document = get(*state, url);

		assert_non_null(strstr(url, "?hash="));
		assert_string_equal(json_string(json_get(document, "openapi"), ""), "3.0.0");
	}
	assert_int_equal(world_request(*state, METHOD_GET, "/openapi/v3/api/v2", NULL), 404);
	assert_int_equal(world_request(*state, METHOD_GET, "/openapi/v3/apis/a/v1", NULL), 404);
}

static void test_forms(void **state)
{
	struct world *world = *state;

	world_prepare(world, METHOD_GET, "/openapi/v3/api/v1", NULL);
	world->exchange.accept = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
	api_dispatch(&world->exchange);
	assert_int_equal(world->exchange.status, 406);

	world_prepare(world, METHOD_GET, "/openapi/v2", NULL);
	world->exchange.accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
	api_dispatch(&world->exchange);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world->exchange.reply_type,
			    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
}

/* ---- protocol buffers ---- */

struct wire {
	const unsigned char *at, *end;
};

static uint64_t read_number(struct wire *wire)
{
	uint64_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(wire->at < wire->end && shift < 64);
		number |= (uint64_t) (*wire->at & 0x7f) << shift;
		if ((*wire->at++ & 0x80) == 0)
			return number;
	}
}

/* The next field; false at the end. A number has its value in @ret_number and no bytes. */
static bool next_field(struct wire *wire, unsigned int *ret_field, struct wire *ret,
		       uint64_t *ret_number)
{
	uint64_t tag;

	if (wire->at == wire->end)
		return false;
	tag = read_number(wire);
	*ret_field = (unsigned int) (tag >> 3);
	*ret_number = read_number(wire);
	*ret = (struct wire){ wire->at, wire->at };
	if ((tag & 7) == 0)
		return true;
	assert_int_equal(tag & 7, 2);
	assert_true(*ret_number <= (uint64_t) (wire->end - wire->at));
	wire->at += *ret_number;
	ret->end = wire->at;
	return true;
}

/* The @which-th value of a field; fails when it is not there. */
static struct wire field_at(struct wire wire, unsigned int number, size_t which)
{
	unsigned int field;
	struct wire value;
	uint64_t ignored;

	while (next_field(&wire, &field, &value, &ignored))
		if (field == number && which-- == 0)
			return value;
	fail_msg("no field %u", number);
	return wire;
}

static size_t count_field(struct wire wire, unsigned int number)
{
	unsigned int field;
	struct wire value;
	uint64_t ignored;
	size_t count = 0;

	while (next_field(&wire, &field, &value, &ignored))
		count += field == number;
	return count;
}

static void expect_text(struct wire wire, const char *text)
{
	assert_int_equal(wire.end - wire.at, strlen(text));
	assert_memory_equal(wire.at, text, strlen(text));
}

/* Field numbers, as published. */
enum {
	DOCUMENT_SWAGGER = 1,
	DOCUMENT_PATHS = 8,
	DOCUMENT_DEFINITIONS = 9,
	PATHS_PATH = 2,
	NAME = 1,
	VALUE = 2,
	PATH_PATCH = 8,
	OPERATION_PARAMETERS = 8,
	OPERATION_EXTENSIONS = 13,
	SCHEMA_REF = 1,
	SCHEMA_REQUIRED = 19,
	SCHEMA_MAP = 21,
	SCHEMA_TYPE = 22,
	SCHEMA_ITEMS = 23,
	SCHEMA_PROPERTIES = 25,
	SCHEMA_EXTENSIONS = 31,
	ANY_YAML = 2,
};

static void check_packed_schema(struct wire wire, const struct cJSON *entry)
{
	const struct cJSON *member = json_get(entry, "properties"), *items;
	const struct cJSON *values = json_get(entry, "additionalProperties");
	const char *reference = json_string(json_get(entry, "$ref"), NULL);
	const char *type = json_string(json_get(entry, "type"), NULL);
	size_t which = 0, extensions = 0;

	if (reference)
		expect_text(field_at(wire, SCHEMA_REF, 0), reference);
	if (type)
		expect_text(field_at(field_at(wire, SCHEMA_TYPE, 0), 1, 0), type);
	assert_int_equal(count_field(wire, SCHEMA_REQUIRED),
			 json_count(json_get(entry, "required")));
	for (member = json_first(member); member; member = json_next(member)) {
		struct wire named = field_at(field_at(wire, SCHEMA_PROPERTIES, 0), 1, which++);

		expect_text(field_at(named, NAME, 0), json_key(member));
		check_packed_schema(field_at(named, VALUE, 0), member);
	}
	items = json_get(entry, "items");
	if (items)
		check_packed_schema(field_at(field_at(wire, SCHEMA_ITEMS, 0), 1, 0), items);
	if (values)
		check_packed_schema(field_at(field_at(wire, SCHEMA_MAP, 0), 1, 0), values);
	for (member = json_first(entry); member; member = json_next(member))
		extensions += strncmp(json_key(member), "x-", 2) == 0;
	assert_int_equal(count_field(wire, SCHEMA_EXTENSIONS), extensions);
}

static struct wire get_packed(struct world *world)
{
	world_prepare(world, METHOD_GET, "/openapi/v2", NULL);
	world->exchange.form = FORM_OPENAPI;
	api_dispatch(&world->exchange);
	assert_int_equal(world->exchange.status, 200);
	return (struct wire){ (const unsigned char *) world->exchange.reply,
			      (const unsigned char *) world->exchange.reply +
				      world->exchange.reply_length };
}

static void test_packed_definitions(void **state)
{
	cleanup_json struct cJSON *document = get(*state, "/openapi/v2");
	struct wire packed = get_packed(*state);
	struct wire definitions = field_at(packed, DOCUMENT_DEFINITIONS, 0);
	const struct cJSON *member = json_first(json_get(document, "definitions"));
	size_t count = 0;

	expect_text(field_at(packed, DOCUMENT_SWAGGER, 0), "2.0");
	for (; member; member = json_next(member)) {
		struct wire named = field_at(definitions, 1, count++);

		expect_text(field_at(named, NAME, 0), json_key(member));
		check_packed_schema(field_at(named, VALUE, 0), member);
	}
	assert_int_equal(count_field(definitions, 1), count);
	assert_true(count > (size_t) KIND_COUNT * 2);
}

/* Which of the choices a parameter is: body 1, query 3, path 4; and its name. */
static unsigned int parameter_choice(struct wire item, struct wire *ret_name)
{
	struct wire parameter = field_at(item, 1, 0), value;
	unsigned int field;
	uint64_t ignored;

	assert_true(next_field(&parameter, &field, &value, &ignored));
	if (field == 1) {
		*ret_name = field_at(value, 2, 0);
		return 1;
	}
	assert_int_equal(field, 2);
	assert_true(next_field(&value, &field, &parameter, &ignored));
	*ret_name = field_at(parameter, 4, 0);
	return field;
}

static void test_packed_patch(void **state)
{
	cleanup_json struct cJSON *document = get(*state, "/openapi/v2");
	struct wire paths = field_at(get_packed(*state), DOCUMENT_PATHS, 0);
	const struct cJSON *path = json_first(json_get(document, "paths"));
	size_t which = 0, patches = 0;

	for (; path; path = json_next(path)) {
		struct wire named = field_at(paths, PATHS_PATH, which++), patch, extension, name;
		const struct cJSON *parameters = json_get(json_get(path, "patch"), "parameters");
		cleanup_free char *kind = NULL;

		expect_text(field_at(named, NAME, 0), json_key(path));
		if (!parameters)
			continue;
		patches++;
		patch = field_at(field_at(named, VALUE, 0), PATH_PATCH, 0);
		for (size_t i = 0; i < json_count(parameters); i++) {
			bool body = strcmp(json_string(json_get(json_at(parameters, i), "in"), ""),
					   "body") == 0;

			assert_int_equal(
				parameter_choice(field_at(patch, OPERATION_PARAMETERS, i), &name),
				body ? 1 : 3);
			expect_text(name,
				    json_string(json_get(json_at(parameters, i), "name"), ""));
		}
		extension = field_at(patch, OPERATION_EXTENSIONS, 1);
		expect_text(field_at(extension, NAME, 0), "x-kubernetes-group-version-kind");
		kind = json_print(
			json_get(json_get(path, "patch"), "x-kubernetes-group-version-kind"));
		expect_text(field_at(field_at(extension, VALUE, 0), ANY_YAML, 0), kind);
	}
	assert_true(patches >= KIND_COUNT);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_every_kind_and_field),
		WITH_WORLD(test_every_path),
		WITH_WORLD(test_operation_ids_are_the_known_ones),
		WITH_WORLD(test_operation_ids_differ),
		WITH_WORLD(test_index_of_version_3),
		WITH_WORLD(test_forms),
		WITH_WORLD(test_packed_definitions),
		WITH_WORLD(test_packed_patch),
	};

	return cmocka_run_group_tests_name("openapi", tests, NULL, NULL);
}
