/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attempt_io_slot - long stages: few at a time on one device, the others wait without a thread
 */
#include "base/clock.h"
#include "operation/attempt.h"

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ATTEMPTS = IO_SLOT_STAGES_MAX + 2 };

struct part {
	struct attempt attempt; /* first */
	struct stage_report report;
	struct world *world;
	uint64_t io_slot;
	bool ended;
};

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct attempt_pools pools;
	struct part parts[ATTEMPTS];
	sem_t began, go;
	atomic_uint running, most;
};

static int run_choose_io_slot(void *data, struct stage_report *report)
{
	const struct part *part = data;

	report->io_slot = part->io_slot;
	return STAGE_NEXT;
}

static int run_long(void *data, struct stage_report *report)
{
	struct part *part = data;
	struct world *world = part->world;
	unsigned int running = atomic_fetch_add(&world->running, 1) + 1;

	if (running > atomic_load(&world->most))
		atomic_store(&world->most, running);
	(void) sem_post(&world->began);
	(void) sem_wait(&world->go);
	(void) atomic_fetch_sub(&world->running, 1);
	return STAGE_NEXT;
}

static int run_after(void *data, struct stage_report *report)
{
	return STAGE_NEXT;
}

static const struct stage stages[] = {
	{ .name = "choose", .place = STAGE_WORKER, .run = run_choose_io_slot },
	{ .name = "long", .place = STAGE_LONG, .run = run_long },
	{ .name = "after", .place = STAGE_WORKER, .run = run_after },
};

static void free_nothing(void *data)
{
}

static void on_ended(struct attempt *attempt)
{
	((struct part *) attempt)->ended = true;
}

static int set_up(void **state)
{
	static const struct worker_limits limits = { .threads = ATTEMPTS,
						     .threads_max = ATTEMPTS,
						     .set_aside_usec = USEC_PER_SEC };
	static struct world world;

	memset(&world, 0, sizeof(world));
	assert_true(sd_event_new(&world.event) >= 0);
	assert_int_equal(worker_return_new(world.event, 0, &world.to_loop), 0);
	assert_int_equal(worker_pool_new("worker", world.to_loop, &limits, &world.pools.workers),
			 0);
	assert_int_equal(worker_pool_new("walker", world.to_loop, &limits, &world.pools.walkers),
			 0);
	assert_int_equal(io_slots_new(&world.pools.io_slots), 0);
	(void) sem_init(&world.began, 0, 0);
	(void) sem_init(&world.go, 0, 0);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	(void) worker_pool_free(world->pools.workers);
	(void) worker_pool_free(world->pools.walkers);
	(void) worker_return_free(world->to_loop);
	(void) io_slots_free(world->pools.io_slots);
	sd_event_unref(world->event);
	return 0;
}

static void begin(struct world *world, int index, uint64_t io_slot)
{
	struct part *part = &world->parts[index];

	part->world = world;
	part->io_slot = io_slot;
	part->attempt.pools = world->pools;
	part->attempt.report = &part->report;
	part->attempt.is_cancellable = true;
	part->attempt.ended = on_ended;
	part->attempt.list = (struct stage_list){ stages, 3, part, free_nothing };
	assert_true(attempt_start(&part->attempt));
}

static void run_until(struct world *world, bool (*done)(const struct world *world))
{
	while (!done(world))
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
}

static bool all_in_io_slots(const struct world *world)
{
	unsigned int count = 0;

	for (int i = 0; i < ATTEMPTS; i++)
		count += world->parts[i].attempt.io_slot.runs ||
			 world->parts[i].attempt.io_slot.waits;
	return count == ATTEMPTS;
}

static bool all_ended(const struct world *world)
{
	for (int i = 0; i < ATTEMPTS; i++)
		if (!world->parts[i].ended)
			return false;
	return true;
}

static void test_few_at_a_time_on_one_device(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < ATTEMPTS; i++)
		begin(world, i, 42);
	run_until(world, all_in_io_slots);
	for (int i = 0; i < ATTEMPTS; i++)
		(void) sem_post(&world->go);
	run_until(world, all_ended);
	assert_in_range(world->most, 1, IO_SLOT_STAGES_MAX);
	for (int i = 0; i < ATTEMPTS; i++)
		assert_int_equal(world->parts[i].attempt.result, 0);
}

static void test_another_device_goes_on(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < ATTEMPTS - 1; i++)
		begin(world, i, 42);
	begin(world, ATTEMPTS - 1, 43);
	run_until(world, all_in_io_slots);
	for (int i = 0; i < IO_SLOT_STAGES_MAX + 1; i++)
		(void) sem_wait(&world->began); /* two of the one, and the other */
	assert_true(world->parts[ATTEMPTS - 1].attempt.io_slot.runs);
	for (int i = 0; i < ATTEMPTS; i++)
		(void) sem_post(&world->go);
	run_until(world, all_ended);
}

/* Its pod has gone: it must not wait for hours to hear that. */
static void test_a_cancelled_one_does_not_wait(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < ATTEMPTS; i++)
		begin(world, i, 42);
	run_until(world, all_in_io_slots);
	for (int i = 0; i < ATTEMPTS; i++) {
		struct attempt *attempt = &world->parts[i].attempt;

		if (!attempt->io_slot.waits)
			continue;
		attempt_cancel(attempt);
		while (!world->parts[i].ended)
			assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
		assert_int_equal(attempt->result, -ECANCELED);
	}
	for (int i = 0; i < ATTEMPTS; i++)
		(void) sem_post(&world->go);
	run_until(world, all_ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_few_at_a_time_on_one_device, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_another_device_goes_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_cancelled_one_does_not_wait, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
