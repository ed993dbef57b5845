/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attempt_times - how long each stage of an attempt took
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/unit/operation/attempt_world.h"

#include <errno.h>

enum { LONG_USEC = 2000 };

static int run_next(void *data, struct stage_report *report)
{
	return STAGE_NEXT;
}

static int run_long(void *data, struct stage_report *report)
{
	uint64_t end_usec = monotonic_usec() + LONG_USEC;

	while (monotonic_usec() < end_usec)
		;
	return STAGE_NEXT;
}

static int run_fail(void *data, struct stage_report *report)
{
	return failed(&report->failure, -ENOSPC, "cannot make it");
}

static int start_fail(void *data, struct stage_report *report,
		      void (*finish)(void *token, int result), void *token)
{
	return failed_plain(&report->failure, -ECONNREFUSED, "no driver");
}

static const struct stage quick = { .name = "quick", .place = STAGE_WORKER, .run = run_next };
static const struct stage slow = { .name = "slow", .place = STAGE_WORKER, .run = run_long };
static const struct stage failing = { .name = "failing", .place = STAGE_WORKER, .run = run_fail };
static const struct stage call = { .name = "call", .place = STAGE_LOOP, .start = start_fail };

static const struct stage_time *run(struct attempt_world *world, const struct stage *stages,
				    size_t count)
{
	world->attempt.list = (struct stage_list){ .stages = stages, .count = count };
	attempt_world_run(world);
	return world->attempt.times;
}

static void stages_are_timed(void **state)
{
	const struct stage stages[] = { quick, slow, quick, failing, quick };
	uint64_t before_usec = monotonic_usec();
	const struct stage_time *times = run(*state, stages, ARRAY_SIZE(stages));

	assert_int_equal(attempt_times(&((struct attempt_world *) *state)->attempt), 4);
	assert_true(times[0].began_usec >= before_usec);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(times[i].name, stages[i].name);
		if (i > 0)
			assert_true(times[i].began_usec >=
				    times[i - 1].began_usec + times[i - 1].took_usec);
	}
	assert_true(times[1].took_usec >= LONG_USEC);
	assert_true(times[3].began_usec + times[3].took_usec <= monotonic_usec());
}

static void a_call_that_does_not_begin_is_timed(void **state)
{
	const struct stage stages[] = { slow, call };
	struct attempt_world *world = *state;
	const struct stage_time *times = run(world, stages, ARRAY_SIZE(stages));

	assert_int_equal(attempt_times(&world->attempt), 2);
	assert_string_equal(times[1].name, "call");
	assert_int_equal(world->attempt.result, -ECONNREFUSED);
	/* By the clock, and not what the stage before took. */
	assert_true(times[1].began_usec >= times[0].began_usec + LONG_USEC);
}

static void the_first_ones_are_kept(void **state)
{
	struct stage stages[STAGE_TIMES_KEPT + 2];
	struct attempt_world *world = *state;
	const struct stage_time *times;

	for (size_t i = 0; i < ARRAY_SIZE(stages); i++)
		stages[i] = i == 0 ? slow : quick;
	times = run(world, stages, ARRAY_SIZE(stages));
	assert_int_equal(world->attempt.result, 0);
	assert_int_equal(attempt_times(&world->attempt), STAGE_TIMES_KEPT);
	assert_int_equal(world->attempt.time_count, ARRAY_SIZE(stages)); /* beside them */
	assert_string_equal(times[0].name, "slow");
	assert_string_equal(times[STAGE_TIMES_KEPT - 1].name, "quick");
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, attempt_world_begin, attempt_world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(stages_are_timed),
		WORLD(a_call_that_does_not_begin_is_timed),
		WORLD(the_first_ones_are_kept),
	};

	return cmocka_run_group_tests_name("attempt_times", tests, NULL, NULL);
}
