/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_retry - what could not be read is read again, later and later, without an event
 *
 * open(2) and openat(2) of the directory and of its files fail as set. Timers that are far away
 * are written down and shortened, so that no second is waited for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { FAR_USEC = USEC_PER_SEC / 2, DELAYS_MAX = 16 };

static _Atomic int directory_error, file_error;
static unsigned int delays[DELAYS_MAX];
static size_t delay_count, failures_left; /* 0 left: errors end */

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
	if (directory_error && (flags & O_DIRECTORY)) {
		errno = directory_error;
		return -1;
	}
	return __real_open(path, flags, mode);
}

int __real_openat(int fd, const char *path, int flags, mode_t mode);
int __wrap_openat(int fd, const char *path, int flags, mode_t mode);
int __wrap_openat(int fd, const char *path, int flags, mode_t mode)
{
	if (file_error && (flags & O_NOCTTY)) {
		errno = file_error;
		return -1;
	}
	return __real_openat(fd, path, flags, mode);
}

int __real_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec)
{
	uint64_t now_usec = monotonic_usec();

	if (usec == UINT64_MAX || usec < now_usec + FAR_USEC)
		return __real_sd_event_source_set_time(source, usec);
	if (delay_count < DELAYS_MAX)
		delays[delay_count++] =
			(unsigned int) ((usec - now_usec + FAR_USEC) / USEC_PER_SEC);
	if (failures_left > 0 && --failures_left == 0)
		directory_error = file_error = 0;
	return __real_sd_event_source_set_time(source, now_usec);
}

static int set_up(void **state)
{
	directory_error = file_error = 0;
	delay_count = failures_left = 0;
	return manifest_world_setup(state);
}

/* A name that begins like the link of a ConfigMap volume: the directory is listed. */
static void make_it_list(struct manifest_world *world)
{
	put_file(world, "..data", "");
}

static void assert_delays_double_to_30_s(size_t count)
{
	static const unsigned int expected[] = { 1, 2, 4, 8, 16, 30, 30 };

	assert_int_equal(delay_count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(delays[i], expected[i]);
}

/* Every descriptor was used up for a moment; the watch is gone, and so no event ever comes. */
static void directory_is_listed_again(void **state)
{
	static const int errors[] = { EMFILE, ENFILE, ENOMEM, ESTALE, EIO, ENOTCONN, EACCES };
	struct manifest_world *world = *state;
	char name[32];

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		delay_count = 0;
		failures_left = 7;
		directory_error = errors[i];
		make_it_list(world);
		wait_for_problem(world, "cannot open the manifest directory");
		(void) snprintf(name, sizeof(name), "%zu.yaml", i);
		put_file(world, name, POD("a", "/a"));
		(void) wait_for_object(world, KIND_POD, "a");
		assert_delays_double_to_30_s(7);
		settle(world);
		assert_int_equal(problem_count(world), 0);
		remove_file(world, name);
		wait_for_absence(world, KIND_POD, "a");
		/* All is well: no timer was left behind, and the next delay is a second again. */
		assert_int_equal(delay_count, 7);
	}
}

static void file_is_read_again(void **state)
{
	static const int errors[] = { EMFILE, ENFILE, ENOMEM, ESTALE, EIO, ENOTCONN };
	struct manifest_world *world = *state;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		delay_count = 0;
		failures_left = 7;
		file_error = errors[i];
		put_file(world, "a.yaml", POD("a", "/a"));
		wait_for_problem(world, "cannot open the file");
		(void) wait_for_object(world, KIND_POD, "a");
		wait_for_no_problems(world);
		assert_delays_double_to_30_s(7);
		remove_file(world, "a.yaml");
		wait_for_absence(world, KIND_POD, "a");
		assert_int_equal(delay_count, 7);
	}
}

/* Both have an event of their own when they are mended. */
static void nothing_else_is_tried_again(void **state)
{
	struct manifest_world *world = *state;

	file_error = EACCES;
	put_file(world, "a.yaml", POD("a", "/a"));
	wait_for_problem(world, "cannot open the file");
	file_error = 0;
	settle(world);
	directory_error = ENOENT;
	make_it_list(world);
	wait_for_problem(world, "cannot open the manifest directory");
	assert_int_equal(delay_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, manifest_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(directory_is_listed_again),
		TEST(file_is_read_again),
		TEST(nothing_else_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
