/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_patch_strategic - Kubernetes' strategic merge patch: lists by key, directives, orders
 */
#include "patch_case.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_cases(void **state)
{
	assert_patches("tests/patch/strategic-merge-patch.json", PATCH_STRATEGIC);
}

/* Where all keys of a list are equal, each element of the patch walks through the list. */
static void test_steps_are_bounded(void **state)
{
	enum { MANY = 9000 };
	cleanup_free char *object = malloc(MANY * 24 + 64), *patch = malloc(MANY * 24 + 64);
	cleanup_free char *result = NULL;
	struct failure why = { 0 };
	static const char head[] = "{\"items\":[";
	size_t o = sizeof(head) - 1, p = sizeof(head) - 1;

	assert_true(object && patch);
	memcpy(object, head, sizeof(head));
	memcpy(patch, head, sizeof(head));
	for (int i = 0; i < MANY; i++) {
		o += (size_t) snprintf(object + o, 24, "%s{\"name\":\"a\"}", i ? "," : "");
		p += (size_t) snprintf(patch + p, 24, "%s{\"name\":\"b%d\"}", i ? "," : "", i);
	}
	memcpy(object + o, "]}", 3);
	memcpy(patch + p, "]}", 3);
	assert_int_equal(apply_patch(PATCH_STRATEGIC, object, patch, &result, &why), -E2BIG);
	assert_non_null(strstr(why.text, "too large"));
}

/* As many as an object can have, merged, ordered and reordered within the budget; each with each
 * would be 14 million steps. */
static void assert_many_merged(bool reversed)
{
	enum { MANY = 3800 };
	cleanup_free char *object = malloc(MANY * 24 + 64), *patch = malloc(MANY * 40 + 64);
	cleanup_free char *result = NULL;
	struct failure why = { 0 };
	static const char head[] = "{\"items\":[";
	size_t o = sizeof(head) - 1, p = sizeof(head) - 1;

	assert_true(object && patch);
	memcpy(object, head, sizeof(head));
	memcpy(patch, head, sizeof(head));
	for (int i = 0; i < MANY; i++) {
		int other = reversed ? MANY - 1 - i : i;

		o += (size_t) snprintf(object + o, 24, "%s{\"name\":\"a%d\"}", i ? "," : "", i);
		p += (size_t) snprintf(patch + p, 40, "%s{\"name\":\"a%d\",\"v\":%d}", i ? "," : "",
				       other, other);
	}
	memcpy(object + o, "]}", 3);
	memcpy(patch + p, "]}", 3);
	assert_int_equal(apply_patch(PATCH_STRATEGIC, object, patch, &result, &why), 0);
	assert_string_equal(result, patch);
}

static void test_many_elements_in_any_order(void **state)
{
	assert_many_merged(false);
	assert_many_merged(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_steps_are_bounded),
		cmocka_unit_test(test_many_elements_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
