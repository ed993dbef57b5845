/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stuck_policy - when a busy volume is unmounted by force, and that it is never silent
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"
#include "fake_events.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>

enum server_state __wrap_server_probes_check(struct server_probes *probes, const char *mount_point,
					     uint64_t now_usec);

static enum server_state server;
static struct busy_holders holders;
static struct busy_view view = { .unique_name = VOLUME, .pod_uid = POD, .holders = &holders };

enum server_state __wrap_server_probes_check(struct server_probes *probes, const char *mount_point,
					     uint64_t now_usec)
{
	assert_string_equal(mount_point, "/pods/uid-1/data");
	return server;
}

/* A mounted volume, wanted no more and busy for ten seconds. */
static int set_up(void **state)
{
	struct agent_world *world;

	assert_int_equal(new_agent_world(state), 0);
	world = *state;
	world->config.stuck_unmount.manner = CONFIG_UNMOUNT_LAZY;
	world->config.stuck_unmount.seconds = 10;
	world->agent.holds.probes = (struct server_probes *) world; /* never looked into */
	want_data(world);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	fake_events.count = 0;
	holders = (struct busy_holders){ .count = 0 };
	view.holders = &holders;
	view.since_usec = monotonic_usec() - 11 * USEC_PER_SEC;
	world->users = &view;
	return 0;
}

static enum unmount_manner manner(struct agent_world *world, enum step_kind kind)
{
	const struct step step = { .kind = kind,
				   .unique_name = VOLUME,
				   .pod_uid = POD,
				   .have = actual_find(world->agent.actual, VOLUME) };

	return stuck_policy_manner(&world->agent.holds, &step, monotonic_usec());
}

static void test_only_where_it_is_configured(void **state)
{
	struct agent_world *world = *state;

	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_LAZY);
	world->config.stuck_unmount.manner = CONFIG_UNMOUNT_WAIT;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_WAIT);
}

static void test_never_a_device(void **state)
{
	struct agent_world *world = *state;

	assert_int_equal(manner(world, STEP_UNSTAGE), UNMOUNT_WAIT);
	actual_find(world->agent.actual, VOLUME)->block = true;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_WAIT);
}

static void test_not_before_the_delay(void **state)
{
	struct agent_world *world = *state;

	view.since_usec = monotonic_usec() - 9 * USEC_PER_SEC;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_WAIT);
}

static void test_not_before_the_users_are_known(void **state)
{
	struct agent_world *world = *state;

	view.holders = NULL;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_WAIT);
	world->users = NULL;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_WAIT);
}

static void test_force_wants_a_silent_server(void **state)
{
	struct agent_world *world = *state;

	world->config.stuck_unmount.manner = CONFIG_UNMOUNT_FORCE;
	server = SERVER_UNKNOWN;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_WAIT);
	server = SERVER_ANSWERS;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_WAIT);
	server = SERVER_SILENT;
	assert_int_equal(manner(world, STEP_UNPUBLISH), UNMOUNT_FORCE);
}

static void end_enforced(struct agent_world *world, int error)
{
	struct stage_report report = { .enforced = 2, .failure = { .error = error } };
	const struct operation_ended ended = {
		.result = { .kind = STEP_UNPUBLISH,
			    .unique_name = VOLUME,
			    .pod_uid = POD,
			    .error = error },
		.name = "volume_unmount",
		.report = &report,
	};

	world->agent.store = (struct store *) world; /* looked at for nothing but being there */
	stuck_policy_note(&world->agent.holds, &ended);
	world->agent.store = NULL;
}

static void test_each_use_is_told(void **state)
{
	struct agent_world *world = *state;

	holders.list[0] = (struct busy_holder){ .pid = 7, .count = 1, .command = "sh" };
	holders.count = holders.total = 1;
	end_enforced(world, 0);
	assert_int_equal(fake_events.count, 1);
	assert_string_equal(fake_events.list[0].reason, "VolumeUnmountedLazily");
	assert_string_equal(fake_events.list[0].text,
			    "the volume was unmounted after 11 s in use "
			    "(stuck-unmount: lazy): process 7 'sh': working directory");
	world->config.stuck_unmount.manner = CONFIG_UNMOUNT_FORCE;
	end_enforced(world, -EBUSY);
	assert_string_equal(fake_events.list[1].reason, "VolumeUnmountedByForce");
	assert_string_equal(fake_events.list[1].text,
			    "forced unmount failed after 11 s in use "
			    "(stuck-unmount: force): process 7 'sh': working directory");
}

static void test_what_went_by_itself_is_not_told(void **state)
{
	struct agent_world *world = *state;

	end_step(world, STEP_UNPUBLISH, "volume_unmount", 0, ERROR_FINAL);
	assert_int_equal(fake_events.count, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, free_agent_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_only_where_it_is_configured),
		TEST(test_never_a_device),
		TEST(test_not_before_the_delay),
		TEST(test_not_before_the_users_are_known),
		TEST(test_force_wants_a_silent_server),
		TEST(test_each_use_is_told),
		TEST(test_what_went_by_itself_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
