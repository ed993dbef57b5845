/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_capacity_project - project quotas of xfs and ext4, against a stand-in for the kernel's calls
 *
 * The same on a kernel that has them: tests/root/plugins/test_project_quota.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_projects.h"

#include "base/cleanup.h"
#include "mount/capacity/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>

static char top[] = "/tmp/podvol-project-XXXXXX";

static int open_directory(const char *name)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "%s/%s", top, name);
	(void) mkdir(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void remove_directories(void)
{
	cleanup_close int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void) unlinkat(fd, "a", AT_REMOVEDIR);
	(void) unlinkat(fd, "b", AT_REMOVEDIR);
}

static uint32_t first_number_of(int fd)
{
	struct stat status;

	assert_return_code(fstat(fd, &status), errno);
	return FAKE_NUMBER_FIRST + (uint32_t) (status.st_ino % FAKE_NUMBER_COUNT);
}

static void have_limit(uint32_t number, uint64_t blocks)
{
	fake_projects.limited[fake_projects.limit_count] = number;
	fake_projects.limits[fake_projects.limit_count++] = blocks;
}

static void it_is_found_where_quotas_are_enforced(void **state)
{
	cleanup_close int fd = open_directory("a");
	const struct capacity_method *method = NULL;
	struct failure why = { .error = 0 };

	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, NULL), 0);
	assert_ptr_equal(method, &capacity_project);
	fake_projects.type = EXT4_SUPER_MAGIC;
	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, NULL), 0);
	assert_ptr_equal(method, &capacity_project);
	fake_projects.enforces = false;
	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why.text, "prjquota"));
	assert_int_equal(capacity_limit_project(fd, "/b", 1024, &why), -EOPNOTSUPP);
	fake_projects.type = TMPFS_MAGIC;
	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why.text, "btrfs, xfs and ext4"));
	assert_int_equal(capacity_limit_project(fd, "/b", 1024, &why), -EOPNOTSUPP);
	assert_int_equal(capacity_find("quotas", fd, "/b", &method, &why), -EINVAL);
	assert_int_equal(capacity_find(CAPACITY_NONE, fd, "/b", &method, &why), 0);
	assert_null(method);
}

static void the_directory_has_its_number_before_its_limit(void **state)
{
	cleanup_close int fd = open_directory("a");
	struct capacity_usage usage;

	assert_false(capacity_project.is_in_force(fd));
	assert_int_equal(capacity_project.read_usage(fd, &usage), -ENODATA);
	assert_int_equal(capacity_project.set_limit(fd, "a", 1000000, NULL), 0);
	assert_string_equal(fake_projects.done, "number limit ");
	assert_true(fake_projects_get(fd) >= FAKE_NUMBER_FIRST);
	assert_true(capacity_project.is_in_force(fd));
	fake_projects.used_blocks = 8;
	assert_int_equal(capacity_project.read_usage(fd, &usage), 0);
	assert_int_equal(usage.limit_bytes, 1954 * 512); /* rounded up */
	assert_int_equal(usage.used_bytes, 4096);
	assert_int_equal(usage.used_inodes, 1);
	/* Growing keeps the number. */
	assert_int_equal(capacity_project.set_limit(fd, "a", 2000384, NULL), 0);
	assert_string_equal(fake_projects.done, "number limit limit ");
	assert_int_equal(*fake_projects_limit(fake_projects_get(fd)), 3907);
}

static void a_kill_before_the_limit_leaves_no_second_number(void **state)
{
	cleanup_close int fd = open_directory("a");
	struct failure why = { .error = 0 };
	uint32_t number;

	fake_projects.killed_at = 2;
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, &why), -EIO);
	fake_projects.killed_at = 0;
	number = fake_projects_get(fd);
	assert_true(number >= FAKE_NUMBER_FIRST);
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	assert_int_equal(fake_projects_get(fd), number);
	assert_int_equal(fake_projects.limit_count, 1);
}

static void no_two_have_the_same_number(void **state)
{
	cleanup_close int first = open_directory("a"), second = open_directory("b");
	uint32_t taken = first_number_of(second);

	/* The first has the number that the second would get. */
	fake_projects_set(first, taken, FS_XFLAG_PROJINHERIT);
	have_limit(taken, 1);
	assert_int_equal(capacity_project.set_limit(second, "b", 1024, NULL), 0);
	assert_int_not_equal(fake_projects_get(second), taken);
	assert_int_equal(*fake_projects_limit(taken), 1);
}

static void a_limit_that_a_kill_left_is_taken_again(void **state)
{
	cleanup_close int fd = open_directory("a");
	uint32_t number = first_number_of(fd);

	have_limit(number, 7);
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	assert_int_equal(fake_projects_get(fd), number);
	assert_int_equal(*fake_projects_limit(number), 2);
}

static void an_administrators_project_is_never_touched(void **state)
{
	cleanup_close int fd = open_directory("a");
	struct failure why = { .error = 0 };

	/* Inherited from the base path. */
	fake_projects_set(fd, 42, 0);
	have_limit(42, 7);
	assert_false(capacity_project.is_in_force(fd));
	capacity_project.forget(fd, capacity_project.number(fd));
	assert_int_equal(*fake_projects_limit(42), 7);
	/* What holds an emptyDir stays in it; what an administrator asks for leaves it. */
	assert_int_equal(capacity_limit_project(fd, "a", 1024, &why), -EBUSY);
	assert_non_null(strstr(why.text, "project 42"));
	assert_int_equal(fake_projects_get(fd), 42);
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	assert_int_not_equal(fake_projects_get(fd), 42);
	assert_int_equal(*fake_projects_limit(42), 7);
}

/* The root directory can lie in a volume that podvol limits. */
static void the_project_of_what_is_around_it_is_not_its_own(void **state)
{
	cleanup_close int fd = open_directory("a"), around = openat(fd, "..", O_RDONLY | O_CLOEXEC);
	uint32_t number = first_number_of(around);
	struct capacity_usage usage;

	fake_projects_set(around, number, FS_XFLAG_PROJINHERIT);
	fake_projects_set(fd, number, FS_XFLAG_PROJINHERIT);
	have_limit(number, 1000);
	assert_false(capacity_project.is_in_force(fd));
	assert_int_equal(capacity_project.read_usage(fd, &usage), -ENODATA);
	assert_int_equal(capacity_limit_project(fd, "a", 1024, NULL), -EBUSY);
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	assert_int_not_equal(fake_projects_get(fd), number);
	assert_int_equal(*fake_projects_limit(number), 1000);
}

static void a_number_that_is_forgotten_has_no_limit(void **state)
{
	cleanup_close int fd = open_directory("a"), around = openat(fd, "..", O_RDONLY | O_CLOEXEC);
	uint64_t number;

	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	number = capacity_project.number(fd);
	/* Something has it still. */
	capacity_project.forget(around, number);
	assert_int_equal(*fake_projects_limit((uint32_t) number), 2);
	remove_directories();
	capacity_project.forget(around, number);
	assert_int_equal(*fake_projects_limit((uint32_t) number), 0);
}

static int make_top(void **state)
{
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
	return rmdir(top);
}

static int begin(void **state)
{
	fake_projects_reset();
	return 0;
}

static int end(void **state)
{
	fake_projects_done();
	remove_directories();
	return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(it_is_found_where_quotas_are_enforced),
		TEST(the_directory_has_its_number_before_its_limit),
		TEST(a_kill_before_the_limit_leaves_no_second_number),
		TEST(no_two_have_the_same_number),
		TEST(a_limit_that_a_kill_left_is_taken_again),
		TEST(an_administrators_project_is_never_touched),
		TEST(the_project_of_what_is_around_it_is_not_its_own),
		TEST(a_number_that_is_forgotten_has_no_limit),
	};

	return cmocka_run_group_tests_name("capacity_project", tests, make_top, remove_top);
}
