/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_retry - entries come due in the order of their times, by one timer that is armed only then
 */
#include "operation/retry.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { ENTRIES = 6 };

struct world {
	sd_event *event;
	struct retry_queue *queue;
	struct retry_entry entries[ENTRIES];
	char order[32];      /* a letter for each entry that came due */
	uint64_t again_usec; /* add it again for then, once */
};

static void on_due(void *userdata, struct retry_entry *entry)
{
	struct world *world = userdata;
	size_t used = strlen(world->order);

	assert_false(entry->waits);
	assert_true(monotonic_usec() >= entry->due_usec);
	world->order[used] = (char) ('a' + (entry - world->entries));
	if (world->again_usec > 0)
		retry_add(world->queue, entry, world->again_usec);
	world->again_usec = 0;
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_true(sd_event_new(&world->event) >= 0);
	assert_int_equal(retry_queue_new(world->event, on_due, world, &world->queue), 0);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	assert_null(retry_queue_free(world->queue));
	sd_event_unref(world->event);
	free(world);
	return 0;
}

static void run_until(struct world *world, size_t count)
{
	while (strlen(world->order) < count)
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
}

static void an_empty_queue_wakes_nobody(void **state)
{
	struct world *world = *state;

	assert_int_equal(sd_event_run(world->event, 0), 0);
	retry_remove(world->queue, &world->entries[0]);
	assert_int_equal(sd_event_run(world->event, 0), 0);
}

static void entries_come_due_in_order(void **state)
{
	static const unsigned int offsets_msec[ENTRIES] = { 3, 1, 5, 1, 4, 2 };
	struct world *world = *state;
	uint64_t now = monotonic_usec();

	for (size_t i = 0; i < ENTRIES; i++)
		retry_add(world->queue, &world->entries[i], now + offsets_msec[i] * USEC_PER_MSEC);
	run_until(world, ENTRIES);
	assert_string_equal(world->order, "bdfaec");
	assert_int_equal(sd_event_run(world->event, 0), 0);
}

static void the_past_is_due_at_once(void **state)
{
	struct world *world = *state;

	retry_add(world->queue, &world->entries[0], monotonic_usec() - USEC_PER_SEC);
	retry_add(world->queue, &world->entries[1], 1);
	run_until(world, 2);
	assert_string_equal(world->order, "ba");
}

static void removed_entries_never_come(void **state)
{
	struct world *world = *state;
	uint64_t now = monotonic_usec();

	for (size_t i = 0; i < 3; i++)
		retry_add(world->queue, &world->entries[i], now + i * USEC_PER_MSEC);
	retry_remove(world->queue, &world->entries[0]);
	retry_remove(world->queue, &world->entries[0]);
	assert_false(world->entries[0].waits);
	run_until(world, 2);
	assert_string_equal(world->order, "bc");

	/* The last one going disarms the timer. */
	retry_add(world->queue, &world->entries[0], now);
	retry_remove(world->queue, &world->entries[0]);
	assert_int_equal(sd_event_run(world->event, 0), 0);
}

static void adding_again_moves(void **state)
{
	struct world *world = *state;
	uint64_t now = monotonic_usec();

	retry_add(world->queue, &world->entries[0], now);
	retry_add(world->queue, &world->entries[1], now + USEC_PER_MSEC);
	retry_add(world->queue, &world->entries[0], now + 2 * USEC_PER_MSEC);
	run_until(world, 2);
	assert_string_equal(world->order, "ba");
}

static void an_entry_may_be_added_while_it_is_due(void **state)
{
	struct world *world = *state;
	uint64_t now = monotonic_usec();

	world->again_usec = now + 2 * USEC_PER_MSEC;
	retry_add(world->queue, &world->entries[0], now);
	retry_add(world->queue, &world->entries[1], now + USEC_PER_MSEC);
	run_until(world, 3);
	assert_string_equal(world->order, "aba");
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(an_empty_queue_wakes_nobody), WORLD(entries_come_due_in_order),
		WORLD(the_past_is_due_at_once),     WORLD(removed_entries_never_come),
		WORLD(adding_again_moves),          WORLD(an_entry_may_be_added_while_it_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
