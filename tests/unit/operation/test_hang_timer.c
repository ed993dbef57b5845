/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hang_timer - what is reported of operations that take long, how often, and when nothing is
 */
#include "operation_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void run_until_slow(unsigned int count)
{
	while (world.slow_count < count)
		assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
	assert_int_equal(world.slow_count, count);
}

/* So long that everything would have been reported. */
static void run_for(uint64_t usec)
{
	uint64_t end = monotonic_usec() + usec, now;

	while ((now = monotonic_usec()) < end)
		assert_true(sd_event_run(world.event, end - now) >= 0);
}

static void hold_one(const char *pod_uid)
{
	world.hold = true;
	assert_int_equal(submit(publish("v", pod_uid)), 0);
	assert_int_equal(sem_wait(&world.began), 0);
}

static void let_go(unsigned int ended)
{
	world.hold = false;
	for (unsigned int i = 0; i < ended; i++)
		assert_int_equal(sem_post(&world.go), 0);
	(void) run_until_ended(ended);
}

static void test_slow_then_stuck_each_once(void **state)
{
	uint64_t before_usec = monotonic_usec();
	struct operation_view view;

	hold_one("uid");
	assert_true(look("uid", &view));
	/* On a busy machine it may be slow by now. */
	if (monotonic_usec() - before_usec < SLOW_USEC)
		assert_int_equal(view.pace, PACE_USUAL);
	run_until_slow(2);
	assert_int_equal(world.slow[0].pace, PACE_SLOW);
	assert_string_equal(world.slow[0].pod_uid, "uid");
	assert_string_equal(world.slow[0].stage, "try");
	assert_true(world.slow[0].thread_id > 0 && world.slow[0].has_pod);
	assert_int_equal(world.slow[1].pace, PACE_STUCK);
	run_for(2 * LIMIT_USEC);
	assert_int_equal(world.slow_count, 2);
	assert_true(look("uid", &view));
	assert_int_equal(view.pace, PACE_STUCK);
	assert_true(view.running);
	assert_int_equal(submit(publish("v", "uid")), -EBUSY); /* never two of them */

	let_go(1);
	assert_int_equal(world.ended[0].result.error, 0);
	assert_false(look("uid", &view));
}

/* On a busy machine a step may be slow: another is tried until one was fast. */
static void do_one_fast(int result)
{
	uint64_t before_usec;

	do {
		world.slow_count = world.ended_count = 0;
		world.stage_result = result;
		before_usec = monotonic_usec();
		operation_retry_now(world.operations, "v");
		assert_int_equal(submit(publish("v", "uid")), 0);
		(void) run_until_ended(1);
	} while (monotonic_usec() - before_usec >= SLOW_USEC);
}

static void test_what_is_fast_is_not_told_of(void **state)
{
	do_one_fast(0);
	assert_int_equal(sd_event_run(world.event, 3 * SLOW_USEC), 0); /* nothing is armed */
	assert_int_equal(world.slow_count, 0);
}

/* Failed ones are reported as failures, and what waits for its retry takes no time. */
static void test_what_failed_is_not_slow(void **state)
{
	struct operation_view view;

	do_one_fast(-EIO);
	assert_true(look("uid", &view));
	assert_int_equal(view.pace, PACE_USUAL);
	run_for(SLOW_USEC);
	assert_int_equal(world.slow_count, 0);
}

/* On a busy machine the first may be stuck before the second is slow: in any order. */
static const struct slow *slow_of(const char *pod_uid)
{
	for (unsigned int i = 0;; i++) {
		while (i == world.slow_count)
			assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
		if (strcmp(world.slow[i].pod_uid, pod_uid) == 0)
			return &world.slow[i];
	}
}

static void test_who_waits_for_a_thread(void **state)
{
	const struct slow *first, *second;
	struct operation_view view;

	hold_one("uid");
	assert_int_equal(submit(publish("w", "uid2")), 0);
	first = slow_of("uid");
	second = slow_of("uid2");
	assert_false(first->waits_for_thread);
	assert_true(second->waits_for_thread);
	assert_int_equal(second->thread_id, 0);
	assert_true(look("uid", &view));
	assert_false(view.waits_for_thread);
	let_go(2);
}

/* A program has a limit of its own; podvold's counts from its end. */
static void test_a_program_is_a_sign_of_life(void **state)
{
	struct operation_view view;

	world.tool_pid = 77;
	hold_one("uid");
	run_until_slow(1);
	assert_int_equal(world.slow[0].tool_pid, 77);
	run_for(2 * LIMIT_USEC);
	assert_int_equal(world.slow_count, 1);
	assert_true(look("uid", &view));
	assert_int_equal(view.pace, PACE_SLOW);
	let_go(1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WORLD(test_slow_then_stuck_each_once),   WORLD(test_what_is_fast_is_not_told_of),
		WORLD(test_what_failed_is_not_slow),     WORLD(test_who_waits_for_a_thread),
		WORLD(test_a_program_is_a_sign_of_life),
	};

	return cmocka_run_group_tests_name("patience", tests, NULL, NULL);
}
