/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt_world - see attempt_world.h
 */
#include "tests/unit/operation/attempt_world.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"

#include <stdlib.h>

static void on_ended(struct attempt *attempt)
{
	((struct attempt_world *) ((char *) attempt - offsetof(struct attempt_world, attempt)))
		->ended = true;
}

int attempt_world_begin(void **state)
{
	static const struct worker_limits one = { .threads = 1,
						  .threads_max = 1,
						  .set_aside_usec = USEC_PER_SEC };
	struct attempt_world *world = calloc(1, sizeof(*world));
	struct attempt_pools *pools = &world->attempt.pools;

	assert_non_null(world);
	assert_true(sd_event_new(&world->event) >= 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->to_loop), 0);
	assert_int_equal(worker_pool_new("test-worker", world->to_loop, &one, &pools->workers), 0);
	world->attempt.ended = on_ended;
	world->attempt.report = world->attempt.brief = stage_report_brief();
	assert_non_null(world->attempt.brief);
	*state = world;
	return 0;
}

int attempt_world_end(void **state)
{
	struct attempt_world *world = *state;

	(void) worker_pool_free(world->attempt.pools.workers);
	(void) worker_return_free(world->to_loop);
	sd_event_unref(world->event);
	attempt_report_free(&world->attempt);
	free(world);
	return 0;
}

void attempt_world_run(struct attempt_world *world)
{
	assert_true(attempt_start(&world->attempt));
	while (!world->ended)
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
}
