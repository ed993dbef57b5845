/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_project_quota - emptyDirs whose sizeLimit is a project quota
 *
 * On xfs and ext4 of a kernel that has such quotas, else skipped; and with a kill at each change,
 * against a stand-in for the calls.
 */
#include "tests/unit/mount/fake_projects.h"
#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "mount/capacity/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB    (1 << 20)
#define VOLUME "root/pods/u1/volumes/kubernetes.io~empty-dir/scratch"

static void begin(struct test_volume *volume)
{
	test_volume_init(volume, "kubernetes.io/empty-dir", false);
	volume->source.source = SOURCE_EMPTY_DIR;
	volume->source.medium = "";
	volume->source.has_size_limit = true;
	volume->source.size_limit_bytes = 8 * MIB;
}

static int set_up(struct test_volume *volume)
{
	return test_volume_run(volume, volume->plugin->new_mounter);
}

static int tear_down(struct test_volume *volume)
{
	return test_volume_run(volume, volume->plugin->new_unmounter);
}

static bool exists(const char *relative)
{
	return faccessat(AT_FDCWD, sandbox_path(relative), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int open_volume(void)
{
	int fd = open(sandbox_path(VOLUME), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

/* ---- a kernel's own ---- */

static struct loop_image disk;

static void mount_disk(const char *type)
{
	static const char *const ext4[] = {
		"/usr/sbin/mkfs.ext4", "-q", "-O", "project,quota", "-E",
		"quotatype=prjquota",  NULL, NULL
	};
	const char *argv[ARRAY_SIZE(ext4)];

	disk = loop_image_new("disk", 320);
	if (strcmp(type, "ext4") == 0) {
		memcpy(argv, ext4, sizeof(ext4));
		argv[6] = sandbox_path("disk");
		loop_image_run(argv);
	} else {
		loop_image_format("disk", "/usr/sbin/mkfs.xfs");
	}
	sandbox_mkdir("root", 0755);
	if (mount(disk.path, sandbox_path("root"), type, 0, "prjquota") == 0)
		return;
	loop_image_done(&disk);
	print_message("# this kernel has no project quotas on %s: %s\n", type, strerror(errno));
	skip();
}

static void unmount_disk(void)
{
	assert_return_code(umount(sandbox_path("root")), errno);
	loop_image_done(&disk);
}

/* How much of so many MiB can be written. */
static unsigned int fill(const char *relative, unsigned int mebibytes)
{
	cleanup_free char *block = calloc(1, MIB);
	cleanup_close int fd = open(sandbox_path(relative), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	unsigned int written = 0;

	assert_non_null(block);
	assert_return_code(fd, errno);
	while (written < mebibytes && write(fd, block, MIB) == MIB && fsync(fd) == 0)
		written++;
	return written;
}

/* Return: why no more can be written. */
static int write_to_full(void)
{
	cleanup_free char *block = calloc(1, MIB);
	cleanup_close int fd =
		open(sandbox_path(VOLUME "/another"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_non_null(block);
	if (fd < 0)
		return -errno;
	for (int i = 0; i < 64; i++)
		if (write(fd, block, MIB) < 0)
			return -errno;
	return 0;
}

static struct tree_usage usage(void)
{
	cleanup_close int fd = open(sandbox_path(VOLUME), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct tree_usage got;

	assert_int_equal(tree_usage_count(fd, 0, &got), 0);
	return got;
}

static uint64_t limit_of(uint64_t number)
{
	struct capacity_usage got = { .limit_bytes = 0 };
	cleanup_close int fd = open_volume();

	assert_int_equal(capacity_project.number(fd), number);
	assert_int_equal(capacity_project.read_usage(fd, &got), 0);
	return got.limit_bytes;
}

/* ext4 exempts processes with CAP_SYS_RESOURCE: root here, and no usual container. */
static void drop_resource_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	assert_return_code(syscall(SYS_capget, &header, data), errno);
	data[0].effective &= ~(1u << CAP_SYS_RESOURCE);
	assert_return_code(syscall(SYS_capset, &header, data), errno);
}

static void a_directory_holds_its_limit(const char *type, int full)
{
	struct test_volume volume;
	struct statvfs status;
	uint64_t number;

	mount_disk(type);
	drop_resource_capability();
	begin(&volume);
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	{
		cleanup_close int fd = open_volume();

		number = capacity_project.number(fd);
		assert_int_not_equal(number, 0);
	}
	assert_int_equal(limit_of(number), 8 * MIB);
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_in_range(fill(VOLUME "/file", 64), 6, 8);
	assert_int_equal(write_to_full(), -full);
	assert_in_range(usage().bytes, 6 * MIB, 8 * MIB);
	assert_in_range(usage().inodes, 2, 3);
	assert_return_code(statvfs(sandbox_path(VOLUME), &status), errno);
	assert_int_equal(status.f_blocks * status.f_frsize, 8 * MIB);
	/* What is around it is not limited. */
	assert_int_equal(fill("root/file", 16), 16);

	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_false(exists("root/pods/u1"));
	/* The same inode, and with it the same number, or another: nothing of the first is left. */
	volume.source.size_limit_bytes = 16 * MIB;
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_in_range(fill(VOLUME "/file", 64), 14, 16);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
	unmount_disk();
}

static void test_xfs(void **state)
{
	a_directory_holds_its_limit("xfs", ENOSPC);
}

static void test_ext4(void **state)
{
	a_directory_holds_its_limit("ext4", EDQUOT);
}

/* ---- against a stand-in ---- */

static uint32_t number_of_volume(void)
{
	cleanup_close int fd = open_volume();

	return fake_projects_get(fd);
}

static void test_limit_and_its_end(void **state)
{
	struct test_volume volume;
	uint32_t number;

	fake_projects_reset();
	begin(&volume);
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	number = number_of_volume();
	assert_true(number >= FAKE_NUMBER_FIRST);
	assert_int_equal(*fake_projects_limit(number), 8 * MIB / 512);
	fake_projects.used_blocks = 2048;
	assert_int_equal(usage().bytes, MIB);
	assert_int_equal(usage().inodes, 1);
	/* After a restart. */
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_string_equal(fake_projects.done, "number limit ");
	fake_projects.used_blocks = 0;
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_false(exists("root/pods/u1"));
	assert_int_equal(*fake_projects_limit(number), 0);
	assert_string_equal(fake_projects.done, "number limit limit ");
	test_volume_done(&volume);
	fake_projects_done();
}

/* Memory, without a limit, with one of nothing (kubelet's: none), where there are no quotas. */
static void test_no_project(void **state)
{
	struct test_volume volume;

	fake_projects_reset();
	begin(&volume);
	volume.source.size_limit_bytes = 0;
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(number_of_volume(), 0);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	volume.source.size_limit_bytes = MIB;
	volume.source.medium = "Memory";
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(number_of_volume(), 0);
	fake_projects.type = 0;
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	fake_projects_reset();
	fake_projects.enforces = false;
	volume.source.medium = "";
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(number_of_volume(), 0);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_int_equal(fake_projects.calls, 0);
	test_volume_done(&volume);
	fake_projects_done();
}

/* An emptyDir that kubelet made, in a project of kubelet's or in none. */
static void test_kubelets_project_stays(void **state)
{
	enum { KUBELETS = 1048577 };
	struct test_volume volume;

	fake_projects_reset();
	begin(&volume);
	fake_projects.enforces = false;
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	{
		cleanup_close int fd = open_volume();

		fake_projects_set(fd, KUBELETS, 0);
	}
	fake_projects.enforces = true;
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_int_equal(number_of_volume(), KUBELETS);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_int_equal(fake_projects.calls, 0);
	test_volume_done(&volume);
	fake_projects_done();
}

/* Return: the changes of a set-up and a teardown that was killed at the @nth; 0: it was not. */
static unsigned int live_with_kill(unsigned int nth)
{
	struct test_volume volume;
	unsigned int calls;

	fake_projects_reset();
	begin(&volume);
	fake_projects.killed_at = nth;
	/* A failure of the quota is no failure of the volume; a kill ends it before it is ready. */
	if (set_up(&volume) == STAGE_NEXT && fake_projects.calls >= nth)
		assert_return_code(
			unlink(sandbox_path(
				"root/pods/u1/plugins/kubernetes.io~empty-dir/scratch/ready")),
			errno);
	if (fake_projects.calls >= nth)
		fake_projects.killed_at = 0;
	assert_int_equal(set_up(&volume), fake_projects.killed_at ? STAGE_LIST_DONE : STAGE_NEXT);
	assert_int_equal(*fake_projects_limit(number_of_volume()), 8 * MIB / 512);
	assert_int_equal(fake_projects.limit_count, 1);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	calls = fake_projects.calls;
	fake_projects.killed_at = 0;
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_false(exists("root/pods/u1"));
	/* Whatever the kill left does not limit the next one. */
	volume.source.size_limit_bytes = 16 * MIB;
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(*fake_projects_limit(number_of_volume()), 16 * MIB / 512);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
	fake_projects_done();
	assert_return_code(rmdir(sandbox_path("root/pods")), errno);
	assert_return_code(rmdir(sandbox_path("root")), errno);
	return calls >= nth ? calls : 0;
}

static void test_killed_at_each_change(void **state)
{
	unsigned int nth = 1;

	while (live_with_kill(nth) > 0)
		nth++;
	assert_int_equal(nth, 4); /* number and limit at set-up, limit at teardown */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_xfs, sandbox_setup, loop_image_teardown),
		cmocka_unit_test_setup_teardown(test_ext4, sandbox_setup, loop_image_teardown),
		SANDBOX_TEST(test_limit_and_its_end),
		SANDBOX_TEST(test_no_project),
		SANDBOX_TEST(test_kubelets_project_stays),
		SANDBOX_TEST(test_killed_at_each_change),
	};

	return sandbox_run("project_quota", tests, ARRAY_SIZE(tests));
}
