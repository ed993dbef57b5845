/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_make_race - a teardown removes the empty parents that a set-up of the same pod needs
 *
 * First at chosen moments, by a mkdirat and an fstat that remove something by the way; then with
 * two threads, as often as they meet.
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#define RACE_USEC  (60 * USEC_PER_SEC) /* at most; enough meetings come in one second */
#define PLUGIN_DIR "pods/uid/volumes/plugin"

enum { MEETINGS_ENOUGH = 200, ENDLESS = 1000000 };

static atomic_uint meetings;            /* mkdirat calls whose parent was gone */
static unsigned int removals_of_parent; /* before "volumes" is made in it */
static unsigned int removals_of_child;  /* after "plugin" was made */
static unsigned int removals_of_opened; /* while its mode is looked at */
static unsigned int swaps_of_child;     /* after "plugin" was made: for "full" */

int __real_mkdirat(int fd, const char *name, mode_t mode);
int __wrap_mkdirat(int fd, const char *name, mode_t mode);
int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);

static bool take_one(unsigned int *count)
{
	if (*count == 0)
		return false;
	(*count)--;
	return true;
}

int __wrap_mkdirat(int fd, const char *name, mode_t mode)
{
	int result;

	if (strcmp(name, "volumes") == 0 && take_one(&removals_of_parent))
		assert_return_code(rmdir(sandbox_path("pods/uid")), errno);
	result = __real_mkdirat(fd, name, mode);
	if (result < 0 && errno == ENOENT)
		atomic_fetch_add(&meetings, 1);
	else if (result == 0 && strcmp(name, "plugin") == 0 && take_one(&removals_of_child))
		assert_return_code(rmdir(sandbox_path(PLUGIN_DIR)), errno);
	if (result == 0 && strcmp(name, "plugin") == 0 && take_one(&swaps_of_child))
		assert_return_code(renameat2(AT_FDCWD, sandbox_path(PLUGIN_DIR), AT_FDCWD,
					     sandbox_path("full"), RENAME_EXCHANGE),
				   errno);
	return result;
}

int __wrap_fstat(int fd, struct stat *status)
{
	if (removals_of_opened > 0 && rmdir(sandbox_path(PLUGIN_DIR)) == 0)
		removals_of_opened--;
	return __real_fstat(fd, status);
}

static int setup(void **state)
{
	removals_of_parent = removals_of_child = removals_of_opened = swaps_of_child = 0;
	atomic_store(&meetings, 0);
	return sandbox_setup(state);
}

/* It is there when it was said to be made. */
static void expect_made(void)
{
	cleanup_close int fd = make_directories(sandbox_fd(), PLUGIN_DIR, 0750, NULL);
	struct stat status;

	assert_return_code(fd, -fd);
	assert_return_code(__real_fstat(fd, &status), errno);
	assert_true(status.st_nlink > 0);
	assert_int_equal(status.st_mode & 07777, 0750);
	assert_return_code(access(sandbox_path(PLUGIN_DIR), F_OK), errno);
}

static void test_parent_vanishes_before_its_child_is_made(void **state)
{
	sandbox_mkdir("pods", 0750);
	sandbox_mkdir("pods/uid", 0750);
	removals_of_parent = 3;
	expect_made();
	assert_int_equal(removals_of_parent, 0);
	assert_int_equal(atomic_load(&meetings), 3);
}

static void test_last_level_vanishes_when_it_was_made(void **state)
{
	removals_of_child = 2;
	expect_made();
	assert_int_equal(removals_of_child, 0);
}

static void test_last_level_vanishes_when_it_is_open(void **state)
{
	removals_of_opened = 2;
	expect_made();
	assert_int_equal(removals_of_opened, 0);
}

/* A process that may write in the parent puts a guarded directory in the place of the new one. */
static void test_mode_of_another_directory_is_kept(void **state)
{
	struct failure failure = { 0 };
	struct stat status;

	sandbox_mkdir("full", 0700);
	sandbox_write("full/secret", "secret");
	swaps_of_child = 1;
	assert_int_equal(make_directories(sandbox_fd(), PLUGIN_DIR, 02777, &failure), -EAGAIN);
	assert_int_equal(swaps_of_child, 0);
	assert_return_code(stat(sandbox_path(PLUGIN_DIR "/secret"), &status), errno);
	assert_return_code(stat(sandbox_path(PLUGIN_DIR), &status), errno);
	assert_int_equal(status.st_mode & 07777, 0700);
}

static void test_place_is_below_a_parent_that_is_there(void **state)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = -EBADF;

	removals_of_opened = 1;
	assert_int_equal(
		place_make(sandbox_fd(), sandbox_dir(), PLUGIN_DIR "/data", 0750, &place, NULL), 0);
	fd = make_directory(&place, 0750, NULL, NULL);
	assert_return_code(fd, -fd);
	assert_int_equal(removals_of_opened, 0);
}

static void test_endless_removal_is_an_error(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("pods", 0750);
	sandbox_mkdir("pods/uid", 0750);
	removals_of_parent = ENDLESS;
	assert_int_equal(make_directories(sandbox_fd(), PLUGIN_DIR, 0750, &failure), -ENOENT);
	assert_int_equal(failure.error, -ENOENT);
	assert_non_null(strstr(failure.text, PLUGIN_DIR));
	assert_true(atomic_load(&meetings) > 1);
	assert_true(atomic_load(&meetings) < 100);
}

static atomic_bool stop;

static void *tear_down(void *root_fd)
{
	while (!atomic_load(&stop))
		(void) remove_empty_parents(*(const int *) root_fd, PLUGIN_DIR "/data", 1, NULL);
	return NULL;
}

static void test_teardown_beside_set_ups(void **state)
{
	uint64_t end_usec = monotonic_usec() + RACE_USEC;
	unsigned int rounds = 0, failures = 0;
	int root_fd = sandbox_fd();
	pthread_t remover;

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&remover, NULL, tear_down, &root_fd), 0);
	while (monotonic_usec() < end_usec && atomic_load(&meetings) < MEETINGS_ENOUGH) {
		cleanup_close int fd = make_directories(root_fd, PLUGIN_DIR, 0750, NULL);

		assert_true(fd >= 0 || fd == -ENOENT);
		rounds++;
		failures += fd < 0;
	}
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(remover, NULL), 0);
	print_message("# %u rounds, %u meetings, %u failures\n", rounds, atomic_load(&meetings),
		      failures);
	/* A remover that never rests can win against every one of the tries, which are bounded; a
	 * teardown removes once. */
	assert_true(failures <= rounds / 10);
	assert_true(atomic_load(&meetings) > 0);
}

#define RACE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, sandbox_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RACE_TEST(test_parent_vanishes_before_its_child_is_made),
		RACE_TEST(test_last_level_vanishes_when_it_was_made),
		RACE_TEST(test_last_level_vanishes_when_it_is_open),
		RACE_TEST(test_mode_of_another_directory_is_kept),
		RACE_TEST(test_place_is_below_a_parent_that_is_there),
		RACE_TEST(test_endless_removal_is_an_error),
		RACE_TEST(test_teardown_beside_set_ups),
	};

	return sandbox_run("make_race", tests, ARRAY_SIZE(tests));
}
