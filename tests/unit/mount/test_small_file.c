/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_small_file - files of podvold's own are written whole or not at all, and only plain ones are
 * read
 */
#include "mount/path/small_file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct world {
	char directory[64];
	struct place place;
};

static int fail_rename;

int __real_renameat(int old_fd, const char *old_name, int new_fd, const char *new_name);
int __wrap_renameat(int old_fd, const char *old_name, int new_fd, const char *new_name);
int __wrap_renameat(int old_fd, const char *old_name, int new_fd, const char *new_name)
{
	if (fail_rename) {
		errno = fail_rename;
		return -1;
	}
	return __real_renameat(old_fd, old_name, new_fd, new_name);
}

static int setup(void **state)
{
	static struct world world;

	fail_rename = 0;
	(void) umask(077);
	(void) snprintf(world.directory, sizeof(world.directory), "/tmp/small-file-XXXXXX");
	if (!mkdtemp(world.directory))
		return -1;
	world.place = (struct place){
		.parent_fd = open(world.directory, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.name = strdup("f"),
		.path = strdup("R/f"),
	};
	*state = &world;
	return world.place.parent_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	(void) unlinkat(world->place.parent_fd, "f", 0);
	(void) unlinkat(world->place.parent_fd, "f", AT_REMOVEDIR);
	(void) unlinkat(world->place.parent_fd, ".f.new", 0);
	place_done(&world->place);
	return rmdir(world->directory);
}

static bool has(const struct world *world, const char *name)
{
	return faccessat(world->place.parent_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void expect_content(const struct world *world, const char *expected)
{
	cleanup_free char *bytes = NULL;
	size_t length = 0;

	assert_int_equal(small_file_read(&world->place, 100, &bytes, &length, NULL), 0);
	assert_string_equal(bytes, expected);
	assert_int_equal(length, strlen(expected));
}

static void test_written_and_read(void **state)
{
	struct world *world = *state;
	struct stat st;

	assert_int_equal(small_file_write(&world->place, "one", 3, 0644, NULL), 0);
	expect_content(world, "one");
	assert_int_equal(fstatat(world->place.parent_fd, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644); /* against the umask */
	assert_int_equal(small_file_write(&world->place, "", 0, 0600, NULL), 0);
	expect_content(world, "");
	assert_false(has(world, ".f.new"));
}

/* Until the rename the old bytes are there, and a failure leaves nothing beside them. */
static void test_failure_keeps_the_old_bytes(void **state)
{
	struct world *world = *state;
	struct failure failure;

	assert_int_equal(small_file_write(&world->place, "old", 3, 0644, NULL), 0);
	fail_rename = ENOSPC;
	assert_int_equal(small_file_write(&world->place, "new", 3, 0644, &failure), -ENOSPC);
	assert_non_null(strstr(failure.text, "cannot write 'R/f'"));
	expect_content(world, "old");
	assert_false(has(world, ".f.new"));
}

/* What a kill left beside it, be it a link to a foreign file, is never written to. */
static void test_what_a_kill_left(void **state)
{
	struct world *world = *state;

	assert_int_equal(symlinkat("f", world->place.parent_fd, ".f.new"), 0);
	assert_int_equal(small_file_write(&world->place, "one", 3, 0644, NULL), 0);
	expect_content(world, "one");
	assert_int_equal(symlinkat("f", world->place.parent_fd, ".f.new"), 0);
	assert_int_equal(small_file_remove(&world->place, NULL), 0);
	assert_false(has(world, "f") || has(world, ".f.new"));
	assert_int_equal(small_file_remove(&world->place, NULL), 0);
}

static void test_only_plain_files_are_read(void **state)
{
	struct world *world = *state;
	int fd = world->place.parent_fd;
	size_t length;
	char *bytes;

	assert_int_equal(small_file_read(&world->place, 100, &bytes, &length, NULL), -ENOENT);
	assert_int_equal(symlinkat("/etc/passwd", fd, "f"), 0);
	assert_int_equal(small_file_read(&world->place, 1 << 20, &bytes, &length, NULL), -ELOOP);
	assert_int_equal(unlinkat(fd, "f", 0), 0);
	assert_int_equal(mkfifoat(fd, "f", 0600), 0);
	assert_int_equal(small_file_read(&world->place, 100, &bytes, &length, NULL), -EINVAL);
	assert_int_equal(unlinkat(fd, "f", 0), 0);
	assert_int_equal(mkdirat(fd, "f", 0700), 0);
	assert_int_equal(small_file_read(&world->place, 100, &bytes, &length, NULL), -EINVAL);
	assert_int_equal(small_file_write(&world->place, "x", 1, 0644, NULL), -EISDIR);
}

static void test_too_large(void **state)
{
	struct world *world = *state;
	size_t length;
	char *bytes;

	assert_int_equal(small_file_write(&world->place, "12345", 5, 0644, NULL), 0);
	assert_int_equal(small_file_read(&world->place, 4, &bytes, &length, NULL), -EFBIG);
	assert_int_equal(small_file_read(&world->place, 5, &bytes, &length, NULL), 0);
	free(bytes);
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WORLD(test_written_and_read), WORLD(test_failure_keeps_the_old_bytes),
		WORLD(test_what_a_kill_left), WORLD(test_only_plain_files_are_read),
		WORLD(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
