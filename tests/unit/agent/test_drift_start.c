/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_drift_start - mounts of before the start: which are folded, which stay, what waits for them
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "drift_world.h"

#include "base/cleanup.h"

#include <string.h>

static bool is_told(const char *word)
{
	struct drift_view view;

	return drift_view_of(drift_world.drift, VOLUME, POD, &view) && strstr(view.text, word);
}

static void test_teardowns_wait_for_the_first_look(void **state)
{
	struct agent_world *world = *state;

	assert_true(drift_is_checking(drift_world.drift));
	turn(world); /* not wanted */
	expect_calls(world, "commit ");
	run_jobs();
	assert_false(drift_is_checking(drift_world.drift));
	turn(world);
	expect_calls(world, "commit submit:unpublish(1) ");
}

static void test_a_first_look_that_fails_stops_nobody(void **state)
{
	struct agent_world *world = *state;

	drift_world.look_error = -ENOMEM;
	run_jobs();
	turn(world);
	expect_calls(world, "commit submit:unpublish(1) ");
}

static void test_one_mount_is_as_it_should_be(void **state)
{
	add_other(MANAGED, PATH, "/data");
	want_data(*state);
	run_jobs();
	assert_string_equal(drift_world.diary, "all:1 ");
	assert_int_equal(fake_events.count, 0);
	turn(*state);
	expect_calls(*state, "commit submit:publish(1) ");
}

/* Its server hangs, so no step has confirmed it when everything is looked at again. */
static void test_a_mount_that_nobody_confirmed_hides_nothing(void **state)
{
	struct agent_world *world = *state;

	add_other(MANAGED, PATH, "/data");
	run_jobs();
	drift_world.watch.lost(drift_world.watch.userdata);
	run_jobs();
	assert_int_equal(fake_events.count, 0);
	turn(world); /* not wanted */
	expect_calls(world, "commit submit:unpublish(1) ");
}

/* From the top, all but the lowest; the set-up waits, and then takes what is left for its own. */
static void test_duplicates_are_folded(void **state)
{
	struct agent_world *world = *state;

	for (uint64_t i = 0; i < 3; i++) {
		add_other(MANAGED + i, PATH, "/data");
		drift_world.top[i] = MANAGED + 2 - i;
	}
	want_data(world);
	run_jobs();
	assert_string_equal(drift_world.diary, "all:1 unmount:102 unmount:101 ");
	assert_int_equal(fake_events.count, 2);
	assert_string_equal(fake_events.list[0].reason, "VolumeMountedTwice");
	assert_non_null(strstr(fake_events.list[0].text, "3 times"));
	assert_string_equal(fake_events.list[1].reason, "VolumeRestored");
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

static void test_a_stack_that_changes_meanwhile_is_left(void **state)
{
	add_other(MANAGED, PATH, "/data");
	add_other(MANAGED + 1, PATH, "/data");
	drift_world.top[0] = FOREIGN_VOLUMES; /* mounted since the look */
	run_jobs();
	assert_string_equal(drift_world.diary, "all:1 ");
	turn(*state);
	expect_calls(*state, "commit submit:unpublish(1) ");
}

static void test_another_source_on_top_is_a_foreign_volume_s(void **state)
{
	add_other(MANAGED, PATH, "/data");
	add_other(FOREIGN_VOLUMES, PATH, "/other");
	run_jobs();
	assert_string_equal(drift_world.diary, "all:1 ");
	assert_true(is_told("is hidden since an unknown process mounted"));
	turn(*state); /* and so nothing is unmounted there */
	expect_calls(*state, "commit ");
	detached(FOREIGN_VOLUMES);
	turn(*state);
	expect_calls(*state, "commit submit:unpublish(1) ");
}

/* ---- memory ---- */

static bool in_its_mount(const struct volume_spec *spec)
{
	return true;
}

/* Of whatever plugin: its answer decides. */
static void want_memory(struct agent_world *world)
{
	world->plugin.lives_in_mount = in_its_mount;
	want_data(world);
}

static void hold(struct agent_world *world)
{
	const struct hold fields = { .kind = HOLD_EXPLICIT,
				     .pod_uid = POD,
				     .pod_namespace = "default",
				     .pod_name = "web",
				     .container = "main",
				     .cgroup = "" };
	const struct hold *kept;

	assert_int_equal(holds_add(world->agent.holds.table, &fields, &kept, NULL), 0);
}

static void test_memory_that_went_is_not_made_anew_under_a_container(void **state)
{
	struct agent_world *world = *state;

	want_memory(world);
	hold(world);
	turn(world);
	expect_calls(world, "commit "); /* before the look, too */
	run_jobs();
	assert_true(is_told("a container is running"));
	turn(world);
	expect_calls(world, "commit ");

	while (holds_first(world->agent.holds.table))
		holds_remove(world->agent.holds.table, holds_first(world->agent.holds.table)->id);
	(void) dirty_add(world->agent.dirty, VOLUME);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

static void test_memory_without_a_container_is_made_anew(void **state)
{
	struct agent_world *world = *state;

	want_memory(world);
	run_jobs();
	expect_event("VolumeUnmounted", "creating an empty one");
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

/* Nothing was in it yet. */
static void test_memory_that_was_never_mounted_is_not_lost(void **state)
{
	struct agent_world *world = *state;

	want_memory(world);
	actual_find_pod(actual_find(world->agent.actual, VOLUME), POD)->left = UNFINISHED_SET_UP;
	run_jobs();
	assert_int_equal(fake_events.count, 0);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

/* A container may be held before its volumes are there: it waits for them. */
static void test_held_memory_that_was_never_mounted_is_mounted(void **state)
{
	struct agent_world *world = *state;
	struct actual_pod *pod = actual_find_pod(actual_find(world->agent.actual, VOLUME), POD);

	want_memory(world);
	hold(world);
	pod->left = UNFINISHED_SET_UP;
	pod->was_mounted = false;
	run_jobs();
	assert_int_equal(fake_events.count, 0);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

/* A second set-up, as after each start, was broken off, and the mount went: it had data. */
static void test_memory_of_an_unfinished_second_set_up_is_lost(void **state)
{
	struct agent_world *world = *state;
	struct actual_pod *pod = actual_find_pod(actual_find(world->agent.actual, VOLUME), POD);

	want_memory(world);
	hold(world);
	pod->left = UNFINISHED_SET_UP;
	pod->was_mounted = true;
	run_jobs();
	assert_true(is_told("a container is running"));
	turn(world);
	expect_calls(world, "commit ");
}

/* podvold itself had unmounted it. */
static void test_memory_of_an_unfinished_teardown_is_not_lost(void **state)
{
	struct agent_world *world = *state;
	struct actual_pod *pod = actual_find_pod(actual_find(world->agent.actual, VOLUME), POD);

	want_memory(world);
	pod->left = UNFINISHED_TEARDOWN;
	pod->was_mounted = true;
	run_jobs();
	assert_int_equal(fake_events.count, 0);
}

static void test_memory_that_is_there_is_taken_as_it_is(void **state)
{
	struct agent_world *world = *state;

	want_memory(world);
	hold(world);
	add_other(MANAGED, PATH, "/");
	run_jobs();
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

static void test_jobs_that_come_back_after_the_end(void **state)
{
	(void) state; /* the first look still waits: the teardown of the test lets it come back */
	assert_true(drift_is_checking(drift_world.drift));
}

int main(void)
{
#define RESTARTED(test) cmocka_unit_test_setup_teardown(test, set_up_restarted, tear_down_drift)
	const struct CMUnitTest tests[] = {
		RESTARTED(test_teardowns_wait_for_the_first_look),
		RESTARTED(test_a_first_look_that_fails_stops_nobody),
		RESTARTED(test_one_mount_is_as_it_should_be),
		RESTARTED(test_a_mount_that_nobody_confirmed_hides_nothing),
		RESTARTED(test_duplicates_are_folded),
		RESTARTED(test_a_stack_that_changes_meanwhile_is_left),
		RESTARTED(test_another_source_on_top_is_a_foreign_volume_s),
		RESTARTED(test_memory_that_went_is_not_made_anew_under_a_container),
		RESTARTED(test_memory_without_a_container_is_made_anew),
		RESTARTED(test_memory_that_was_never_mounted_is_not_lost),
		RESTARTED(test_held_memory_that_was_never_mounted_is_mounted),
		RESTARTED(test_memory_of_an_unfinished_second_set_up_is_lost),
		RESTARTED(test_memory_of_an_unfinished_teardown_is_not_lost),
		RESTARTED(test_memory_that_is_there_is_taken_as_it_is),
		RESTARTED(test_jobs_that_come_back_after_the_end),
	};

	return cmocka_run_group_tests_name("drift_start", tests, NULL, NULL);
}
