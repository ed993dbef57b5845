/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lane - who may go ahead on a device, who waits, who comes next
 */
#include "operation/lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PLACES = LANE_STAGES_MAX + 3 };

struct world {
	struct lanes *lanes;
	struct lane_place places[PLACES];
	struct lane_place other;
};

static int set_up(void **state)
{
	static struct world world;

	memset(&world, 0, sizeof(world));
	assert_int_equal(lanes_new(&world.lanes), 0);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	assert_null(lanes_free(world->lanes));
	return 0;
}

static void fill(struct world *world)
{
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(lane_enter(world->lanes, &world->places[i], 7),
				 i < LANE_STAGES_MAX);
}

static void test_a_full_lane_lets_in_by_order(void **state)
{
	struct world *world = *state;

	fill(world);
	for (int i = 0; i < PLACES - LANE_STAGES_MAX; i++) {
		struct lane_place *next = &world->places[LANE_STAGES_MAX + i];

		assert_true(next->waits);
		assert_ptr_equal(lane_leave(world->lanes, &world->places[i]), next);
		assert_true(next->runs);
		assert_false(next->waits);
	}
	for (int i = PLACES - LANE_STAGES_MAX; i < PLACES; i++)
		assert_null(lane_leave(world->lanes, &world->places[i]));
	assert_true(lane_enter(world->lanes, &world->places[0], 7));
	assert_null(lane_leave(world->lanes, &world->places[0]));
}

static void test_another_lane_does_not_wait(void **state)
{
	struct world *world = *state;

	fill(world);
	assert_true(lane_enter(world->lanes, &world->other, 8));
	/* Nobody waits for that one: those of the full lane go on waiting. */
	assert_null(lane_leave(world->lanes, &world->other));
	assert_true(world->places[LANE_STAGES_MAX].waits);
}

static void test_who_gives_up_is_passed_over(void **state)
{
	struct world *world = *state;

	assert_null(lanes_first_waiting(world->lanes));
	fill(world);
	assert_ptr_equal(lanes_first_waiting(world->lanes), &world->places[LANE_STAGES_MAX]);
	assert_true(lane_give_up(world->lanes, &world->places[LANE_STAGES_MAX]));
	assert_ptr_equal(lanes_first_waiting(world->lanes), &world->places[LANE_STAGES_MAX + 1]);
	assert_false(lane_give_up(world->lanes, &world->places[LANE_STAGES_MAX]));
	assert_false(lane_give_up(world->lanes, &world->places[0]));
	assert_true(world->places[0].runs);
	assert_ptr_equal(lane_leave(world->lanes, &world->places[0]),
			 &world->places[LANE_STAGES_MAX + 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_full_lane_lets_in_by_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_another_lane_does_not_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_who_gives_up_is_passed_over, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
