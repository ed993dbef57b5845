/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_patch_json - JSON patch: RFC 6902, its edges and the limits
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

static void test_cases(void **state)
{
	assert_patches("tests/patch/json-patch.json", PATCH_JSON);
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
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_a_refusal_names_the_operation),
		cmocka_unit_test(test_operations_are_bounded),
		cmocka_unit_test(test_copies_are_bounded),
		cmocka_unit_test(test_values_are_counted),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_steps_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
