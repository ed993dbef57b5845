/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_filesystem - new file systems on pinned targets, with fsopen and without
 */
#include "tests/root/kernel_calls.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

static int mount_on_target(const char *type, const char *options, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;

	if (access(sandbox_path("target"), F_OK) < 0)
		sandbox_mkdir("target", 0750);
	fd = open(sandbox_path("target"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(fd, errno);
	return mount_filesystem(type, "podvol-source", options, fd, reterr);
}

static void unmount_target(void)
{
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
	assert_return_code(umount2(sandbox_path("target"), 0), errno);
}

static struct statvfs status_of_target(void)
{
	struct statvfs status;

	assert_return_code(statvfs(sandbox_path("target"), &status), errno);
	return status;
}

static void test_options_of_both_kinds(void **state)
{
	struct failure failure = { 0 };
	struct stat status;

	if (mount_on_target("tmpfs", "size=1m,nosuid,mode=0711,noexec,defaults", &failure) < 0)
		fail_msg("%s", failure.text);
	assert_return_code(stat(sandbox_path("target"), &status), errno);
	assert_int_equal(status.st_mode & 07777, 0711);
	assert_int_equal(status_of_target().f_blocks * status_of_target().f_frsize, 1 << 20);
	assert_int_equal(status_of_target().f_flag & (ST_NOSUID | ST_NOEXEC | ST_NODEV),
			 ST_NOSUID | ST_NOEXEC);
	unmount_target();
}

/* case 95, `ro` for a file system is one mount, read-only when it appears. */
static void test_case_095_read_only(void **state)
{
	struct failure failure = { 0 };

	assert_int_equal(mount_on_target("tmpfs", "ro", &failure), 0);
	assert_true(status_of_target().f_flag & ST_RDONLY);
	assert_int_equal(kernel_calls_counts()->attached_writable, 0);
	assert_int_equal(mkdir(sandbox_path("target/new"), 0700), -1);
	unmount_target();
}

static void test_no_options(void **state)
{
	struct failure failure = { 0 };

	assert_int_equal(mount_on_target("tmpfs", NULL, &failure), 0);
	unmount_target();
	assert_int_equal(mount_on_target("tmpfs", "", &failure), 0);
	assert_int_equal(mkdir(sandbox_path("target/new"), 0700), 0);
	unmount_target();
}

static void test_a_bad_option_is_named(void **state)
{
	struct failure failure = { 0 };
	int fd = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (fd < 0 && errno == ENOSYS) {
		print_message("# no fsopen here: mount(2) names no option\n");
		skip();
	}
	(void) close(fd);
	assert_int_equal(mount_on_target("tmpfs", "size=1m,no_such_option=7,mode=0700", &failure),
			 -EINVAL);
	assert_non_null(strstr(failure.text, "no_such_option"));
	assert_non_null(strstr(failure.text, "kernel: ")); /* what it has to say about it */
	assert_int_equal(mount_on_target("tmpfs", "size=much", &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "size"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

static void test_a_bad_option_is_refused(void **state)
{
	struct failure failure = { 0 };

	assert_int_equal(mount_on_target("tmpfs", "no_such_option=7", &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "tmpfs"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

static void test_unknown_types(void **state)
{
	struct failure failure = { 0 };

	assert_int_equal(mount_on_target("nosuchfs", "", &failure), -ENODEV);
	assert_non_null(strstr(failure.text, "nosuchfs"));
	assert_int_equal(mount_on_target("tmpfs", "loop", &failure), -EINVAL);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

static void test_the_target_is_the_descriptor_s(void **state)
{
	cleanup_close int fd = -EBADF;
	struct failure failure = { 0 };

	sandbox_mkdir("target", 0750);
	sandbox_mkdir("elsewhere", 0750);
	fd = open(sandbox_path("target"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_return_code(rename(sandbox_path("target"), sandbox_path("moved")), errno);
	assert_return_code(symlink("elsewhere", sandbox_path("target")), errno);
	assert_int_equal(mount_filesystem("tmpfs", "x", "", fd, &failure), 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("elsewhere")), 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("moved")), 1);
	assert_return_code(umount2(sandbox_path("moved"), 0), errno);
}

#define WITH_AND_WITHOUT(function)                                                                 \
	SANDBOX_TEST_WITHOUT(0, function), SANDBOX_TEST_WITHOUT(WITHOUT_FSOPEN, function),         \
		SANDBOX_TEST_WITHOUT(WITHOUT_MOVE_MOUNT, function)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_AND_WITHOUT(test_options_of_both_kinds),
		WITH_AND_WITHOUT(test_case_095_read_only),
		WITH_AND_WITHOUT(test_no_options),
		SANDBOX_TEST_WITHOUT(0, test_a_bad_option_is_named),
		SANDBOX_TEST_WITHOUT(WITHOUT_FSOPEN, test_a_bad_option_is_refused),
		SANDBOX_TEST_WITHOUT(0, test_unknown_types),
		WITH_AND_WITHOUT(test_the_target_is_the_descriptor_s),
	};

	return sandbox_run("filesystem", tests, ARRAY_SIZE(tests));
}
