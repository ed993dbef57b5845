/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lock_holder - a lock is held by a thread with descriptors of its own
 *
 * unshare() and pthread_create() are interposed to fail. That the lock goes with a process that
 * cannot go is shown by tests/system/faults/test_hangs.
 */
#include "base/lock_holder.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <cmocka.h>

static bool unshare_fails, thread_fails;

int __real_unshare(int flags);
int __wrap_unshare(int flags);
int __wrap_unshare(int flags)
{
	if (!unshare_fails)
		return __real_unshare(flags);
	errno = EPERM;
	return -1;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	return thread_fails ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

static char directory[] = "/tmp/podvol-lock.XXXXXX";

static int set_up(void **state)
{
	unshare_fails = thread_fails = false;
	return 0;
}

static int open_directory(void)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

static int lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

/* Descriptors in a thread's own table, by its name. */
static unsigned int descriptors_of(const char *name)
{
	cleanup_closedir DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	unsigned int count = 0;

	assert_non_null(tasks);
	while ((task = readdir(tasks))) {
		char path[300], comm[32] = "";
		cleanup_closedir DIR *descriptors = NULL;
		cleanup_fclose FILE *file = NULL;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		file = fopen(path, "re");
		if (!file || !fgets(comm, sizeof(comm), file) || strcmp(comm, name) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/fd", task->d_name);
		descriptors = opendir(path);
		assert_non_null(descriptors);
		for (const struct dirent *entry; (entry = readdir(descriptors));)
			count += entry->d_name[0] != '.';
	}
	return count;
}

static void test_a_lock_is_held_elsewhere(void **state)
{
	cleanup_close int other_fd = open_directory(), out_fd = dup(1);
	int fd = open_directory();
	struct lock_holder *holder = NULL;

	assert_int_equal(lock(fd), 0);
	assert_int_equal(lock_holder_new(fd, &holder), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* no longer in our table */
	assert_int_equal(errno, EBADF);
	assert_return_code(fcntl(out_fd, F_GETFD), errno); /* and all else still is */
	assert_int_equal(lock(other_fd), -EWOULDBLOCK);
	assert_int_equal(descriptors_of("lock\n"), 1); /* and nothing else in its table */
	assert_null(lock_holder_free(holder));
	assert_int_equal(lock(other_fd), 0);
	assert_null(lock_holder_free(NULL));
}

static void test_what_fails_leaves_the_lock_with_the_caller(void **state)
{
	bool *const faults[] = { &unshare_fails, &thread_fails };
	const int errors[] = { -EPERM, -EAGAIN };
	cleanup_close int other_fd = open_directory(), fd = open_directory();

	assert_int_equal(lock(fd), 0);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct lock_holder *holder = NULL;

		*faults[i] = true;
		assert_int_equal(lock_holder_new(fd, &holder), errors[i]);
		*faults[i] = false;
		assert_null(holder);
		assert_return_code(fcntl(fd, F_GETFD), errno);
		assert_int_equal(lock(other_fd), -EWOULDBLOCK);
	}
}

static int make_directory(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_lock_is_held_elsewhere, set_up),
		cmocka_unit_test_setup(test_what_fails_leaves_the_lock_with_the_caller, set_up),
	};

	return cmocka_run_group_tests_name("lock_holder", tests, make_directory, remove_directory);
}
