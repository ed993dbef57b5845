/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json_text - members of canonical text: the same that a tree has
 */
#include "object/json/json_text.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct json_limits limits = { .bytes = 4096, .depth = 16 };

/* Every member that a tree has is found, at its place, with the text that the tree prints. */
static void same_as_tree(const char *text)
{
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *canonical = NULL;
	struct json_text_walk walk;

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	canonical = json_print(tree);
	assert_non_null(canonical);
	json_text_begin(&walk, canonical);
	for (const struct cJSON *item = json_first(tree); item; item = json_next(item)) {
		cleanup_free char *value = json_print(item);

		assert_true(json_text_next(&walk));
		assert_true(json_bytes_are(&walk.value, value));
		if (!strpbrk(json_key(item), "\"\\\n"))
			assert_true(json_bytes_are(&walk.key, json_key(item)));
	}
	assert_false(json_text_next(&walk));
	assert_false(json_text_next(&walk));
}

static void test_walk(void **state)
{
	same_as_tree("{}");
	same_as_tree("{\"a\": 1}");
	same_as_tree(
		"{\"a\": {}, \"b\": [], \"c\": \"\", \"d\": null, \"e\": -1.5e3, \"f\": true}");
	same_as_tree(
		"{\"a\": {\"b\": [{\"c\": [1, 2]}, \"}\", \"]\"], \"d\": \"{\"}, \"e\": \"x\"}");
	same_as_tree("{\"a\": \"\\\"\", \"b\": \"\\\\\", \"c\": \"\\\\\\\"}\", \"d\": "
		     "\"\\\",\\\"e\\\":1\"}");
	same_as_tree("{\"a\\\"b\": 1, \"c\\\\\": 2, \"d\\n\": 3, \"\": 4}");
	same_as_tree("{\"\\u00e4\": \"\\u20ac\", \"b\": \"\\u0001\"}");
}

static void test_member(void **state)
{
	static const char text[] = "{\"kind\":\"Pod\",\"spec\":{\"kind\":1},\"kinds\":2,\"s\":3}";
	struct json_bytes value = json_text_member(text, "kind");

	assert_true(json_bytes_are(&value, "\"Pod\""));
	value = json_text_member(text, "spec");
	assert_true(json_bytes_are(&value, "{\"kind\":1}"));
	value = json_text_member(text, "s");
	assert_true(json_bytes_are(&value, "3"));
	assert_false(json_bytes_are(&value, "30"));
	assert_int_equal(json_text_member(text, "spe").length, 0);
	assert_int_equal(json_text_member(text, "").length, 0);
	assert_int_equal(json_text_member("{}", "kind").length, 0);
	assert_int_equal(json_text_member("[]", "kind").length, 0);
	assert_int_equal(json_text_member("", "kind").length, 0);
}

static void test_equal(void **state)
{
	const struct json_bytes a = { "abc", 2 }, b = { "abd", 2 }, none = { NULL, 0 };
	const struct json_bytes whole = { "abd", 3 };

	assert_true(json_bytes_equal(&a, &b));
	assert_false(json_bytes_equal(&b, &whole));
	assert_true(json_bytes_equal(&none, &none));
	assert_false(json_bytes_equal(&none, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_member),
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
