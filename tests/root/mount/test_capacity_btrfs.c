/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_capacity_btrfs - volumes that are subvolumes with a quota, on a real btrfs
 *
 * Both kinds of quotas of this kernel; where it has no btrfs, or no simple quotas, that is said.
 */
#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/capacity/capacity.h"
#include "mount/remove/volume_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define MARK  "uid-1"
#define MIB   (1 << 20)
#define LIMIT (8 * MIB)

enum quotas { QUOTAS_OFF = 0, QUOTAS_FULL = BTRFS_QUOTA_CTL_ENABLE, QUOTAS_SIMPLE = 4 };

static struct loop_image disk;
static char base[64]; /* the base path */

static void mount_btrfs(enum quotas quotas)
{
	struct btrfs_ioctl_quota_ctl_args args = { .cmd = (uint64_t) quotas };
	cleanup_close int fd = -EBADF;

	disk = loop_image_new("disk", 128);
	loop_image_format("disk", "/usr/sbin/mkfs.btrfs");
	sandbox_mkdir("base", 0755);
	(void) snprintf(base, sizeof(base), "%s", sandbox_path("base"));
	if (mount(disk.path, sandbox_path("base"), "btrfs", 0, "") < 0) {
		loop_image_done(&disk);
		print_message("# no btrfs here\n");
		skip();
	}
	fd = open(sandbox_path("base"), O_RDONLY | O_CLOEXEC);
	if (quotas != QUOTAS_OFF && ioctl(fd, BTRFS_IOC_QUOTA_CTL, &args) < 0) {
		assert_return_code(umount(sandbox_path("base")), errno);
		loop_image_done(&disk);
		print_message("# no such quotas here\n");
		skip();
	}
}

static void unmount_btrfs(void)
{
	assert_return_code(umount(sandbox_path("base")), errno);
	loop_image_done(&disk);
}

static struct volume_directory volume(const char *name)
{
	return (struct volume_directory){ .base_path = base,
					  .name = name,
					  .mark = MARK,
					  .capacity = CAPACITY_QUOTA,
					  .bytes = LIMIT };
}

static void make(const char *name)
{
	const struct volume_directory made = volume(name);
	struct failure why = { .error = 0 };

	if (volume_directory_make(&made, 0770, &why) < 0)
		fail_msg("%s", why.text);
}

/* How much of so many MiB can be written; 0 and an error when not even one. */
static unsigned int fill(const char *relative, unsigned int mebibytes)
{
	cleanup_free char *block = calloc(1, MIB);
	cleanup_close int fd = open(sandbox_path(relative), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	unsigned int written = 0;

	assert_non_null(block);
	while (fd >= 0 && written < mebibytes && write(fd, block, MIB) == MIB)
		written++;
	if (fd >= 0)
		(void) fsync(fd);
	return written;
}

static struct capacity_usage usage(const char *relative)
{
	struct capacity_usage got = { .limit_bytes = 0 };

	assert_int_equal(capacity_quota_usage(sandbox_path(relative), &got), 0);
	return got;
}

static void it_holds_as_much_as_was_asked_for(enum quotas quotas)
{
	const struct volume_directory gone = volume("v");
	struct volume_directory grown = volume("v");
	struct stat status;
	unsigned int written;

	mount_btrfs(quotas);
	make("v");
	make("v"); /* as after a kill */
	assert_return_code(stat(sandbox_path("base/v"), &status), errno);
	assert_int_equal(status.st_mode & 07777, 0770);
	assert_int_equal(status.st_ino, 256);
	assert_int_equal(usage("base/v").limit_bytes, LIMIT);
	assert_true(usage("base/v").used_bytes < MIB);

	written = fill("base/v/file", 64);
	assert_in_range(written, 6, 8);
	assert_in_range(usage("base/v").used_bytes, 6 * MIB, LIMIT);
	assert_int_equal(capacity_grow_at(sandbox_path("base/v"), "uid-2", 2 * LIMIT, NULL),
			 -EPERM);
	assert_int_equal(capacity_grow_at(sandbox_path("base/v"), MARK, 2 * LIMIT, NULL), 0);
	assert_int_equal(usage("base/v").limit_bytes, 2 * LIMIT);
	grown.bytes = 3 * LIMIT;
	assert_int_equal(volume_directory_grow(&grown, NULL), 0);
	assert_int_equal(usage("base/v").limit_bytes, 3 * LIMIT);
	assert_in_range(fill("base/v/more", 64), 10, 16);

	assert_int_equal(volume_directory_remove(&gone, NULL), 0);
	assert_int_equal(volume_directory_remove(&gone, NULL), 0);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	make("v");
	unmount_btrfs();
}

static void a_quota_holds(void **state)
{
	it_holds_as_much_as_was_asked_for(QUOTAS_FULL);
}

static void a_simple_quota_holds(void **state)
{
	it_holds_as_much_as_was_asked_for(QUOTAS_SIMPLE);
}

static int make_subvolume(const char *parent, const char *name)
{
	cleanup_close int fd = open(sandbox_path(parent), O_RDONLY | O_CLOEXEC);
	struct btrfs_ioctl_vol_args args = { .fd = 0 };

	(void) snprintf(args.name, sizeof(args.name), "%s", name);
	return ioctl(fd, BTRFS_IOC_SUBVOL_CREATE, &args);
}

static void a_subvolume_in_it_does_not_escape_a_simple_quota(void **state)
{
	const struct volume_directory gone = volume("v");

	mount_btrfs(QUOTAS_SIMPLE);
	make("v");
	assert_return_code(make_subvolume("base/v", "inner"), errno);
	assert_in_range(fill("base/v/inner/file", 64), 5, 8);
	/* And goes with it. */
	assert_int_equal(volume_directory_remove(&gone, NULL), 0);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	unmount_btrfs();
}

static void without_quotas_it_says_what_to_do(void **state)
{
	const struct volume_directory made = volume("v");
	const char *const paths[] = { base };
	const struct volume_order wish = {
		.base_paths = paths, .count = 1, .name = "v", .capacity = CAPACITY_QUOTA, .bytes = 1
	};
	struct volume_choice choice;
	struct failure why = { .error = 0 };

	mount_btrfs(QUOTAS_OFF);
	assert_int_equal(volume_directory_make(&made, 0770, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why.text, "btrfs quota enable"));
	assert_int_equal(volume_directory_choose(&wish, &choice, &why), -EOPNOTSUPP);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	unmount_btrfs();
}

static void what_bears_another_mark_stays(void **state)
{
	struct volume_directory other = volume("v");

	mount_btrfs(QUOTAS_FULL);
	make("v");
	(void) fill("base/v/file", 1);
	other.mark = "uid-2";
	assert_int_equal(volume_directory_remove(&other, NULL), -EPERM);
	assert_int_equal(volume_directory_unmake(&other, NULL), -EPERM);
	assert_int_equal(volume_directory_grow(&other, NULL), -EPERM);
	/* One that is no subvolume is given no quota, empty as it may be. */
	sandbox_mkdir("base/plain", 0755);
	other = volume("plain");
	assert_int_equal(volume_directory_make(&other, 0770, NULL), -EEXIST);
	assert_int_equal(access(sandbox_path("base/v/file"), F_OK), 0);
	other = volume("v");
	assert_int_equal(volume_directory_unmake(&other, NULL), -ENOTEMPTY);
	unmount_btrfs();
}

static void what_was_never_used_is_taken_back(void **state)
{
	const struct volume_directory unused = volume("v");

	mount_btrfs(QUOTAS_SIMPLE);
	make("v");
	assert_int_equal(volume_directory_unmake(&unused, NULL), 0);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	/* Killed before its mark was there: a subvolume of mode 0. */
	assert_return_code(make_subvolume("base", "v"), errno);
	assert_return_code(chmod(sandbox_path("base/v"), 0), errno);
	assert_int_equal(volume_directory_unmake(&unused, NULL), 0);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	unmount_btrfs();
}

static void a_full_disk_lets_volumes_go(void **state)
{
	const struct volume_directory full = volume("v"), next = volume("w");

	mount_btrfs(QUOTAS_FULL);
	make("v");
	(void) fill("base/v/file", 4);
	assert_in_range(fill("base/others", 256), 1, 255);
	/* A new one may be made of what is left; if not, nothing of it is there. */
	if (volume_directory_make(&next, 0770, NULL) < 0)
		assert_int_equal(access(sandbox_path("base/w"), F_OK), -1);
	assert_int_equal(volume_directory_remove(&full, NULL), 0);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	unmount_btrfs();
}

static void what_is_mounted_elsewhere_stays(void **state)
{
	const struct volume_directory used = volume("v");

	mount_btrfs(QUOTAS_FULL);
	make("v");
	(void) fill("base/v/file", 1);
	sandbox_mkdir("there", 0755);
	assert_return_code(
		mount(sandbox_path("base/v"), sandbox_path("there"), NULL, MS_BIND, NULL), errno);
	assert_int_equal(volume_directory_remove(&used, NULL), -EBUSY);
	assert_int_equal(access(sandbox_path("base/v/file"), F_OK), 0);
	assert_return_code(umount(sandbox_path("there")), errno);
	assert_int_equal(volume_directory_remove(&used, NULL), 0);
	unmount_btrfs();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(a_quota_holds),
		SANDBOX_TEST(a_simple_quota_holds),
		SANDBOX_TEST(a_subvolume_in_it_does_not_escape_a_simple_quota),
		SANDBOX_TEST(without_quotas_it_says_what_to_do),
		SANDBOX_TEST(what_bears_another_mark_stays),
		SANDBOX_TEST(what_was_never_used_is_taken_back),
		SANDBOX_TEST(a_full_disk_lets_volumes_go),
		SANDBOX_TEST(what_is_mounted_elsewhere_stays),
	};

	return sandbox_run("capacity_btrfs", tests, ARRAY_SIZE(tests));
}
