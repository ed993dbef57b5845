/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_compare_text - looks by mountinfo, without listmount and statmount
 *
 * A program of its own: which ids are used is asked once per process.
 */
#include "tests/root/mount_look_cases.h"

#include "base/cleanup.h"
#include "mount/table/mount_list.h"

/* What ran was really without them. */
static void test_ids_are_the_small_ones(void **state)
{
	assert_false(mount_ids_are_unique());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		MOUNT_LOOK_CASES(SANDBOX_TEST),
		cmocka_unit_test(test_ids_are_the_small_ones),
	};

	kernel_calls_take_away(WITHOUT_LISTMOUNT);
	return sandbox_run("mount_look_text", tests, ARRAY_SIZE(tests));
}
