/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ownership_walk - the walk behind fsGroup: its order, its end, trees that change meanwhile
 */
#include "tests/root/tree.h"

#include "base/cleanup.h"
#include "mount/ownership/ownership.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define GROUP 1000

static const struct ownership always = { .gid = GROUP };

static unsigned int logged;

void __wrap_log_message(int level, const char *format, ...);

void __wrap_log_message(int level, const char *format, ...)
{
	logged++;
}

static int open_volume(void)
{
	int fd = open(sandbox_path("volume"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

static unsigned int group_of(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status.st_gid;
}

/* After each step: what has the group has only children that have it. */
static void test_case_089_children_first_root_last(void **state)
{
	static const char *const families[][2] = {
		{ "volume", "volume/a" },        { "volume", "volume/b" },
		{ "volume", "volume/file" },     { "volume/a", "volume/a/c" },
		{ "volume/a", "volume/a/file" }, { "volume/a/c", "volume/a/c/file" },
	};
	struct ownership_counts counts = { 0 };
	struct ownership_walk *walk;
	cleanup_close int fd = -EBADF;
	unsigned int steps = 0;
	int result;

	sandbox_mkdir("volume", 0755);
	sandbox_mkdir("volume/a", 0755);
	sandbox_mkdir("volume/a/c", 0755);
	sandbox_mkdir("volume/b", 0755);
	sandbox_write("volume/file", "");
	sandbox_write("volume/a/file", "");
	sandbox_write("volume/a/c/file", "");
	fd = open_volume();
	assert_int_equal(ownership_walk_new(fd, &always, &walk), 0);
	while ((result = ownership_step(walk, &counts)) > 0) {
		steps++;
		for (size_t i = 0; i < ARRAY_SIZE(families); i++)
			if (group_of(families[i][0]) == GROUP && group_of(families[i][1]) != GROUP)
				fail_msg("'%s' before '%s'", families[i][0], families[i][1]);
		assert_int_equal(group_of("volume") == GROUP, steps == 7);
	}
	assert_int_equal(result, 0);
	assert_int_equal(steps, 7);
	assert_int_equal(ownership_step(walk, &counts), 0);
	(void) ownership_walk_free(walk);
}

static void set_flags(const char *relative, int flags)
{
	cleanup_close int fd = open(sandbox_path(relative), O_RDONLY | O_CLOEXEC);

	assert_return_code(fd, errno);
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags) < 0) {
		print_message("# no immutable files on tmpfs here\n");
		skip();
	}
}

static void test_case_087_an_immutable_file(void **state)
{
	struct ownership_counts counts;
	cleanup_close int fd = -EBADF;
	char name[64];

	sandbox_mkdir("volume", 0755);
	sandbox_write("volume/a", "");
	sandbox_write("volume/z", "");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "volume/immutable%d", i);
		sandbox_write(name, "");
		set_flags(name, FS_IMMUTABLE_FL);
	}
	fd = open_volume();
	logged = 0;
	assert_int_equal(ownership_apply(fd, &always, NULL, &counts, NULL), 1);
	assert_int_equal(counts.ignored, 30);
	assert_int_equal(counts.entries, 33);
	assert_int_equal(counts.changed, 3);
	assert_in_range(logged, 1, 15); /* not one line per file */
	assert_int_equal(group_of("volume/a"), GROUP);
	assert_int_equal(group_of("volume/z"), GROUP);
	assert_int_equal(group_of("volume"), GROUP);
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "volume/immutable%d", i);
		set_flags(name, 0);
	}
}

static void remove_two(void)
{
	assert_return_code(unlink(sandbox_path("volume/dir/1")), errno);
	assert_return_code(unlink(sandbox_path("volume/dir/2")), errno);
}

static struct ownership_walk *begin_with_two(int fd, struct ownership_counts *counts)
{
	struct ownership_walk *walk;

	sandbox_mkdir("volume/dir", 0755);
	sandbox_write("volume/dir/1", "");
	sandbox_write("volume/dir/2", "");
	assert_int_equal(ownership_walk_new(fd, &always, &walk), 0);
	assert_int_equal(ownership_step(walk, counts), 1);
	return walk;
}

static void test_case_088_a_directory_removed_meanwhile(void **state)
{
	struct ownership_counts counts = { 0 };
	struct ownership_walk *walk;
	cleanup_close int fd = -EBADF;
	int result;

	sandbox_mkdir("volume", 0755);
	fd = open_volume();
	walk = begin_with_two(fd, &counts);
	remove_two();
	assert_return_code(rmdir(sandbox_path("volume/dir")), errno);
	while ((result = ownership_step(walk, &counts)) > 0)
		;
	assert_int_equal(result, -ENOENT);
	assert_int_not_equal(group_of("volume"), GROUP);
	(void) ownership_walk_free(walk);
}

static void test_a_file_removed_meanwhile(void **state)
{
	struct ownership_counts counts = { 0 };
	struct ownership_walk *walk;
	cleanup_close int fd = -EBADF;
	int result;

	sandbox_mkdir("volume", 0755);
	fd = open_volume();
	walk = begin_with_two(fd, &counts);
	remove_two();
	while ((result = ownership_step(walk, &counts)) > 0)
		;
	assert_int_equal(result, 0);
	assert_int_equal(group_of("volume/dir"), GROUP);
	(void) ownership_walk_free(walk);
}

/* Listed as directories, and something else by the time the walk comes to them. */
static void test_directories_replaced_meanwhile(void **state)
{
	struct ownership_counts counts = { 0 };
	struct ownership_walk *walk;
	cleanup_close int fd = -EBADF;
	char name[64];
	int result;

	sandbox_mkdir("volume", 0755);
	sandbox_mkdir("outside", 0700);
	for (int i = 0; i < 20; i++) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		sandbox_mkdir(name, 0755);
	}
	fd = open_volume();
	assert_int_equal(ownership_walk_new(fd, &always, &walk), 0);
	assert_int_equal(ownership_step(walk, &counts), 1);
	for (int i = 0; i < 20; i++) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		assert_return_code(rmdir(sandbox_path(name)), errno);
		if (i % 2)
			sandbox_write(name, "");
		else
			assert_return_code(symlink("../outside", sandbox_path(name)), errno);
	}
	while ((result = ownership_step(walk, &counts)) > 0)
		;
	assert_int_equal(result, 0);
	assert_in_range(counts.changed, 20, 21);
	assert_int_not_equal(group_of("outside"), GROUP);
	(void) ownership_walk_free(walk);
}

static void test_cancelled(void **state)
{
	atomic_bool cancel = true;
	struct failure failure = { 0 };
	cleanup_close int fd = -EBADF;

	sandbox_mkdir("volume", 0755);
	sandbox_write("volume/1", "");
	sandbox_write("volume/2", "");
	fd = open_volume();
	assert_int_equal(ownership_apply(fd, &always, &cancel, NULL, &failure), -ECANCELED);
	assert_int_not_equal(group_of("volume"), GROUP);
	cancel = false;
	assert_int_equal(ownership_apply(fd, &always, &cancel, NULL, &failure), 1);
}

static void test_a_very_deep_tree(void **state)
{
	struct ownership_counts counts;
	struct failure failure = { 0 };
	cleanup_close int fd = -EBADF;

	sandbox_mkdir("volume", 0755);
	tree_make_deep("volume", 5000);
	fd = open_volume();
	tree_limit_descriptors(100);
	assert_int_equal(ownership_apply(fd, &always, NULL, &counts, &failure), 1);
	tree_limit_descriptors(0);
	assert_int_equal(counts.entries, 5001);
	assert_int_equal(counts.changed, 5001);
	assert_int_equal(group_of("volume/d/d/d"), GROUP);
}

/* "..", after a directory was moved out, would lead to foreign files. */
static void test_a_directory_moved_out_meanwhile(void **state)
{
	char half[256] = "volume";
	struct ownership_counts counts = { 0 };
	struct ownership_walk *walk;
	cleanup_close int fd = -EBADF;
	int result;

	sandbox_mkdir("volume", 0755);
	sandbox_mkdir("outside", 0700);
	sandbox_write("outside/file", "");
	tree_make_deep("volume", 100);
	for (int i = 0; i < 30; i++)
		strncat(half, "/d", sizeof(half) - strlen(half) - 1);
	fd = open_volume();
	assert_int_equal(ownership_walk_new(fd, &always, &walk), 0);
	assert_int_equal(ownership_step(walk, &counts), 1); /* the deepest */
	assert_return_code(rename(sandbox_path(half), sandbox_path("outside/moved")), errno);
	while ((result = ownership_step(walk, &counts)) > 0)
		;
	assert_int_equal(result, -ESTALE);
	assert_int_not_equal(group_of("outside"), GROUP);
	assert_int_not_equal(group_of("outside/file"), GROUP);
	(void) ownership_walk_free(walk);
}

/* More entries than one read of the directory gives, on both sides of a directory gone into. */
static void test_large_directories(void **state)
{
	struct ownership_counts counts;
	cleanup_close int fd = -EBADF;
	char name[64];

	sandbox_mkdir("volume", 0755);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "volume/file with a longer name %d", i);
		sandbox_write(name, "");
		if (i == 1500) {
			sandbox_mkdir("volume/deep", 0755);
			tree_make_deep("volume/deep", 50);
		}
	}
	fd = open_volume();
	assert_int_equal(ownership_apply(fd, &always, NULL, &counts, NULL), 1);
	assert_int_equal(counts.entries, 3000 + 51 + 1);
	assert_int_equal(counts.changed, 3000 + 51 + 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_case_089_children_first_root_last),
		SANDBOX_TEST(test_case_087_an_immutable_file),
		SANDBOX_TEST(test_case_088_a_directory_removed_meanwhile),
		SANDBOX_TEST(test_a_file_removed_meanwhile),
		SANDBOX_TEST(test_directories_replaced_meanwhile),
		SANDBOX_TEST(test_cancelled),
		SANDBOX_TEST(test_a_very_deep_tree),
		SANDBOX_TEST(test_a_directory_moved_out_meanwhile),
		SANDBOX_TEST(test_large_directories),
	};

	return sandbox_run("ownership_walk", tests, ARRAY_SIZE(tests));
}
