/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_way_up - the directories above one, and which of them are recalled
 *
 * statx is interposed to count: what is recalled costs no call.
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/path/way_up.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

static unsigned int calls;

static uint64_t made_sec; /* added to when a directory was made */

int __real_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *ret);
int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *ret);
int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *ret)
{
	int r = __real_statx(fd, path, flags, mask, ret);

	calls++;
	ret->stx_btime.tv_sec += (int64_t) made_sec;
	return r;
}

/* The clock has moved since, so that the order of two moments is known. */
static uint64_t now(void)
{
	uint64_t before = monotonic_usec();

	while (monotonic_usec() == before)
		;
	return before + 1;
}

static struct way_up *find(struct way_memory *memory, uint64_t asked_usec, const char *relative)
{
	const struct way_asked asked = { .memory = memory, .usec = asked_usec };
	cleanup_close int fd = open(sandbox_path(relative), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct way_up *way = NULL;

	assert_return_code(fd, errno);
	assert_int_equal(way_up_find(&asked, fd, &way), 0);
	return way;
}

static struct way_up *find_path(struct way_memory *memory, uint64_t asked_usec,
				const char *relative)
{
	const struct way_asked asked = { .memory = memory, .usec = asked_usec };
	struct way_up *way = NULL;

	assert_int_equal(way_up_find_path(&asked, sandbox_path(relative), &way, NULL), 0);
	return way;
}

static bool has(const struct way_up *way, const char *relative)
{
	struct stat status;

	assert_return_code(stat(sandbox_path(relative), &status), errno);
	return way_up_has(way, status.st_dev, status.st_ino);
}

static bool has_slash(const struct way_up *way)
{
	struct stat status;

	assert_return_code(stat("/", &status), errno);
	return way_up_has(way, status.st_dev, status.st_ino);
}

/* Directories that are made after it was asked, and before anything is read. */
static struct way_memory *memory_with_directories(uint64_t *ret_asked_usec)
{
	struct way_memory *memory;

	*ret_asked_usec = now();
	(void) now();
	assert_int_equal(way_memory_new(&memory), 0);
	sandbox_mkdir("a", 0755);
	sandbox_mkdir("a/b", 0755);
	sandbox_mkdir("other", 0755);
	return memory;
}

static void it_has_the_directory_and_all_above(void **state)
{
	cleanup(way_up_unrefp) struct way_up *way = NULL;

	sandbox_mkdir("a", 0755);
	sandbox_mkdir("a/b", 0755);
	sandbox_mkdir("a/b/c", 0755);
	way = find(NULL, 0, "a/b");
	assert_true(has(way, "a/b") && has(way, "a") && has(way, ".") && has_slash(way));
	assert_false(has(way, "a/b/c"));
	assert_null(find_path(NULL, 0, "a/none"));
}

static void it_is_recalled_for_who_asked_before_it_was_read(void **state)
{
	cleanup(way_up_unrefp) struct way_up *first = NULL, *second = NULL, *beside = NULL;
	cleanup(way_up_unrefp) struct way_up *by_path = NULL, *again = NULL;
	uint64_t asked_usec;
	struct way_memory *memory = memory_with_directories(&asked_usec);

	sandbox_mkdir("a/c", 0755);
	first = find(memory, asked_usec, "a/b");
	calls = 0;
	second = find(memory, asked_usec, "a/b");
	assert_int_equal(calls, 1);
	assert_int_equal(second->count, first->count);
	beside = find(memory, asked_usec, "a/c"); /* itself, and "a", from where it is known */
	assert_int_equal(calls, 3);
	assert_true(has(beside, "a/c") && has(beside, "a") && has_slash(beside));
	assert_false(has(beside, "a/b"));
	assert_int_equal(beside->count, first->count);

	by_path = find_path(memory, asked_usec, "a/b");
	calls = 0;
	again = find_path(memory, asked_usec, "a/b");
	assert_int_equal(calls, 0);
	assert_ptr_equal(again, by_path);
	assert_null(way_memory_free(memory));
}

static void what_was_moved_before_it_is_asked_for_is_seen(void **state)
{
	cleanup(way_up_unrefp) struct way_up *before = NULL, *before_path = NULL;
	cleanup(way_up_unrefp) struct way_up *after = NULL, *after_path = NULL, *joined = NULL;
	uint64_t asked_usec;
	struct way_memory *memory = memory_with_directories(&asked_usec);

	before = find(memory, asked_usec, "a/b");
	before_path = find_path(memory, asked_usec, "a");
	assert_false(has(before, "other"));

	assert_return_code(rename(sandbox_path("a"), sandbox_path("other/a")), errno);
	asked_usec = now();
	(void) now();
	after = find(memory, asked_usec, "other/a/b");
	assert_true(has(after, "other"));
	assert_null(find_path(memory, asked_usec, "a"));
	after_path = find_path(memory, asked_usec, "other/a");
	assert_true(has(after_path, "other"));

	/* Of who asks again it is read again, and what it is joined to as well. */
	assert_return_code(rename(sandbox_path("other/a"), sandbox_path("a")), errno);
	asked_usec = now();
	joined = find(memory, asked_usec, "a/b");
	assert_false(has(joined, "other"));
	assert_null(way_memory_free(memory));
}

static void a_part_that_was_recalled_keeps_its_age(void **state)
{
	cleanup(way_up_unrefp) struct way_up *old = NULL, *joined = NULL, *fresh = NULL;
	uint64_t first_usec, second_usec;
	struct way_memory *memory = memory_with_directories(&first_usec);

	old = find(memory, first_usec, "a");
	assert_return_code(rename(sandbox_path("a"), sandbox_path("other/a")), errno);
	second_usec = now();
	(void) now();
	/* Asked for before the move: may be as it was then, but is not passed on as newer. */
	joined = find(memory, first_usec, "other/a/b");
	fresh = find(memory, second_usec, "other/a/b");
	assert_true(has(fresh, "other"));
	assert_null(way_memory_free(memory));
}

static void another_mount_of_a_directory_has_another_way(void **state)
{
	cleanup(way_up_unrefp) struct way_up *plain = NULL, *bound = NULL;
	uint64_t asked_usec;
	struct way_memory *memory = memory_with_directories(&asked_usec);

	sandbox_mkdir("other/bind", 0755);
	assert_return_code(
		mount(sandbox_path("a"), sandbox_path("other/bind"), NULL, MS_BIND, NULL), errno);
	plain = find(memory, asked_usec, "a/b");
	bound = find(memory, asked_usec, "other/bind/b");
	assert_true(has(bound, "other") && has(bound, "a"));
	assert_false(has(plain, "other"));
	assert_return_code(umount(sandbox_path("other/bind")), errno);
	assert_null(way_memory_free(memory));
}

/* It may be anywhere, with the inode of one that was removed. */
static void a_directory_with_the_inode_of_another_is_read(void **state)
{
	cleanup(way_up_unrefp) struct way_up *removed = NULL, *made = NULL;
	uint64_t asked_usec;
	struct way_memory *memory = memory_with_directories(&asked_usec);

	removed = find(memory, asked_usec, "a");
	assert_return_code(rename(sandbox_path("a"), sandbox_path("other/a")), errno);
	made_sec = 1;
	made = find(memory, asked_usec, "other/a");
	made_sec = 0;
	assert_true(has(made, "other"));
	assert_null(way_memory_free(memory));
}

static void who_does_not_say_when_recalls_nothing(void **state)
{
	cleanup(way_up_unrefp) struct way_up *first = NULL, *second = NULL;
	uint64_t asked_usec;
	struct way_memory *memory = memory_with_directories(&asked_usec);
	unsigned int once;

	calls = 0;
	first = find_path(memory, 0, "a");
	once = calls;
	(void) now();
	second = find_path(memory, 0, "a");
	assert_int_equal(calls, 2 * once);
	assert_null(way_memory_free(memory));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(it_has_the_directory_and_all_above),
		SANDBOX_TEST(it_is_recalled_for_who_asked_before_it_was_read),
		SANDBOX_TEST(what_was_moved_before_it_is_asked_for_is_seen),
		SANDBOX_TEST(a_part_that_was_recalled_keeps_its_age),
		SANDBOX_TEST(another_mount_of_a_directory_has_another_way),
		SANDBOX_TEST(a_directory_with_the_inode_of_another_is_read),
		SANDBOX_TEST(who_does_not_say_when_recalls_nothing),
	};

	return sandbox_run("way_up", tests, ARRAY_SIZE(tests));
}
