/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_operation_retry - what failed comes again, or is forgotten
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

/* ---- retries ---- */

static void retries_come_when_the_back_off_is_over(void **state)
{
	struct step again = publish("v", "uid");
	struct operation_view view;
	uint64_t begun_usec;

	(void) fail_once(publish("v", "uid"));
	world.submit_when_retried = &again;
	begun_usec = monotonic_usec();
	run_until_retried(1);
	assert_string_equal(world.retries[0], "v");
	assert_true(look("uid", &view));
	assert_true(view.running);
	assert_int_equal(view.attempts, 1);
	assert_string_equal(view.failure->text, "no luck"); /* of the attempt before */
	(void) run_until_ended(2);
	assert_int_equal(world.ended[1].attempt, 2);
	assert_true(world.ended[1].retry_usec >= begun_usec + 2 * FIRST_USEC);
}

static void what_nobody_comes_back_for_is_forgotten(void **state)
{
	struct operation_view view;

	(void) fail_once(publish("v", "uid"));
	run_until_retried(1);
	assert_true(look("uid", &view));
	run_until_retried(2); /* the last call, for those who wait for it to go */
	assert_false(look("uid", &view));
	assert_int_equal(sd_event_run(world.event, 0), 0);
}

static void a_step_that_could_not_begin_comes_later_once(void **state)
{
	uint64_t now = monotonic_usec();

	operation_retry_later(world.operations, "v", now);
	operation_retry_later(world.operations, "w", now);
	operation_retry_later(world.operations, "v", now);
	run_until_retried(2);
	assert_true(monotonic_usec() >= now + FIRST_USEC);
	assert_string_equal(world.retries[0], "v");
	assert_string_equal(world.retries[1], "w");
	operation_retry_later(world.operations, "v", now);
	run_until_retried(3);
	operation_retry_later(world.operations, "left", now); /* freed with the rest */
}

/* ---- what a volume is made from changed ---- */

static void a_change_ends_the_back_off_of_set_ups(void **state)
{
	struct operation_view view;

	(void) fail_once(publish("v", "uid"));
	assert_int_equal(submit(publish("v", "uid")), -EAGAIN);
	operation_retry_now(world.operations, "other");
	assert_int_equal(submit(publish("v", "uid")), -EAGAIN);
	operation_retry_now(world.operations, "v");
	assert_false(look("uid", &view));
	(void) fail_once(publish("v", "uid"));
	operation_retry_now(world.operations, "v");

	(void) fail_once(unpublish("v", "uid"));
	operation_retry_now(world.operations, "v");
	assert_true(look("uid", &view)); /* a teardown is made from nothing */
}

static void a_change_during_the_attempt_that_fails(void **state)
{
	struct operation_view view;

	world.hold = true;
	world.stage_result = -EIO;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(sem_wait(&world.began), 0);
	operation_retry_now(world.operations, "v");
	(void) sem_post(&world.go);
	(void) run_until_ended(1);
	assert_int_equal(world.ended[0].result.error, -EIO);
	assert_int_equal(world.retry_count, 1);
	assert_string_equal(world.retries[0], "v");
	assert_false(look("uid", &view));
}

/* ---- what kept a volume is gone ---- */

/* Of the teardown alone, and its delay does not grow by that. */
static void a_teardown_need_not_wait(void **state)
{
	struct operation_view view;
	uint64_t delay;

	(void) fail_once(unpublish("v", "uid"));
	assert_int_equal(submit(unpublish("v", "uid")), -EAGAIN);
	assert_true(look("uid", &view));
	delay = view.retry_usec - view.since_usec;
	operation_tear_down_now(world.operations, "v", "other", monotonic_usec());
	operation_tear_down_now(world.operations, "other", "uid", monotonic_usec());
	assert_int_equal(submit(unpublish("v", "uid")), -EAGAIN);
	operation_tear_down_now(world.operations, "v", "uid", monotonic_usec());
	run_until_retried(1);
	assert_string_equal(world.retries[0], "v");
	(void) fail_once(unpublish("v", "uid"));
	assert_true(look("uid", &view));
	assert_int_equal(view.attempts, 2);
	assert_in_range(view.retry_usec - view.since_usec, delay - 1, delay + 1);
	operation_tear_down_now(world.operations, "v", "uid", monotonic_usec());

	(void) fail_once(publish("w", "uid"));
	operation_tear_down_now(world.operations, "w", "uid", monotonic_usec());
	assert_int_equal(submit(publish("w", "uid")), -EAGAIN);
}

/* ---- the driver is not there ---- */

/* Until it is reported ready: time alone brings nothing back. */
static const struct seen *wait_once(struct step step)
{
	const struct seen *seen;

	world.driver = "csi.example.com";
	world.stage_result = -ENOTCONN;
	assert_int_equal(submit(step), 0);
	seen = run_until_ended(world.ended_count + 1);
	assert_true(seen->waits);
	assert_int_equal(seen->retry_usec, 0);
	assert_int_equal(submit(step), -EAGAIN);
	assert_int_equal(sd_event_run(world.event, 3 * FIRST_USEC), 0);
	assert_int_equal(world.retry_count, 0);
	return seen;
}

static void a_set_up_waits_for_its_driver(void **state)
{
	struct operation_view view;

	(void) wait_once(publish("v", "uid"));
	assert_true(look("uid", &view));
	assert_string_equal(view.awaits, "csi.example.com");
	assert_int_equal(view.retry_usec, 0);
	operation_retry_now(world.operations, "v");
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_true(look("uid", &view));
	assert_null(view.awaits);
	(void) run_until_ended(2);
	operation_cancel(world.operations, "v", "uid");
	assert_false(look("uid", &view)); /* not wanted: no driver need come */
}

static void a_teardown_waits_for_its_driver(void **state)
{
	struct operation_view view;

	(void) wait_once(unpublish("v", "uid"));
	operation_tear_down_now(world.operations, "v", "uid", monotonic_usec());
	run_until_retried(1);
	assert_string_equal(world.retries[0], "v");
	assert_true(look("uid", &view));
	assert_null(view.awaits);
}

/* One that may have done something, or that knows no driver, is tried again as ever. */
static void no_other_failure_waits(void **state)
{
	world.driver = "csi.example.com";
	assert_false(fail_once(publish("v", "uid"))->waits);
	world.driver = NULL;
	world.stage_result = -ENOTCONN;
	assert_int_equal(submit(publish("w", "uid")), 0);
	assert_false(run_until_ended(2)->waits);
	assert_true(world.ended[1].retry_usec > 0);
}

/* ---- cancellation ---- */

static void cancelled_before_it_ran(void **state)
{
	struct operation_view view;

	world.hold = true;
	assert_int_equal(submit(publish("w", "uid")), 0); /* keeps the only thread */
	assert_int_equal(sem_wait(&world.began), 0);
	assert_int_equal(submit(publish("v", "uid")), 0);
	operation_cancel(world.operations, "v", "other");
	operation_cancel(world.operations, "v", NULL);
	operation_cancel(world.operations, "v", "uid");
	(void) sem_post(&world.go);
	(void) run_until_ended(2);
	assert_int_equal(world.ended[0].result.error, 0);
	assert_int_equal(world.ended[1].result.error, -ECANCELED);
	assert_int_equal(world.ended[1].result.error_class, ERROR_TRANSIENT);
	assert_int_equal(world.ended[1].retry_usec, 0);
	assert_false(look("uid", &view));
}

/* What the plugin did is done by then, and not in doubt. */
static void a_cancellation_does_not_end_before_what_comes_after_the_plugin(void **state)
{
	world.hold = world.has_last = true;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(sem_wait(&world.began), 0);
	operation_cancel(world.operations, "v", "uid");
	(void) sem_post(&world.go);
	assert_int_equal(run_until_ended(1)->result.error, 0);
	assert_int_equal(world.seconds, 1);
}

/* What such a stage works on may be gone by then. */
static void a_stop_ends_before_what_comes_after_the_plugin(void **state)
{
	world.hold = world.has_last = true;
	assert_int_equal(submit(publish("v", "uid")), 0);
	assert_int_equal(sem_wait(&world.began), 0);
	operations_stop(world.operations);
	(void) sem_post(&world.go);
	assert_int_equal(run_until_ended(1)->result.error, -ECANCELED);
	assert_int_equal(world.ended[0].result.error_class, ERROR_UNCERTAIN);
	assert_int_equal(world.seconds, 0);
}

/* Such as a source whose look-up hangs and answers while podvold waits for its threads. */
static void a_stop_ends_what_hangs_before_the_next_stage(void **state)
{
	static const char *const texts[] = {
		"cancelled before 'second': podvold is shutting down",
		"cancelled before 'try': podvold is shutting down",
	};

	world.hold = world.has_second = true;
	assert_int_equal(submit(publish("w", "uid")), 0); /* keeps the only thread */
	assert_int_equal(sem_wait(&world.began), 0);
	assert_int_equal(submit(publish("v", "uid")), 0);
	operations_stop(world.operations);
	(void) sem_post(&world.go);
	world_close_pools();
	assert_int_equal(world.seconds, 0);
	assert_int_equal(world.ended_count, ARRAY_SIZE(texts));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(world.ended[i].result.error, -ECANCELED);
	/* What no thread took is over first. */
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_true(strcmp(world.ended[i].text, texts[0]) == 0 ||
			    strcmp(world.ended[i].text, texts[1]) == 0);
	assert_string_not_equal(world.ended[0].text, world.ended[1].text);
}

/* A teardown, too, whose turn comes when the pool is closed. */
static void a_stop_is_the_reason_of_what_no_thread_took(void **state)
{
	operations_stop(world.operations);
	world.options.workers = worker_pool_free(world.options.workers);
	assert_int_equal(submit(unpublish("v", "uid")), 0);
	world_close_pools();
	assert_int_equal(world.ended_count, 1);
	assert_int_equal(world.ended[0].result.error, -ECANCELED);
	assert_non_null(strstr(world.ended[0].text, "': podvold is shutting down"));
}

static void cancelling_drops_what_failed(void **state)
{
	struct operation_view view;

	(void) fail_once(publish("v", "uid"));
	operation_cancel(world.operations, "v", "other");
	assert_true(look("uid", &view));
	operation_cancel(world.operations, "v", "uid");
	assert_false(look("uid", &view));

	(void) fail_once(stage_step());
	assert_true(look(NULL, &view));
	operation_cancel(world.operations, "v", "");
	assert_false(look("", &view));

	(void) fail_once(unpublish("v", "uid"));
	operation_cancel(world.operations, "v", "uid");
	assert_true(look("uid", &view)); /* teardowns go on */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(retries_come_when_the_back_off_is_over),
		WORLD(what_nobody_comes_back_for_is_forgotten),
		WORLD(a_step_that_could_not_begin_comes_later_once),
		WORLD(a_change_ends_the_back_off_of_set_ups),
		WORLD(a_change_during_the_attempt_that_fails),
		WORLD(a_teardown_need_not_wait),
		WORLD(a_set_up_waits_for_its_driver),
		WORLD(a_teardown_waits_for_its_driver),
		WORLD(no_other_failure_waits),
		WORLD(cancelled_before_it_ran),
		WORLD(a_cancellation_does_not_end_before_what_comes_after_the_plugin),
		WORLD(a_stop_ends_before_what_comes_after_the_plugin),
		WORLD(a_stop_ends_what_hangs_before_the_next_stage),
		WORLD(a_stop_is_the_reason_of_what_no_thread_took),
		WORLD(cancelling_drops_what_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
