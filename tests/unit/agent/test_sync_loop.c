/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sync_loop - what one turn writes down before it starts something, and what it does not start
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "agent/observers.h"

#include <errno.h>
#include <string.h>

#define UNCERTAIN VOLUME ":" POD "=1+set-up "
#define MOUNTED   VOLUME ":" POD "=2 "

static bool drift_refuses;

bool __wrap_drift_passes(void *drift, const struct step *step);
bool __wrap_drift_passes(void *drift, const struct step *step)
{
	return !drift_refuses;
}

static void mount_it(struct agent_world *world)
{
	want_data(world);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	turn(world);
	expect_ledger(world, MOUNTED);
}

static void test_intent_is_on_disk_before_the_step_begins(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	expect_ledger(world, UNCERTAIN);
	assert_int_equal(state_of_pod(world), MOUNT_ABSENT);
}

/* Also of a daemon that began the set-up once more, as each one does, and died in it. */
static void test_what_was_mounted_stays_so_in_the_ledger(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	turn(world);
	actual_find_pod(actual_find(world->agent.actual, VOLUME), POD)->state = MOUNT_UNCERTAIN;
	(void) dirty_add(world->agent.dirty, VOLUME);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	expect_ledger(world, VOLUME ":" POD "=2+set-up ");
}

static char *device_path(const struct volume_request *request)
{
	return strdup("/plugins/fake/mounts/data");
}

static int expect_device_row(const struct ledger_row *row, void *userdata)
{
	++*(unsigned int *) userdata;
	assert_null(row->entry.pod_uid);
	assert_string_equal(row->device_mount_path, "/plugins/fake/mounts/data");
	assert_string_equal(row->entry.plugin_name, "example.com/fake");
	assert_true(row->entry.device_mountable);
	return 0;
}

static void test_intent_of_a_device_says_where(void **state)
{
	struct agent_world *world = *state;
	struct volume_spec spec = { .name = "data", .pv = &world->pv.object };
	struct desired_want wanted = { .unique_name = VOLUME,
				       .plugin = &world->plugin,
				       .device_mountable = true,
				       .spec = &spec,
				       .pod = &world->pod.object,
				       .outer_names = (const char *[]){ "data" },
				       .outer_name_count = 1 };
	unsigned int rows = 0;

	world->plugin.get_device_mount_path = device_path;
	assert_int_equal(desired_add(world->agent.desired, &wanted), 1);
	turn(world);
	expect_calls(world, "commit submit:stage(1) ");
	assert_int_equal(ledger_walk(world->agent.ledger, expect_device_row, &rows), 0);
	assert_int_equal(rows, 1);
}

static int expect_pod_row(const struct ledger_row *row, void *userdata)
{
	++*(unsigned int *) userdata;
	assert_string_equal(row->entry.pod_key, "default/web");
	assert_string_equal(row->entry.outer_name, "first");
	assert_string_equal(row->entry.path, "/pods/uid-1/data");
	return 0;
}

static void test_intent_keeps_the_first_name(void **state)
{
	static const char *const names[] = { "first", "second" };
	struct agent_world *world = *state;
	unsigned int rows = 0;

	want(world, names, 2);
	turn(world);
	assert_int_equal(ledger_walk(world->agent.ledger, expect_pod_row, &rows), 0);
	assert_int_equal(rows, 1);
}

static void test_nothing_starts_without_the_ledger(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	world->commit_error = -ENOSPC;
	turn(world);
	expect_calls(world, "commit later:" VOLUME " ");
	assert_true(world->agent.own.ledger_failing);

	/* The retry comes, and then it can be written. */
	world->commit_error = 0;
	agent_on_retry(&world->agent, VOLUME);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	assert_false(world->agent.own.ledger_failing);
}

static void test_teardown_is_on_disk_before_it_begins(void **state)
{
	struct agent_world *world = *state;

	mount_it(world);
	want_no_more(world);
	turn(world);
	expect_calls(world, "commit submit:unpublish(1) ");
	expect_ledger(world, VOLUME ":" POD "=2+teardown ");
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
}

/* At once: the stage that it is about begins when this returns. */
static void test_what_would_be_left_half_done_is_committed(void **state)
{
	struct agent_world *world = *state;
	struct failure failure = { 0 };

	want_data(world);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	world->calls[0] = '\0';
	assert_int_equal(
		agent_note_unfinished(&world->agent, VOLUME, POD, UNFINISHED_OWNERSHIP, &failure),
		0);
	expect_calls(world, "commit ");
	expect_ledger(world, VOLUME ":" POD "=1+ownership ");

	world->commit_error = -ENOSPC;
	assert_int_equal(
		agent_note_unfinished(&world->agent, VOLUME, POD, UNFINISHED_FORMAT, &failure),
		-ENOSPC);
	assert_int_equal(
		agent_note_unfinished(&world->agent, "other", "", UNFINISHED_FORMAT, &failure),
		-ENOENT);
}

static void test_no_teardown_without_the_ledger(void **state)
{
	struct agent_world *world = *state;

	mount_it(world);
	want_no_more(world);
	world->commit_error = -EIO;
	turn(world);
	expect_calls(world, "commit later:" VOLUME " ");
}

static void test_want_of_memory_for_an_operation_comes_again(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	world->submitted = -ENOMEM;
	turn(world);
	expect_calls(world, "commit submit:publish(1) later:" VOLUME " ");
}

static void test_refused_step_writes_no_intent(void **state)
{
	static const int refusals[] = { -EAGAIN, -EBUSY };
	struct agent_world *world = *state;

	for (size_t i = 0; i < 2; i++) {
		want_data(world);
		world->may_start = refusals[i];
		turn(world);
		expect_calls(world, "commit "); /* and a set-up cancels nothing */
		expect_ledger(world, "");
		assert_int_equal(actual_count(world->agent.actual), 0);
	}
}

static void test_teardown_tells_a_set_up_in_its_way(void **state)
{
	struct agent_world *world = *state;

	mount_it(world);
	want_no_more(world);
	world->may_start = -EAGAIN; /* its own back-off: nothing runs that could be reported */
	turn(world);
	expect_calls(world, "commit ");

	agent_on_retry(&world->agent, VOLUME);
	world->may_start = -EBUSY;
	turn(world);
	expect_calls(world, "cancel:" VOLUME ":" POD " commit ");
	expect_ledger(world, MOUNTED);
}

static void test_nothing_is_torn_down_before_all_pods_are_known(void **state)
{
	struct agent_world *world = *state;

	mount_it(world);
	want_no_more(world);
	world->agent.sources_complete = false;
	turn(world);
	expect_calls(world, "commit ");

	world->agent.sources_complete = true;
	agent_on_retry(&world->agent, VOLUME);
	turn(world);
	expect_calls(world, "commit submit:unpublish(1) ");
	expect_ledger(world, VOLUME ":" POD "=2+teardown "); /* until it is done */
}

static void test_remount_writes_no_intent(void **state)
{
	struct agent_world *world = *state;

	world->plugin.requires_remount = fake_remount_plugin.requires_remount;
	mount_it(world);
	desired_request_remount(world->agent.desired, VOLUME, POD);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	expect_ledger(world, MOUNTED);
}

static void test_forgetting_leaves_no_row_and_no_entry(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	want_no_more(world); /* before the publish began anything */
	assert_int_equal(state_of_pod(world), MOUNT_ABSENT);
	world->may_start = -EBUSY;
	turn(world);
	expect_ledger(world, UNCERTAIN); /* not while it runs */

	world->may_start = 0;
	agent_on_retry(&world->agent, VOLUME);
	turn(world);
	expect_calls(world, "commit ");
	expect_ledger(world, "");
	assert_int_equal(actual_count(world->agent.actual), 0);
}

/* ---- changes that were lost ---- */

static unsigned int watches, passes;

int __wrap_store_watch_next(struct store_watch *watch, const struct store_change **ret);
int __wrap_agent_watch_store(struct agent *agent);
void __wrap_populator_full_pass(struct populator *populator, uint64_t now_usec);

/* The one that was there has fallen off the ring, and stays so. */
int __wrap_store_watch_next(struct store_watch *watch, const struct store_change **ret)
{
	return watch == (struct store_watch *) &watches ? -ESTALE : 0;
}

int __wrap_agent_watch_store(struct agent *agent)
{
	agent->watch = (struct store_watch *) &passes;
	watches++;
	return 0;
}

void __wrap_populator_full_pass(struct populator *populator, uint64_t now_usec)
{
	passes++;
}

static void test_changes_that_were_lost(void **state)
{
	struct agent_world *world = *state;

	watches = passes = 0;
	world->agent.watch = (struct store_watch *) &watches;
	turn(world);
	turn(world);
	turn(world);
	assert_int_equal(watches, 1);
	assert_int_equal(passes, 1);
	world->agent.watch = NULL;
}

static void on_drained(void *userdata, size_t left)
{
	*(int *) userdata = (int) left;
}

static void test_drain_ends_with_nothing_left(void **state)
{
	struct agent_world *world = *state;
	int left = -1;

	world->agent.notify.drained = on_drained;
	world->agent.notify.userdata = &left;
	turn(world);
	assert_int_equal(left, 0);
	expect_calls(world, "commit undo ");
	left = -1;
	turn(world);
	assert_int_equal(left, -1); /* reported once */
}

static void test_drain_ends_with_what_is_left(void **state)
{
	static struct operation_view view = { .unique_name = VOLUME,
					      .pod_uid = POD,
					      .name = "volume_unmount",
					      .attempts = 1000,
					      .running = true };
	struct agent_world *world = *state;
	int left = -1;

	mount_it(world);
	want_no_more(world);
	world->agent.notify.drained = on_drained;
	world->agent.notify.userdata = &left;
	world->views = &view;
	world->view_count = 1;
	turn(world);
	assert_int_equal(left, -1); /* it runs */

	view.running = false;
	view.attempts = 1;
	world->may_start = -EAGAIN;
	turn(world);
	assert_int_equal(left, -1); /* it may succeed yet */

	view.attempts = 1000;
	turn(world);
	assert_int_equal(left, 1);
	expect_calls(world, "commit ");
}

/* The gate passes a step once: asked for one that another box refuses, it would search for nothing.
 */
static void test_gate_is_asked_after_all_that_may_refuse(void **state)
{
	static const struct unstage_view view = { .unique_name = VOLUME, .pod_uid = "" };
	const struct step step = { .kind = STEP_UNSTAGE, .unique_name = VOLUME };
	struct agent_world *world = *state;

	world->held_back = &view;
	drift_refuses = true;
	assert_false(observers_may_start(&world->agent, &step));
	expect_calls(world, "");
	drift_refuses = false;
	assert_false(observers_may_start(&world->agent, &step));
	expect_calls(world, "held:unstage ");
}

#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, new_agent_world, free_agent_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(test_intent_is_on_disk_before_the_step_begins),
		WITH_AGENT(test_what_was_mounted_stays_so_in_the_ledger),
		WITH_AGENT(test_intent_of_a_device_says_where),
		WITH_AGENT(test_intent_keeps_the_first_name),
		WITH_AGENT(test_nothing_starts_without_the_ledger),
		WITH_AGENT(test_teardown_is_on_disk_before_it_begins),
		WITH_AGENT(test_what_would_be_left_half_done_is_committed),
		WITH_AGENT(test_no_teardown_without_the_ledger),
		WITH_AGENT(test_want_of_memory_for_an_operation_comes_again),
		WITH_AGENT(test_refused_step_writes_no_intent),
		WITH_AGENT(test_teardown_tells_a_set_up_in_its_way),
		WITH_AGENT(test_nothing_is_torn_down_before_all_pods_are_known),
		WITH_AGENT(test_remount_writes_no_intent),
		WITH_AGENT(test_forgetting_leaves_no_row_and_no_entry),
		WITH_AGENT(test_changes_that_were_lost),
		WITH_AGENT(test_gate_is_asked_after_all_that_may_refuse),
		WITH_AGENT(test_drain_ends_with_nothing_left),
		WITH_AGENT(test_drain_ends_with_what_is_left),
	};

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
