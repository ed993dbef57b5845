/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_secret_file - a key or token is there as a whole or not at all, whenever the power is lost
 *
 * The calls that change files are interposed and what they have made safe is kept account of: bytes
 * by a sync of the file, names by a sync of the directory. After each call the power may be lost;
 * what is then found under the name is the old text or the new one. And each call fails once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/secret_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define NEW_TEXT "a new token, which is longer than the old one"

int __real_openat(int directory_fd, const char *name, int flags, ...);
ssize_t __real_write(int fd, const void *bytes, size_t length);
int __real_fsync(int fd);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_openat(int directory_fd, const char *name, int flags, ...);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
int __wrap_fsync(int fd);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);

static struct {
	unsigned int calls, failing;    /* the how manieth fails; 0: none */
	size_t length, written, synced; /* bytes of the file that is being made */
	bool is_renamed, name_is_synced;
} disk;

static char directory[64];
static int directory_fd = -EBADF;

/* The rename may land before anything that was not synced when it was called. */
static void lose_power(void)
{
	if (disk.is_renamed)
		assert_int_equal(disk.synced, disk.length);
}

static bool fails(void)
{
	lose_power();
	errno = EIO;
	return ++disk.calls == disk.failing;
}

int __wrap_openat(int fd, const char *name, int flags, ...)
{
	if (!(flags & O_CREAT))
		return __real_openat(fd, name, flags);
	return fails() ? -1 : __real_openat(fd, name, flags, 0600);
}

/* In pieces, as a slow disk may. */
ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
	ssize_t n = fails() ? -1 : __real_write(fd, bytes, length > 10 ? 10 : length);

	disk.written += n > 0 ? (size_t) n : 0;
	return n;
}

int __wrap_fsync(int fd)
{
	struct stat status;

	if (fails())
		return -1;
	assert_return_code(fstat(fd, &status), 0);
	if (S_ISDIR(status.st_mode))
		disk.name_is_synced = disk.is_renamed;
	else
		disk.synced = disk.written;
	return 0;
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	int r = fails() ? -1 : __real_renameat(from_fd, from, to_fd, to);

	disk.is_renamed = r == 0;
	return r;
}

static int write_text(const char *text, unsigned int failing)
{
	struct failure why = { 0 };
	int r;

	memset(&disk, 0, sizeof(disk));
	disk.failing = failing;
	disk.length = strlen(text);
	r = secret_file_write(directory_fd, "token", text, &why);
	lose_power();
	assert_int_equal(r < 0, why.text[0] != '\0');
	disk.failing = 0;
	return r;
}

static void assert_has(const char *text)
{
	struct failure why = { 0 };
	char *found = NULL;

	if (secret_file_read(directory_fd, "token", &found, &why) < 0)
		fail_msg("%s", why.text);
	assert_string_equal(found, text);
	(void) secret_text_free(found);
}

static void no_moment_leaves_a_part(void **state)
{
	assert_int_equal(write_text(NEW_TEXT, 0), 0);
	assert_true(disk.is_renamed && disk.name_is_synced);
	assert_has(NEW_TEXT);
}

/* Only when nothing but the last sync failed is the new text there: whole, and not promised. */
static void each_call_fails_once(void **state)
{
	unsigned int calls;

	assert_int_equal(write_text("the old token", 0), 0);
	assert_int_equal(write_text(NEW_TEXT, 0), 0);
	calls = disk.calls;
	assert_true(calls > 5);
	for (unsigned int failing = 1; failing <= calls; failing++) {
		assert_int_equal(write_text("the old token", 0), 0);
		assert_int_equal(write_text(NEW_TEXT, failing), -EIO);
		assert_has(failing == calls ? NEW_TEXT : "the old token");
		assert_int_equal(faccessat(directory_fd, ".token.new", F_OK, 0), -1);
	}
}

/* What a power loss leaves beside it is in no one's way. */
static void remains_are_replaced(void **state)
{
	cleanup_close int fd =
		openat(directory_fd, ".token.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write_text(NEW_TEXT, 0), 0);
	assert_has(NEW_TEXT);
}

static int set_up(void **state)
{
	(void) snprintf(directory, sizeof(directory), "/tmp/podvol-secret-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	directory_fd = secret_directory_open(directory, NULL);
	return directory_fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void) unlinkat(directory_fd, "token", 0);
	directory_fd = close_keep_errno(directory_fd);
	return remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_moment_leaves_a_part),
		cmocka_unit_test(each_call_fails_once),
		cmocka_unit_test(remains_are_replaced),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
