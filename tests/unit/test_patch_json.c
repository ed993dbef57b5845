/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_patch_json - JSON patch: every example of RFC 6902 and the limits
 */
#include "patch_case.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_the_examples_of_the_rfc(void **state)
{
	static const struct patch_case cases[] = {
		{ "A.1 add a member", "{\"foo\":\"bar\"}",
		  "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
		  "{\"foo\":\"bar\",\"baz\":\"qux\"}", 0 },
		{ "A.2 add an element", "{\"foo\":[\"bar\",\"baz\"]}",
		  "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
		  "{\"foo\":[\"bar\",\"qux\",\"baz\"]}", 0 },
		{ "A.3 remove a member", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
		  "[{\"op\":\"remove\",\"path\":\"/baz\"}]", "{\"foo\":\"bar\"}", 0 },
		{ "A.4 remove an element", "{\"foo\":[\"bar\",\"qux\",\"baz\"]}",
		  "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]", "{\"foo\":[\"bar\",\"baz\"]}", 0 },
		{ "A.5 replace a value", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
		  "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
		  "{\"baz\":\"boo\",\"foo\":\"bar\"}", 0 },
		{ "A.6 move a value",
		  "{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
		  "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
		  "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}",
		  0 },
		{ "A.7 move an element", "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
		  "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
		  "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}", 0 },
		{ "A.8 a test that holds", "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
		  "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
		  "{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
		  "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}", 0 },
		{ "A.9 a test that does not", "{\"baz\":\"qux\"}",
		  "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL, -EINVAL },
		{ "A.10 add a nested object", "{\"foo\":\"bar\"}",
		  "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
		  "{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}", 0 },
		{ "A.11 unknown members are passed over", "{\"foo\":\"bar\"}",
		  "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
		  "{\"foo\":\"bar\",\"baz\":\"qux\"}", 0 },
		{ "A.12 add below what is not there", "{\"foo\":\"bar\"}",
		  "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL, -EINVAL },
		{ "A.14 escapes", "{\"/\":9,\"~1\":10}",
		  "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]", "{\"/\":9,\"~1\":10}", 0 },
		{ "A.15 a string is not a number", "{\"/\":9,\"~1\":10}",
		  "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", NULL, -EINVAL },
		{ "A.16 add behind the last", "{\"foo\":[\"bar\"]}",
		  "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
		  "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}", 0 },
	};

	assert_patches(PATCH_JSON, cases, ARRAY_SIZE(cases));
}

static void test_edges(void **state)
{
	static const struct patch_case cases[] = {
		{ "nothing", "{\"a\":1}", "[]", "{\"a\":1}", 0 },
		{ "add replaces what is there", "{\"a\":1}",
		  "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null}", 0 },
		{ "the whole object", "{\"a\":1}",
		  "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}", 0 },
		{ "the whole object must stay one", "{\"a\":1}",
		  "[{\"op\":\"add\",\"path\":\"\",\"value\":3}]", NULL, -EINVAL },
		{ "a key that is empty", "{\"\":1}", "[{\"op\":\"remove\",\"path\":\"/\"}]", "{}",
		  0 },
		{ "annotations with a slash", "{\"a\":{}}",
		  "[{\"op\":\"add\",\"path\":\"/a/x.io~1y~0z\",\"value\":\"v\"}]",
		  "{\"a\":{\"x.io/y~z\":\"v\"}}", 0 },
		{ "big numbers stay exact", "{\"a\":9007199254740993}",
		  "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]",
		  "{\"a\":9007199254740993,\"b\":9007199254740993}", 0 },
		{ "the end of a list by its index", "{\"a\":[1]}",
		  "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]", "{\"a\":[1,2]}", 0 },
		{ "an element is replaced", "{\"a\":[1,2]}",
		  "[{\"op\":\"replace\",\"path\":\"/a/0\",\"value\":{\"b\":1}}]",
		  "{\"a\":[{\"b\":1},2]}", 0 },
		{ "into a list from a map", "{\"a\":[1],\"b\":{\"c\":2}}",
		  "[{\"op\":\"move\",\"from\":\"/b/c\",\"path\":\"/a/0\"}]",
		  "{\"a\":[2,1],\"b\":{}}", 0 },
		{ "onto itself", "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]",
		  "{\"a\":1}", 0 },
		{ "a test of a map in another order", "{\"a\":{\"b\":1,\"c\":2}}",
		  "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"c\":2,\"b\":1}}]",
		  "{\"a\":{\"b\":1,\"c\":2}}", 0 },
		{ "into itself", "{\"a\":{\"b\":1}}",
		  "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL, -EINVAL },
		{ "behind the end", "{\"a\":[1]}",
		  "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":2}]", NULL, -EINVAL },
		{ "leading zeros", "{\"a\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/a/01\"}]",
		  NULL, -EINVAL },
		{ "a negative index", "{\"a\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/a/-1\"}]",
		  NULL, -EINVAL },
		{ "replace what is not there", "{\"a\":1}",
		  "[{\"op\":\"replace\",\"path\":\"/b\",\"value\":2}]", NULL, -EINVAL },
		{ "remove what is not there", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]",
		  NULL, -EINVAL },
		{ "remove everything", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL,
		  -EINVAL },
		{ "below a value", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/a/b\"}]", NULL,
		  -EINVAL },
		{ "no list", "{}", "{\"op\":\"add\"}", NULL, -EBADMSG },
		{ "no operation", "{}", "[5]", NULL, -EBADMSG },
		{ "no such operation", "{}", "[{\"op\":\"swap\",\"path\":\"/a\"}]", NULL,
		  -EBADMSG },
		{ "no value", "{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", NULL, -EBADMSG },
		{ "no from", "{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", NULL, -EBADMSG },
		{ "no pointer", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"a\"}]", NULL,
		  -EBADMSG },
		{ "a broken escape", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/~2\"}]", NULL,
		  -EBADMSG },
	};

	assert_patches(PATCH_JSON, cases, ARRAY_SIZE(cases));
}

static void test_a_refusal_names_the_operation(void **state)
{
	struct failure why = { 0 };
	char *result;

	assert_int_equal(apply_patch(PATCH_JSON, "{\"a\":1}",
				     "[{\"op\":\"remove\",\"path\":\"/a\"},"
				     "{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]",
				     &result, &why),
			 -EINVAL);
	assert_string_equal(why.text, "operation 1: the path '/a' does not exist");
	assert_int_equal(why.error, -EINVAL);
}

/* ---- limits ---- */

/* "[" + @count times @operation + "]" */
static char *repeat(const char *operation, size_t count)
{
	size_t length = strlen(operation) + 1;
	char *text = malloc(count * length + 3), *at = text;

	assert_non_null(text);
	*at++ = '[';
	for (size_t i = 0; i < count; i++) {
		memcpy(at, operation, length - 1);
		at += length - 1;
		*at++ = ',';
	}
	at[count > 0 ? -1 : 0] = ']';
	at[count > 0 ? 0 : 1] = '\0';
	return text;
}

static int apply_many(const char *object, const char *operation, size_t count)
{
	cleanup_free char *patch = repeat(operation, count);
	cleanup_free char *result = NULL;
	struct failure why = { 0 };

	return apply_patch(PATCH_JSON, object, patch, &result, &why);
}

static void test_operations_are_bounded(void **state)
{
	const char *operation = "{\"op\":\"add\",\"path\":\"/a\",\"value\":1}";

	assert_int_equal(apply_many("{}", operation, PATCH_OPERATIONS_MAX), 0);
	assert_int_equal(apply_many("{}", operation, PATCH_OPERATIONS_MAX + 1), -E2BIG);
}

/* Doubling: thirty such copies would be a gigabyte. */
static void test_copies_are_bounded(void **state)
{
	assert_int_equal(apply_many("{\"a\":[\"0123456789\"]}",
				    "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}", 30),
			 -E2BIG);
}

/* By its values too, however short they are: 60,000 here. And what is compared counts as much. */
static void test_values_are_counted(void **state)
{
	cleanup_free char *list = repeat("1", 3000), *object = NULL, *test = NULL;

	assert_true(asprintf(&object, "{\"a\":%s}", list) > 0);
	assert_true(asprintf(&test, "{\"op\":\"test\",\"path\":\"/a\",\"value\":%s}", list) > 0);
	assert_int_equal(
		apply_many(object, "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}", 20),
		-E2BIG);
	assert_int_equal(apply_many(object, "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}", 5),
			 0);
	assert_int_equal(apply_many(object, test, 20), -E2BIG);
	assert_int_equal(apply_many(object, test, 5), 0);
}

/* A tree that is copied into its own deepest place doubles its depth with each copy. */
static void test_depth_is_bounded(void **state)
{
	assert_int_equal(
		apply_many("{\"a\":{}}", "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/a\"}", 40),
		0); /* replaces what it made before: no deeper than the number of copies */
	assert_int_equal(
		apply_many("{\"a\":{}}", "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/a\"}", 70),
		-E2BIG);
}

/* Thousands of searches through a long list. */
static void test_steps_are_bounded(void **state)
{
	cleanup_free char *list = repeat("1", 10000), *object = NULL;

	assert_true(asprintf(&object, "{\"a\":%s}", list) > 0);
	assert_int_equal(apply_many(object, "{\"op\":\"test\",\"path\":\"/a/9999\",\"value\":1}",
				    PATCH_OPERATIONS_MAX),
			 -E2BIG);
	assert_int_equal(
		apply_many(object, "{\"op\":\"test\",\"path\":\"/a/9999\",\"value\":1}", 50), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_examples_of_the_rfc),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_a_refusal_names_the_operation),
		cmocka_unit_test(test_operations_are_bounded),
		cmocka_unit_test(test_copies_are_bounded),
		cmocka_unit_test(test_values_are_counted),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_steps_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
