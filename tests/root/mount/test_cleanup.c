/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cleanup - a mount point taken away: unmount, then one rmdir or unlink
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* statx answers this errno as often as asked to, as a mount does whose server is gone. */
static int statx_error, statx_errors_left;

int __real_statx(int dir_fd, const char *path, int flags, unsigned int mask, struct statx *ret);
int __wrap_statx(int dir_fd, const char *path, int flags, unsigned int mask, struct statx *ret);

int __wrap_statx(int dir_fd, const char *path, int flags, unsigned int mask, struct statx *ret)
{
	if (statx_errors_left > 0 && *path != '\0') { /* not what opens the place */
		statx_errors_left--;
		errno = statx_error;
		return -1;
	}
	return __real_statx(dir_fd, path, flags, mask, ret);
}

static int clean_up(const char *relative, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;

	assert_int_equal(place_open(sandbox_fd(), sandbox_dir(), relative, &place, NULL), 0);
	return cleanup_mount_point(&place, reterr);
}

static void mount_tmpfs(const char *relative)
{
	assert_return_code(mount("none", sandbox_path(relative), "tmpfs", 0, NULL), errno);
}

static bool is_there(const char *relative)
{
	return faccessat(sandbox_fd(), relative, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Learn whether ids are unique before statx is made to fail. */
static void warm_up(void)
{
	struct mount_facts facts;

	assert_int_equal(fd_facts(sandbox_fd(), &facts, NULL), 0);
}

static void test_case_112_a_server_that_is_gone(void **state)
{
	static const int errors[] = { ESTALE, ENOTCONN, EIO, EACCES, EHOSTDOWN, ENODEV };
	struct failure failure = { 0 };

	warm_up();
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		sandbox_mkdir("mount", 0750);
		mount_tmpfs("mount");
		statx_error = errors[i];
		statx_errors_left = 1; /* the mount's; beneath it is an ordinary directory */
		assert_int_equal(clean_up("mount", &failure), 0);
		assert_int_equal(statx_errors_left, 0);
		assert_false(is_there("mount"));
		assert_int_equal(sandbox_mounts_below(sandbox_path("mount")), 0);
	}
}

/* A FUSE file system whose daemon died: not an injected error, but the kernel's own. */
static void test_a_dead_fuse_daemon(void **state)
{
	struct failure failure = { 0 };
	char options[128];
	int fuse_fd;

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0) {
		print_message("# no /dev/fuse here\n");
		skip();
	}
	sandbox_mkdir("mount", 0750);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	assert_return_code(mount("dead", sandbox_path("mount"), "fuse", 0, options), errno);
	(void) close(fuse_fd);
	assert_int_equal(access(sandbox_path("mount/x"), F_OK), -1);
	assert_int_equal(errno, ENOTCONN);

	assert_int_equal(clean_up("mount", &failure), 0);
	assert_false(is_there("mount"));
}

static void test_case_113_data_is_kept(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("dir", 0750);
	sandbox_write("dir/file", "data");
	assert_int_equal(clean_up("dir", &failure), -ENOTEMPTY);
	assert_true(sandbox_has("dir/file", "data"));
	assert_non_null(strstr(failure.text, "not empty"));
}

static void test_case_114_a_mount_point(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("mount", 0750);
	mount_tmpfs("mount");
	sandbox_write("mount/file", "on the mount");
	assert_int_equal(clean_up("mount", &failure), 0);
	assert_false(is_there("mount"));
}

static void test_data_below_a_mount_is_kept(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("mount", 0750);
	sandbox_write("mount/file", "beneath");
	mount_tmpfs("mount");
	assert_int_equal(clean_up("mount", &failure), -ENOTEMPTY);
	assert_true(sandbox_has("mount/file", "beneath"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("mount")), 0);
}

/* A link or a file with content there is not podvol's. */
static void test_what_is_not_ours_stays(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("elsewhere", 0750);
	assert_return_code(symlink("elsewhere", sandbox_path("link")), errno);
	assert_int_equal(clean_up("link", &failure), -ENOTEMPTY);
	assert_true(is_there("link"));
	assert_non_null(strstr(failure.text, "a symbolic link, which podvol did not put there"));
	sandbox_write("file", "data");
	assert_int_equal(clean_up("file", &failure), -ENOTEMPTY);
	assert_true(sandbox_has("file", "data"));
	sandbox_write("empty", ""); /* the target of a file's sub-path */
	assert_int_equal(clean_up("empty", &failure), 0);
	assert_false(is_there("empty"));
	assert_true(is_there("elsewhere"));
}

static void test_missing_is_fine(void **state)
{
	struct failure failure = { 0 };

	assert_int_equal(clean_up("missing", &failure), 0);
	sandbox_mkdir("dir", 0750);
	assert_int_equal(clean_up("dir", &failure), 0);
	assert_false(is_there("dir"));
}

static void test_stacked_mounts_and_files(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("mount", 0750);
	for (int i = 0; i < 5; i++)
		mount_tmpfs("mount");
	assert_int_equal(clean_up("mount", &failure), 0);
	assert_false(is_there("mount"));

	sandbox_write("source", "data");
	sandbox_write("file", "");
	assert_return_code(mount(sandbox_path("source"), sandbox_path("file"), NULL, MS_BIND, NULL),
			   errno);
	assert_int_equal(clean_up("file", &failure), 0);
	assert_false(is_there("file"));
	assert_true(sandbox_has("source", "data"));
}

static void test_in_use_is_not_taken_away(void **state)
{
	cleanup_close int fd = -EBADF;
	struct failure failure = { 0 };

	sandbox_mkdir("mount", 0750);
	mount_tmpfs("mount");
	sandbox_write("mount/file", "in use");
	fd = open(sandbox_path("mount/file"), O_RDONLY | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(clean_up("mount", &failure), -EBUSY);
	assert_true(sandbox_has("mount/file", "in use"));
	(void) close(TAKE_FD(fd));
	assert_int_equal(clean_up("mount", &failure), 0);
}

/* The link itself goes; what it leads to stays, mounted. */
static void test_a_link_in_its_place(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("elsewhere", 0750);
	mount_tmpfs("elsewhere");
	assert_return_code(symlink("elsewhere", sandbox_path("mount")), errno);
	assert_int_equal(clean_up("mount", &failure), -ENOTEMPTY);
	assert_true(is_there("mount"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("elsewhere")), 1);
	assert_return_code(umount2(sandbox_path("elsewhere"), 0), errno);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_case_112_a_server_that_is_gone),
		SANDBOX_TEST(test_a_dead_fuse_daemon),
		SANDBOX_TEST(test_case_113_data_is_kept),
		SANDBOX_TEST(test_case_114_a_mount_point),
		SANDBOX_TEST(test_data_below_a_mount_is_kept),
		SANDBOX_TEST(test_what_is_not_ours_stays),
		SANDBOX_TEST(test_missing_is_fine),
		SANDBOX_TEST(test_stacked_mounts_and_files),
		SANDBOX_TEST(test_in_use_is_not_taken_away),
		SANDBOX_TEST(test_a_link_in_its_place),
	};

	return sandbox_run("cleanup", tests, ARRAY_SIZE(tests));
}
