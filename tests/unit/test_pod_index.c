/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pod_index - names come, go and are found by pod, and nothing is left of a pod without any
 */
#include "state/pod_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_unknown_pod_has_no_names(void **state)
{
	struct pod_index index = { .pods = NULL };

	assert_null(pod_index_at(&index, "u1", 0));
}

static void test_names_of_two_pods_are_apart(void **state)
{
	struct pod_index index = { .pods = NULL };

	assert_int_equal(pod_index_add(&index, "u1", "a"), 0);
	assert_int_equal(pod_index_add(&index, "u2", "b"), 0);
	assert_string_equal(pod_index_at(&index, "u1", 0), "a");
	assert_null(pod_index_at(&index, "u1", 1));
	assert_string_equal(pod_index_at(&index, "u2", 0), "b");

	pod_index_remove(&index, "u1", "a");
	assert_null(pod_index_at(&index, "u1", 0));
	assert_string_equal(pod_index_at(&index, "u2", 0), "b");
	pod_index_remove(&index, "u2", "b");
	assert_null(index.pods);
}

static void test_removal_keeps_the_others(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	struct pod_index index = { .pods = NULL };
	unsigned int seen = 0;

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(pod_index_add(&index, "u1", names[i]), 0);
	pod_index_remove(&index, "u1", "b");
	for (size_t i = 0; i < 4; i++)
		seen |= 1U << (pod_index_at(&index, "u1", i)[0] - 'a');
	assert_int_equal(seen, 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4);
	assert_null(pod_index_at(&index, "u1", 4));

	while (pod_index_at(&index, "u1", 0))
		pod_index_remove(&index, "u1", pod_index_at(&index, "u1", 0));
	assert_null(index.pods);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_pod_has_no_names),
		cmocka_unit_test(test_names_of_two_pods_are_apart),
		cmocka_unit_test(test_removal_keeps_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
