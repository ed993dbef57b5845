/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_log - what the log of steps keeps of a step, and how many steps
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "object/json/json.h"
#include "status/status.h"

#include <errno.h>

static const struct stage_time stages[] = {
	{ "open the source", 1000200, 300 },
	{ "bind it", 1000900, 50 },
};

/* A publish of the world's volume that began at 1000100. */
static void end_publish(struct agent_world *world, int error, size_t stage_count)
{
	struct stage_report report = { .failure = { error, "it broke" } };
	struct operation_ended ended = {
		.result = { .kind = STEP_PUBLISH,
			    .unique_name = VOLUME,
			    .pod_uid = POD,
			    .error = error },
		.name = "volume_mount",
		.pod = &world->pod.object,
		.report = &report,
		.attempt = 3,
		.begun_usec = 1000100,
		.ran_usec = 900,
		.stages = stages,
		.stage_count = stage_count,
	};

	step_log_note(world->agent.views.steps, &ended);
}

static int64_t number(const struct cJSON *item, const char *path)
{
	int64_t value = -1;

	(void) json_int64(json_get_path(item, path), &value);
	return value;
}

static const char *text(const struct cJSON *item, const char *path)
{
	return json_string(json_get_path(item, path), "(none)");
}

static void test_a_step(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *view = NULL;
	const struct cJSON *item, *stage;

	want_data(world);
	turn(world);
	end_publish(world, 0, ARRAY_SIZE(stages));
	end_publish(world, -EIO, 1);
	view = agent_view_steps(&world->agent);
	item = json_first(json_get(view, "items"));
	assert_string_equal(text(item, "pod"), "default/web");
	assert_string_equal(text(item, "podUID"), POD);
	assert_string_equal(text(item, "volume"), "data");
	assert_string_equal(text(item, "uniqueName"), VOLUME);
	assert_string_equal(text(item, "step"), "volume_mount");
	assert_string_equal(text(item, "error"), "(none)");
	assert_int_equal(number(item, "tookMicroseconds"), 900);
	assert_int_equal(number(item, "beganMonotonic"), 1000100);
	assert_int_equal(number(item, "attempt"), 3);
	assert_true(number(item, "beganMicroseconds") > 1000000);
	stage = json_first(json_get(item, "stages"));
	assert_string_equal(text(stage, "name"), "open the source");
	assert_int_equal(number(stage, "afterMicroseconds"), 100);
	assert_int_equal(number(stage, "tookMicroseconds"), 300);
	stage = json_next(stage);
	assert_string_equal(text(stage, "name"), "bind it");
	assert_int_equal(number(stage, "afterMicroseconds"), 800);
	assert_null(json_next(stage));
	item = json_next(item);
	assert_string_equal(text(item, "error"), "it broke");
	assert_int_equal(json_count(json_get(item, "stages")), 1);
	assert_null(json_next(item));
}

static void test_a_pod_that_the_table_lacks(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *view = NULL;

	end_publish(world, -EIO, 0);
	view = agent_view_steps(&world->agent);
	assert_string_equal(text(json_first(json_get(view, "items")), "pod"), "default/web");
}

static void test_what_ran_nothing_is_left_out(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *view = NULL;

	end_publish(world, 0, 0);
	view = agent_view_steps(&world->agent);
	assert_int_equal(json_count(json_get(view, "items")), 0);
}

static void test_as_many_as_are_kept(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *view = NULL;

	end_publish(world, -EIO, 0);
	for (size_t i = 0; i < STEP_LOG_KEPT; i++)
		end_publish(world, 0, i + 1 == STEP_LOG_KEPT ? 2 : 1);
	view = agent_view_steps(&world->agent);
	assert_int_equal(json_count(json_get(view, "items")), STEP_LOG_KEPT);
	/* The oldest went, and the newest is the last. */
	assert_string_equal(text(json_first(json_get(view, "items")), "error"), "(none)");
	for (const struct cJSON *item = json_first(json_get(view, "items")); item;
	     item = json_next(item))
		assert_int_equal(json_count(json_get(item, "stages")), json_next(item) ? 1 : 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_agent_world, free_agent_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_step),
		TEST(test_a_pod_that_the_table_lacks),
		TEST(test_what_ran_nothing_is_left_out),
		TEST(test_as_many_as_are_kept),
	};

	log_open(LOG_ERR);
	return cmocka_run_group_tests_name("step_log", tests, NULL, NULL);
}
