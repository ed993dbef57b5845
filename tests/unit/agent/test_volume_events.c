/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_events - what ended steps are reported as, and watches that follow or fall behind
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

#include <errno.h>
#include <string.h>

static struct cJSON *parse(const char *line)
{
	const struct json_limits limits = { .bytes = 4096, .depth = 4 };
	struct cJSON *tree = NULL;

	assert_non_null(line);
	assert_int_equal(json_parse(line, strlen(line), &limits, &tree, NULL), 0);
	return tree;
}

static void expect_text(const struct cJSON *event, const char *key, const char *text)
{
	assert_string_equal(json_string(json_get(event, key), "(none)"), text);
}

static void expect_type(const char *line, const char *type)
{
	cleanup_json struct cJSON *event = parse(line);

	expect_text(event, "type", type);
}

static void count_change(void *userdata)
{
	++*(unsigned int *) userdata;
}

static struct volume_watch *watch_after(struct agent_world *world, uint64_t after,
					unsigned int *changes)
{
	struct volume_watch *watch = NULL;

	*changes = 0;
	assert_int_equal(agent_watch_volumes(&world->agent, after, count_change, changes, &watch),
			 0);
	return watch;
}

static void publish(struct agent_world *world, int error)
{
	end_step(world, STEP_PUBLISH, "volume_mount", error, ERROR_FINAL);
}

static void begin(struct agent_world *world)
{
	want_data(world);
	turn(world);
}

static void test_a_volumes_life(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *mounted = NULL, *gone = NULL;
	struct volume_watch *watch;
	unsigned int changes;

	begin(world);
	watch = watch_after(world, UINT64_MAX, &changes);
	assert_null(volume_watch_next(watch));
	publish(world, 0);
	assert_int_equal(changes, 1);
	mounted = parse(volume_watch_next(watch));
	expect_text(mounted, "type", "Mounted");
	expect_text(mounted, "pod", "default/web");
	expect_text(mounted, "podUID", POD);
	expect_text(mounted, "volume", "data");
	expect_text(mounted, "uniqueName", VOLUME);
	expect_text(mounted, "path", "/pods/uid-1/data");
	expect_text(mounted, "step", "volume_mount");
	expect_text(mounted, "error", "(none)");
	assert_null(volume_watch_next(watch));

	publish(world, 0);
	expect_type(volume_watch_next(watch), "Remounted");
	end_step(world, STEP_UNPUBLISH, "volume_unmount", 0, ERROR_FINAL);
	gone = parse(volume_watch_next(watch));
	expect_text(gone, "type", "Unmounted");
	expect_text(gone, "pod", "default/web"); /* although its entry is gone by now */
	assert_int_equal(changes, 3);
	(void) volume_watch_free(watch);
}

static void test_failures(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *event = NULL;
	struct volume_watch *watch;
	unsigned int changes;
	int64_t attempt = 0;

	begin(world);
	watch = watch_after(world, UINT64_MAX, &changes);
	publish(world, -ENOENT);
	event = parse(volume_watch_next(watch));
	expect_text(event, "type", "Failed");
	expect_text(event, "error", "it broke");
	assert_true(json_int64(json_get(event, "attempt"), &attempt));
	assert_int_equal(attempt, 1);
	assert_true(strlen(json_string(json_get(event, "nextRetry"), "")) > 0);
	end_step(world, STEP_STAGE, "mount_device", -EIO, ERROR_FINAL);
	expect_type(volume_watch_next(watch), "Failed");
	(void) volume_watch_free(watch);
}

static void test_what_is_not_told(void **state)
{
	struct agent_world *world = *state;
	struct volume_watch *watch;
	unsigned int changes;

	begin(world);
	watch = watch_after(world, UINT64_MAX, &changes);
	publish(world, -ECANCELED); /* no longer wanted: no failure */
	end_step(world, STEP_STAGE, "mount_device", 0, ERROR_FINAL);
	end_step(world, STEP_UNSTAGE, "unmount_device", 0, ERROR_FINAL);
	assert_int_equal(changes, 0);
	assert_null(volume_watch_next(watch));
	(void) volume_watch_free(watch);
}

static void test_where_a_watch_begins(void **state)
{
	static const struct {
		uint64_t after;
		size_t events;
	} rows[] = { { 0, 3 },
		     { 1, 2 },
		     { 3, 0 },
		     { 4, 3 /* from before a restart */ },
		     { UINT64_MAX, 0 } };
	struct agent_world *world = *state;

	begin(world);
	for (int i = 0; i < 3; i++)
		publish(world, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int changes;
		struct volume_watch *watch = watch_after(world, rows[i].after, &changes);
		size_t events = 0;

		while (volume_watch_next(watch))
			events++;
		assert_int_equal(events, rows[i].events);
		(void) volume_watch_free(watch);
	}
}

static void test_who_falls_behind_is_told(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *lost = NULL, *next = NULL, *list = NULL;
	struct volume_watch *watch;
	unsigned int changes;
	int64_t number = 0;
	size_t left = 1;

	begin(world);
	watch = watch_after(world, 0, &changes);
	for (int i = 0; i < VOLUME_EVENTS_KEPT + 5; i++)
		publish(world, 0);
	lost = parse(volume_watch_next(watch));
	expect_text(lost, "type", "Lost");
	assert_true(json_int64(json_get(lost, "lost"), &number));
	assert_int_equal(number, 5);
	next = parse(volume_watch_next(watch));
	assert_true(json_int64(json_get(next, "sequence"), &number));
	assert_int_equal(number, 6);
	while (volume_watch_next(watch))
		left++;
	assert_int_equal(left, VOLUME_EVENTS_KEPT);
	(void) volume_watch_free(watch);

	list = agent_view_volume_events(&world->agent);
	assert_int_equal(json_count(json_get(list, "items")), VOLUME_EVENTS_KEPT);
	assert_true(json_equal(json_at(json_get(list, "items"), 0), next));
}

/* Each has its own place, and one that leaves takes nothing from the others. */
static void test_several_watches(void **state)
{
	struct agent_world *world = *state;
	struct volume_watch *watches[3];
	unsigned int changes[3];

	begin(world);
	for (size_t i = 0; i < 3; i++)
		watches[i] = watch_after(world, UINT64_MAX, &changes[i]);
	publish(world, 0);
	assert_non_null(volume_watch_next(watches[0]));
	(void) volume_watch_free(watches[1]);
	publish(world, 0);
	assert_int_equal(changes[0], 2);
	assert_int_equal(changes[1], 1);
	assert_int_equal(changes[2], 2);
	expect_type(volume_watch_next(watches[0]), "Remounted");
	expect_type(volume_watch_next(watches[2]), "Mounted");
	(void) volume_watch_free(watches[0]);
	(void) volume_watch_free(watches[2]);
	assert_null(volume_watch_free(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_agent_world, free_agent_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_volumes_life),           TEST(test_failures),
		TEST(test_what_is_not_told),         TEST(test_where_a_watch_begins),
		TEST(test_who_falls_behind_is_told), TEST(test_several_watches),
	};

	log_open(LOG_ERR); /* a thousand lines of no news */
	return cmocka_run_group_tests_name("volume_events", tests, NULL, NULL);
}
