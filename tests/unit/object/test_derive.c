/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_derive - versions that differ in metadata alone: the same as by an edit of the tree, shared
 * with the version before and independent of it
 */
#include "object/derive.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/admit.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/object_text.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW (1795336500 * USEC_PER_SEC) /* 2026-11-22T08:35:00Z */
#define KEY "example.com/mark"

#define CLAIM(meta)                                                                                \
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data" meta "}\n"            \
	"spec:\n  storageClassName: fast\n  accessModes: [ReadWriteOnce]\n"                        \
	"  resources: {requests: {storage: 1Gi}}\n"
#define VOLUME(meta)                                                                               \
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv" meta "}\nspec:\n"            \
	"  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n  local: {path: /d}\n"        \
	"  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: k, operator: "  \
	"Exists}]}]}}\n"

static const struct object *admit(enum admit_verb verb, const struct object *old,
				  const struct object *proposed, uint64_t version)
{
	const struct admission admission = { .verb = verb,
					     .old = old,
					     .proposed = proposed,
					     .resource_version = version,
					     .now_usec = NOW };
	const struct object *result = NULL;

	assert_int_equal(object_admit(&admission, &result, NULL), 0);
	return result;
}

static const struct object *stored_of(const char *yaml)
{
	const struct object *proposed = object_of(yaml);
	const struct object *created = admit(ADMIT_CREATE, NULL, proposed, 1);

	(void) object_unref(proposed);
	return created;
}

static int annotate_tree(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "annotations"), KEY, userdata);
}

static void assert_same_text(const struct object *a, const struct object *b)
{
	cleanup_json struct cJSON *in_a = tree_of(a), *in_b = tree_of(b);

	assert_true(json_equal(in_a, in_b));
}

static void test_it_is_what_an_edit_of_the_tree_makes(void **state)
{
	static const char *const texts[] = {
		CLAIM(""),
		CLAIM(", annotations: {}"),
		CLAIM(", annotations: {a: b}, labels: {c: d}"),
		CLAIM(", annotations: {a: b, " KEY ": old, c: d}"),
		VOLUME(", labels: {" KEY ": label}"),
		VOLUME(", annotations: {a: '\"" KEY "\":\"x\"', " KEY ": ''}"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_object const struct object *stored = stored_of(texts[i]);
		cleanup_object const struct object *edited = NULL, *made = NULL, *written = NULL;
		struct json_bytes before = object_spec_text(stored), now;

		assert_int_equal(object_edit(stored, annotate_tree, "new", &edited, NULL), 0);
		assert_int_equal(object_annotated(stored, KEY, "new", &made, NULL), 0);
		assert_same_text(made, edited);
		now = object_spec_text(made);
		assert_true(json_bytes_equal(&before, &now));
		written = admit(ADMIT_UPDATE, stored, made, 2);
		assert_int_equal(written->meta.resource_version, 2);
		assert_int_equal(written->meta.generation, 1);
		assert_string_equal(written->meta.uid, stored->meta.uid);
		now = object_spec_text(written);
		assert_true(json_bytes_equal(&before, &now));
	}
}

/* Sanitizers would object to what went with it. */
static void test_it_outlives_the_version_before(void **state)
{
	const struct object *stored = stored_of(VOLUME(", labels: {a: b}"));
	const struct object *marked = NULL, *cached, *deleted;

	assert_int_equal(object_annotated(stored, KEY, "x", &marked, NULL), 0);
	assert_true(marked->persistent_volume->object == marked);
	assert_ptr_equal(marked->persistent_volume->local_path,
			 stored->persistent_volume->local_path);
	(void) object_unref(stored);
	cached = object_ref(marked);
	deleted = admit(ADMIT_DELETE, marked, NULL, 3);
	(void) object_unref(cached);
	assert_false(marked->meta.deletes);
	(void) object_unref(marked);
	assert_true(deleted->meta.deletes && *deleted->meta.deletion_timestamp &&
		    *deleted->meta.uid);
	assert_true(deleted->persistent_volume->object == deleted);
	assert_true(deleted->persistent_volume->has_protection_finalizer);
	assert_string_equal(deleted->persistent_volume->local_path, "/d");
	assert_int_equal(deleted->meta.labels.count, 1);
	assert_non_null(strstr(deleted->json, "\"" KEY "\":\"x\""));
	(void) object_unref(deleted);
}

static int drop_finalizers(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	json_remove(metadata, "finalizers");
	return 0;
}

/* What the store notes in a version is not noted in those that share with it. */
static void test_the_version_before_stays_as_it_is(void **state)
{
	cleanup_object const struct object *stored = stored_of(CLAIM(""));
	cleanup_object const struct object *free_one = NULL, *written = NULL, *marked = NULL;
	cleanup_object const struct object *deleted = admit(ADMIT_DELETE, stored, NULL, 2);

	assert_false(stored->meta.deletes);
	assert_ptr_equal(deleted->claim->storage_class, stored->claim->storage_class);
	assert_int_equal(object_edit(stored, drop_finalizers, NULL, &free_one, NULL), 0);
	written = admit(ADMIT_UPDATE, stored, free_one, 3);
	assert_int_equal(object_annotated(written, KEY, "x", &marked, NULL), 0);
	assert_false(written->claim->has_protection_finalizer ||
		     marked->claim->has_protection_finalizer);
	assert_true(stored->claim->has_protection_finalizer);
	assert_true(deleted->claim->has_protection_finalizer);
}

/* Such as one that an earlier podvold stored. */
static void test_names_of_the_version_before_stay(void **state)
{
	cleanup_object const struct object *stored = NULL, *marked = NULL, *written = NULL;
	static const char text[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{"
		"\"name\":\"data\",\"annotations\":{\"no name\":\"b\"},\"uid\":\"u\","
		"\"resourceVersion\":\"7\",\"generation\":1},\"spec\":{\"accessModes\":["
		"\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}";

	assert_int_equal(object_parse_own(text, strlen(text), &stored, NULL), 0);
	assert_int_equal(object_annotated(stored, KEY, "x", &marked, NULL), 0);
	written = admit(ADMIT_UPDATE, stored, marked, 8);
	assert_non_null(strstr(written->json, "\"no name\":\"b\",\"" KEY "\":\"x\""));
}

static void test_a_large_one_is_checked(void **state)
{
	static char text[300 * 1024];
	cleanup_object const struct object *stored = NULL, *marked = NULL;
	size_t used;

	used = (size_t) snprintf(text, sizeof(text),
				 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				 "\"name\":\"c\",\"uid\":\"u\",\"resourceVersion\":\"7\","
				 "\"annotations\":{\"a\":\"");
	memset(text + used, 'x', 256 * 1024 - 1);
	(void) snprintf(text + used + 256 * 1024 - 1, 64, "\"}}}");
	assert_int_equal(object_parse_own(text, strlen(text), &stored, NULL), 0);
	assert_int_equal(object_annotated(stored, KEY, "x", &marked, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_what_an_edit_of_the_tree_makes),
		cmocka_unit_test(test_it_outlives_the_version_before),
		cmocka_unit_test(test_the_version_before_stays_as_it_is),
		cmocka_unit_test(test_names_of_the_version_before_stay),
		cmocka_unit_test(test_a_large_one_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
