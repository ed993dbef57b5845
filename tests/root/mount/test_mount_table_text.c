/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_table_text - the mount table from mountinfo, without listmount and statmount
 *
 * A program of its own: which ids are used is asked once per process.
 */
#include "tests/root/mount_table_cases.h"

#include "base/cleanup.h"

/* Last: what ran before was really without it. */
static void test_listmount_was_asked_for(void **state)
{
	assert_true(kernel_calls_counts()->missed > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		MOUNT_TABLE_CASES(SANDBOX_TEST),
		cmocka_unit_test(test_listmount_was_asked_for),
	};

	kernel_calls_take_away(WITHOUT_LISTMOUNT);
	return sandbox_run("mount_table_text", tests, ARRAY_SIZE(tests));
}
