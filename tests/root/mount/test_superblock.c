/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_superblock - the device number of a file system as tables of mounts show it, for each kind
 * and for mounts that are in no table
 */
#include "tests/root/file_systems.h"

#include "base/cleanup.h"
#include "mount/holders/process.h"
#include "mount/table/mountinfo.h"
#include "mount/table/superblock.h"

#include <fcntl.h>
#include <linux/btrfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* As mountinfo shows it for what is mounted there last. */
static dev_t table_device(const char *mount_point)
{
	cleanup_close int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *table = NULL;
	dev_t device = 0;

	assert_return_code(process_mounts(proc_fd, MOUNT_TABLE_BYTES_MAX, &table), errno);
	for (const char *line = table; *line; line = table_next_line(line)) {
		cleanup_free char *copy = table_copy_line(line);
		struct mountinfo_line mount;

		assert_int_equal(mountinfo_parse(copy, &mount), 0);
		if (strcmp(mount.mount_point, mount_point) == 0)
			device = mount.device;
	}
	assert_int_not_equal(device, 0);
	return device;
}

static void expect_device(int fd, dev_t device, dev_t other)
{
	dev_t found = 0;

	assert_return_code(fd, errno);
	assert_int_equal(superblock_device(fd, &found), 0);
	assert_int_equal(found, device);
	assert_int_not_equal(found, other);
}

/* Its directory, a file that is written and, on btrfs, what is in a subvolume. */
static void make_content(const char *type)
{
	cleanup_close int fd = open(sandbox_path("there"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct btrfs_ioctl_vol_args args = { .name = "part" };

	assert_return_code(fd, errno);
	if (strcmp(type, "btrfs") == 0)
		assert_return_code(ioctl(fd, BTRFS_IOC_SUBVOL_CREATE, &args), errno);
	else
		sandbox_mkdir("there/part", 0755);
	sandbox_write("there/part/file", "text");
}

static void check_kind(const char *type)
{
	cleanup_close int root_fd = -EBADF, file_fd = -EBADF, below_fd = -EBADF;
	struct stat status;
	dev_t device, other;

	file_system_mount(type, "there");
	make_content(type);
	device = table_device(sandbox_path("there"));
	other = table_device(sandbox_dir());
	root_fd = open(sandbox_path("there"), O_PATH | O_CLOEXEC);
	file_fd = open(sandbox_path("there/part/file"), O_PATH | O_CLOEXEC);
	expect_device(root_fd, device, other);
	expect_device(file_fd, device, other);
	/* Otherwise this test would prove nothing. */
	assert_return_code(fstat(file_fd, &status), errno);
	assert_true(status.st_dev == device || strcmp(type, "btrfs") == 0 ||
		    strcmp(type, "overlay") == 0);
	assert_true(status.st_dev != device || strcmp(type, "btrfs") != 0);
	if (strcmp(type, "overlay") == 0) {
		below_fd = open(sandbox_path("there/below"), O_PATH | O_CLOEXEC);
		expect_device(below_fd, device, other);
	}
	assert_return_code(umount2(sandbox_path("there"), MNT_DETACH), errno);
	expect_device(root_fd, device, other);
	expect_device(file_fd, device, other);
}

/* case 463: a lazily unmounted copy is recognised by this number. */
static void test_every_kind_attached_and_detached(void **state)
{
	sandbox_mkdir("there", 0755);
	for (size_t i = 0; file_systems[i]; i++) {
		print_message("# %s\n", file_systems[i]);
		check_kind(file_systems[i]);
		file_system_clean(file_systems[i]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_every_kind_attached_and_detached),
	};

	return sandbox_run("superblock", tests, ARRAY_SIZE(tests));
}
