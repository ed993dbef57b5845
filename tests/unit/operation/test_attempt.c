/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attempt - stages run in order, each where it belongs, and what ends them
 */
#include "operation/attempt.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct attempt_pools pools;
	struct attempt attempt; /* first member is its job */
	struct stage_report report;
	unsigned int ended;
	bool freed_before_ended;
	/* What stages share; the list's data points here. */
	char log[256]; /* "name@thread ..." */
	unsigned int frees;
	sem_t began, go;
	void (*finish)(void *token, int result);
	void *token;
};

static void note(struct world *world, const char *name)
{
	size_t used = strlen(world->log);
	char thread[16] = "";

	(void) pthread_getname_np(pthread_self(), thread, sizeof(thread));
	(void) snprintf(world->log + used, sizeof(world->log) - used, "%s@%s ", name,
			strncmp(thread, "test-", 5) == 0 ? thread + 5 : "loop");
}

static int run_a(void *data, struct stage_report *report)
{
	note(data, "a");
	return STAGE_NEXT;
}

static int run_b(void *data, struct stage_report *report)
{
	note(data, "b");
	return STAGE_NEXT;
}

static int run_mounted_already(void *data, struct stage_report *report)
{
	report->mount_id = 77;
	note(data, "mounted");
	return STAGE_LIST_DONE;
}

static int run_held(void *data, struct stage_report *report)
{
	struct world *world = data;

	note(world, "held");
	(void) sem_post(&world->began);
	(void) sem_wait(&world->go);
	return STAGE_NEXT;
}

static int run_look_at_cancelled(void *data, struct stage_report *report)
{
	struct world *world = data;

	(void) sem_post(&world->began);
	(void) sem_wait(&world->go);
	if (atomic_load(report->cancelled))
		return failed_plain(&report->failure, -ECANCELED, "stopped");
	return STAGE_NEXT;
}

static int run_fail(void *data, struct stage_report *report)
{
	note(data, "fail");
	report->error_class = ERROR_TRANSIENT;
	return failed(&report->failure, -ENOSPC, "cannot make '%s'", "it");
}

static int run_fail_silently(void *data, struct stage_report *report)
{
	return -EIO;
}

static int run_nonsense(void *data, struct stage_report *report)
{
	return 42;
}

static int start_call(void *data, struct stage_report *report,
		      void (*finish)(void *token, int result), void *token)
{
	struct world *world = data;

	note(world, "call");
	world->finish = finish;
	world->token = token;
	return 0;
}

static int start_fail(void *data, struct stage_report *report,
		      void (*finish)(void *token, int result), void *token)
{
	return failed_plain(&report->failure, -ECONNREFUSED, "no driver");
}

static void free_data(void *data)
{
	struct world *world = data;

	world->frees++;
}

static struct world *of(struct attempt *attempt)
{
	return (struct world *) ((char *) attempt - offsetof(struct world, attempt));
}

static void on_ended(struct attempt *attempt)
{
	of(attempt)->ended++;
	of(attempt)->freed_before_ended = of(attempt)->frees == 1;
}

static int set_up(void **state)
{
	static const struct worker_limits one = { .threads = 1,
						  .threads_max = 1,
						  .set_aside_usec = USEC_PER_SEC };
	static const struct worker_limits four = { .threads = 4,
						   .threads_max = 4,
						   .set_aside_usec = USEC_PER_SEC };
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_true(sd_event_new(&world->event) >= 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->to_loop), 0);
	assert_int_equal(
		worker_pool_new("test-worker", world->to_loop, &one, &world->pools.workers), 0);
	assert_int_equal(
		worker_pool_new("test-walker", world->to_loop, &four, &world->pools.walkers), 0);
	assert_int_equal(io_slots_new(&world->pools.io_slots), 0);
	assert_int_equal(sem_init(&world->began, 0, 0), 0);
	assert_int_equal(sem_init(&world->go, 0, 0), 0);
	world->attempt.pools = world->pools;
	world->attempt.is_cancellable = true;
	world->attempt.ended = on_ended;
	world->attempt.report = &world->report;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	(void) worker_pool_free(world->pools.workers);
	(void) worker_pool_free(world->pools.walkers);
	(void) io_slots_free(world->pools.io_slots);
	(void) worker_return_free(world->to_loop);
	assert_int_equal(world->frees, 1);
	sd_event_unref(world->event);
	(void) sem_destroy(&world->began);
	(void) sem_destroy(&world->go);
	free(world);
	return 0;
}

static bool begin(struct world *world, const struct stage *stages, size_t count)
{
	world->attempt.list = (struct stage_list){
		.stages = stages, .count = count, .data = world, .free_data = free_data
	};
	return attempt_start(&world->attempt);
}

static void run_until_ended(struct world *world)
{
	while (world->ended == 0)
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
	assert_int_equal(world->ended, 1);
	assert_true(world->freed_before_ended);
	assert_true(world->attempt.is_over);
}

static void run_until_called(struct world *world)
{
	while (!world->finish)
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
}

static const struct stage a = { .name = "a", .place = STAGE_WORKER, .run = run_a };
static const struct stage b = { .name = "b", .place = STAGE_WORKER, .run = run_b };
static const struct stage walk = { .name = "walk", .place = STAGE_LONG, .run = run_b };
static const struct stage failing = { .name = "failing", .place = STAGE_WORKER, .run = run_fail };
static const struct stage call = { .name = "call", .place = STAGE_LOOP, .start = start_call };
static const struct stage held = { .name = "held", .place = STAGE_WORKER, .run = run_held };

static void stages_run_where_they_belong(void **state)
{
	const struct stage stages[] = { a, a, walk, a };
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	assert_int_equal(world->ended, 0);
	run_until_ended(world);
	assert_string_equal(world->log, "a@worker a@worker b@walker a@worker ");
	assert_int_equal(world->attempt.result, 0);
	assert_true(world->attempt.touched);
}

static void a_stage_may_end_the_list(void **state)
{
	const struct stage stages[] = {
		a, { .name = "look", .place = STAGE_WORKER, .run = run_mounted_already }, b
	};
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_string_equal(world->log, "a@worker mounted@worker ");
	assert_int_equal(world->attempt.result, 0);
	assert_int_equal(world->report.mount_id, 77);
}

static int run_announce(void *data, struct stage_report *report)
{
	note(data, "announce");
	report->unfinished = UNFINISHED_FORMAT;
	return STAGE_NEXT;
}

static int keep_note(struct attempt *attempt, enum unfinished unfinished, struct failure *reterr)
{
	assert_int_equal(unfinished, UNFINISHED_FORMAT);
	assert_string_equal(attempt_stage_name(attempt), "b"); /* not begun */
	note(of(attempt), "noted");
	return 0;
}

static int refuse_note(struct attempt *attempt, enum unfinished unfinished, struct failure *reterr)
{
	return failed(reterr, -ENOSPC, "cannot note it");
}

static const struct stage announce = { .name = "announce",
				       .place = STAGE_WORKER,
				       .run = run_announce };

static void what_may_be_left_half_done_is_noted_before(void **state)
{
	const struct stage stages[] = { a, announce, b, a };
	struct world *world = *state;

	world->attempt.note = keep_note;
	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_string_equal(world->log, "a@worker announce@worker noted@loop b@worker a@worker ");
	assert_int_equal(world->attempt.result, 0);
}

static void what_cannot_be_noted_does_not_begin(void **state)
{
	const struct stage stages[] = { announce, b };
	struct world *world = *state;

	world->attempt.note = refuse_note;
	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_string_equal(world->log, "announce@worker ");
	assert_int_equal(world->attempt.result, -ENOSPC);
	assert_int_equal(world->report.error_class, ERROR_UNCERTAIN);
	assert_non_null(strstr(world->report.failure.text, "cannot note it"));
}

static void notes_are_kept_by_who_wants_them(void **state)
{
	const struct stage stages[] = { announce, b };
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_string_equal(world->log, "announce@worker b@worker ");
}

static void no_stages_is_over_at_once(void **state)
{
	struct world *world = *state;

	assert_false(begin(world, NULL, 0));
	assert_int_equal(world->ended, 0);
	assert_int_equal(world->attempt.result, 0);
	assert_false(world->attempt.touched);
	assert_string_equal(attempt_stage_name(&world->attempt), "");
}

static void a_failure_ends_the_list(void **state)
{
	const struct stage stages[] = { a, failing, b };
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_string_equal(world->log, "a@worker fail@worker ");
	assert_int_equal(world->attempt.result, -ENOSPC);
	assert_int_equal(world->report.error_class, ERROR_TRANSIENT);
	assert_string_equal(world->report.failure.text,
			    "cannot make 'it': No space left on device");
	assert_string_equal(attempt_stage_name(&world->attempt), "failing");
}

static void a_failure_without_words_gets_some(void **state)
{
	const struct stage stages[] = {
		{ .name = "mute", .place = STAGE_WORKER, .run = run_fail_silently }
	};
	struct world *world = *state;

	assert_true(begin(world, stages, 1));
	run_until_ended(world);
	assert_int_equal(world->attempt.result, -EIO);
	assert_int_equal(world->report.failure.error, -EIO);
	assert_string_equal(world->report.failure.text, "'mute' failed: Input/output error");
}

static void nonsense_is_an_uncertain_failure(void **state)
{
	const struct stage stages[] = {
		{ .name = "odd", .place = STAGE_WORKER, .run = run_nonsense }
	};
	struct world *world = *state;

	assert_true(begin(world, stages, 1));
	run_until_ended(world);
	assert_int_equal(world->attempt.result, -EPROTO);
	assert_int_equal(world->report.error_class, ERROR_UNCERTAIN);
	assert_non_null(strstr(world->report.failure.text, "42"));
}

static void calls_of_the_loop_end_by_callback(void **state)
{
	const struct stage stages[] = { a, call, a, call };
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	run_until_called(world);
	assert_string_equal(world->log, "a@worker call@loop ");
	assert_string_equal(attempt_stage_name(&world->attempt), "call");

	void (*finish)(void *token, int result) = world->finish;
	world->finish = NULL;
	finish(world->token, STAGE_NEXT);
	run_until_called(world);
	assert_string_equal(world->log, "a@worker call@loop a@worker call@loop ");
	assert_int_equal(world->ended, 0);
	world->finish(world->token, STAGE_NEXT);
	run_until_ended(world);
	assert_int_equal(world->attempt.result, 0);
}

static void a_call_may_fail(void **state)
{
	const struct stage stages[] = { call, a };
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	assert_non_null(world->finish); /* the first stage begins at once */
	world->finish(world->token, -ETIMEDOUT);
	assert_int_equal(world->ended, 1);
	assert_int_equal(world->attempt.result, -ETIMEDOUT);
	assert_string_equal(world->log, "call@loop ");
}

static void a_call_that_cannot_begin_never_ends_from_inside(void **state)
{
	const struct stage stages[] = {
		{ .name = "call", .place = STAGE_LOOP, .start = start_fail }, a
	};
	struct world *world = *state;

	assert_false(begin(world, stages, ARRAY_SIZE(stages)));
	assert_int_equal(world->ended, 0);
	assert_int_equal(world->attempt.result, -ECONNREFUSED);
	assert_string_equal(world->report.failure.text, "no driver");
}

static void a_later_call_that_cannot_begin_ends_it(void **state)
{
	const struct stage stages[] = {
		a, { .name = "call", .place = STAGE_LOOP, .start = start_fail }, a
	};
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_int_equal(world->attempt.result, -ECONNREFUSED);
}

static void cancellation_ends_between_stages(void **state)
{
	const struct stage stages[] = { held, b };
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	assert_int_equal(sem_wait(&world->began), 0);
	assert_string_equal(attempt_stage_name(&world->attempt), "held");
	assert_true(world->attempt.since_usec > 0);
	attempt_cancel(&world->attempt);
	(void) sem_post(&world->go);
	run_until_ended(world);
	assert_string_equal(world->log, "held@worker ");
	assert_int_equal(world->attempt.result, -ECANCELED);
	assert_int_equal(world->report.error_class, ERROR_UNCERTAIN);
}

static void cancellation_before_the_first_stage_touches_nothing(void **state)
{
	const struct stage stages[] = { a };
	struct world *world = *state;

	attempt_cancel(&world->attempt);
	assert_true(begin(world, stages, 1));
	run_until_ended(world);
	assert_string_equal(world->log, "");
	assert_int_equal(world->attempt.result, -ECANCELED);
	assert_int_equal(world->report.error_class, ERROR_TRANSIENT);
	assert_false(world->attempt.touched);
}

static void a_stage_that_stops_itself_leaves_doubt(void **state)
{
	const struct stage stages[] = {
		{ .name = "long", .place = STAGE_WORKER, .run = run_look_at_cancelled }, a
	};
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	assert_int_equal(sem_wait(&world->began), 0);
	attempt_cancel(&world->attempt);
	(void) sem_post(&world->go);
	run_until_ended(world);
	assert_int_equal(world->attempt.result, -ECANCELED);
	assert_string_equal(world->report.failure.text, "stopped");
	assert_int_equal(world->report.error_class, ERROR_UNCERTAIN);
}

static void teardowns_are_never_cancelled(void **state)
{
	const struct stage stages[] = { held, b };
	struct world *world = *state;

	world->attempt.is_cancellable = false;
	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	attempt_cancel(&world->attempt);
	(void) sem_post(&world->go);
	run_until_ended(world);
	assert_int_equal(world->attempt.result, 0);
	assert_string_equal(world->log, "held@worker b@worker ");
}

/* Not even by a long stage that looks at the flag itself. */
static void a_teardown_never_sees_a_cancellation(void **state)
{
	const struct stage stages[] = {
		{ .name = "long", .place = STAGE_WORKER, .run = run_look_at_cancelled }
	};
	struct world *world = *state;

	world->attempt.is_cancellable = false;
	assert_true(begin(world, stages, 1));
	attempt_cancel(&world->attempt);
	(void) sem_post(&world->go);
	run_until_ended(world);
	assert_int_equal(world->attempt.result, 0);
}

static void a_closed_pool_ends_it_without_a_run(void **state)
{
	const struct stage stages[] = { call, b };
	struct world *world = *state;

	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	world->pools.workers = worker_pool_free(world->pools.workers);
	world->finish(world->token, STAGE_NEXT);
	run_until_ended(world);
	assert_int_equal(world->attempt.result, -ECANCELED);
	assert_int_equal(world->report.error_class, ERROR_UNCERTAIN);
	assert_string_equal(world->log, "call@loop ");
}

/* Such as the bind of a source whose look-up hung until podvold had closed everything. */
static void what_was_given_up_begins_no_further_stage(void **state)
{
	const struct stage stages[] = { held, b };
	struct world *world = *state;

	world->attempt.is_cancellable = false; /* a teardown neither */
	assert_true(begin(world, stages, ARRAY_SIZE(stages)));
	assert_int_equal(sem_wait(&world->began), 0);
	assert_false(attempt_give_up(&world->attempt));
	(void) sem_post(&world->go);
	run_until_ended(world);
	assert_int_equal(world->attempt.result, -ECANCELED);
	assert_string_equal(world->log, "held@worker ");
}

static bool begin_after(struct world *world, const struct stage *first, const struct stage *stages,
			size_t count)
{
	world->attempt.first = (struct stage_list){ .stages = first, .count = 2, .data = world };
	return begin(world, stages, count);
}

/* A list that is done early goes on with the next one. */
static void one_list_comes_before_the_other(void **state)
{
	const struct stage done = { .place = STAGE_WORKER, .run = run_mounted_already };
	const struct stage first[] = { done, a }, stages[] = { b, done, a }, last[] = { a };
	struct world *world = *state;

	world->attempt.last = (struct stage_list){ .stages = last, .count = 1, .data = world };
	assert_true(begin_after(world, first, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_string_equal(world->log, "mounted@worker b@worker mounted@worker a@worker ");
	assert_int_equal(world->attempt.result, 0);
	assert_true(world->attempt.touched);
	assert_string_equal(attempt_stage_name(&world->attempt), "a");
}

/* What failed before the list has touched nothing of what the list is about. */
static void a_failure_of_the_first_list_touches_nothing(void **state)
{
	const struct stage first[] = { a, failing }, stages[] = { b };
	struct world *world = *state;

	assert_true(begin_after(world, first, stages, ARRAY_SIZE(stages)));
	run_until_ended(world);
	assert_string_equal(world->log, "a@worker fail@worker ");
	assert_int_equal(world->attempt.result, -ENOSPC);
	assert_false(world->attempt.touched);
	assert_string_equal(attempt_stage_name(&world->attempt), "failing");
}

/* As for a hostPath, which has nothing to be torn down. */
static void a_first_list_may_be_all(void **state)
{
	const struct stage first[] = { a, a };
	struct world *world = *state;

	assert_true(begin_after(world, first, NULL, 0));
	run_until_ended(world);
	assert_string_equal(world->log, "a@worker a@worker ");
	assert_int_equal(world->attempt.result, 0);
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(stages_run_where_they_belong),
		WORLD(a_stage_may_end_the_list),
		WORLD(what_may_be_left_half_done_is_noted_before),
		WORLD(what_cannot_be_noted_does_not_begin),
		WORLD(notes_are_kept_by_who_wants_them),
		WORLD(no_stages_is_over_at_once),
		WORLD(a_failure_ends_the_list),
		WORLD(a_failure_without_words_gets_some),
		WORLD(nonsense_is_an_uncertain_failure),
		WORLD(calls_of_the_loop_end_by_callback),
		WORLD(a_call_may_fail),
		WORLD(a_call_that_cannot_begin_never_ends_from_inside),
		WORLD(a_later_call_that_cannot_begin_ends_it),
		WORLD(cancellation_ends_between_stages),
		WORLD(cancellation_before_the_first_stage_touches_nothing),
		WORLD(a_stage_that_stops_itself_leaves_doubt),
		WORLD(teardowns_are_never_cancelled),
		WORLD(a_teardown_never_sees_a_cancellation),
		WORLD(one_list_comes_before_the_other),
		WORLD(a_failure_of_the_first_list_touches_nothing),
		WORLD(a_first_list_may_be_all),
		WORLD(a_closed_pool_ends_it_without_a_run),
		WORLD(what_was_given_up_begins_no_further_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
