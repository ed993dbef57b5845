/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_compare - looks by unique ids; on kernels without them the same as
 * test_mount_compare_text
 */
#include "tests/root/mount_look_cases.h"

#include "base/cleanup.h"
#include "mount/table/mount_compare.h"

#include <fcntl.h>
#include <sys/stat.h>

static void test_mounts_by_their_ids(void **state)
{
	struct table_entries seen;
	uint64_t ids[] = { UINT64_MAX / 2, 0 };
	struct statx facts;

	if (!mount_ids_are_unique()) {
		print_message("# no unique ids here\n");
		skip();
	}
	assert_return_code(statx(sandbox_fd(), "", AT_EMPTY_PATH, 0x4000U, &facts), 0);
	ids[1] = facts.stx_mnt_id;
	assert_int_equal(mount_compare_ids(ids, 2, &seen, NULL), 0);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.items[0]->entry.mount_point, sandbox_dir());
	table_entries_done(&seen);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		MOUNT_LOOK_CASES(SANDBOX_TEST),
		SANDBOX_TEST(test_mounts_by_their_ids),
	};

	return sandbox_run("mount_compare", tests, ARRAY_SIZE(tests));
}
