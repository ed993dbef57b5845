/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_create - what plugins make: exact modes, nothing through a link, nothing replaced but a link
 *
 * Real files in a scratch directory, no root.
 */
#include "base/cleanup.h"
#include "mount/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char directory[PATH_MAX];
static int directory_fd = -EBADF;
static struct failure failure;

static int setup(void **state)
{
	const char *base = getenv("TMPDIR");

	(void) umask(077);
	failure = (struct failure){ 0 };
	(void) snprintf(directory, sizeof(directory), "%s/podvol-create.XXXXXX",
			base ? base : "/tmp");
	if (!mkdtemp(directory))
		return -1;
	directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return directory_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "a/b", "a", "name", "other" };

	(void) umask(022);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (unlinkat(directory_fd, names[i], 0) < 0)
			(void) unlinkat(directory_fd, names[i], AT_REMOVEDIR);
	directory_fd = close_keep_errno(directory_fd);
	return rmdir(directory);
}

/* The name "name" in the scratch directory; borrowed, not to be given to place_done(). */
static const struct place *place(void)
{
	static struct place here;
	static char name[] = "name", path[] = "scratch/name";

	here = (struct place){ .parent_fd = directory_fd, .name = name, .path = path };
	return &here;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_mode;
}

static void expect_link(const char *expected)
{
	char text[64];
	ssize_t length = readlinkat(directory_fd, "name", text, sizeof(text));

	assert_int_equal(length, strlen(expected));
	assert_memory_equal(text, expected, strlen(expected));
}

static void test_directory_has_its_mode(void **state)
{
	bool made = false;
	int fd = make_directory(place(), 02777, &made, &failure);

	assert_true(fd >= 0);
	assert_true(made);
	assert_int_equal(fcntl(fd, F_GETFL) & O_PATH, O_PATH);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	(void) close(fd);
	assert_int_equal(mode_of("name"), S_IFDIR | 02777);

	fd = make_directory(place(), 0700, &made, &failure);
	assert_true(fd >= 0);
	assert_false(made);
	(void) close(fd);
	assert_int_equal(mode_of("name"), S_IFDIR | 02777);
}

static void test_directory_is_not_made_through_a_link(void **state)
{
	assert_int_equal(mkdirat(directory_fd, "other", 0700), 0);
	assert_int_equal(symlinkat("other", directory_fd, "name"), 0);
	assert_int_equal(make_directory(place(), 0750, NULL, &failure), -ENOTDIR);
	assert_non_null(strstr(failure.text, "scratch/name"));
}

static void test_directory_where_a_file_is(void **state)
{
	int fd = make_file(place(), 0600, NULL, &failure);

	assert_true(fd >= 0);
	(void) close(fd);
	assert_int_equal(make_directory(place(), 0750, NULL, &failure), -ENOTDIR);
}

static void test_file_has_its_mode(void **state)
{
	bool made = false;
	int fd = make_file(place(), 0666, &made, &failure);

	assert_true(fd >= 0);
	assert_true(made);
	(void) close(fd);
	assert_int_equal(mode_of("name"), S_IFREG | 0666);
	fd = make_file(place(), 0600, &made, &failure);
	assert_true(fd >= 0);
	assert_false(made);
	(void) close(fd);
	assert_int_equal(mode_of("name"), S_IFREG | 0666);
}

static void test_file_is_not_made_through_a_link(void **state)
{
	assert_int_equal(symlinkat("other", directory_fd, "name"), 0);
	assert_int_equal(make_file(place(), 0600, NULL, &failure), -ELOOP);
	assert_int_equal(faccessat(directory_fd, "other", F_OK, 0), -1);
}

static void test_link_replaces_links_only(void **state)
{
	assert_int_equal(make_link(place(), "/dev/a", &failure), 0);
	expect_link("/dev/a");
	assert_int_equal(make_link(place(), "/dev/a", &failure), 0);
	assert_int_equal(make_link(place(), "/dev/bb", &failure), 0);
	expect_link("/dev/bb");

	assert_int_equal(unlinkat(directory_fd, "name", 0), 0);
	assert_int_equal(mkdirat(directory_fd, "name", 0700), 0);
	assert_int_equal(make_link(place(), "/dev/a", &failure), -EEXIST);
	assert_true(S_ISDIR(mode_of("name")));
}

static void test_mode_is_changed_by_a_path_descriptor(void **state)
{
	int fd = make_directory(place(), 0700, NULL, &failure);

	assert_true(fd >= 0);
	assert_int_equal(change_mode(fd, 0777, &failure), 0);
	(void) close(fd);
	assert_int_equal(mode_of("name"), S_IFDIR | 0777);
}

/* case 15: what the umask takes away stays away on the host's own paths */
static void test_host_directories_obey_the_umask(void **state)
{
	char path[PATH_MAX + 16];
	int fd;

	(void) snprintf(path, sizeof(path), "%s//a/b/", directory);
	(void) umask(027);
	fd = make_host_directories(path, 0755, &failure);
	assert_true(fd >= 0);
	(void) close(fd);
	assert_int_equal(mode_of("a"), S_IFDIR | 0750);
	assert_int_equal(mode_of("a/b"), S_IFDIR | 0750);
}

static void test_host_directories_through_a_file(void **state)
{
	char path[PATH_MAX + 16];
	int fd = make_file(place(), 0600, NULL, &failure);

	assert_true(fd >= 0);
	(void) close(fd);
	(void) snprintf(path, sizeof(path), "%s/name/b", directory);
	assert_int_equal(make_host_directories(path, 0755, &failure), -ENOTDIR);
	assert_non_null(strstr(failure.text, "name"));
}

static void test_host_paths_are_absolute(void **state)
{
	assert_int_equal(open_host_path("a", O_PATH, &failure), -EINVAL);
	assert_int_equal(make_host_directories("a", 0755, &failure), -EINVAL);
	assert_int_equal(make_host_file("a", 0644, &failure), -EINVAL);
	assert_int_equal(make_host_file("/tmp/", 0644, &failure), -EISDIR);
	assert_non_null(strstr(failure.text, "ends in a slash"));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_directory_has_its_mode),
		CASE(test_directory_is_not_made_through_a_link),
		CASE(test_directory_where_a_file_is),
		CASE(test_file_has_its_mode),
		CASE(test_file_is_not_made_through_a_link),
		CASE(test_link_replaces_links_only),
		CASE(test_mode_is_changed_by_a_path_descriptor),
		CASE(test_host_directories_obey_the_umask),
		CASE(test_host_directories_through_a_file),
		CASE(test_host_paths_are_absolute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
