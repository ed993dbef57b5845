/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_empty_dir - emptyDir on disk and in memory on the real kernel; huge pages where it has them
 */
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define VOLUME "root/pods/u1/volumes/kubernetes.io~empty-dir/scratch"
#define META   "root/pods/u1/plugins/kubernetes.io~empty-dir/scratch"

static void begin(struct test_volume *volume, const char *medium)
{
	test_volume_init(volume, "kubernetes.io/empty-dir", false);
	volume->source.source = SOURCE_EMPTY_DIR;
	volume->source.medium = medium;
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

static struct stat look(const char *relative)
{
	struct stat st;

	assert_return_code(stat(sandbox_path(relative), &st), errno);
	return st;
}

/* case 115, case 132 */
static void test_directory_and_gone(void **state)
{
	struct test_volume volume;

	begin(&volume, "");
	(void) umask(077);
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	(void) umask(022);
	assert_int_equal(look(VOLUME).st_mode & 07777, 0777);
	assert_int_equal(look(VOLUME "/..").st_mode & 07777, 0755);
	assert_int_equal(look(VOLUME "/../..").st_mode & 07777, 0750);
	assert_int_equal(look(META).st_mode & 07777, 0750);
	assert_true(sandbox_has(META "/ready", ""));
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 0);

	sandbox_mkdir(VOLUME "/sub", 0700);
	sandbox_write(VOLUME "/sub/file", "x");
	assert_return_code(symlink("/", sandbox_path(VOLUME "/link")), errno);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_false(exists("root/pods/u1"));
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

/* case 116, case 117 */
static void test_set_up_again(void **state)
{
	struct test_volume volume;

	begin(&volume, "");
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	sandbox_write(VOLUME "/file", "kept");
	assert_return_code(chmod(sandbox_path(VOLUME), 0700), errno);
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_true(sandbox_has(VOLUME "/file", "kept"));
	assert_int_equal(look(VOLUME).st_mode & 07777, 0700);

	assert_return_code(unlink(sandbox_path(VOLUME "/file")), errno);
	assert_return_code(rmdir(sandbox_path(VOLUME)), errno);
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(look(VOLUME).st_mode & 07777, 0777);
	assert_true(exists(META "/ready"));
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

/* case 119, case 122, case 131 */
static void test_memory(void **state)
{
	struct test_volume volume;
	struct statvfs status;

	begin(&volume, "Memory");
	volume.source.has_size_limit = true;
	volume.source.size_limit_bytes = 5 << 20;
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_return_code(statvfs(sandbox_path(VOLUME), &status), errno);
	assert_int_equal(status.f_blocks * status.f_frsize, 5 << 20);
	sandbox_write(VOLUME "/file", "x");
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);

	/* Killed before the ready file was written: mounted once all the same. */
	assert_return_code(unlink(sandbox_path(META "/ready")), errno);
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_true(sandbox_has(VOLUME "/file", "x"));

	volume.source.medium = ""; /* teardown does not ask the spec */
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 0);
	assert_false(exists("root/pods/u1"));
	test_volume_done(&volume);
}

/* The machine was started again: the ready file is a lie then. */
static void test_memory_after_a_restart(void **state)
{
	struct test_volume volume;

	begin(&volume, "Memory");
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_true(exists(META "/ready"));
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

static void test_memory_in_use(void **state)
{
	struct test_volume volume;
	int fd;

	begin(&volume, "Memory");
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	fd = open(sandbox_path(VOLUME), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(tear_down(&volume), -EBUSY);
	(void) close(fd);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

/* case 134 */
static void test_ownership(void **state)
{
	static const char *const media[] = { "", "Memory" };
	struct test_volume volume;

	for (size_t i = 0; i < ARRAY_SIZE(media); i++) {
		if (i > 0)
			assert_return_code(rmdir(sandbox_path("root/pods")), errno);
		if (i > 0)
			assert_return_code(rmdir(sandbox_path("root")), errno);
		begin(&volume, media[i]);
		volume.pod.has_fs_group = true;
		volume.pod.fs_group = 1000;
		volume.pod.fs_group_change_policy = FS_GROUP_CHANGE_ON_ROOT_MISMATCH;
		assert_int_equal(set_up(&volume), STAGE_NEXT);
		assert_int_equal(look(VOLUME).st_gid, 1000);
		assert_true(look(VOLUME).st_mode & S_ISGID);
		assert_int_equal(tear_down(&volume), STAGE_NEXT);
		test_volume_done(&volume);
	}
}

/* Promise: nothing across a mount point, of podvold or others. */
static void test_mounts_in_it_are_kept(void **state)
{
	struct test_volume volume;

	begin(&volume, "");
	sandbox_mkdir("precious", 0755);
	sandbox_write("precious/file", "data");
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	sandbox_mkdir(VOLUME "/inner", 0755);
	assert_return_code(
		mount(sandbox_path("precious"), sandbox_path(VOLUME "/inner"), NULL, MS_BIND, NULL),
		errno);
	assert_int_equal(tear_down(&volume), -EXDEV);
	assert_true(sandbox_has("precious/file", "data"));
	assert_return_code(umount2(sandbox_path(VOLUME "/inner"), 0), errno);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_true(sandbox_has("precious/file", "data"));
	test_volume_done(&volume);
}

/* ... and nothing that is mounted on the volume itself. */
static void test_mount_on_it_is_kept(void **state)
{
	struct test_volume volume;

	begin(&volume, "");
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_return_code(mount("proc", sandbox_path(VOLUME), "proc", 0, NULL), errno);
	assert_int_equal(tear_down(&volume), -EBUSY);
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 1);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

/* case 123 */
static void mount_memory(const char *path)
{
	assert_return_code(mount("tmpfs", path, "tmpfs", 0, "size=1m"), errno);
}

/* Memory that another process mounted there unwatched: over the volume's own, or in its
 * place. */
static void test_memory_of_others_is_left(void **state)
{
	struct test_volume volume;

	begin(&volume, "Memory");
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	mount_memory(sandbox_path(VOLUME));
	sandbox_write(VOLUME "/theirs", "theirs");
	assert_int_equal(set_up(&volume), -EBUSY);
	assert_non_null(strstr(volume.report.failure.text, "not this volume's"));
	assert_int_equal(tear_down(&volume), -EBUSY);
	assert_int_equal(tear_down(&volume), -EBUSY);
	assert_true(sandbox_has(VOLUME "/theirs", "theirs"));
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 2);

	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	mount_memory(sandbox_path(VOLUME));
	assert_int_equal(tear_down(&volume), -EBUSY);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_false(exists(VOLUME));
	assert_false(exists(META));
	test_volume_done(&volume);
}

/* Made again after its mount went, it is known again; kubelet's says nothing, and is believed. */
static void test_memory_is_known_anew(void **state)
{
	struct test_volume volume;

	begin(&volume, "Memory");
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	mount_memory(sandbox_path(VOLUME));
	assert_int_equal(set_up(&volume), -EBUSY);
	sandbox_write(META "/ready", "");
	assert_int_equal(set_up(&volume), STAGE_LIST_DONE);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

static void test_huge_pages(void **state)
{
	static const struct huge_page_request request = { "2Mi", 2 << 20 };
	static const struct pod_container container = { .huge_pages = &request,
							.huge_page_count = 1 };
	struct test_volume volume;
	struct statvfs status;
	int result;

	begin(&volume, "HugePages");
	volume.pod.containers = &container;
	volume.pod.container_count = 1;
	result = set_up(&volume);
	if (result == -ENODEV || result == -EPERM || result == -EINVAL) {
		assert_non_null(strstr(volume.report.failure.text, "cannot mount huge pages"));
		assert_false(exists(META "/ready"));
		assert_int_equal(tear_down(&volume), STAGE_NEXT);
		test_volume_done(&volume);
		print_message("this kernel mounts no hugetlbfs with pages of 2Mi\n");
		skip();
	}
	assert_int_equal(result, STAGE_NEXT);
	assert_return_code(statvfs(sandbox_path(VOLUME), &status), errno);
	assert_int_equal(status.f_bsize, 2 << 20);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

/* ---- what was mounted this moment is unmounted by others ---- */

static bool unmounts_at_once;

int __real_mount_filesystem(const char *type, const char *source, const char *options,
			    int target_fd, struct failure *reterr);
int __wrap_mount_filesystem(const char *type, const char *source, const char *options,
			    int target_fd, struct failure *reterr);
int __wrap_mount_filesystem(const char *type, const char *source, const char *options,
			    int target_fd, struct failure *reterr)
{
	int r = __real_mount_filesystem(type, source, options, target_fd, reterr);

	if (r == 0 && unmounts_at_once)
		assert_return_code(umount2(sandbox_path(VOLUME), MNT_DETACH), errno);
	return r;
}

static void test_unmounted_as_it_is_mounted(void **state)
{
	struct test_volume volume;

	begin(&volume, "Memory");
	unmounts_at_once = true;
	assert_int_equal(set_up(&volume), -ESTALE);
	unmounts_at_once = false;
	assert_int_equal(volume.report.error_class, ERROR_UNCERTAIN);
	assert_false(exists(META "/ready"));

	assert_int_equal(set_up(&volume), STAGE_NEXT);
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 1);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_directory_and_gone),
		SANDBOX_TEST(test_set_up_again),
		SANDBOX_TEST(test_memory),
		SANDBOX_TEST(test_memory_after_a_restart),
		SANDBOX_TEST(test_memory_in_use),
		SANDBOX_TEST(test_ownership),
		SANDBOX_TEST(test_mounts_in_it_are_kept),
		SANDBOX_TEST(test_mount_on_it_is_kept),
		SANDBOX_TEST(test_memory_of_others_is_left),
		SANDBOX_TEST(test_memory_is_known_anew),
		SANDBOX_TEST(test_unmounted_as_it_is_mounted),
		SANDBOX_TEST(test_huge_pages),
	};

	return sandbox_run("empty_dir", tests, ARRAY_SIZE(tests));
}
