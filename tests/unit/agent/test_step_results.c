/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_results - what an ended step leaves in the tables, in the ledger and in the events
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"
#include "fake_events.h"

#include "base/cleanup.h"
#include "base/heap_trim.h"
#include "object/json/json.h"

#include <errno.h>
#include <string.h>

#define UNCERTAIN VOLUME ":" POD "=1+set-up "
#define MOUNTED   VOLUME ":" POD "=2 "

static size_t noted; /* for the trim of the heap */

/* ld --wrap */
// NOLINTBEGIN(bugprone-reserved-identifier)
void __wrap_heap_trim_note(struct heap_trim *trim, size_t changes);

void __wrap_heap_trim_note(struct heap_trim *trim, size_t changes)
{
	noted += changes;
}
// NOLINTEND(bugprone-reserved-identifier)

static void begin(struct agent_world *world)
{
	want_data(world);
	turn(world);
	expect_ledger(world, UNCERTAIN);
}

static void test_mount_that_is_done_has_its_row(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	expect_ledger(world, MOUNTED);
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
}

static void test_uncertain_failure_keeps_the_row(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	end_step(world, STEP_PUBLISH, "volume_mount", -EIO, ERROR_UNCERTAIN);
	expect_ledger(world, UNCERTAIN);
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
}

static void test_final_failure_removes_the_row(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	end_step(world, STEP_PUBLISH, "volume_mount", -ENOENT, ERROR_FINAL);
	expect_ledger(world, "");
	assert_int_equal(state_of_pod(world), MOUNT_ABSENT);
}

static void test_unpublish_removes_the_row(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	want_no_more(world);
	end_step(world, STEP_UNPUBLISH, "volume_unmount", 0, ERROR_FINAL);
	expect_ledger(world, "");
	assert_int_equal(state_of_pod(world), -1);
}

static void test_failed_unpublish_keeps_the_row(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	want_no_more(world);
	end_step(world, STEP_UNPUBLISH, "volume_unmount", -EBUSY, ERROR_UNCERTAIN);
	expect_ledger(world, VOLUME ":" POD "=1+teardown ");
}

static void begin_device(struct agent_world *world)
{
	struct actual_entry entry = { .unique_name = VOLUME,
				      .plugin_name = "example.com/fake",
				      .plugin = &world->plugin,
				      .spec_name = "data",
				      .device_mountable = true };

	assert_int_equal(actual_begin(world->agent.actual, &entry), 0);
}

static void test_device_has_a_row_of_its_own(void **state)
{
	struct agent_world *world = *state;

	begin_device(world);
	end_step(world, STEP_STAGE, "mount_device", 0, ERROR_FINAL);
	expect_ledger(world, VOLUME ":-=2 ");
	end_step(world, STEP_UNSTAGE, "unmount_device", 0, ERROR_FINAL);
	expect_ledger(world, "");
}

static void test_device_keeps_its_row_when_its_pod_goes(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	end_step(world, STEP_STAGE, "mount_device", 0, ERROR_FINAL);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	expect_ledger(world, VOLUME ":-=2 " MOUNTED);
	want_no_more(world);
	end_step(world, STEP_UNPUBLISH, "volume_unmount", 0, ERROR_FINAL);
	expect_ledger(world, VOLUME ":-=2 ");
}

/* case 46 */
static void test_set_up_that_finds_a_device_did_nothing(void **state)
{
	static const struct stage_report report = { .failure = { .error = -ECANCELED } };
	struct agent_world *world = *state;
	struct operation_ended ended = {
		.result = { .kind = STEP_PUBLISH,
			    .unique_name = VOLUME,
			    .pod_uid = POD,
			    .error = -ECANCELED,
			    .error_class = ERROR_TRANSIENT,
			    .touched = true,
			    .needs_stage = true },
		.name = "volume_mount",
		.pod = &world->pod.object,
		.report = &report,
	};

	begin(world);
	agent_on_ended(&world->agent, &ended);
	expect_ledger(world, "");
	assert_true(actual_find(world->agent.actual, VOLUME)->needs_stage);
	assert_int_equal(fake_events.count, 0);
}

static void test_each_result_asks_for_a_turn(void **state)
{
	struct agent_world *world = *state;
	int enabled = SD_EVENT_OFF;

	begin(world);
	assert_return_code(sd_event_source_set_enabled(world->agent.turn, SD_EVENT_OFF), errno);
	end_step(world, STEP_PUBLISH, "volume_mount", -EIO, ERROR_TRANSIENT);
	assert_return_code(sd_event_source_get_enabled(world->agent.turn, &enabled), errno);
	assert_int_equal(enabled, SD_EVENT_ONESHOT);
}

static void expect_event(size_t which, const char *reason, const char *about)
{
	assert_true(which < fake_events.count);
	assert_string_equal(fake_events.list[which].reason, reason);
	assert_string_equal(fake_events.list[which].about, about);
}

/* A driver may take longer for a burst than the heap's quiet moment. */
static void test_each_result_puts_off_the_trim_of_the_heap(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	noted = 0;
	end_step(world, STEP_PUBLISH, "volume_mount", -EIO, ERROR_UNCERTAIN);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	assert_int_equal(noted, 2);
}

static void test_failed_set_up_is_an_event_of_the_pod(void **state)
{
	static const struct {
		enum step_kind kind;
		const char *name, *reason;
	} rows[] = {
		{ STEP_PUBLISH, "volume_mount", "FailedMount" },
		{ STEP_PUBLISH, "map_volume", "FailedMapVolume" },
	};
	struct agent_world *world = *state;

	begin(world);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		end_step(world, rows[i].kind, rows[i].name, -EIO, ERROR_TRANSIENT);
		assert_int_equal(fake_events.count, i + 1);
		expect_event(i, rows[i].reason, "web");
	}
}

static void test_teardown_and_cancellation_are_no_events(void **state)
{
	struct agent_world *world = *state;

	begin(world);
	end_step(world, STEP_PUBLISH, "volume_mount", -ECANCELED, ERROR_UNCERTAIN);
	end_step(world, STEP_UNPUBLISH, "volume_unmount", -EBUSY, ERROR_UNCERTAIN);
	assert_int_equal(fake_events.count, 0);
}

static void test_stages_tell_of_the_pod_or_the_volume(void **state)
{
	struct agent_world *world = *state;
	struct stage_report report = {
		.events = { { .type = "Normal",
			      .reason = "Formatted",
			      .text = "x",
			      .about_pv = true },
			    { .type = "Warning", .reason = "AlreadyMountedVolume", .text = "y" } },
		.event_count = 2,
	};
	struct operation_ended ended = {
		.result = { .kind = STEP_PUBLISH, .unique_name = VOLUME, .pod_uid = POD },
		.name = "volume_mount",
		.pod = &world->pod.object,
		.pv = &world->pv.object,
		.report = &report,
	};

	begin(world);
	agent_on_ended(&world->agent, &ended);
	assert_int_equal(fake_events.count, 2);
	expect_event(0, "Formatted", "pv");
	expect_event(1, "AlreadyMountedVolume", "web");

	/* An inline volume has no object of its own to tell of. */
	ended.pv = NULL;
	report.event_count = 1;
	report.events[0].reason = "Else";
	agent_on_ended(&world->agent, &ended);
	assert_int_equal(fake_events.count, 2);
}

#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, new_agent_world, free_agent_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(test_mount_that_is_done_has_its_row),
		WITH_AGENT(test_uncertain_failure_keeps_the_row),
		WITH_AGENT(test_final_failure_removes_the_row),
		WITH_AGENT(test_unpublish_removes_the_row),
		WITH_AGENT(test_failed_unpublish_keeps_the_row),
		WITH_AGENT(test_device_has_a_row_of_its_own),
		WITH_AGENT(test_device_keeps_its_row_when_its_pod_goes),
		WITH_AGENT(test_set_up_that_finds_a_device_did_nothing),
		WITH_AGENT(test_each_result_asks_for_a_turn),
		WITH_AGENT(test_each_result_puts_off_the_trim_of_the_heap),
		WITH_AGENT(test_failed_set_up_is_an_event_of_the_pod),
		WITH_AGENT(test_teardown_and_cancellation_are_no_events),
		WITH_AGENT(test_stages_tell_of_the_pod_or_the_volume),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
