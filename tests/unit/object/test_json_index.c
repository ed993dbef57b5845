/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json_index - what an index finds, and how many comparisons that takes
 */
#include "object/json/json_index.h"

#include "base/cleanup.h"
#include "object/json/json_tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct cJSON *parse(const char *text)
{
	const struct json_limits limits = { .bytes = 4096, .depth = 8 };
	struct cJSON *tree = NULL;

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	return tree;
}

/* n log n for 20,000 members that all begin alike, in an order that no sort likes. */
static void test_comparisons_are_bounded(void **state)
{
	enum { MEMBERS = 20000, LOG = 15 };
	cleanup_json struct cJSON *object = json_new_object();
	cleanup_json_index struct json_index index = { 0 };
	char key[64];
	size_t made;

	for (int i = MEMBERS; i > 0; i--) {
		(void) snprintf(key, sizeof(key), "%040d", i);
		assert_int_equal(json_append_string(object, key, key), 0);
	}
	assert_int_equal(json_index_make(object, NULL, &index), 0);
	made = index.compared;
	assert_in_range(made, MEMBERS - 1, MEMBERS * LOG);
	assert_null(json_index_duplicate(&index));
	for (int i = 1; i <= MEMBERS; i++) {
		const struct json_index_entry *entry;

		(void) snprintf(key, sizeof(key), "%040d", i);
		entry = json_index_find(&index, key);
		assert_non_null(entry);
		assert_string_equal(json_string(entry->item, ""), key);
		assert_int_equal(entry->place, MEMBERS - i);
	}
	assert_in_range(index.compared - made, MEMBERS, MEMBERS * (LOG + 1));
	assert_null(json_index_find(&index, "absent"));
}

static void test_elements_by_their_key(void **state)
{
	cleanup_json struct cJSON *list =
		parse("[{\"x\":0,\"name\":\"b\"},{\"name\":7},{\"name\":\"a\"},{\"name\":\"b\"}]");
	cleanup_json_index struct json_index index = { 0 };
	struct json_index_entry *first;

	assert_int_equal(json_index_make(list, "name", &index), 0);
	assert_int_equal(index.count, 4);
	assert_int_equal(json_index_find(&index, "7")->place, 1);
	assert_ptr_equal(json_index_duplicate(&index), json_at(list, 3));
	first = json_index_find(&index, "b");
	assert_int_equal(first->place, 0);
	first->text = NULL; /* taken out: then the next of this text is found */
	assert_int_equal(json_index_find(&index, "b")->place, 3);
	json_index_find(&index, "b")->text = NULL;
	assert_null(json_index_find(&index, "b"));
}

static void test_elements_without_a_text(void **state)
{
	static const char *const lists[] = { "[{\"name\":\"a\"},{}]", "[{\"name\":{}}]",
					     "[{\"name\":true}]", "[1]" };
	cleanup_json struct cJSON *plain = parse("[\"a\",2]"), *mixed = parse("[\"a\",[]]");
	cleanup_json_index struct json_index index = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		cleanup_json struct cJSON *list = parse(lists[i]);

		assert_int_equal(json_index_make(list, "name", &index), -ENOENT);
		assert_null(index.entries);
	}
	assert_int_equal(json_index_make(mixed, "", &index), -ENOENT);
	assert_int_equal(json_index_make(plain, "", &index), 0);
	assert_int_equal(json_index_find(&index, "2")->place, 1);
}

static void test_nothing_is_found_in_nothing(void **state)
{
	cleanup_json_index struct json_index index = { 0 };

	assert_null(json_index_find(&index, "a"));
	assert_int_equal(json_index_make(NULL, NULL, &index), 0);
	assert_null(json_index_find(&index, "a"));
	assert_null(json_index_duplicate(&index));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comparisons_are_bounded),
		cmocka_unit_test(test_elements_by_their_key),
		cmocka_unit_test(test_elements_without_a_text),
		cmocka_unit_test(test_nothing_is_found_in_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
