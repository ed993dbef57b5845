/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_device - local volumes whose source is a block device, staged as a file system, on
 * loop devices
 */
#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#define BASE    "root/plugins/kubernetes.io/local-volume/mounts"
#define STAGING BASE "/pv1"
#define TARGET  "root/pods/u1/volumes/kubernetes.io~local-volume/pv1"

struct fixture {
	struct test_volume volume;
	struct test_loop loop;
};

static void begin(struct fixture *fixture)
{
	test_loop_attach(&fixture->loop, "image", 32);
	test_volume_init(&fixture->volume, "kubernetes.io/local-volume", true);
	fixture->volume.pv.source = PV_SOURCE_LOCAL;
	fixture->volume.pv.local_path = fixture->loop.path;
}

static void end(struct fixture *fixture)
{
	test_volume_done(&fixture->volume);
	test_loop_detach(&fixture->loop);
}

static int stage_device(struct fixture *fixture)
{
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_device_mounter);
}

static int unstage_device(struct fixture *fixture)
{
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_device_unmounter);
}

static int set_up(struct fixture *fixture)
{
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_mounter);
}

static int tear_down(struct fixture *fixture)
{
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_unmounter);
}

static bool exists(const char *relative)
{
	return access(sandbox_path(relative), F_OK) == 0;
}

/* case 46, a directory is not staged */
static void test_directory_is_not_staged(void **state)
{
	struct test_volume volume;

	test_volume_init(&volume, "kubernetes.io/local-volume", true);
	sandbox_mkdir("disk", 0755);
	volume.pv.source = PV_SOURCE_LOCAL;
	volume.pv.local_path = sandbox_path("disk");
	assert_int_equal(test_volume_run(&volume, volume.plugin->new_device_mounter),
			 STAGE_LIST_DONE);
	assert_false(exists("root/plugins"));
	assert_int_equal(test_volume_run(&volume, volume.plugin->new_device_unmounter),
			 STAGE_LIST_DONE);
	test_volume_done(&volume);
}

/* case 48, and all the way back */
static void test_unformatted_device(void **state)
{
	struct fixture fixture;
	char type[32];

	begin(&fixture);
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_string_equal(fixture.volume.report.device_path, fixture.loop.path);
	test_loop_type(&fixture.loop, type);
	assert_string_equal(type, "ext4");
	assert_true(exists(STAGING "/lost+found"));

	assert_int_equal(set_up(&fixture), STAGE_LIST_DONE);
	sandbox_write(TARGET "/file", "data");
	assert_true(sandbox_has(STAGING "/file", "data"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 2);

	/* Not while a pod has it. */
	assert_int_equal(unstage_device(&fixture), -EBUSY);
	assert_int_equal(fixture.volume.report.error_class, ERROR_TRANSIENT);
	assert_non_null(strstr(fixture.volume.report.failure.text, "other references"));

	assert_int_equal(tear_down(&fixture), STAGE_NEXT);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	assert_string_equal(fixture.volume.stage, "check that the device is free");
	assert_false(exists(STAGING));

	/* The data is still there. */
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_true(sandbox_has(STAGING "/file", "data"));
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	end(&fixture);
}

/* case 49 */
static void test_unformatted_and_read_only(void **state)
{
	struct fixture fixture;
	char type[32];

	begin(&fixture);
	fixture.volume.spec.read_only = true;
	assert_true(stage_device(&fixture) < 0);
	assert_int_equal(fixture.volume.report.error_class, ERROR_FINAL);
	test_loop_type(&fixture.loop, type);
	assert_string_equal(type, "");
	assert_false(exists(STAGING));
	end(&fixture);
}

/* case 50 */
static void test_staged_already(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_int_equal(stage_device(&fixture), STAGE_LIST_DONE);
	assert_string_equal(fixture.volume.stage, "prepare the staging directory");
	assert_true(fixture.volume.report.mount_id != 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	end(&fixture);
}

/* Another disk on the staging directory is never taken for this one. */
static void test_staged_with_another_device(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	assert_int_equal(mkdir(sandbox_path(STAGING), 0750), 0);
	assert_return_code(mount("other", sandbox_path(STAGING), "tmpfs", 0, NULL), errno);
	assert_int_equal(stage_device(&fixture), -EBUSY);
	assert_int_equal(set_up(&fixture), -ENODEV);
	assert_return_code(umount2(sandbox_path(STAGING), 0), errno);
	end(&fixture);
}

/* @source: what the tmpfs shows in the place of a device */
static void check_foreign_tmpfs(struct fixture *fixture, const char *source)
{
	assert_return_code(mount(source, sandbox_path(STAGING), "tmpfs", 0, NULL), errno);
	assert_int_equal(unstage_device(fixture), -ENOTEMPTY);
	assert_return_code(umount2(sandbox_path(STAGING), 0), errno);
}

/* A tmpfs has any text as its source: the device's path, or none where no device is recorded. */
static void test_mount_without_a_device(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	assert_int_equal(mkdir(sandbox_path(STAGING), 0750), 0);
	check_foreign_tmpfs(&fixture, fixture.volume.device_path);
	fixture.volume.device_path[0] = '\0';
	check_foreign_tmpfs(&fixture, "");
	end(&fixture);
}

/* case 51 */
static void test_other_file_system_that_does_not_mount(void **state)
{
	static const char *const options[] = { "no_such_option" };
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	fixture.volume.pv.fs_type = "xfs";
	fixture.volume.pv.mount_options = options;
	fixture.volume.pv.mount_option_count = 1;
	assert_true(stage_device(&fixture) < 0);
	assert_int_equal(fixture.volume.report.event_count, 1);
	assert_true(fixture.volume.report.events[0].about_pv);
	assert_string_equal(fixture.volume.report.events[0].reason,
			    "FailedMountOnFilesystemMismatch");
	assert_false(exists(STAGING));
	end(&fixture);
}

static void test_read_only_of_a_formatted_device(void **state)
{
	struct fixture fixture;
	struct statvfs status;

	begin(&fixture);
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	fixture.volume.spec.read_only = true;
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_int_equal(set_up(&fixture), STAGE_LIST_DONE);
	assert_return_code(statvfs(sandbox_path(TARGET), &status), errno);
	assert_true(status.f_flag & ST_RDONLY);
	assert_int_equal(tear_down(&fixture), STAGE_NEXT);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	end(&fixture);
}

/* case 65 */
static void test_paths_outside_the_staging_base(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	sandbox_mkdir("elsewhere", 0755);
	assert_return_code(mount("other", sandbox_path("elsewhere"), "tmpfs", 0, NULL), errno);
	fixture.volume.request.device_mount_path = sandbox_path("elsewhere");
	assert_int_equal(unstage_device(&fixture), STAGE_LIST_DONE);
	assert_int_equal(sandbox_mounts_below(sandbox_path("elsewhere")), 1);
	assert_return_code(umount2(sandbox_path("elsewhere"), 0), errno);
	end(&fixture);
}

/* The device that is asked for is the recorded one. */
static void test_device_that_stays_open(void **state)
{
	struct fixture fixture;
	int fd;

	begin(&fixture);
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	fd = open(sandbox_path(STAGING), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(unstage_device(&fixture), -EBUSY);
	assert_int_equal(fixture.volume.report.error_class, ERROR_UNCERTAIN);
	(void) close(fd);

	/* A second mount that this namespace does not show keeps the device claimed. */
	fd = open_tree(AT_FDCWD, sandbox_path(STAGING), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0 && errno == ENOSYS) {
		assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
		end(&fixture);
		print_message("no open_tree() here to hide a mount with\n");
		skip();
	}
	assert_return_code(fd, errno);
	assert_int_equal(unstage_device(&fixture), -EBUSY);
	assert_string_equal(fixture.volume.stage, "check that the device is free");
	assert_non_null(strstr(fixture.volume.report.failure.text, fixture.loop.path));
	assert_int_equal(fixture.volume.report.error_class, ERROR_UNCERTAIN);

	/* The next attempt finds nothing mounted and asks again. */
	assert_int_equal(unstage_device(&fixture), -EBUSY);
	(void) close(fd);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);
	end(&fixture);
}

/* Of several devices btrfs shows any; what shows none of them was not staged. */
static void test_btrfs_of_two_devices(void **state)
{
	struct fixture fixture;
	struct test_loop second, other;

	if (access("/sys/fs/btrfs", F_OK) < 0 || access("/usr/sbin/mkfs.btrfs", X_OK) < 0) {
		print_message("no btrfs here\n");
		skip();
	}
	begin(&fixture);
	test_loop_detach(&fixture.loop);
	test_loop_attach(&fixture.loop, "first", 128);
	test_loop_attach(&second, "second", 128);
	test_loop_attach(&other, "other", 128);
	fixture.volume.pv.local_path = fixture.loop.path;
	fixture.volume.pv.fs_type = "btrfs";
	loop_image_run((const char *const[]){ "/usr/sbin/mkfs.btrfs", "-q", fixture.loop.path,
					      second.path, NULL });
	loop_image_run((const char *const[]){ "/usr/sbin/mkfs.btrfs", "-q", other.path, NULL });
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_string_equal(fixture.volume.device_path, fixture.loop.path);
	(void) snprintf(fixture.volume.device_path, sizeof(second.path), "%s", second.path);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);

	fixture.volume.pv.local_path = second.path;
	assert_int_equal(stage_device(&fixture), STAGE_NEXT);
	assert_int_equal(stage_device(&fixture), STAGE_LIST_DONE);
	assert_int_equal(set_up(&fixture), STAGE_LIST_DONE);
	assert_int_equal(tear_down(&fixture), STAGE_NEXT);
	assert_int_equal(unstage_device(&fixture), STAGE_NEXT);

	assert_int_equal(mkdir(sandbox_path(STAGING), 0750), 0);
	assert_return_code(mount(other.path, sandbox_path(STAGING), "btrfs", 0, NULL), errno);
	assert_int_equal(unstage_device(&fixture), -ENOTEMPTY);
	assert_return_code(umount2(sandbox_path(STAGING), 0), errno);
	test_loop_detach(&other);
	test_loop_detach(&second);
	end(&fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_directory_is_not_staged),
		SANDBOX_TEST(test_unformatted_device),
		SANDBOX_TEST(test_unformatted_and_read_only),
		SANDBOX_TEST(test_staged_already),
		SANDBOX_TEST(test_staged_with_another_device),
		SANDBOX_TEST(test_mount_without_a_device),
		SANDBOX_TEST(test_other_file_system_that_does_not_mount),
		SANDBOX_TEST(test_read_only_of_a_formatted_device),
		SANDBOX_TEST(test_paths_outside_the_staging_base),
		SANDBOX_TEST(test_device_that_stays_open),
		SANDBOX_TEST(test_btrfs_of_two_devices),
	};

	return sandbox_run("local_device", tests, ARRAY_SIZE(tests));
}
