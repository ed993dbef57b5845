/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_table_text - the mount table from mountinfo, without listmount and statmount
 *
 * A program of its own: which ids are used is asked once per process.
 */
#include "mount_table_cases.h"

#include "base/cleanup.h"

int main(void)
{
	static const struct CMUnitTest tests[] = { MOUNT_TABLE_CASES(SANDBOX_TEST) };
	int result;

	kernel_calls_take_away(WITHOUT_LISTMOUNT);
	result = sandbox_run("mount_table_text", tests, ARRAY_SIZE(tests));
	if (result == 0 && geteuid() == 0 && kernel_calls_counts()->missed == 0) {
		printf("Bail out! listmount was not asked for\n");
		return 1;
	}
	return result;
}
