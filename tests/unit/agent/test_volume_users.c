/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_users - what is asked when a teardown fails, and what is reported of the answer
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"
#include "fake_events.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <string.h>

void __wrap_operation_tear_down_now(struct operations *operations, const char *unique_name,
				    const char *pod_uid, uint64_t now_usec);

static char tried[64];

void __wrap_operation_tear_down_now(struct operations *operations, const char *unique_name,
				    const char *pod_uid, uint64_t now_usec)
{
	(void) snprintf(tried, sizeof(tried), "%s:%s", unique_name, pod_uid);
}

static struct busy_holders holders;
static struct busy_view view = { .unique_name = VOLUME, .pod_uid = POD, .holders = &holders };

static int set_up(void **state)
{
	struct agent_world *world;

	assert_int_equal(new_agent_world(state), 0);
	world = *state;
	world->agent.pools.workers = (struct worker_pool *) world; /* nothing runs on it */
	assert_int_equal(volume_users_open(&world->agent.holds), 0);
	world->agent.root.path = "/root";
	holders = (struct busy_holders){ .count = 0 };
	tried[0] = '\0';
	want_data(world);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	fake_events.count = 0;
	world->calls[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	struct agent_world *world = *state;

	server_probes_free(world->agent.holds.probes);
	return free_agent_world(state);
}

static void add(enum busy_kind kind, pid_t pid, const char *name)
{
	struct busy_holder *holder = &holders.list[holders.count++];

	*holder = (struct busy_holder){ .kind = kind, .pid = pid, .count = 1, .command = "sh" };
	(void) snprintf(holder->name, sizeof(holder->name), "%s", name);
	holders.total++;
}

static void test_busy_teardown_is_asked_about(void **state)
{
	struct agent_world *world = *state;

	end_step(world, STEP_UNPUBLISH, "volume_unmount", -EBUSY, ERROR_UNCERTAIN);
	assert_string_equal(world->calls, "busy:" VOLUME ":" POD ":/pods/uid-1/data:/root/pods/" POD
					  "/volume-subpaths/data ");
}

static void test_other_failures_are_none_of_users(void **state)
{
	struct agent_world *world = *state;

	world->users = &view;
	end_step(world, STEP_UNPUBLISH, "volume_unmount", -EIO, ERROR_UNCERTAIN);
	assert_string_equal(world->calls, "");
	assert_null(world->users);
	end_step(world, STEP_PUBLISH, "volume_mount", -EBUSY, ERROR_UNCERTAIN);
	assert_string_equal(world->calls, "");
}

static void expect_told(struct agent_world *world, const char *text)
{
	fake_events.count = 0;
	world->users_options.found(&world->agent.holds, &view);
	assert_int_equal(fake_events.count, 1);
	assert_string_equal(fake_events.list[0].reason, "VolumeBusy");
	assert_string_equal(fake_events.list[0].about, "web");
	assert_string_equal(fake_events.list[0].text, text);
}

static void test_answer_is_told(void **state)
{
	struct agent_world *world = *state;

	world->agent.store = (struct store *) world; /* looked at for nothing but being there */
	expect_told(world, "the volume is in use, by no process that can be found");
	holders.hidden = 3;
	expect_told(world, "the volume is in use, by no process that can be found (3 processes may "
			   "not be looked at)");
	add(BUSY_OPEN_FILE, 7, "a");
	add(BUSY_LOOP_DEVICE, 0, "b");
	expect_told(world, "the volume is in use: process 7 'sh': open file 'a'; loop device sh on "
			   "'b'");
	holders.total = 40;
	holders.cut_short = true;
	expect_told(world, "the volume is in use: process 7 'sh': open file 'a'; loop device sh on "
			   "'b'; and 38 more (the search was cut short)");
	world->agent.store = NULL;
}

static void test_view_has_members(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *item = json_new_object();
	cleanup_free char *text = NULL;

	volume_users_view(&world->agent.holds, item, VOLUME, POD);
	assert_null(json_get(item, "users"));
	world->users = &view;
	volume_users_view(&world->agent.holds, item, VOLUME, POD);
	assert_null(json_get(item, "users"));
	add(BUSY_WORKING_DIRECTORY, 7, "in");
	holders.list[0].mount_namespace = 4026531840;
	add(BUSY_SWAP, 0, "swap");
	volume_users_view(&world->agent.holds, item, VOLUME, POD);
	text = json_print(item);
	assert_string_equal(
		text,
		"{\"users\":{\"total\":2,\"items\":[{\"kind\":\"working directory\",\"pid\":7,"
		"\"uid\":0,\"command\":\"sh\",\"name\":\"in\",\"count\":1,\"mountNamespace\":"
		"\"4026531840\","
		"\"text\":\"process 7 'sh' in mount namespace 4026531840: working directory "
		"'in'\"},"
		"{\"kind\":\"swap\",\"command\":\"sh\",\"name\":\"swap\",\"count\":1,"
		"\"text\":\"swap sh on 'swap'\"}]}}");
}

static void test_end_of_a_user_tries_again(void **state)
{
	struct agent_world *world = *state;

	world->users_options.retry(&world->agent.holds, VOLUME, POD);
	assert_string_equal(tried, VOLUME ":" POD);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_busy_teardown_is_asked_about),
		TEST(test_other_failures_are_none_of_users),
		TEST(test_answer_is_told),
		TEST(test_view_has_members),
		TEST(test_end_of_a_user_tries_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
