/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attempt_report - an attempt's report has room for texts only while stages may write some
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "operation/attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct attempt attempt;
	bool ended;
};

static bool no_memory;

/* Linked in place of the one in plugins/stage.c. */
struct stage_report *__real_stage_report_whole(const struct stage_report *brief);
struct stage_report *__wrap_stage_report_whole(const struct stage_report *brief);
struct stage_report *__wrap_stage_report_whole(const struct stage_report *brief)
{
	return no_memory ? NULL : __real_stage_report_whole(brief);
}

static int run_mount(void *data, struct stage_report *report)
{
	/* What a stage tried first is no failure of it. */
	(void) failed(&report->failure, -ENOENT, "cannot find it");
	report->mount_id = 77;
	return STAGE_NEXT;
}

static int run_event(void *data, struct stage_report *report)
{
	stage_event_add(report, false, "Normal", "Found", "%s", "it");
	return STAGE_NEXT;
}

static int run_grow(void *data, struct stage_report *report)
{
	report->growth_error = failed_plain(&report->not_grown, -ENOSPC, "cannot grow it");
	return STAGE_NEXT;
}

static int run_fail(void *data, struct stage_report *report)
{
	return failed_plain(&report->failure, -ENOSPC, "cannot make it");
}

static const struct stage mount = { .name = "mount", .place = STAGE_WORKER, .run = run_mount };
static const struct stage event = { .name = "event", .place = STAGE_WORKER, .run = run_event };
static const struct stage grow = { .name = "grow", .place = STAGE_WORKER, .run = run_grow };
static const struct stage failing = { .name = "failing", .place = STAGE_WORKER, .run = run_fail };

static void on_ended(struct attempt *attempt)
{
	((struct world *) ((char *) attempt - offsetof(struct world, attempt)))->ended = true;
}

static int set_up(void **state)
{
	static const struct worker_limits one = { .threads = 1,
						  .threads_max = 1,
						  .set_aside_usec = USEC_PER_SEC };
	struct world *world = calloc(1, sizeof(*world));
	struct attempt_pools *pools = &world->attempt.pools;

	assert_non_null(world);
	assert_true(sd_event_new(&world->event) >= 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->to_loop), 0);
	assert_int_equal(worker_pool_new("test-worker", world->to_loop, &one, &pools->workers), 0);
	world->attempt.ended = on_ended;
	world->attempt.report = world->attempt.brief = stage_report_brief();
	assert_non_null(world->attempt.brief);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	(void) worker_pool_free(world->attempt.pools.workers);
	(void) worker_return_free(world->to_loop);
	sd_event_unref(world->event);
	attempt_report_free(&world->attempt);
	free(world);
	no_memory = false;
	return 0;
}

static const struct stage_report *run(struct world *world, const struct stage *first,
				      const struct stage *list)
{
	world->attempt.first = (struct stage_list){ .stages = first, .count = 1 };
	world->attempt.list = (struct stage_list){ .stages = list, .count = 1 };
	assert_true(attempt_start(&world->attempt));
	while (!world->ended)
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
	return world->attempt.report;
}

static void a_success_without_texts_is_brief(void **state)
{
	struct world *world = *state;
	const struct stage_report *report = run(world, &mount, &mount);

	assert_ptr_equal(report, world->attempt.brief);
	assert_int_equal(report->mount_id, 77);
	assert_int_equal(report->failure.error, 0);
}

static void texts_are_kept(void **state)
{
	struct world *world = *state;
	const struct stage_report *report = run(world, &event, &grow);

	assert_ptr_not_equal(report, world->attempt.brief);
	assert_int_equal(world->attempt.result, 0);
	assert_string_equal(report->events[0].text, "it");
	assert_string_equal(report->not_grown.text, "cannot grow it");
}

static void a_failure_is_kept(void **state)
{
	struct world *world = *state;
	const struct stage_report *report = run(world, &mount, &failing);

	assert_int_equal(world->attempt.result, -ENOSPC);
	assert_string_equal(report->failure.text, "cannot make it");
	assert_int_equal(report->mount_id, 77);
}

static void without_memory_no_stage_begins(void **state)
{
	struct world *world = *state;
	const struct stage_report *report;

	no_memory = true;
	report = run(world, &mount, &mount);
	assert_int_equal(world->attempt.result, -ENOMEM);
	assert_int_equal(report->mount_id, 0);
	assert_int_equal(report->error_class, ERROR_TRANSIENT);
	assert_non_null(strstr(report->failure.text, "out of memory"));
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(a_success_without_texts_is_brief),
		WORLD(texts_are_kept),
		WORLD(a_failure_is_kept),
		WORLD(without_memory_no_stage_begins),
	};

	return cmocka_run_group_tests_name("attempt_report", tests, NULL, NULL);
}
