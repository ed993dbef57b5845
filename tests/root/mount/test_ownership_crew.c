/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ownership_crew - several threads on one volume: the root last, nothing twice, errors, kills
 *
 * The calls that change are counted and can be made to end the walk, its threads or the process.
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	GROUP = 1000,
	DIRECTORIES = 60,
	FILES = 100, /* of each */
	ENTRIES = 1 + DIRECTORIES * (1 + FILES),
};

static const struct ownership always = { .gid = GROUP };

/* ---- what the calls do ---- */

static atomic_uint groups_changed, modes_by_name, modes_wrong, threads_started;
static atomic_uint reads;         /* of directories */
static unsigned int kill_after;   /* changes of a group; 0: never */
static unsigned int cancel_after; /* the same */
static unsigned int fail_read;    /* which read fails; 0: none */
static bool refuse_threads;
static atomic_bool cancelled;
static uint64_t root_inode;
static atomic_uint changed_before_root;

int __real_fchownat(int fd, const char *name, uid_t uid, gid_t gid, int flags);
int __wrap_fchownat(int fd, const char *name, uid_t uid, gid_t gid, int flags);
int __real_fchmodat2(int fd, const char *name, mode_t mode, unsigned int flags);
int __wrap_fchmodat2(int fd, const char *name, mode_t mode, unsigned int flags);
ssize_t __real_getdents64(int fd, void *buffer, size_t bytes);
ssize_t __wrap_getdents64(int fd, void *buffer, size_t bytes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *userdata);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *userdata);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);

int __wrap_fchownat(int fd, const char *name, uid_t uid, gid_t gid, int flags)
{
	unsigned int count = atomic_fetch_add(&groups_changed, 1) + 1;
	struct stat status;

	if (*name == '\0' && fstat(fd, &status) == 0 && status.st_ino == root_inode)
		atomic_store(&changed_before_root, count - 1);
	if (kill_after > 0 && count == kill_after)
		(void) kill(getpid(), SIGKILL);
	if (cancel_after > 0 && count == cancel_after)
		atomic_store(&cancelled, true);
	return __real_fchownat(fd, name, uid, gid, flags);
}

int __wrap_fchmodat2(int fd, const char *name, mode_t mode, unsigned int flags)
{
	struct stat status;

	if (*name == '\0') /* by a descriptor */
		return __real_fchmodat2(fd, name, mode, flags);
	atomic_fetch_add(&modes_by_name, 1);
	if (!(flags & AT_SYMLINK_NOFOLLOW) || fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    status.st_gid != GROUP)
		atomic_fetch_add(&modes_wrong, 1);
	return __real_fchmodat2(fd, name, mode, flags);
}

ssize_t __wrap_getdents64(int fd, void *buffer, size_t bytes)
{
	if (atomic_fetch_add(&reads, 1) + 1 == fail_read) {
		errno = EIO;
		return -1;
	}
	return __real_getdents64(fd, buffer, bytes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *userdata)
{
	if (refuse_threads)
		return EAGAIN;
	atomic_fetch_add(&threads_started, 1);
	return __real_pthread_create(thread, attributes, start, userdata);
}

/* Four of them, whatever machine this is. */
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	CPU_ZERO_S(bytes, set);
	for (int cpu = 0; cpu < 4; cpu++)
		CPU_SET_S(cpu, bytes, set);
	return 0;
}

static void forget_counts(void)
{
	groups_changed = modes_by_name = modes_wrong = threads_started = reads = 0;
	changed_before_root = 0;
	kill_after = cancel_after = fail_read = 0;
	refuse_threads = false;
	cancelled = false;
}

/* ---- the volume ---- */

static void make_volume(uid_t owner)
{
	struct stat status;
	char name[64];

	sandbox_mkdir("volume", 0755);
	for (int d = 0; d < DIRECTORIES; d++) {
		snprintf(name, sizeof(name), "volume/%d", d);
		sandbox_mkdir(name, 0755);
		assert_return_code(chown(sandbox_path(name), owner, 0), errno);
		for (int f = 0; f < FILES; f++) {
			snprintf(name, sizeof(name), "volume/%d/%d", d, f);
			sandbox_write(name, "");
		}
	}
	assert_return_code(stat(sandbox_path("volume"), &status), errno);
	root_inode = status.st_ino;
	forget_counts();
}

static int apply(struct ownership_counts *counts)
{
	cleanup_close int fd = open(sandbox_path("volume"), O_PATH | O_CLOEXEC);

	assert_return_code(fd, errno);
	return ownership_apply(fd, &always, &cancelled, counts, NULL);
}

static unsigned int group_of(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status.st_gid;
}

static unsigned int count_with_group(void)
{
	unsigned int count = group_of("volume") == GROUP;
	char name[64];

	for (int d = 0; d < DIRECTORIES; d++) {
		snprintf(name, sizeof(name), "volume/%d", d);
		count += group_of(name) == GROUP;
		for (int f = 0; f < FILES; f++) {
			snprintf(name, sizeof(name), "volume/%d/%d", d, f);
			count += group_of(name) == GROUP;
		}
	}
	return count;
}

/* ---- the tests ---- */

static void test_all_of_it_once_and_the_root_last(void **state)
{
	struct ownership_counts counts;

	make_volume(0);
	assert_int_equal(apply(&counts), 1);
	assert_int_equal(threads_started, 3);
	assert_int_equal(counts.entries, ENTRIES);
	assert_int_equal(counts.changed, ENTRIES);
	assert_int_equal(counts.ignored, 0);
	assert_int_equal(groups_changed, ENTRIES);
	assert_int_equal(changed_before_root, ENTRIES - 1);
	assert_int_equal(count_with_group(), ENTRIES);

	forget_counts();
	assert_int_equal(apply(&counts), 1);
	assert_int_equal(counts.entries, ENTRIES);
	assert_int_equal(counts.changed, 0);
	assert_int_equal(groups_changed, 0);
}

/* A name is trusted only where only root could have put another file behind it. */
static void test_names_are_trusted_in_directories_of_root_only(void **state)
{
	static const struct {
		uid_t owner;
		mode_t mode;
		bool by_name;
	} rows[] = {
		{ 0, 0755, true }, { 1234, 0755, false }, { 0, 0775, false }, { 0, 0757, false }
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char name[64];

		snprintf(name, sizeof(name), "volume-%zu", i);
		sandbox_mkdir("volume", 0755);
		sandbox_mkdir("volume/d", 0755);
		sandbox_write("volume/d/file", "");
		assert_return_code(chown(sandbox_path("volume/d"), rows[i].owner, 0), errno);
		assert_return_code(chmod(sandbox_path("volume/d"), rows[i].mode), errno);
		forget_counts();
		assert_int_equal(apply(NULL), 1);
		assert_int_equal(modes_by_name, rows[i].by_name);
		assert_int_equal(modes_wrong, 0);
		assert_int_equal(group_of("volume/d/file"), GROUP);
		assert_return_code(rename(sandbox_path("volume"), sandbox_path(name)), errno);
	}
}

static void test_cancelled_then_again(void **state)
{
	struct ownership_counts counts;
	unsigned int done;

	make_volume(0);
	cancel_after = ENTRIES / 2;
	assert_int_equal(apply(NULL), -ECANCELED);
	assert_int_not_equal(group_of("volume"), GROUP);
	done = count_with_group();
	assert_in_range(done, ENTRIES / 2, ENTRIES - 1);
	forget_counts();
	assert_int_equal(apply(&counts), 1);
	assert_int_equal(counts.changed, ENTRIES - done);
	assert_int_equal(groups_changed, ENTRIES - done);
}

static void test_killed_half_way(void **state)
{
	struct ownership_counts counts;
	unsigned int done;
	int status;
	pid_t child;

	make_volume(0);
	child = fork();
	if (child == 0) {
		kill_after = ENTRIES / 2;
		(void) apply(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_not_equal(group_of("volume"), GROUP);
	done = count_with_group();
	assert_in_range(done, ENTRIES / 2 - 8, ENTRIES - 1);
	assert_int_equal(apply(&counts), 1);
	/* None of them again, but what a thread was killed in: group given, mode not yet. */
	assert_in_range(counts.changed, ENTRIES - done, ENTRIES - done + 4);
	assert_int_equal(count_with_group(), ENTRIES);
}

static void test_a_directory_that_cannot_be_read(void **state)
{
	make_volume(0);
	fail_read = DIRECTORIES; /* two reads for each, so this is about half way */
	assert_int_equal(apply(NULL), -EIO);
	assert_int_not_equal(group_of("volume"), GROUP);
	forget_counts();
	assert_int_equal(apply(NULL), 1);
	assert_int_equal(count_with_group(), ENTRIES);
}

static void test_no_thread_to_be_had(void **state)
{
	struct ownership_counts counts;

	make_volume(0);
	refuse_threads = true;
	assert_int_equal(apply(&counts), 1);
	assert_int_equal(counts.changed, ENTRIES);
}

static void test_a_small_volume_starts_no_thread(void **state)
{
	sandbox_mkdir("volume", 0755);
	sandbox_write("volume/file", "");
	forget_counts();
	assert_int_equal(apply(NULL), 1);
	assert_int_equal(threads_started, 0);
}

static void test_progress(void **state)
{
	struct ownership_progress progress = { 0 };
	struct ownership ownership = always;
	cleanup_close int fd = -EBADF;

	make_volume(0);
	ownership.progress = &progress;
	fd = open(sandbox_path("volume"), O_PATH | O_CLOEXEC);
	assert_int_equal(ownership_apply(fd, &ownership, NULL, NULL, NULL), 1);
	assert_int_equal(progress.entries, ENTRIES);
	assert_int_equal(progress.changed, ENTRIES);
	assert_true(progress.expected == 0 || progress.expected >= ENTRIES);
	assert_true(progress.begun_usec > 0);
	assert_true(progress.ended_usec >= progress.begun_usec);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_all_of_it_once_and_the_root_last),
		SANDBOX_TEST(test_names_are_trusted_in_directories_of_root_only),
		SANDBOX_TEST(test_cancelled_then_again),
		SANDBOX_TEST(test_killed_half_way),
		SANDBOX_TEST(test_a_directory_that_cannot_be_read),
		SANDBOX_TEST(test_no_thread_to_be_had),
		SANDBOX_TEST(test_a_small_volume_starts_no_thread),
		SANDBOX_TEST(test_progress),
	};

	return sandbox_run("ownership_crew", tests, ARRAY_SIZE(tests));
}
