/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_renewals - what is due is reported once, at its time, and all of it when the clock is set
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "operation/renewals.h"

#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

#define HOUR (3600 * USEC_PER_SEC)

static sd_event *event;
static struct renewals *renewals;
static char told[256];
static bool clock_was_set;
static uint64_t armed_usec;

/* The one reader of eight bytes is the timer's. */
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	ssize_t length = __real_read(fd, buffer, size);

	if (!clock_was_set)
		return length;
	errno = ECANCELED;
	return -1;
}

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
	if (flags & TFD_TIMER_CANCEL_ON_SET)
		armed_usec = (uint64_t) when->it_value.tv_sec * USEC_PER_SEC +
			     (uint64_t) when->it_value.tv_nsec / 1000;
	return __real_timerfd_settime(fd, flags, when, old);
}

static void on_due(void *userdata, const char *unique_name, const char *pod_uid)
{
	size_t length = strlen(told);

	(void) snprintf(told + length, sizeof(told) - length, "%s:%s ", unique_name, pod_uid);
	if (userdata == event && strcmp(pod_uid, "again") == 0)
		assert_int_equal(
			renewals_set(renewals, unique_name, pod_uid, realtime_usec() + HOUR), 0);
}

static int set_up(void **state)
{
	struct renewals_options options = { .due = on_due };

	assert_int_equal(sd_event_new(&event), 0);
	options.event = event;
	options.userdata = event;
	assert_int_equal(renewals_new(&options, &renewals), 0);
	told[0] = '\0';
	clock_was_set = false;
	armed_usec = 0;
	return 0;
}

static int tear_down(void **state)
{
	renewals = renewals_free(renewals);
	(void) sd_event_unref(event);
	return 0;
}

static void set(const char *name, const char *uid, uint64_t due_usec)
{
	assert_int_equal(renewals_set(renewals, name, uid, due_usec), 0);
}

static void turn(const char *wanted, uint64_t limit_usec)
{
	told[0] = '\0';
	(void) sd_event_run(event, limit_usec);
	assert_string_equal(told, wanted);
}

static void test_due_and_forgotten(void **state)
{
	set("v", "a", 1);
	set("v", "b", realtime_usec() + HOUR);
	turn("v:a ", 10 * USEC_PER_SEC);
	turn("", 0);
	assert_in_range(armed_usec, realtime_usec() + HOUR - 60 * USEC_PER_SEC,
			realtime_usec() + HOUR);
}

static void test_the_earliest_arms(void **state)
{
	uint64_t now = realtime_usec();

	set("v", "a", now + 3 * HOUR);
	assert_int_equal(armed_usec, now + 3 * HOUR);
	set("v", "b", now + 2 * HOUR);
	assert_int_equal(armed_usec, now + 2 * HOUR);
	set("v", "c", now + 4 * HOUR);
	assert_int_equal(armed_usec, now + 2 * HOUR);
}

static void test_moved_and_taken_back(void **state)
{
	set("v", "a", realtime_usec() + HOUR);
	set("v", "a", 1);
	set("w", "a", 1);
	set("w", "a", 0);
	set("never", "there", 0);
	turn("v:a ", 10 * USEC_PER_SEC);
}

/* The names together are the key: no two volumes of different pods are one. */
static void test_names_that_look_alike(void **state)
{
	set("ab", "c", 1);
	set("a", "bc", realtime_usec() + HOUR);
	turn("ab:c ", 10 * USEC_PER_SEC);
}

static void test_set_anew_while_told(void **state)
{
	set("v", "again", 1);
	turn("v:again ", 10 * USEC_PER_SEC);
	assert_true(armed_usec > realtime_usec());
	turn("", 0);
}

/* Whatever the new time is: tokens may have expired, or be of tomorrow. */
static void test_the_clock_is_set(void **state)
{
	set("v", "a", realtime_usec() + HOUR);
	set("w", "b", 1);
	clock_was_set = true;
	turn("v:a w:b ", 10 * USEC_PER_SEC);
	assert_int_equal(armed_usec, 0);
}

static void test_nobody_keeps_times(void **state)
{
	assert_int_equal(renewals_set(NULL, "v", "a", 1), 0);
	assert_null(renewals_free(NULL));
}

#define ON_A_LOOP(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_LOOP(test_due_and_forgotten),         ON_A_LOOP(test_the_earliest_arms),
		ON_A_LOOP(test_moved_and_taken_back),      ON_A_LOOP(test_names_that_look_alike),
		ON_A_LOOP(test_set_anew_while_told),       ON_A_LOOP(test_the_clock_is_set),
		cmocka_unit_test(test_nobody_keeps_times),
	};

	return cmocka_run_group_tests_name("renewals", tests, NULL, NULL);
}
