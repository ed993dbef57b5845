/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_safe_path - opening and making below a pinned directory, with and without openat2
 */
#include "tests/root/kernel_calls.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int open_and_close(const char *path, int flags, enum path_policy policy)
{
	struct failure failure = { 0 };
	int fd = open_beneath(sandbox_fd(), path, flags, policy, &failure);

	if (fd < 0) {
		assert_int_equal(failure.error, fd);
		assert_non_null(strstr(failure.text, path));
		return fd;
	}
	(void) close(fd);
	return 0;
}

/*	dir/file   dir/sub/   fifo
 *	inner -> dir/sub   up -> ../outside   back -> dir/sub/../file   absolute -> /etc
 *	loop -> loop   dangling -> nowhere   mounted/ (a tmpfs)   dir/sub/deep -> ../file */
static void make_tree(void)
{
	sandbox_mkdir("dir", 0755);
	sandbox_write("dir/file", "data");
	sandbox_mkdir("dir/sub", 0755);
	sandbox_mkdir("mounted", 0755);
	assert_return_code(mount("none", sandbox_path("mounted"), "tmpfs", 0, NULL), errno);
	sandbox_write("mounted/file", "mounted");
	assert_return_code(mkfifo(sandbox_path("fifo"), 0600), errno);
	assert_return_code(symlink("dir/sub", sandbox_path("inner")), errno);
	assert_return_code(symlink("../outside", sandbox_path("up")), errno);
	assert_return_code(symlink("dir/sub/../file", sandbox_path("back")), errno);
	assert_return_code(symlink("/etc", sandbox_path("absolute")), errno);
	assert_return_code(symlink("loop", sandbox_path("loop")), errno);
	assert_return_code(symlink("nowhere", sandbox_path("dangling")), errno);
	assert_return_code(symlink("../file", sandbox_path("dir/sub/deep")), errno);
}

static void drop_tree(void)
{
	assert_return_code(umount2(sandbox_path("mounted"), 0), errno);
}

static void test_policies(void **state)
{
	static const struct {
		const char *path;
		int no_symlinks, any_mount, beneath;
	} rows[] = {
		{ "dir/file", 0, 0, 0 },
		{ "", 0, 0, 0 },
		{ ".", 0, 0, 0 },
		{ "dir//sub/.", 0, 0, 0 },
		{ "missing", -ENOENT, -ENOENT, -ENOENT },
		{ "missing/below", -ENOENT, -ENOENT, -ENOENT },
		{ "dir/file/below", -ENOTDIR, -ENOTDIR, -ENOTDIR },
		{ "inner", -ELOOP, -ELOOP, 0 },
		{ "inner/deep", -ELOOP, -ELOOP, 0 },
		{ "inner/../file", -ELOOP, -ELOOP, 0 },
		{ "back", -ELOOP, -ELOOP, 0 },
		{ "up", -ELOOP, -ELOOP, -EXDEV },
		{ "absolute", -ELOOP, -ELOOP, -EXDEV },
		{ "absolute/passwd", -ELOOP, -ELOOP, -EXDEV },
		{ "loop", -ELOOP, -ELOOP, -ELOOP },
		{ "dangling", -ELOOP, -ELOOP, -ENOENT },
		{ "..", -EXDEV, -EXDEV, -EXDEV },
		{ "dir/../..", -EXDEV, -EXDEV, -EXDEV },
		{ "dir/../../etc/passwd", -EXDEV, -EXDEV, -EXDEV },
		{ "dir/sub/../file", 0, 0, 0 },
		{ "/etc/passwd", -EXDEV, -EXDEV, -EXDEV },
		{ "mounted", -EXDEV, 0, 0 },
		{ "mounted/file", -EXDEV, 0, 0 },
	};

	make_tree();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *path = rows[i].path;
		int got[] = {
			open_and_close(path, O_PATH, PATH_NO_SYMLINKS),
			open_and_close(path, O_PATH, PATH_NO_SYMLINKS_ANY_MOUNT),
			open_and_close(path, O_PATH, PATH_BENEATH),
		};

		if (got[0] != rows[i].no_symlinks || got[1] != rows[i].any_mount ||
		    got[2] != rows[i].beneath)
			fail_msg("'%s': %d %d %d", path, got[0], got[1], got[2]);
	}
	drop_tree();
}

static void test_flags(void **state)
{
	cleanup_close int file_fd = -EBADF, link_fd = -EBADF;
	struct failure failure = { 0 };
	struct stat status;
	char text[8] = "";

	make_tree();
	file_fd = open_beneath(sandbox_fd(), "back", O_RDONLY, PATH_BENEATH, &failure);
	assert_return_code(file_fd, errno);
	assert_int_equal(read(file_fd, text, sizeof(text)), 4);
	assert_string_equal(text, "data");
	assert_true(fcntl(file_fd, F_GETFD) & FD_CLOEXEC);

	link_fd = open_beneath(sandbox_fd(), "up", O_PATH | O_NOFOLLOW, PATH_BENEATH, &failure);
	assert_return_code(link_fd, errno);
	assert_return_code(fstat(link_fd, &status), errno);
	assert_true(S_ISLNK(status.st_mode));

	assert_int_equal(open_and_close("dir/file", O_PATH | O_DIRECTORY, PATH_BENEATH), -ENOTDIR);
	assert_int_equal(open_and_close("dir/file", O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS),
			 -ENOTDIR);
	assert_int_equal(open_and_close("inner", O_RDONLY | O_NOFOLLOW, PATH_BENEATH), -ELOOP);
	drop_tree();
}

/* Links of /proc lead to this process's descriptors, not to where they say. */
static void test_magic_links(void **state)
{
	cleanup_close int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(proc_fd, errno);
	assert_true(open_beneath(proc_fd, "root", O_PATH, PATH_BENEATH, NULL) < 0);
	assert_true(open_beneath(proc_fd, "cwd/..", O_PATH, PATH_BENEATH, NULL) < 0);
	assert_true(open_beneath(proc_fd, "fd/0", O_PATH, PATH_BENEATH, NULL) < 0);
}

static void test_long_paths(void **state)
{
	char name[300], deep[300];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_true(open_beneath(sandbox_fd(), name, O_PATH, PATH_BENEATH, NULL) == -ENAMETOOLONG);

	sandbox_mkdir("d", 0755);
	assert_return_code(symlink(".", sandbox_path("d/d")), errno);
	for (size_t i = 0; i < sizeof(deep) - 1; i++)
		deep[i] = i % 2 ? '/' : 'd';
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(open_beneath(sandbox_fd(), deep, O_PATH, PATH_BENEATH, NULL), -ELOOP);
}

/* Constant renames, anywhere, neither stop the walk nor occupy its worker. */
static void test_renamed_again_and_again(void **state)
{
	struct failure failure = { 0 };
	int fd;

	sandbox_mkdir("a", 0755);
	kernel_calls_fail_openat2(EAGAIN);
	fd = open_beneath(sandbox_fd(), "a/..", O_PATH, PATH_BENEATH, &failure);
	assert_return_code(fd, -fd);
	assert_return_code(close(fd), errno);
	assert_int_equal(open_beneath(sandbox_fd(), "a/../..", O_PATH, PATH_BENEATH, &failure),
			 -EXDEV);
	assert_in_range(kernel_calls_counts()->openat2, 2, 1000);
	kernel_calls_fail_openat2(EPERM);
	assert_int_equal(open_beneath(sandbox_fd(), "a", O_PATH, PATH_BENEATH, &failure), -EPERM);
}

static unsigned int mode_of(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status.st_mode & 07777;
}

static void test_missing_levels_get_exactly_the_mode(void **state)
{
	mode_t before = umask(077);
	struct failure failure = { 0 };
	struct stat status, expected;
	int fd;

	sandbox_mkdir("there", 0701);
	fd = make_directories(sandbox_fd(), "there/a/b//c/", 0750, &failure);
	assert_return_code(fd, -fd);
	assert_return_code(fstat(fd, &status), errno);
	assert_return_code(stat(sandbox_path("there/a/b/c"), &expected), errno);
	assert_int_equal(status.st_ino, expected.st_ino);
	(void) close(fd);
	assert_int_equal(mode_of("there"), 0701);
	assert_int_equal(mode_of("there/a"), 0750);
	assert_int_equal(mode_of("there/a/b"), 0750);
	assert_int_equal(mode_of("there/a/b/c"), 0750);

	fd = make_directories(sandbox_fd(), "there/sticky", 01777, &failure);
	assert_return_code(fd, -fd);
	(void) close(fd);
	assert_int_equal(mode_of("there/sticky"), 01777);
	(void) umask(before);
}

static void test_one_look_up_when_all_is_there(void **state)
{
	struct failure failure = { 0 };
	int fd;

	fd = make_directories(sandbox_fd(), "a/b/c/d", 0750, &failure);
	assert_return_code(fd, -fd);
	(void) close(fd);
	kernel_calls_counts()->openat2 = 0;
	fd = make_directories(sandbox_fd(), "a/b/c/d", 0700, &failure);
	assert_return_code(fd, -fd);
	(void) close(fd);
	assert_int_equal(kernel_calls_counts()->openat2, 1);
	assert_int_equal(mode_of("a/b/c/d"), 0750);
}

static void test_directories_are_not_made_elsewhere(void **state)
{
	static const struct {
		const char *path;
		int error;
	} rows[] = {
		{ "inner/new", -ELOOP },           { "up/new", -ELOOP },
		{ "absolute/new", -ELOOP },        { "dangling/new", -ELOOP },
		{ "dir/file/new", -ENOTDIR },      { "mounted/new", -EXDEV },
		{ "../outside", -EXDEV },          { "dir/new/../../../outside", -EXDEV },
		{ "/tmp/podvol-outside", -EXDEV },
	};

	make_tree();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failure failure = { 0 };
		int fd = make_directories(sandbox_fd(), rows[i].path, 0750, &failure);

		if (fd != rows[i].error)
			fail_msg("'%s': %d (%s)", rows[i].path, fd, failure.text);
		assert_int_equal(failure.error, fd);
	}
	assert_int_equal(access(sandbox_path("dir/sub/new"), F_OK), -1);
	assert_int_equal(access(sandbox_path("nowhere"), F_OK), -1);
	assert_int_equal(access(sandbox_path("../outside"), F_OK), -1);
	assert_int_equal(access("/tmp/podvol-outside", F_OK), -1);
	drop_tree();
}

static void test_places(void **state)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup(place_done) struct place again = PLACE_EMPTY;
	cleanup(place_done) struct place top = PLACE_EMPTY;
	struct failure failure = { 0 };
	struct stat status, expected;

	assert_int_equal(place_open(sandbox_fd(), "/r", "a/b/name", &place, &failure), -ENOENT);
	assert_int_equal(place.parent_fd, -EBADF);
	assert_int_equal(place_make(sandbox_fd(), "/r", "a/b/name", 0750, &place, &failure), 0);
	assert_string_equal(place.name, "name");
	assert_string_equal(place.path, "/r/a/b/name");
	assert_return_code(fstat(place.parent_fd, &status), errno);
	assert_return_code(stat(sandbox_path("a/b"), &expected), errno);
	assert_int_equal(status.st_ino, expected.st_ino);
	assert_int_equal(mode_of("a/b"), 0750);
	assert_int_equal(access(sandbox_path("a/b/name"), F_OK), -1);

	assert_int_equal(place_open(sandbox_fd(), "/r", "a/b/name", &again, &failure), 0);
	assert_string_equal(again.path, place.path);
	assert_int_equal(place_make(sandbox_fd(), "/r", "name", 0750, &top, &failure), 0);
	assert_string_equal(top.path, "/r/name");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST_WITHOUT(0, test_policies),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_policies),
		SANDBOX_TEST_WITHOUT(0, test_flags),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_flags),
		SANDBOX_TEST_WITHOUT(0, test_magic_links),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_magic_links),
		SANDBOX_TEST_WITHOUT(0, test_long_paths),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_long_paths),
		SANDBOX_TEST_WITHOUT(0, test_renamed_again_and_again),
		SANDBOX_TEST_WITHOUT(0, test_missing_levels_get_exactly_the_mode),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2 | WITHOUT_FCHMODAT2,
				     test_missing_levels_get_exactly_the_mode),
		SANDBOX_TEST_WITHOUT(0, test_one_look_up_when_all_is_there),
		SANDBOX_TEST_WITHOUT(0, test_directories_are_not_made_elsewhere),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_directories_are_not_made_elsewhere),
		SANDBOX_TEST_WITHOUT(0, test_places),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_places),
	};

	return sandbox_run("safe_path", tests, ARRAY_SIZE(tests));
}
