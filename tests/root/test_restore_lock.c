/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_restore_lock - whoever restores a directory keeps it from being mounted, until it ends
 */
#include "sandbox.h"

#include "base/cleanup.h"
#include "mount/restore_lock.h"
#include "mount/volume_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of a directory "v", as whoever restores opens it. */
static int open_volume(void)
{
	int fd = open(sandbox_path("v"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

/* As whoever mounts it. */
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
	char pid[32];

	sandbox_mkdir("v", 0755);
	assert_int_equal(check(NULL), 0);
	fd = open_volume();
	assert_int_equal(restore_lock_take(fd, "/v", &why), 0);
	assert_int_equal(check(&why), -EBUSY);
	(void) snprintf(pid, sizeof(pid), "by pid %d:", (int) getpid());
	assert_non_null(strstr(why.text, pid));
	other_fd = open_volume();
	assert_int_equal(restore_lock_take(other_fd, "/v", &why), -EBUSY);
	assert_false(volume_directory_is_partial(fd));
	restore_lock_leave(fd);
	assert_false(has_mark());
}

static void nothing_is_left_of_one_that_was_killed(void **state)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = -EBADF;

	sandbox_mkdir("v", 0755);
	fd = open_volume();
	assert_int_equal(restore_lock_take(fd, "/v", &why), 0);
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

	sandbox_mkdir("v", 0755);
	assert_return_code(setxattr(sandbox_path("v"), VOLUME_PARTIAL_MARK, "partial", 7, 0),
			   errno);
	fd = open_volume();
	assert_int_equal(restore_lock_take(fd, "/v", &why), 0);
	assert_true(volume_directory_is_partial(fd));
	restore_lock_leave(fd);
	assert_true(has_mark());
	fd = close_keep_errno(fd);
	assert_int_equal(check(NULL), 0); /* only while somebody is at it */
}

static void a_lock_alone_keeps_nobody_out(void **state)
{
	cleanup_close int fd = -EBADF;

	sandbox_mkdir("v", 0755);
	fd = open_volume();
	assert_return_code(flock(fd, LOCK_EX | LOCK_NB), errno);
	assert_int_equal(check(NULL), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(it_keeps_others_out_and_names_its_process),
		SANDBOX_TEST(nothing_is_left_of_one_that_was_killed),
		SANDBOX_TEST(a_part_stays_a_part),
		SANDBOX_TEST(a_lock_alone_keeps_nobody_out),
	};

	return sandbox_run("restore_lock", tests, ARRAY_SIZE(tests));
}
