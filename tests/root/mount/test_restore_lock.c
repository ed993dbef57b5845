/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_restore_lock - a restore keeps its directory from being mounted, until it ends
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/remove/restore_lock.h"
#include "mount/remove/volume_directory.h"
#include "mount/remove/volume_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of a directory "v", as a restore opens it. */
static int open_volume(void)
{
	int fd = open(sandbox_path("v"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

/* As a mount opens it. */
static int check(struct failure *reterr)
{
	cleanup_close int fd = open(sandbox_path("v"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return restore_lock_check(fd, "/v", reterr);
}

static bool has_mark(void)
{
	return getxattr(sandbox_path("v"), VOLUME_PARTIAL_MARK, NULL, 0) >= 0;
}

static void it_keeps_others_out_and_names_its_process(void **state)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = -EBADF, other_fd = -EBADF;
	cleanup(volume_lock_releasep) int lock_fd = -EBADF;
	int other_lock_fd = -EBADF;
	char pid[32];

	sandbox_mkdir("v", 0755);
	assert_int_equal(check(NULL), 0);
	fd = open_volume();
	assert_int_equal(restore_lock_take(fd, "/v", &lock_fd, &why), 0);
	assert_int_equal(check(&why), -EBUSY);
	(void) snprintf(pid, sizeof(pid), "process %d (", (int) getpid());
	assert_non_null(strstr(why.text, pid));
	other_fd = open_volume();
	assert_int_equal(restore_lock_take(other_fd, "/v", &other_lock_fd, &why), -EBUSY);
	assert_false(volume_directory_is_partial(fd));
	restore_lock_end(fd);
	assert_false(has_mark());
}

/* By another program, or by an earlier reader than the one that wrote last. */
static void who_wrote_no_name_is_named(void **state)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = -EBADF, holder_fd = -EBADF;
	int lock_fd = -EBADF, other_lock_fd = -EBADF;
	char wanted[96], name[64];
	struct stat status;

	sandbox_mkdir("v", 0755);
	fd = open_volume();
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_SHARED, "/v", &lock_fd, &why), 0);
	assert_return_code(fstat(fd, &status), errno);
	(void) snprintf(name, sizeof(name), "volume-locks/%llx-%llx",
			(unsigned long long) status.st_dev, (unsigned long long) status.st_ino);
	holder_fd = open(sandbox_path(name), O_RDWR | O_CLOEXEC);
	assert_return_code(holder_fd, errno);
	assert_return_code(flock(holder_fd, LOCK_SH), errno);
	assert_int_equal(pwrite(holder_fd, "process 4194303 (ended)", 24, 0), 24);
	lock_fd = close_keep_errno(lock_fd);
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_EXCLUSIVE, "/v", &other_lock_fd, &why),
			 -EBUSY);
	(void) snprintf(wanted, sizeof(wanted), "by process %d (%.15s)", (int) getpid(),
			program_invocation_short_name);
	assert_non_null(strstr(why.text, wanted));
}

static void nothing_is_left_of_one_that_was_killed(void **state)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = -EBADF;
	int lock_fd = -EBADF;

	sandbox_mkdir("v", 0755);
	fd = open_volume();
	assert_int_equal(restore_lock_take(fd, "/v", &lock_fd, &why), 0);
	(void) close(lock_fd); /* as a kill does: the file stays */
	fd = close_keep_errno(fd);
	assert_true(has_mark());
	assert_int_equal(check(NULL), 0);
	fd = open_volume();
	assert_false(volume_directory_is_partial(fd));
}

static void a_part_stays_a_part(void **state)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = -EBADF;
	int lock_fd = -EBADF;

	sandbox_mkdir("v", 0755);
	assert_return_code(setxattr(sandbox_path("v"), VOLUME_PARTIAL_MARK, "partial", 7, 0),
			   errno);
	fd = open_volume();
	assert_int_equal(restore_lock_take(fd, "/v", &lock_fd, &why), 0);
	assert_true(volume_directory_is_partial(fd));
	restore_lock_end(fd);
	assert_true(has_mark());
	lock_fd = volume_lock_release(lock_fd);
	fd = close_keep_errno(fd);
	assert_int_equal(check(NULL), 0); /* only while it is being restored */
}

/* What a container with the volume can do. */
static void a_lock_on_the_directory_holds_nothing_up(void **state)
{
	struct failure why = { .error = 0 };
	cleanup_close int pod_fd = -EBADF, fd = -EBADF;
	int lock_fd = -EBADF;

	sandbox_mkdir("v", 0755);
	pod_fd = open_volume();
	assert_return_code(flock(pod_fd, LOCK_EX | LOCK_NB), errno);
	assert_int_equal(check(NULL), 0);
	fd = open_volume();
	assert_int_equal(restore_lock_take(fd, "/v", &lock_fd, &why), 0);
	restore_lock_end(fd);
	(void) volume_lock_release(lock_fd);
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_SHARED, "/v", &lock_fd, &why), 0);
	(void) volume_lock_release(lock_fd);
}

static bool has_lock_files(void)
{
	cleanup_closedir DIR *locks = opendir(sandbox_path("volume-locks"));
	const struct dirent *entry;

	assert_non_null(locks);
	while ((entry = readdir(locks)))
		if (entry->d_name[0] != '.')
			return true;
	return false;
}

static void readers_share_and_leave_no_file(void **state)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = -EBADF;
	int one = -EBADF, two = -EBADF, three = -EBADF;

	sandbox_mkdir("v", 0755);
	fd = open_volume();
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_SHARED, "/v", &one, &why), 0);
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_SHARED, "/v", &two, &why), 0);
	one = volume_lock_release(one); /* the other one keeps the file */
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_EXCLUSIVE, "/v", &three, &why), -EBUSY);
	assert_non_null(strstr(why.text, "process "));
	two = volume_lock_release(two);
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_EXCLUSIVE, "/v", &three, &why), 0);
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_SHARED, "/v", &one, &why), -EBUSY);
	assert_true(has_lock_files());
	three = volume_lock_release(three);
	assert_false(has_lock_files());
}

static void locks_that_others_can_write_are_refused(void **state)
{
	struct failure why = { .error = 0 };

	sandbox_mkdir("run", 0755);
	sandbox_mkdir("run/volume-locks", 0700);
	assert_return_code(chmod(sandbox_path("run/volume-locks"), 0777), errno);
	assert_int_equal(volume_locks_open(sandbox_path("run"), &why), -EPERM);
	assert_non_null(strstr(why.text, "volume-locks"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(it_keeps_others_out_and_names_its_process),
		SANDBOX_TEST(who_wrote_no_name_is_named),
		SANDBOX_TEST(nothing_is_left_of_one_that_was_killed),
		SANDBOX_TEST(a_part_stays_a_part),
		SANDBOX_TEST(a_lock_on_the_directory_holds_nothing_up),
		SANDBOX_TEST(readers_share_and_leave_no_file),
		SANDBOX_TEST(locks_that_others_can_write_are_refused),
	};

	return sandbox_run("restore_lock", tests, ARRAY_SIZE(tests));
}
