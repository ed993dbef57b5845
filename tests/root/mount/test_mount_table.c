/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_table - the mount table by unique ids; on kernels without them the same as
 * test_mount_table_text
 */
#include "tests/root/mount_table_cases.h"

#include "base/cleanup.h"

int main(void)
{
	static const struct CMUnitTest tests[] = { MOUNT_TABLE_CASES(SANDBOX_TEST) };

	return sandbox_run("mount_table", tests, ARRAY_SIZE(tests));
}
