/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local - directory-backed local volumes on the real kernel
 */
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#define PODS   "root/pods/"
#define TARGET PODS "u1/volumes/kubernetes.io~local-volume/pv1"

static void begin(struct test_volume *volume)
{
	test_volume_init(volume, "kubernetes.io/local-volume", true);
	sandbox_mkdir("disk", 0755);
	sandbox_write("disk/file", "data");
	volume->pv.source = PV_SOURCE_LOCAL;
	volume->pv.local_path = strdup(sandbox_path("disk"));
}

static void end(struct test_volume *volume)
{
	free((char *) volume->pv.local_path);
	test_volume_done(volume);
}

static int set_up(struct test_volume *volume, const char *pod_uid)
{
	volume->request.pod_uid = pod_uid;
	return test_volume_run(volume, volume->plugin->new_mounter);
}

static int tear_down(struct test_volume *volume, const char *pod_uid)
{
	volume->request.pod_uid = pod_uid;
	return test_volume_run(volume, volume->plugin->new_unmounter);
}

static struct stat look(const char *relative)
{
	struct stat st;

	assert_return_code(stat(sandbox_path(relative), &st), errno);
	return st;
}

static bool exists(const char *relative)
{
	return faccessat(AT_FDCWD, sandbox_path(relative), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* case 46, case 62, there, and gone again without a directory left behind */
static void test_directory_is_mounted_and_gone(void **state)
{
	struct test_volume volume;

	begin(&volume);
	(void) umask(077);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	(void) umask(022);
	assert_true(sandbox_has(TARGET "/file", "data"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_int_equal(look(PODS "u1").st_mode & 07777, 0750);
	assert_int_equal(look(PODS "u1/volumes").st_mode & 07777, 0750);

	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 0);
	assert_false(exists(PODS "u1"));
	assert_true(exists("root/pods"));
	assert_true(sandbox_has("disk/file", "data"));
	end(&volume);
}

/* case 46, the target under the mount is 0750 whatever the umask */
static void test_target_mode(void **state)
{
	struct test_volume volume;

	begin(&volume);
	(void) umask(077);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	(void) umask(022);
	assert_return_code(umount2(sandbox_path(TARGET), UMOUNT_NOFOLLOW), errno);
	assert_int_equal(look(TARGET).st_mode & 07777, 0750);
	end(&volume);
}

/* case 43, case 44, case 45 */
static void test_sources_that_are_none(void **state)
{
	struct test_volume volume;
	const char *path;

	begin(&volume);
	path = volume.pv.local_path;
	volume.pv.local_path = sandbox_path("nowhere");
	assert_int_equal(set_up(&volume, "u1"), -ENOENT);
	assert_non_null(strstr(volume.report.failure.text, "does not exist"));
	volume.pv.local_path = sandbox_path("disk/file");
	assert_int_equal(set_up(&volume, "u1"), -ENOTSUP);
	volume.pv.local_path = sandbox_path("disk/../disk");
	assert_int_equal(set_up(&volume, "u1"), -EINVAL);
	assert_false(exists("root/pods"));
	volume.pv.local_path = path;
	end(&volume);
}

static void test_source_may_be_a_link(void **state)
{
	struct test_volume volume;
	const char *path;

	begin(&volume);
	path = volume.pv.local_path;
	assert_return_code(symlink(sandbox_path("disk"), sandbox_path("link")), errno);
	volume.pv.local_path = sandbox_path("link");
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_true(sandbox_has(TARGET "/file", "data"));
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	volume.pv.local_path = path;
	end(&volume);
}

/* case 47 */
static void test_set_up_twice(void **state)
{
	struct test_volume volume;

	begin(&volume);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_string_equal(volume.stage, "prepare the target");
	assert_true(volume.report.mount_id != 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	end(&volume);
}

/* case 47, a difference: what is mounted there must be this source. */
static void test_another_mount_is_not_taken_for_ours(void **state)
{
	struct test_volume volume;

	begin(&volume);
	sandbox_mkdir("other", 0755);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_return_code(umount2(sandbox_path(TARGET), 0), errno);
	assert_return_code(mount(sandbox_path("other"), sandbox_path(TARGET), NULL, MS_BIND, NULL),
			   errno);
	assert_int_equal(set_up(&volume, "u1"), -EBUSY);
	assert_int_equal(volume.report.error_class, ERROR_UNCERTAIN);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	end(&volume);
}

/* case 52 */
static void test_read_only(void **state)
{
	struct test_volume volume;
	gid_t gid;

	begin(&volume);
	gid = look("disk").st_gid;
	volume.spec.read_only = true;
	volume.pod.has_fs_group = true;
	volume.pod.fs_group = 4242;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_int_equal(open(sandbox_path(TARGET "/new"), O_CREAT | O_WRONLY, 0644), -1);
	assert_int_equal(errno, EROFS);
	assert_int_equal(look("disk").st_gid, gid);
	sandbox_write("disk/new", "the source itself is writable");
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	end(&volume);
}

/* case 53 */
static void test_mount_options(void **state)
{
	static const char *const options[] = { "noexec", "ro", "noexec" };
	struct test_volume volume;
	struct statvfs status;

	begin(&volume);
	volume.pv.mount_options = options;
	volume.pv.mount_option_count = ARRAY_SIZE(options);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_return_code(statvfs(sandbox_path(TARGET), &status), errno);
	assert_true(status.f_flag & ST_NOEXEC);
	assert_true(status.f_flag & ST_RDONLY);
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	end(&volume);
}

/* case 54, case 55, case 56, case 57 on one volume, as pods come */
static void test_groups_of_several_pods(void **state)
{
	struct test_volume volume;

	begin(&volume);
	volume.pod.has_fs_group = true;
	volume.pod.fs_group = 1000;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_string_equal(volume.stage, "apply ownership");
	assert_int_equal(look("disk").st_gid, 1000);
	assert_int_equal(look("disk").st_mode & 07777, 02775);
	assert_int_equal(look("disk/file").st_gid, 1000);
	assert_int_equal(look("disk/file").st_mode & 07777, 0664);

	assert_return_code(chown(sandbox_path("disk/file"), 0, 0), errno);
	assert_int_equal(set_up(&volume, "u2"), STAGE_LIST_DONE);
	assert_int_equal(volume.report.event_count, 0);
	assert_int_equal(look("disk/file").st_gid, 0);

	volume.pod.fs_group = 2000;
	assert_int_equal(set_up(&volume, "u3"), STAGE_LIST_DONE);
	assert_int_equal(volume.report.event_count, 1);
	assert_string_equal(volume.report.events[0].reason, "AlreadyMountedVolume");
	assert_int_equal(look("disk").st_gid, 1000);

	volume.pod.has_fs_group = false;
	assert_int_equal(set_up(&volume, "u4"), STAGE_LIST_DONE);
	assert_int_equal(volume.report.event_count, 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 4);
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	assert_int_equal(tear_down(&volume, "u2"), STAGE_NEXT);
	assert_int_equal(tear_down(&volume, "u3"), STAGE_NEXT);
	assert_int_equal(tear_down(&volume, "u4"), STAGE_NEXT);
	end(&volume);
}

/* case 58, case 59 */
static void test_mounts_elsewhere_are_no_pods(void **state)
{
	struct test_volume volume;

	begin(&volume);
	sandbox_mkdir("outside", 0755);
	sandbox_mkdir("root/podsx", 0755);
	assert_return_code(
		mount(sandbox_path("disk"), sandbox_path("outside"), NULL, MS_BIND, NULL), errno);
	assert_return_code(
		mount(sandbox_path("disk"), sandbox_path("root/podsx"), NULL, MS_BIND, NULL),
		errno);
	volume.pod.has_fs_group = true;
	volume.pod.fs_group = 1000;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_int_equal(look("disk").st_gid, 1000);
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	assert_return_code(umount2(sandbox_path("outside"), 0), errno);
	assert_return_code(umount2(sandbox_path("root/podsx"), 0), errno);
	end(&volume);
}

/* case 47, a difference: what an interrupted change left is finished by the next set-up. */
static void test_interrupted_ownership_is_finished(void **state)
{
	struct test_volume volume;

	begin(&volume);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	volume.pod.has_fs_group = true;
	volume.pod.fs_group = 1000;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_int_equal(look("disk/file").st_gid, 1000);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	end(&volume);
}

/* case 63, case 64 */
static void test_tear_down_of_what_is_not_mounted(void **state)
{
	struct test_volume volume;

	begin(&volume);
	assert_int_equal(tear_down(&volume, "u1"), STAGE_NEXT);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_return_code(umount2(sandbox_path(TARGET), 0), errno);
	sandbox_write(TARGET "/kept", "data");
	assert_int_equal(tear_down(&volume, "u1"), -ENOTEMPTY);
	assert_true(sandbox_has(TARGET "/kept", "data"));
	end(&volume);
}

/* A link in podvold's own directories is an attack: nothing is made behind it. */
static void test_links_in_the_root_directory_are_not_followed(void **state)
{
	struct test_volume volume;

	begin(&volume);
	sandbox_mkdir("elsewhere", 0755);
	sandbox_mkdir("root/pods", 0750);
	assert_return_code(symlink(sandbox_path("elsewhere"), sandbox_path(PODS "u1")), errno);
	assert_true(set_up(&volume, "u1") < 0);
	assert_false(exists("elsewhere/volumes"));
	assert_true(tear_down(&volume, "u1") < 0);
	end(&volume);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_directory_is_mounted_and_gone),
		SANDBOX_TEST(test_target_mode),
		SANDBOX_TEST(test_sources_that_are_none),
		SANDBOX_TEST(test_source_may_be_a_link),
		SANDBOX_TEST(test_set_up_twice),
		SANDBOX_TEST(test_another_mount_is_not_taken_for_ours),
		SANDBOX_TEST(test_read_only),
		SANDBOX_TEST(test_mount_options),
		SANDBOX_TEST(test_groups_of_several_pods),
		SANDBOX_TEST(test_mounts_elsewhere_are_no_pods),
		SANDBOX_TEST(test_interrupted_ownership_is_finished),
		SANDBOX_TEST(test_tear_down_of_what_is_not_mounted),
		SANDBOX_TEST(test_links_in_the_root_directory_are_not_followed),
	};

	return sandbox_run("local", tests, ARRAY_SIZE(tests));
}
