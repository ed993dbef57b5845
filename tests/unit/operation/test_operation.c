/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_operation - steps become operations, exclude each other, and end once, on a later turn
 */
#include "operation_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* ---- how operations end ---- */

static void a_publish_succeeds(void **state)
{
	struct operation_view view;
	const struct seen *seen;

	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(world.ended_count, 0);
	seen = run_until_ended(1);
	assert_string_equal(seen->name, "volume_mount");
	assert_string_equal(seen->pod_uid, "uid");
	assert_int_equal(seen->result.kind, STEP_PUBLISH);
	assert_int_equal(seen->result.error, 0);
	assert_int_equal(seen->result.mount_id, 5);
	assert_true(seen->result.took_usec >= 1000);
	assert_true(seen->result.touched);
	assert_int_equal(seen->attempt, 1);
	assert_int_equal(seen->retry_usec, 0);
	assert_int_equal(world.frees, 1);
	assert_false(look("uid", &view));
	assert_int_equal(submit(publish("v", "uid")), 0);
}

static void a_stage_tells_its_paths(void **state)
{
	const struct seen *seen;

	assert_int_equal(submit(stage_step()), 0);
	seen = run_until_ended(1);
	assert_string_equal(seen->name, "mount_device");
	assert_string_equal(seen->pod_uid, "none");
	assert_string_equal(seen->device_mount_path, "/global");
	assert_int_equal(seen->result.took_usec, 0);
}

static void a_failure_backs_off(void **state)
{
	struct operation_view view;
	const struct seen *seen;
	uint64_t now;

	seen = fail_once(publish("v", "uid"));
	now = monotonic_usec();
	assert_int_equal(seen->result.error, -EIO);
	assert_int_equal(seen->result.error_class, ERROR_FINAL);
	assert_true(seen->result.touched);
	assert_string_equal(seen->text, "no luck");
	assert_true(seen->retry_usec > now && seen->retry_usec <= now + FIRST_USEC);
	assert_int_equal(submit(publish("v", "uid")), -EAGAIN);

	assert_true(look("uid", &view));
	assert_false(view.running);
	assert_string_equal(view.name, "volume_mount");
	assert_string_equal(view.stage, "try");
	assert_string_equal(view.failure->text, "no luck");
	assert_int_equal(view.attempts, 1);
	assert_int_equal(view.retry_usec, seen->retry_usec);
	assert_true(view.since_usec > 0 && view.since_usec <= now);

	/* case 303, another operation need not wait, and takes the place of the failed one */
	world.stage_result = 0;
	assert_int_equal(submit(unpublish("v", "uid")), 0);
	assert_int_equal(run_until_ended(2)->result.error, 0);
	assert_false(look("uid", &view));
}

static void nonsense_of_a_stage_backs_off_too(void **state)
{
	/* case 305, a difference: there is no panic to recover from; a stage that answers with
	 * nonsense counts */
	world.stage_result = 1234;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(run_until_ended(1)->result.error, -EPROTO);
	assert_int_equal(submit(publish("v", "uid")), -EAGAIN);
}

static void what_fails_in_the_slot_ends_on_a_later_turn(void **state)
{
	struct operation_view view;
	const struct seen *seen;

	world.slot_error = -EINVAL;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(world.ended_count, 0);
	assert_true(look("uid", &view));
	assert_true(view.running);
	seen = run_until_ended(1);
	assert_int_equal(seen->result.error, -EINVAL);
	assert_false(seen->result.touched);
	assert_string_equal(seen->text, "slot says no");
	assert_true(look("uid", &view));
	assert_string_equal(view.stage, "checks");
}

static void a_failed_check_never_reaches_the_plugin(void **state)
{
	const struct seen *seen;
	const struct object *object;
	struct failure why = { 0 };
	static const char json[] =
		"{\"apiVersion\": \"v1\", \"kind\": \"PersistentVolume\", \"metadata\": {\"name\": "
		"\"pv\"}, \"spec\": {\"capacity\": {\"storage\": \"1Gi\"}, \"accessModes\": "
		"[\"ReadWriteOnce\"], \"hostPath\": {\"path\": \"/srv\"}, \"nodeAffinity\": "
		"{\"required\": {\"nodeSelectorTerms\": [{\"matchExpressions\": [{\"key\": "
		"\"kubernetes.io/hostname\", \"operator\": \"Exists\"}]}]}}}}";

	if (object_parse_json(json, strlen(json), &object, &why) < 0)
		fail_msg("%s", why.text);
	world.want_pod.spec.pv = object;
	/* case 341, as an operation it is a failure, with back-off */
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(world.ended_count, 0);
	seen = run_until_ended(1);
	assert_int_equal(seen->result.error, -ENXIO);
	assert_int_equal(seen->result.error_class, ERROR_TRANSIENT);
	assert_false(seen->result.touched);
	assert_int_equal(world.slots, 0);
	assert_int_equal(submit(publish("v", "uid")), -EAGAIN);
	object_unref(object);
}

static void a_plugin_without_the_step_is_done_at_once(void **state)
{
	struct step step = { .kind = STEP_UNSTAGE, .unique_name = "v", .have = &world.have };

	assert_int_equal(submit(step), 0);
	assert_int_equal(world.ended_count, 0);
	assert_int_equal(run_until_ended(1)->result.error, 0);
	assert_false(world.ended[0].result.touched);
}

/* ---- what runs beside what ---- */

static void one_operation_per_key(void **state)
{
	struct step forget = { .kind = STEP_FORGET, .unique_name = "v", .have = &world.have };
	struct operation_view view;

	world.hold = true;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(sem_wait(&world.began), 0);
	assert_int_equal(submit(publish("v", "uid")), -EBUSY);
	assert_int_equal(submit(unpublish("v", "uid")), -EBUSY); /* case 333 */
	assert_int_equal(submit(stage_step()), -EBUSY);
	assert_int_equal(operation_may_start(world.operations, &forget, 0), -EBUSY);
	assert_int_equal(submit(publish("v", "other")), 0);

	assert_true(look("uid", &view));
	assert_true(view.running);
	assert_string_equal(view.stage, "try");
	assert_true(view.thread_id > 0);
	assert_true(view.since_usec > 0);
	assert_int_equal(view.retry_usec, 0);
	assert_null(view.failure);
	assert_false(look("", &view));

	(void) sem_post(&world.go);
	(void) sem_post(&world.go);
	(void) run_until_ended(2);
	assert_int_equal(operation_may_start(world.operations, &forget, 0), 0);
}

static void pods_of_a_shared_volume_take_turns(void **state)
{
	world.want.device_mountable = true;
	world.have.device_mountable = true;
	world.hold = true;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(submit(publish("v", "other")), -EBUSY);
	(void) sem_post(&world.go);
	(void) run_until_ended(1);
	/* Unpublishing runs in parallel. */
	assert_int_equal(submit(unpublish("v", "uid")), 0);
	assert_int_equal(submit(unpublish("v", "other")), 0);
	(void) sem_post(&world.go);
	(void) sem_post(&world.go);
	(void) run_until_ended(3);
}

static void the_end_may_start_the_next_step(void **state)
{
	struct step next = publish("v", "uid"), after_failure = unpublish("v", "uid");

	world.submit_when_ended = &next;
	assert_int_equal(submit(stage_step()), 0);
	(void) run_until_ended(2);
	assert_string_equal(world.ended[1].name, "volume_mount");

	/* The next one takes over the record of the failure that is just being reported. */
	world.submit_when_ended = &after_failure;
	world.stage_result = -EIO;
	assert_int_equal(submit(publish("v", "uid")), 0);
	(void) run_until_ended(4);
	assert_string_equal(world.ended[3].name, "volume_unmount");
}

/* ---- views and the end of all ---- */

static int count_views(const struct operation_view *view, void *userdata)
{
	unsigned int *counts = userdata;

	counts[view->running ? 1 : 0]++;
	return 0;
}

static int stop_at_first(const struct operation_view *view, void *userdata)
{
	return 9;
}

static void all_are_walked(void **state)
{
	unsigned int counts[2] = { 0, 0 };

	assert_int_equal(operation_walk(world.operations, stop_at_first, NULL), 0);
	(void) fail_once(publish("v", "uid"));
	world.hold = true;
	assert_int_equal(submit(publish("w", "uid")), 0);
	assert_int_equal(operation_walk(world.operations, count_views, counts), 0);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 1);
	assert_int_equal(operation_walk(world.operations, stop_at_first, NULL), 9);
	(void) sem_post(&world.go);
}

static void the_last_results_are_told(void **state)
{
	world.hold = true;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(submit(publish("w", "uid")), 0); /* queued: the one thread is held */
	assert_int_equal(sem_wait(&world.began), 0);
	(void) sem_post(&world.go);
	(void) sem_post(&world.go);
	world_close_pools();
	assert_int_equal(world.ended_count, 2);
}

static void what_is_left_goes_with_the_rest(void **state)
{
	(void) state; /* a failed one, and one whose end was not reported yet */
	(void) fail_once(publish("v", "uid"));
	world.slot_error = -EINVAL;
	assert_int_equal(submit(publish("w", "uid")), 0);
}

static void a_stuck_one_takes_itself_away(void **state)
{
	world.hold = true;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(sem_wait(&world.began), 0);
	world.operations = operations_free(world.operations);
	(void) sem_post(&world.go);
	assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
	assert_int_equal(world.frees, 1);
	assert_int_equal(world.ended_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(a_publish_succeeds),
		WORLD(a_stage_tells_its_paths),
		WORLD(a_failure_backs_off),
		WORLD(nonsense_of_a_stage_backs_off_too),
		WORLD(what_fails_in_the_slot_ends_on_a_later_turn),
		WORLD(a_failed_check_never_reaches_the_plugin),
		WORLD(a_plugin_without_the_step_is_done_at_once),
		WORLD(one_operation_per_key),
		WORLD(pods_of_a_shared_volume_take_turns),
		WORLD(the_end_may_start_the_next_step),
		WORLD(all_are_walked),
		WORLD(the_last_results_are_told),
		WORLD(what_is_left_goes_with_the_rest),
		WORLD(a_stuck_one_takes_itself_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
