/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_io_slot - who may go ahead on a device, who waits, who comes next
 */
#include "operation/io_slot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PLACES = IO_SLOT_STAGES_MAX + 3 };

struct world {
	struct io_slots *io_slots;
	struct io_slot_place places[PLACES];
	struct io_slot_place other;
};

static int set_up(void **state)
{
	static struct world world;

	memset(&world, 0, sizeof(world));
	assert_int_equal(io_slots_new(&world.io_slots), 0);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	assert_null(io_slots_free(world->io_slots));
	return 0;
}

static void fill(struct world *world)
{
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(io_slot_enter(world->io_slots, &world->places[i], 7),
				 i < IO_SLOT_STAGES_MAX);
}

static void test_a_full_io_slot_lets_in_by_order(void **state)
{
	struct world *world = *state;

	fill(world);
	for (int i = 0; i < PLACES - IO_SLOT_STAGES_MAX; i++) {
		struct io_slot_place *next = &world->places[IO_SLOT_STAGES_MAX + i];

		assert_true(next->waits);
		assert_ptr_equal(io_slot_release(world->io_slots, &world->places[i]), next);
		assert_true(next->runs);
		assert_false(next->waits);
	}
	for (int i = PLACES - IO_SLOT_STAGES_MAX; i < PLACES; i++)
		assert_null(io_slot_release(world->io_slots, &world->places[i]));
	assert_true(io_slot_enter(world->io_slots, &world->places[0], 7));
	assert_null(io_slot_release(world->io_slots, &world->places[0]));
}

static void test_another_io_slot_does_not_wait(void **state)
{
	struct world *world = *state;

	fill(world);
	assert_true(io_slot_enter(world->io_slots, &world->other, 8));
	/* No item waits for that one: those of the full device go on waiting. */
	assert_null(io_slot_release(world->io_slots, &world->other));
	assert_true(world->places[IO_SLOT_STAGES_MAX].waits);
}

static void test_who_gives_up_is_passed_over(void **state)
{
	struct world *world = *state;

	assert_null(io_slots_first_waiting(world->io_slots));
	fill(world);
	assert_ptr_equal(io_slots_first_waiting(world->io_slots),
			 &world->places[IO_SLOT_STAGES_MAX]);
	assert_true(io_slot_give_up(world->io_slots, &world->places[IO_SLOT_STAGES_MAX]));
	assert_ptr_equal(io_slots_first_waiting(world->io_slots),
			 &world->places[IO_SLOT_STAGES_MAX + 1]);
	assert_false(io_slot_give_up(world->io_slots, &world->places[IO_SLOT_STAGES_MAX]));
	assert_false(io_slot_give_up(world->io_slots, &world->places[0]));
	assert_true(world->places[0].runs);
	assert_ptr_equal(io_slot_release(world->io_slots, &world->places[0]),
			 &world->places[IO_SLOT_STAGES_MAX + 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_full_io_slot_lets_in_by_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_another_io_slot_does_not_wait, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_who_gives_up_is_passed_over, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
