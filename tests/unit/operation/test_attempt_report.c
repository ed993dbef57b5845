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
#include "tests/unit/operation/attempt_world.h"

#include <errno.h>
#include <string.h>

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

static const struct stage_report *run(struct attempt_world *world, const struct stage *first,
				      const struct stage *list)
{
	world->attempt.first = (struct stage_list){ .stages = first, .count = 1 };
	world->attempt.list = (struct stage_list){ .stages = list, .count = 1 };
	attempt_world_run(world);
	return world->attempt.report;
}

static void a_success_without_texts_is_brief(void **state)
{
	struct attempt_world *world = *state;
	const struct stage_report *report = run(world, &mount, &mount);

	assert_ptr_equal(report, world->attempt.brief);
	assert_int_equal(report->mount_id, 77);
	assert_int_equal(report->failure.error, 0);
}

static void texts_are_kept(void **state)
{
	struct attempt_world *world = *state;
	const struct stage_report *report = run(world, &event, &grow);

	assert_ptr_not_equal(report, world->attempt.brief);
	assert_int_equal(world->attempt.result, 0);
	assert_string_equal(report->events[0].text, "it");
	assert_string_equal(report->not_grown.text, "cannot grow it");
}

static void a_failure_is_kept(void **state)
{
	struct attempt_world *world = *state;
	const struct stage_report *report = run(world, &mount, &failing);

	assert_int_equal(world->attempt.result, -ENOSPC);
	assert_string_equal(report->failure.text, "cannot make it");
	assert_int_equal(report->mount_id, 77);
}

static void without_memory_no_stage_begins(void **state)
{
	struct attempt_world *world = *state;
	const struct stage_report *report;

	no_memory = true;
	report = run(world, &mount, &mount);
	no_memory = false;
	assert_int_equal(world->attempt.result, -ENOMEM);
	assert_int_equal(report->mount_id, 0);
	assert_int_equal(report->error_class, ERROR_TRANSIENT);
	assert_non_null(strstr(report->failure.text, "out of memory"));
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, attempt_world_begin, attempt_world_end)

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
