/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_subpath_make - directories that are missing in a volume
 *
 * Every test runs with openat2 and without.
 */
#include "tests/root/subpath_world.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

static struct failure failure;

/* Return: 0, or the error. */
static int make(const char *path, mode_t mode)
{
	cleanup_close int volume_fd = open(sandbox_path(VOLUME), O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int fd = -EBADF;
	struct stat status;

	failure = (struct failure){ .error = 0 };
	fd = subpath_make_directories(volume_fd, path, mode, &failure);
	if (fd < 0) {
		assert_int_equal(failure.error, fd);
		assert_string_not_equal(failure.text, "");
		return fd;
	}
	assert_return_code(fstat(fd, &status), errno);
	assert_true(S_ISDIR(status.st_mode));
	return 0;
}

static void test_case_179_all_levels_are_made(void **state)
{
	assert_int_equal(make("test/directory", 0750), 0);
	assert_int_equal(sandbox_mode(VOLUME "/test"), 0750);
	assert_int_equal(sandbox_mode(VOLUME "/test/directory"), 0750);
}

static void test_case_180_exactly_the_mode(void **state)
{
	static const mode_t modes[] = { 02777, 04777, 01777, 0700 };
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		mode_t umask_before = umask(077);

		(void) snprintf(path, sizeof(path), "m%zu/sub", i);
		assert_int_equal(make(path, modes[i]), 0);
		(void) umask(umask_before);
		(void) snprintf(path, sizeof(path), VOLUME "/m%zu", i);
		assert_int_equal(sandbox_mode(path), modes[i]);
		(void) snprintf(path, sizeof(path), VOLUME "/m%zu/sub", i);
		assert_int_equal(sandbox_mode(path), modes[i]);
	}
}

/* An fsGroup's directory is setgid: what is made in it belongs to the group. */
static void test_the_group_is_handed_on(void **state)
{
	struct stat status;

	assert_return_code(chown(sandbox_path(VOLUME), 0, 4321), errno);
	assert_return_code(chmod(sandbox_path(VOLUME), 02775), errno);
	assert_int_equal(subpath_world_bind("a/b"), 0);
	assert_return_code(stat(sandbox_path(VOLUME "/a/b"), &status), errno);
	assert_int_equal(status.st_gid, 4321);
	assert_int_equal(status.st_mode & 07777, 02775);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_case_181_what_exists_is_left_as_it_is(void **state)
{
	sandbox_mkdir(VOLUME "/test", 0701);
	sandbox_mkdir(VOLUME "/test/directory", 0711);
	assert_int_equal(make("test/directory", 0750), 0);
	assert_int_equal(sandbox_mode(VOLUME "/test"), 0701);
	assert_int_equal(sandbox_mode(VOLUME "/test/directory"), 0711);
}

static void test_case_182_nothing_to_make(void **state)
{
	assert_int_equal(make("", 0750), 0);
	assert_int_equal(make(".", 0750), 0);
	assert_int_equal(make("a//./b/", 0750), 0);
	assert_int_equal(sandbox_mode(VOLUME "/a/b"), 0750);
}

static void test_case_183_backsteps(void **state)
{
	sandbox_mkdir(VOLUME "/test", 0755);
	assert_int_equal(make("..", 0750), -EINVAL);
	assert_int_equal(make("test/../../..", 0750), -EINVAL);
	assert_non_null(strstr(failure.text, "must not contain '..'"));
	assert_int_equal(make("/test", 0750), -EINVAL);
	assert_non_null(strstr(failure.text, "absolute"));
}

static void test_case_184_a_link_inside_is_followed(void **state)
{
	sandbox_mkdir(VOLUME "/destination", 0755);
	subpath_world_link("destination", VOLUME "/test");
	assert_int_equal(make("test/directory", 0750), 0);
	assert_int_equal(sandbox_mode(VOLUME "/destination/directory"), 0750);
}

static void test_case_185_a_link_to_itself(void **state)
{
	subpath_world_link("test", VOLUME "/test");
	assert_int_equal(make("test/directory", 0750), -ELOOP);
	assert_int_equal(make("test", 0750), -ELOOP);
}

static void test_case_186_links_to_each_other(void **state)
{
	sandbox_mkdir(VOLUME "/test1", 0755);
	sandbox_mkdir(VOLUME "/test2", 0755);
	subpath_world_link("../test2", VOLUME "/test1/dir");
	subpath_world_link("../test1", VOLUME "/test2/dir");
	assert_int_equal(make("test1/dir/dir/dir/dir/dir/dir/dir/foo", 0750), 0);
	assert_int_equal(sandbox_mode(VOLUME "/test2/foo"), 0750);
}

static void test_case_187_a_dangling_link(void **state)
{
	subpath_world_link("nowhere", VOLUME "/test");
	assert_int_equal(make("test/directory", 0750), -ELOOP);
	assert_int_equal(make("test", 0750), -ELOOP);
	assert_false(sandbox_is_there(VOLUME "/nowhere"));
}

static void test_case_188_a_file_in_the_way(void **state)
{
	sandbox_write(VOLUME "/test", "file");
	assert_int_equal(make("test/directory", 0750), -ENOTDIR);
	assert_int_equal(make("test", 0750), -ENOTDIR);
	assert_true(sandbox_has(VOLUME "/test", "file"));
}

static void test_case_189_a_link_to_a_neighbour(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	sandbox_mkdir(VOLUME "/exists", 0755);
	subpath_world_link("../exists", VOLUME "/dir/test");
	assert_int_equal(make("dir/test", 0750), 0);
	assert_int_equal(make("dir/test/more", 0750), 0);
	assert_int_equal(sandbox_mode(VOLUME "/exists/more"), 0750);
}

static void test_case_190_a_link_to_a_missing_neighbour(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	subpath_world_link("../not-exists", VOLUME "/dir/test");
	assert_int_equal(make("dir/test", 0750), -ELOOP);
	assert_int_equal(make("dir/test/more", 0750), -ELOOP);
	assert_false(sandbox_is_there(VOLUME "/not-exists"));
}

/* That nothing outside changed is checked after every test. */
static void test_case_191_a_link_to_the_host(void **state)
{
	subpath_world_link("/", VOLUME "/test");
	assert_int_equal(make("test/podvol-must-not-exist", 0750), -EXDEV);
	assert_int_equal(access("/podvol-must-not-exist", F_OK), -1);
	subpath_world_link("../../../../../../outside", VOLUME "/up");
	assert_int_equal(make("up/directory", 0750), -EXDEV);
	subpath_world_link(sandbox_path("outside"), VOLUME "/there");
	assert_int_equal(make("there/directory", 0750), -EXDEV);
}

static void test_case_192_a_fifo_in_the_middle(void **state)
{
	assert_return_code(mkfifo(sandbox_path(VOLUME "/test"), 0644), errno);
	assert_int_equal(make("test/directory", 0750), -ENOTDIR);
}

static void test_a_read_only_volume_is_named(void **state)
{
	assert_return_code(mount("none", sandbox_path(VOLUME), "tmpfs", MS_RDONLY, NULL), errno);
	assert_int_equal(make("test/directory", 0750), -EROFS);
	assert_non_null(strstr(failure.text, "'test/directory' does not exist in the volume, which "
					     "is read-only"));
	assert_return_code(umount(sandbox_path(VOLUME)), errno);
}

/* The levels that are missing lie in a mount within the volume. */
static void test_below_a_mount_in_the_volume(void **state)
{
	sandbox_mkdir(VOLUME "/inner", 0755);
	assert_return_code(mount("none", sandbox_path(VOLUME "/inner"), "tmpfs", 0, NULL), errno);
	assert_int_equal(make("inner/a/b", 0711), 0);
	assert_int_equal(sandbox_mode(VOLUME "/inner/a/b"), 0711);
	assert_return_code(umount(sandbox_path(VOLUME "/inner")), errno);
	assert_false(sandbox_is_there(VOLUME "/inner/a"));
}

#define BOTH(function) SUBPATH_TEST(function), SUBPATH_TEST_WITHOUT(WITHOUT_OPENAT2, function)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BOTH(test_case_179_all_levels_are_made),
		BOTH(test_case_180_exactly_the_mode),
		BOTH(test_the_group_is_handed_on),
		BOTH(test_case_181_what_exists_is_left_as_it_is),
		BOTH(test_case_182_nothing_to_make),
		SUBPATH_TEST(test_case_183_backsteps),
		BOTH(test_case_184_a_link_inside_is_followed),
		BOTH(test_case_185_a_link_to_itself),
		BOTH(test_case_186_links_to_each_other),
		BOTH(test_case_187_a_dangling_link),
		BOTH(test_case_188_a_file_in_the_way),
		BOTH(test_case_189_a_link_to_a_neighbour),
		BOTH(test_case_190_a_link_to_a_missing_neighbour),
		BOTH(test_case_191_a_link_to_the_host),
		BOTH(test_case_192_a_fifo_in_the_middle),
		BOTH(test_a_read_only_volume_is_named),
		BOTH(test_below_a_mount_in_the_volume),
	};

	return sandbox_run("subpath_make", tests, ARRAY_SIZE(tests));
}
