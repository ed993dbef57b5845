/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_object_memory - every allocation fails in its turn: no crash, no leak, no half object
 *
 * The project's are interposed at link time, cJSON's by its hooks, libyaml's because its allocator
 * is a public function that this program defines as well.
 */
#include "object/admit.h"
#include "object/derive.h"
#include "object/edit_new.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/object.h"
#include "object/schema/table.h"
#include "tests/unit/object/object_text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Over all allocators: how many are still to succeed before one fails, once. */
static long left_to_succeed;
static bool is_armed;
static long living; /* allocated and not yet freed by what is tested */

#define EXPORTED __attribute__((visibility("default"))) /* or the library keeps its own */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void __wrap_free(void *memory);
EXPORTED void *yaml_malloc(size_t size);
EXPORTED void *yaml_realloc(void *old, size_t size);
EXPORTED void yaml_free(void *memory);
EXPORTED char *yaml_strdup(const char *text);

static bool fails(void)
{
	return is_armed && left_to_succeed-- == 0;
}

static void *counted(void *memory, const void *old)
{
	living += memory && !old ? 1 : 0;
	return memory;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(__real_malloc(size), NULL);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(count, size), NULL);
}

void *__wrap_realloc(void *old, size_t size)
{
	if (old && malloc_usable_size(old) >= size) /* what only gives back does not fail */
		return __real_realloc(old, size);
	return fails() ? NULL : counted(__real_realloc(old, size), old);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return fails() ? NULL : counted(__real_reallocarray(old, count, size), old);
}

void __wrap_free(void *memory)
{
	living -= memory ? 1 : 0;
	__real_free(memory);
}

void *yaml_malloc(size_t size)
{
	return __wrap_malloc(size ? size : 1);
}

void *yaml_realloc(void *old, size_t size)
{
	return __wrap_realloc(old, size ? size : 1);
}

void yaml_free(void *memory)
{
	__wrap_free(memory);
}

char *yaml_strdup(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *copy = text ? __wrap_malloc(size) : NULL;

	return copy ? memcpy(copy, text, size) : NULL;
}

/* Lets the nth allocation fail for every n until none is left. @work returns whether all went well.
 * Return: how many allocations there were. */
static long with_every_failure(bool (*work)(void))
{
	long nth = 0;
	bool met;

	do {
		bool went_well;

		left_to_succeed = nth++;
		living = 0;
		is_armed = true;
		went_well = work();
		is_armed = false;
		met = left_to_succeed < 0;
		assert_int_equal(living, 0);
		assert_int_equal(went_well, !met);
	} while (met);
	return nth - 1;
}

static const char *manifest;

static bool parse_manifest(void)
{
	struct document_list list;
	struct failure failure = { 0 };
	int r = documents_parse(manifest, strlen(manifest), &list, &failure);
	size_t good = 0;

	for (size_t i = 0; r == 0 && i < list.count; i++)
		good += list.documents[i].object ? 1 : 0;
	document_list_done(&list);
	if (r < 0) {
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(failure.error, -ENOMEM);
		return false;
	}
	assert_int_equal(good, 4); /* all or, above, an error: memory is no fault of a document */
	return true;
}

static void test_parsing_a_manifest(void **state)
{
	assert_true(with_every_failure(parse_manifest) > 500);
}

static const struct object *pod; /* made before memory runs out */

static bool parse_json(void)
{
	const struct object *object = NULL;
	int r = object_parse_json(pod->json, pod->json_length, &object, NULL);

	assert_true(r == 0 || r == -ENOMEM);
	assert_int_equal(object != NULL, r == 0);
	(void) object_unref(object);
	return r == 0;
}

/* Like most of those who edit it looks at no result: what was lost must show all the same. */
static int rename_it(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata"), *refs;

	(void) json_set_string(metadata, "name", "other");
	refs = json_add_object(json_add_array(metadata, "ownerReferences"), NULL);
	(void) json_set_string(refs, "kind", "Node");
	(void) json_set_int(tree, "unknown", 1);
	return 0;
}

static bool edit(void)
{
	const struct object *object = NULL;
	int r = object_edit(pod, rename_it, NULL, &object, NULL);

	assert_true(r == 0 || r == -ENOMEM);
	if (r == 0) {
		assert_string_equal(object->meta.name, "other");
		assert_non_null(strstr(object->json, "\"ownerReferences\":[{\"kind\":\"Node\"}]"));
		assert_non_null(strstr(object->json, "\"unknown\":1"));
	}
	(void) object_unref(object);
	return r == 0;
}

static bool admit_all(void)
{
	struct admission admission = { .verb = ADMIT_CREATE, .proposed = pod, .now_usec = 1 };
	const struct object *created = NULL, *updated = NULL, *deleted = NULL;
	int r = object_admit(&admission, &created, NULL);

	if (r == 0) {
		admission.verb = ADMIT_UPDATE;
		admission.old = created;
		r = object_admit(&admission, &updated, NULL);
	}
	if (r == 0) {
		admission.verb = ADMIT_DELETE;
		r = object_admit(&admission, &deleted, NULL);
	}
	assert_true(r == 0 || r == -ENOMEM);
	assert_null(deleted);
	(void) object_unref(created);
	(void) object_unref(updated);
	return r == 0;
}

/* Whatever was lost, the tree prints whole or not at all. */
static bool print(void)
{
	static const char whole[] = "{\"a\":\"b\",\"o\":{\"n\":1},\"l\":[true,\"\xef\xbf\xbd\"]}";
	struct cJSON *tree = json_new_object(), *list;
	char *json, *yaml;
	bool went_well;

	json_set_string(tree, "a", "b");
	json_set_int(json_add_object(tree, "o"), "n", 1);
	list = json_add_array(tree, "l");
	json_set_bool(list, NULL, true);
	json_set_string(list, NULL, "\xff");
	json = json_print(tree);
	yaml = json_print_yaml(tree);
	if (json)
		assert_string_equal(json, whole);
	went_well = json && yaml;
	free(json);
	free(yaml);
	json_free(tree);
	return went_well;
}

static bool make_table(void)
{
	struct cJSON *table = table_from_objects(KIND_POD, &pod, 1, 0, NULL);
	char *printed = json_print(table);
	bool went_well = printed != NULL;

	free(printed);
	json_free(table);
	return went_well;
}

static void test_reading_json(void **state)
{
	assert_true(with_every_failure(parse_json) > 50);
}

static int edit_binding(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	struct cJSON *ref = json_ensure_object(json_ensure_object(tree, "spec"), "claimRef");

	(void) json_set_string(ref, "name", "c");
	(void) json_set_string(json_ensure_object(tree, "status"), "phase", "Bound");
	return json_set_string(json_ensure_object(metadata, "annotations"), "by", "test");
}

/* Bound as a whole, or as it was. */
static void test_editing_a_new_object(void **state)
{
	static const char text[] = "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\","
				   "\"metadata\":{\"name\":\"v\"},\"spec\":{\"hostPath\":{"
				   "\"path\":\"/d\"}}}";
	unsigned int failures = 0;
	int r;

	do {
		cleanup_object const struct object *object = NULL;
		char *before = NULL;

		assert_int_equal(object_parse_own(text, strlen(text), &object, NULL), 0);
		left_to_succeed = failures;
		is_armed = true;
		r = object_edit_new(object, edit_binding, NULL, &before);
		is_armed = false;
		failures += r < 0;
		if (r < 0)
			assert_string_equal(object->json, text);
		assert_int_equal(object->persistent_volume->has_claim_ref, r == 0);
		assert_int_equal(strstr(object->json, "\"claimRef\":{\"name\":\"c\"}") != NULL,
				 r == 0);
		assert_int_equal(strstr(object->json, "\"phase\":\"Bound\"") != NULL, r == 0);
		assert_int_equal(strstr(object->json, "\"by\":\"test\"") != NULL, r == 0);
		free(before);
	} while (r < 0);
	assert_true(failures > 10);
}

static const struct object *claim; /* the same, and stored */

static bool derive(void)
{
	const struct admission admission = { .verb = ADMIT_DELETE, .old = claim, .now_usec = 1 };
	const struct object *marked = NULL, *deleted = NULL;
	int r = object_annotated(claim, "by", "test", &marked, NULL);

	if (r == 0)
		r = object_admit(&admission, &deleted, NULL);
	assert_true(r == 0 || r == -ENOMEM);
	if (r == 0)
		assert_true(deleted->meta.deletes && marked->claim->object == marked);
	(void) object_unref(marked);
	(void) object_unref(deleted);
	return r == 0;
}

static void test_deriving(void **state)
{
	static const char text[] = "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\","
				   "\"metadata\":{\"name\":\"c\",\"uid\":\"u\","
				   "\"resourceVersion\":\"1\",\"finalizers\":[\"f\"]},\"spec\":{}}";

	assert_int_equal(object_parse_own(text, strlen(text), &claim, NULL), 0);
	assert_true(with_every_failure(derive) >= 4);
	claim = object_unref(claim);
}

static void test_editing(void **state)
{
	assert_true(with_every_failure(edit) > 50);
}

static void test_admission(void **state)
{
	assert_true(with_every_failure(admit_all) > 200);
}

static void test_printing(void **state)
{
	assert_true(with_every_failure(print) > 15);
}

static void test_tables(void **state)
{
	assert_true(with_every_failure(make_table) > 50);
}

static int make_pod(void **state)
{
	cJSON_Hooks hooks = { .malloc_fn = __wrap_malloc, .free_fn = __wrap_free };
	struct document_list list;

	manifest = text_of_file("tests/unit/object/memory.yaml");
	cJSON_InitHooks(&hooks);
	if (documents_parse(manifest, strlen(manifest), &list, NULL) < 0)
		return -1;
	pod = object_ref(list.documents[0].object);
	document_list_done(&list);
	return pod ? 0 : -1;
}

static int drop_pod(void **state)
{
	pod = object_unref(pod);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parsing_a_manifest),
		cmocka_unit_test(test_reading_json),
		cmocka_unit_test(test_editing),
		cmocka_unit_test(test_editing_a_new_object),
		cmocka_unit_test(test_deriving),
		cmocka_unit_test(test_admission),
		cmocka_unit_test(test_printing),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, make_pod, drop_pod);
}
