/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_atomic_writer - what people see of a volume's files: all old or all new, whatever happens
 *
 * The calls that change something are wrapped: a child of the test ends, or gets an error, at the
 * n-th of them, for every n there is.
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/files/atomic_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NEVER = 0, KILLED = 9 };

static unsigned int calls_until_end; /* NEVER, or it happens at the n-th call from now */
static int error_then;               /* 0: the process ends */

static bool is_due(void)
{
	if (calls_until_end == NEVER || --calls_until_end > 0)
		return false;
	if (error_then == 0)
		_exit(KILLED);
	errno = error_then;
	return true;
}

/* Result and arguments of the calls, for the wrappers. */
#define WRAP(result, name, parameters, arguments)                                                  \
	result __real_##name parameters;                                                           \
	result __wrap_##name parameters;                                                           \
	result __wrap_##name parameters                                                            \
	{                                                                                          \
		return is_due() ? -1 : __real_##name arguments;                                    \
	}

WRAP(int, mkdirat, (int fd, const char *name, mode_t mode), (fd, name, mode))
WRAP(ssize_t, write, (int fd, const void *bytes, size_t length), (fd, bytes, length))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, symlinkat, (const char *target, int fd, const char *name), (target, fd, name))
WRAP(int, renameat, (int fd, const char *name, int to_fd, const char *to), (fd, name, to_fd, to))
WRAP(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags))

/* ---- short ways ---- */

/* "path=text" each; ended by NULL. */
static void fill(struct payload *payload, const char *const *files, mode_t mode)
{
	*payload = (struct payload){ .count = 0 };
	for (; *files; files++) {
		const char *text = strchr(*files, '=') + 1;
		char path[128];

		(void) snprintf(path, sizeof(path), "%.*s", (int) (text - 1 - *files), *files);
		assert_int_equal(payload_add(payload,
					     &(struct payload_file){ .path = path,
								     .data = (char *) text,
								     .length = strlen(text),
								     .mode = mode },
					     NULL),
				 0);
	}
	assert_int_equal(payload_finish(payload, NULL), 0);
}

#define FILES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NO_FILES   ((const char *const[]){ NULL })

static int write_as(const char *const *files, mode_t mode, gid_t group, struct failure *failure)
{
	cleanup(payload_done) struct payload payload;
	cleanup_close int fd = open(sandbox_path("volume"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	fill(&payload, files, mode);
	return atomic_write(&(struct atomic_write){ .directory_fd = fd,
						    .path = "volume",
						    .payload = &payload,
						    .has_group = group != 0,
						    .group = group },
			    failure);
}

static int write_files(const char *const *files)
{
	return write_as(files, 0644, 0, NULL);
}

static const char *link_of(const char *name)
{
	static char target[128];
	ssize_t length = readlinkat(sandbox_fd(), name, target, sizeof(target) - 1);

	assert_true(length > 0);
	target[length] = '\0';
	return target;
}

static bool is_there(const char *relative)
{
	return faccessat(sandbox_fd(), relative, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* How many names the volume's directory has, the writer's own included. */
static unsigned int names(void)
{
	cleanup_closedir DIR *directory = opendir(sandbox_path("volume"));
	unsigned int count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	return count - 2;
}

static mode_t mode_of(const char *relative)
{
	struct stat st;

	assert_return_code(stat(sandbox_path(relative), &st), errno);
	return st.st_mode & 07777;
}

/* ---- what is written ---- */

/* case 162, case 164, case 165, case 177 */
static void test_links_to_a_directory_of_the_time(void **state)
{
	char directory[256];
	mode_t mask = umask(077);

	sandbox_mkdir("volume", 0777);
	assert_int_equal(write_files(FILES("foo/bar/txt=1", "./bar=2")), 1);
	(void) umask(mask);
	assert_string_equal(link_of("volume/bar"), "..data/bar");
	assert_string_equal(link_of("volume/foo"), "..data/foo");
	assert_true(sandbox_has("volume/foo/bar/txt", "1"));
	assert_true(sandbox_has("volume/bar", "2"));
	assert_int_equal(names(), 4);
	(void) snprintf(directory, sizeof(directory), "volume/%s", link_of("volume/..data"));
	assert_int_equal(mode_of(directory), 0755);
	assert_int_equal(mode_of("volume/foo/bar"), 0755);
	assert_int_equal(mode_of("volume/bar"), 0644);
}

/* case 166, case 173 */
static void test_what_is_there_already(void **state)
{
	char before[128];

	sandbox_mkdir("volume", 0777);
	assert_int_equal(write_files(FILES("a=1", "b/c=2")), 1);
	(void) snprintf(before, sizeof(before), "%s", link_of("volume/..data"));
	assert_return_code(unlink(sandbox_path("volume/b")), errno);
	assert_int_equal(write_files(FILES("a=1", "b/c=2")), 0);
	assert_string_equal(link_of("volume/..data"), before);
	assert_true(sandbox_has("volume/b/c", "2"));

	/* difference in case 167: a mode of its own is a change, too */
	assert_int_equal(write_as(FILES("a=1", "b/c=2"), 0600, 0, NULL), 1);
	assert_string_not_equal(link_of("volume/..data"), before);
	assert_int_equal(mode_of("volume/a"), 0600);
}

/* case 168, case 169, case 170, case 171, case 172 */
static void test_changes(void **state)
{
	sandbox_mkdir("volume", 0777);
	assert_int_equal(write_files(FILES("foo.txt=1", "zip/bar.txt=2")), 1);
	assert_int_equal(write_files(FILES("foo.txt=3", "zip/bar.txt=2")), 1);
	assert_true(sandbox_has("volume/foo.txt", "3"));
	assert_int_equal(names(), 4);
	assert_int_equal(write_files(FILES("foo.txt=3", "zip/bar.txt=2", "zip/new=4")), 1);
	assert_true(sandbox_has("volume/zip/new", "4"));
	assert_int_equal(write_files(FILES("foo.txt=3")), 1);
	assert_false(is_there("volume/zip"));

	assert_int_equal(write_files(FILES("zap/1/2/3/4/bar=", "zap/1/2/c/bar=", "zap/1/2/magic=")),
			 1);
	assert_false(is_there("volume/foo.txt"));
	assert_int_equal(write_files(FILES("zap/1/2/magic=")), 1);
	assert_false(is_there("volume/zap/1/2/3"));
	assert_false(is_there("volume/zap/1/2/c"));
	assert_true(is_there("volume/zap/1/2/magic"));

	assert_int_equal(write_files(NO_FILES), 1);
	assert_int_equal(names(), 2);
	assert_int_equal(write_files(NO_FILES), 0);
}

static void test_group(void **state)
{
	struct stat st;

	sandbox_mkdir("volume", 0777);
	assert_int_equal(write_as(FILES("a/b=1"), 0400, 1234, NULL), 1);
	assert_return_code(stat(sandbox_path("volume/a/b"), &st), errno);
	assert_int_equal(st.st_gid, 1234);
	assert_int_equal(st.st_mode & 07777, 0440);
	assert_int_equal(mode_of("volume/a"), 02755);
	assert_return_code(lstat(sandbox_path("volume/a"), &st), errno);
	assert_int_equal(st.st_gid, 1234);
	assert_return_code(stat(sandbox_path("volume"), &st), errno);
	assert_int_equal(st.st_gid, 1234);
	assert_true((st.st_mode & S_ISGID) != 0);

	assert_int_equal(write_as(FILES("a/b=1"), 0400, 1234, NULL), 0);
	assert_int_equal(write_as(FILES("a/b=1"), 0400, 1235, NULL), 1);
}

static void test_owner(void **state)
{
	cleanup(payload_done) struct payload payload = { .count = 0 };
	struct payload_file file = { .path = "token",
				     .data = "secret",
				     .length = 6,
				     .mode = 0600,
				     .has_owner = true,
				     .owner = 4321 };
	struct atomic_write write = { .path = "volume", .payload = &payload };
	struct stat st;

	sandbox_mkdir("volume", 0777);
	write.directory_fd = open(sandbox_path("volume"), O_RDONLY | O_DIRECTORY);
	assert_int_equal(payload_add(&payload, &file, NULL), 0);
	assert_int_equal(payload_finish(&payload, NULL), 0);
	assert_int_equal(atomic_write(&write, NULL), 1);
	assert_return_code(stat(sandbox_path("volume/token"), &st), errno);
	assert_int_equal(st.st_uid, 4321);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_return_code(lstat(sandbox_path("volume/token"), &st), errno);
	assert_int_equal(st.st_uid, 4321);
	assert_int_equal(st.st_gid, 0);
	assert_return_code(lstat(sandbox_path("volume/..data"), &st), errno);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(atomic_write(&write, NULL), 0);
	(void) close(write.directory_fd);
}

/* case 176 */
static void test_an_open_directory_stays(void **state)
{
	char text[2] = "";
	int directory_fd, fd;

	sandbox_mkdir("volume", 0777);
	assert_int_equal(write_files(FILES("a=1")), 1);
	directory_fd = open(sandbox_path("volume/..data"), O_RDONLY | O_DIRECTORY);
	fd = openat(directory_fd, "a", O_RDONLY);
	assert_int_equal(write_files(FILES("a=2")), 1);
	assert_int_equal(read(fd, text, 1), 1);
	assert_string_equal(text, "1");
	(void) close(fd);
	(void) close(directory_fd);
}

/* ---- what others have there ---- */

static void test_what_is_not_ours_stays(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("volume", 0777);
	sandbox_mkdir("volume/nested", 0755);
	sandbox_write("volume/nested/file", "theirs");
	sandbox_write("volume/..theirs", "theirs");
	sandbox_mkdir("outside", 0755);
	sandbox_write("outside/file", "theirs");
	assert_return_code(symlink("../outside", sandbox_path("volume/link")), errno);
	assert_return_code(symlink("..data/other", sandbox_path("volume/alias")), errno);
	assert_int_equal(write_files(FILES("a=1")), 1);
	assert_int_equal(write_files(FILES("b=1")), 1);
	assert_true(sandbox_has("volume/nested/file", "theirs"));
	assert_true(sandbox_has("volume/..theirs", "theirs"));
	assert_true(sandbox_has("volume/link/file", "theirs"));
	assert_true(is_there("volume/alias"));

	assert_int_equal(write_as(FILES("nested=1"), 0644, 0, &failure), -EEXIST);
	assert_true(sandbox_has("volume/nested/file", "theirs"));
}

/* A link instead of a directory, or of a file, is never followed. */
static void test_links_that_somebody_swapped(void **state)
{
	char current[256];

	sandbox_mkdir("volume", 0777);
	sandbox_mkdir("outside", 0755);
	sandbox_write("outside/a", "theirs");
	assert_int_equal(write_files(FILES("a=1")), 1);
	(void) snprintf(current, sizeof(current), "volume/%s", link_of("volume/..data"));
	assert_return_code(rename(sandbox_path(current), sandbox_path("moved")), errno);
	assert_return_code(symlink("../outside", sandbox_path(current)), errno);
	assert_int_equal(write_files(FILES("a=2")), 1);
	assert_true(sandbox_has("outside/a", "theirs"));
	assert_true(sandbox_has("volume/a", "2"));

	assert_return_code(unlink(sandbox_path("volume/..data")), errno);
	assert_return_code(symlink("../outside", sandbox_path("volume/..data")), errno);
	assert_int_equal(write_files(FILES("a=3")), 1);
	assert_true(sandbox_has("outside/a", "theirs"));
	assert_true(sandbox_has("volume/a", "3"));
}

/* ---- failures and kills ---- */

/* case 178 is the failure of one of these calls */
static void test_every_failure_leaves_the_old_files(void **state)
{
	unsigned int nth = 0;
	bool failed_once = true;

	sandbox_mkdir("volume", 0777);
	while (failed_once) {
		int r;

		assert_true(write_files(FILES("a=old", "b/c=old")) >= 0);
		assert_int_equal(names(), 4);
		calls_until_end = ++nth;
		error_then = ENOSPC;
		r = write_files(FILES("a=new", "b/c=new"));
		failed_once = calls_until_end == NEVER;
		calls_until_end = NEVER;
		if (r == -ENOSPC && sandbox_has("volume/a", "old")) {
			assert_true(sandbox_has("volume/b/c", "old"));
		} else {
			assert_true(sandbox_has("volume/a", "new"));
			assert_true(sandbox_has("volume/b/c", "new"));
		}
	}
	assert_true(nth > 10);
}

static bool child_was_killed(unsigned int nth)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		calls_until_end = nth;
		error_then = 0;
		_exit(write_files(FILES("a=new", "b/c=new", "d=new")) >= 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == KILLED);
	return WEXITSTATUS(status) == KILLED;
}

/* case 175; difference in case 174: what a crash left is taken away */
static void test_a_kill_at_every_call_converges(void **state)
{
	unsigned int nth;

	sandbox_mkdir("volume", 0777);
	for (nth = 1;; nth++) {
		assert_true(write_files(FILES("a=old", "b/c=old", "e=old")) >= 0);
		assert_int_equal(names(), 5);
		if (!child_was_killed(nth))
			break;
		if (sandbox_has("volume/a", "old"))
			assert_true(sandbox_has("volume/b/c", "old"));
		else
			assert_true(sandbox_has("volume/a", "new") &&
				    sandbox_has("volume/b/c", "new"));
		assert_true(write_files(FILES("a=last", "b/c=last")) >= 0);
		assert_true(sandbox_has("volume/a", "last"));
		assert_int_equal(names(), 4);
	}
	assert_true(nth > 15);
}

static void test_a_full_file_system(void **state)
{
	static char big[256 * 1024];
	char *const files[] = { big, NULL };

	sandbox_mkdir("volume", 0777);
	assert_return_code(mount("tmpfs", sandbox_path("volume"), "tmpfs", 0, "size=64k,mode=0777"),
			   errno);
	assert_int_equal(write_files(FILES("a=old")), 1);
	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, "a=", 2);
	assert_int_equal(write_files((const char *const *) files), -ENOSPC);
	assert_true(sandbox_has("volume/a", "old"));
	assert_int_equal(names(), 3);
	assert_int_equal(write_files(FILES("a=new")), 1);
	assert_return_code(umount2(sandbox_path("volume"), MNT_DETACH), errno);
}

/* ---- readers ---- */

struct race {
	char path[256];
	atomic_bool ends;
	atomic_uint reads, mixed;
};

/* Both files from one directory: what a reader does who wants them to fit together. */
static void *read_both(void *userdata)
{
	struct race *race = userdata;

	while (!atomic_load(&race->ends)) {
		cleanup_close int fd = open(race->path, O_RDONLY | O_DIRECTORY);
		char text[2][16] = { "", "" };
		static const char *const file_names[] = { "a", "b/c" };
		bool read_all = fd >= 0;

		for (size_t i = 0; i < 2 && read_all; i++) {
			cleanup_close int file_fd = openat(fd, file_names[i], O_RDONLY);

			read_all = file_fd >= 0 && read(file_fd, text[i], 15) > 0;
		}
		/* The old directory may go while it is read: then nothing is read, never half. */
		if (read_all && strcmp(text[0], text[1]) != 0)
			atomic_fetch_add(&race->mixed, 1);
		atomic_fetch_add(&race->reads, read_all);
	}
	return NULL;
}

static void test_readers_never_see_a_mixture(void **state)
{
	struct race race = { .mixed = 0 };
	pthread_t reader;

	sandbox_mkdir("volume", 0777);
	(void) snprintf(race.path, sizeof(race.path), "%s", sandbox_path("volume/..data"));
	assert_int_equal(write_files(FILES("a=0", "b/c=0")), 1);
	assert_int_equal(pthread_create(&reader, NULL, read_both, &race), 0);
	for (unsigned int i = 1; i < 300 || atomic_load(&race.reads) < 2000; i++) {
		char a[32], c[32];

		(void) snprintf(a, sizeof(a), "a=%u", i);
		(void) snprintf(c, sizeof(c), "b/c=%u", i);
		assert_int_equal(write_files(FILES(a, c)), 1);
	}
	atomic_store(&race.ends, true);
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_int_equal(atomic_load(&race.mixed), 0);
}

/* ---- reading ---- */

/* What atomic_read() gives is @wanted; NULL: nothing, and that is no error. */
static void expect_shown(const char *path, size_t bytes_max, const char *wanted)
{
	cleanup_close int fd = open(sandbox_path("volume"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *text = "not written";

	assert_int_equal(atomic_read(fd, path, bytes_max, &text), 0);
	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
}

static void test_what_is_shown_is_read(void **state)
{
	sandbox_mkdir("volume", 0777);
	expect_shown("token", 100, NULL);
	assert_int_equal(write_files(FILES("token=secret", "a/b=below", "empty=")), 1);
	expect_shown("token", 100, "secret");
	expect_shown("token", 6, "secret");
	expect_shown("token", 5, NULL);
	expect_shown("a/b", 100, "below");
	expect_shown("a//b", 100, "below");
	expect_shown("a", 100, NULL);
	expect_shown("empty", 100, NULL);
	expect_shown("none", 100, NULL);
	expect_shown("token/x", 100, NULL);
	assert_int_equal(write_files(FILES("token=newer")), 1);
	expect_shown("token", 100, "newer");
}

/* A volume that its pod could write to: nothing leads out of it. */
static void test_nothing_else_is_read(void **state)
{
	char path[160];

	sandbox_mkdir("volume", 0777);
	sandbox_write("outside", "outside");
	assert_int_equal(write_files(FILES("token=secret")), 1);
	(void) snprintf(path, sizeof(path), "volume/%s", link_of("volume/..data"));
	assert_return_code(unlinkat(sandbox_fd(), "volume/token", 0), errno);
	(void) strncat(path, "/link", sizeof(path) - strlen(path) - 1);
	assert_return_code(symlinkat("../../outside", sandbox_fd(), path), errno);
	expect_shown("link", 100, NULL);
	assert_return_code(unlinkat(sandbox_fd(), "volume/..data", 0), errno);
	assert_return_code(symlinkat("..", sandbox_fd(), "volume/..data"), errno);
	expect_shown("outside", 100, NULL);
}

/* ---- wiping ---- */

static void test_wiping(void **state)
{
	char text[16] = "", zeros[6] = "";
	int fd;

	sandbox_mkdir("volume", 0777);
	assert_int_equal(write_as(FILES("a/b=secret"), 0400, 0, NULL), 1);
	fd = open(sandbox_path("volume"), O_RDONLY | O_DIRECTORY);
	assert_int_equal(atomic_write_wipe(fd, "volume", NULL), 0);
	(void) close(fd);
	fd = open(sandbox_path("volume/a/b"), O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 6);
	assert_memory_equal(text, zeros, 6);
	(void) close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_links_to_a_directory_of_the_time),
		SANDBOX_TEST(test_what_is_there_already),
		SANDBOX_TEST(test_changes),
		SANDBOX_TEST(test_group),
		SANDBOX_TEST(test_owner),
		SANDBOX_TEST(test_an_open_directory_stays),
		SANDBOX_TEST(test_what_is_not_ours_stays),
		SANDBOX_TEST(test_links_that_somebody_swapped),
		SANDBOX_TEST(test_every_failure_leaves_the_old_files),
		SANDBOX_TEST(test_a_kill_at_every_call_converges),
		SANDBOX_TEST(test_a_full_file_system),
		SANDBOX_TEST(test_readers_never_see_a_mixture),
		SANDBOX_TEST(test_what_is_shown_is_read),
		SANDBOX_TEST(test_nothing_else_is_read),
		SANDBOX_TEST(test_wiping),
	};

	return sandbox_run("atomic_writer", tests, ARRAY_SIZE(tests));
}
