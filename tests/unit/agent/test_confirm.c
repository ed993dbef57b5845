/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_confirm - what a step of before the start left is taken as it is, where ledger, want and
 * kernel agree; else it is set up
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "drift_world.h"

#include <string.h>

static struct actual_pod *entry(const struct agent_world *world)
{
	return actual_find_pod(actual_find(world->agent.actual, VOLUME), POD);
}

/* As rebuild() has it of a row and a mount that agree: served is what this want is. */
static void record(struct agent_world *world)
{
	world->pod.object.json = "{\"spec\":{\"volumes\":[]}}";
	world->pod.object.spec = (struct object_span){ (uint32_t) strlen("{\"spec\":"),
						       (uint32_t) strlen("{\"volumes\":[]}") };
	world->plugin.traits = VOLUME_IS_ITS_MOUNT;
	want_data(world);
	turn(world);
	expect_calls(world, "commit submit:publish(1) "); /* nothing is recorded yet */
	assert_true(entry(world)->begun_served != 0);
	entry(world)->served = entry(world)->begun_served;
	entry(world)->mount_id = MANAGED;
}

static void turn_again(struct agent_world *world)
{
	(void) dirty_add(world->agent.dirty, VOLUME);
	turn(world);
}

static void expect_set_up(struct agent_world *world)
{
	run_jobs();
	turn_again(world);
	expect_calls(world, "commit submit:publish(1) ");
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
}

static void test_what_is_as_recorded_is_taken(void **state)
{
	struct agent_world *world = *state;

	record(world);
	add_other(MANAGED, PATH, "/data");
	turn_again(world); /* before the first look */
	expect_calls(world, "commit ");
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
	run_jobs();
	turn(world);
	expect_calls(world, "commit ");
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	turn(world);
	expect_calls(world, "commit "); /* no remount either */

	detached(MANAGED); /* it is watched from now on */
	expect_event("VolumeUnmounted", "");
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

static void test_nothing_mounted_is_set_up(void **state)
{
	record(*state);
	expect_set_up(*state);
}

static void test_another_mount_is_set_up(void **state)
{
	record(*state);
	add_other(MANAGED + 1, PATH, "/data");
	expect_set_up(*state);
}

static void test_what_went_before_its_turn_is_set_up(void **state)
{
	record(*state);
	add_other(MANAGED, PATH, "/data");
	run_jobs();
	detached(MANAGED);
	expect_set_up(*state);
}

/* Before Linux 6.8 the number of a mount that went is given to another one. */
static void test_an_id_that_another_volume_has_confirms_nothing(void **state)
{
	record(*state);
	add_other(MANAGED, PATH, "/data");
	other_mounted_as(MANAGED);
	run_jobs();
	assert_false(drift_confirms(drift_world.drift, VOLUME, POD));
}

/* The look saw it, and it went before the look was over. */
static void test_what_goes_during_the_look_is_noticed(void **state)
{
	struct agent_world *world = *state;

	record(world);
	add_other(MANAGED, PATH, "/data");
	detached(MANAGED);
	drift_world.fate = MOUNT_GONE;
	expect_set_up(world);
	assert_non_null(strstr(drift_world.diary, "all:1 all:2"));
}

static void test_what_is_covered_waits(void **state)
{
	struct agent_world *world = *state;

	record(world);
	add_other(MANAGED, PATH, "/data");
	add_other(FOREIGN_VOLUMES, PATH, "/other");
	run_jobs();
	turn_again(world);
	expect_calls(world, "commit ");
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
}

static void test_another_want_is_set_up(void **state)
{
	struct agent_world *world = *state;

	record(world);
	entry(world)->served += 2;
	add_other(MANAGED, PATH, "/data");
	expect_set_up(world);
}

static void test_other_plugins_set_up(void **state)
{
	struct agent_world *world = *state;

	record(world);
	world->plugin.traits = 0;
	add_other(MANAGED, PATH, "/data");
	expect_set_up(world);
}

static void test_a_group_takes_a_set_up(void **state)
{
	struct agent_world *world = *state;

	record(world);
	world->pod.pod.has_fs_group = true;
	add_other(MANAGED, PATH, "/data");
	expect_set_up(world);
}

static void test_what_is_to_be_read_only_and_is_not_is_set_up(void **state)
{
	struct agent_world *world = *state;

	record(world);
	entry(world)->read_only = true;
	add_other(MANAGED, PATH, "/data");
	expect_set_up(world);
}

static void test_a_source_that_was_deleted_is_set_up(void **state)
{
	record(*state);
	add_other(MANAGED, PATH, "/data//deleted");
	expect_set_up(*state);
}

static void test_other_allowed_sources_are_set_up(void **state)
{
	struct agent_world *world = *state;

	record(world);
	world->agent.host.own.allowed = "/other";
	add_other(MANAGED, PATH, "/data");
	expect_set_up(world);
}

/* What was there before no event tells of: a look finds out how it is mounted. */
static void test_what_a_set_up_found_is_looked_at(void **state)
{
	struct agent_world *world = *state;

	record(world);
	entry(world)->served = 0;
	add_other(MANAGED, PATH, "/data");
	expect_set_up(world);
	entry(world)->read_only = true;
	drift_world.diary[0] = '\0';
	mounted_as(MANAGED);
	run_jobs();
	assert_string_equal(drift_world.diary, "known:2 set-back:100:1 ");
}

static void test_a_look_that_fails_confirms_nothing(void **state)
{
	record(*state);
	add_other(MANAGED, PATH, "/data");
	drift_world.look_error = -ENOMEM;
	expect_set_up(*state);
}

/* The mount stays what it is, and whether it serves is not known: a start sets it up. */
static void test_a_set_up_that_fails_is_not_recorded(void **state)
{
	struct agent_world *world = *state;

	record(world);
	end_step(world, STEP_PUBLISH, "volume_mount", -EIO, ERROR_UNCERTAIN);
	assert_int_equal(entry(world)->served, 0);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	assert_true(entry(world)->served != 0);
	assert_int_equal(entry(world)->served, entry(world)->begun_served);
}

int main(void)
{
#define RESTARTED(test) cmocka_unit_test_setup_teardown(test, set_up_restarted, tear_down_drift)
	const struct CMUnitTest tests[] = {
		RESTARTED(test_what_is_as_recorded_is_taken),
		RESTARTED(test_nothing_mounted_is_set_up),
		RESTARTED(test_another_mount_is_set_up),
		RESTARTED(test_what_went_before_its_turn_is_set_up),
		RESTARTED(test_an_id_that_another_volume_has_confirms_nothing),
		RESTARTED(test_what_goes_during_the_look_is_noticed),
		RESTARTED(test_what_is_covered_waits),
		RESTARTED(test_another_want_is_set_up),
		RESTARTED(test_other_plugins_set_up),
		RESTARTED(test_a_group_takes_a_set_up),
		RESTARTED(test_what_is_to_be_read_only_and_is_not_is_set_up),
		RESTARTED(test_a_source_that_was_deleted_is_set_up),
		RESTARTED(test_other_allowed_sources_are_set_up),
		RESTARTED(test_what_a_set_up_found_is_looked_at),
		RESTARTED(test_a_look_that_fails_confirms_nothing),
		RESTARTED(test_a_set_up_that_fails_is_not_recorded),
	};

	return cmocka_run_group_tests_name("confirm", tests, NULL, NULL);
}
