/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_name_sets - names come, go and are found by key, and nothing is left of a key without any
 */
#include "state/name_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_unknown_pod_has_no_names(void **state)
{
	struct name_sets index = { .sets = NULL };

	assert_null(name_sets_at(&index, "u1", 0));
}

static void test_names_of_two_pods_are_apart(void **state)
{
	struct name_sets index = { .sets = NULL };

	assert_int_equal(name_sets_add(&index, "u1", "a"), 0);
	assert_int_equal(name_sets_add(&index, "u2", "b"), 0);
	assert_string_equal(name_sets_at(&index, "u1", 0), "a");
	assert_null(name_sets_at(&index, "u1", 1));
	assert_string_equal(name_sets_at(&index, "u2", 0), "b");

	name_sets_remove(&index, "u1", "a");
	assert_null(name_sets_at(&index, "u1", 0));
	assert_string_equal(name_sets_at(&index, "u2", 0), "b");
	name_sets_remove(&index, "u2", "b");
	assert_null(index.sets);
}

static void test_removal_keeps_the_others(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	struct name_sets index = { .sets = NULL };
	unsigned int seen = 0;

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(name_sets_add(&index, "u1", names[i]), 0);
	name_sets_remove(&index, "u1", "b");
	for (size_t i = 0; i < 4; i++)
		seen |= 1U << (name_sets_at(&index, "u1", i)[0] - 'a');
	assert_int_equal(seen, 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4);
	assert_null(name_sets_at(&index, "u1", 4));

	while (name_sets_at(&index, "u1", 0))
		name_sets_remove(&index, "u1", name_sets_at(&index, "u1", 0));
	assert_null(index.sets);
}

static void test_name_added_twice_is_removed_twice(void **state)
{
	struct name_sets index = { .sets = NULL };

	assert_int_equal(name_sets_add(&index, "u1", "a"), 0);
	assert_int_equal(name_sets_add(&index, "u1", "a"), 0);
	name_sets_remove(&index, "u1", "a");
	assert_string_equal(name_sets_at(&index, "u1", 0), "a");
	name_sets_remove(&index, "u1", "a");
	assert_null(index.sets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_pod_has_no_names),
		cmocka_unit_test(test_names_of_two_pods_are_apart),
		cmocka_unit_test(test_removal_keeps_the_others),
		cmocka_unit_test(test_name_added_twice_is_removed_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
