/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_events - equal events are counted, old ones forgotten, and the store holds what kubectl
 * shows
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "events/events.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct object pod_a = {
	.kind = KIND_POD,
	.meta = { .name_space = "demo", .name = "a", .uid = "uid-a", .resource_version = 7 },
};
static const struct object pod_b = {
	.kind = KIND_POD,
	.meta = { .name_space = "demo", .name = "b", .uid = "uid-b" },
};
static const struct object volume = {
	.kind = KIND_PERSISTENT_VOLUME,
	.meta = { .name_space = "", .name = "pv", .uid = "uid-pv" },
};

/* Of our days, when names sort as times do. */
#define SECOND(n) (UINT64_C(1795250100000000) + (n) *UINT64_C(1000000))

#define HOUR_USEC (UINT64_C(3600) * 1000000)
#define YEARS_100 (100 * 365 * 24 * HOUR_USEC) /* times of tests are of our days, or of 1970 */

struct test_world {
	struct store_world store;
	struct events *events;
};

static int setup(void **state)
{
	struct test_world *world = calloc(1, sizeof(*world));
	struct events_options options = { .node_name = "node-1",
					  .capacity = 3,
					  .age_usec = YEARS_100 };

	assert_non_null(world);
	store_world_open(&world->store);
	options.store = world->store.store;
	options.event = world->store.event;
	assert_int_equal(events_new(&options, &world->events), 0);
	*state = world;
	return 0;
}

/* As when podvold is stopped and started. */
static void restart_with(struct test_world *world, size_t capacity, uint64_t age_usec)
{
	struct events_options options = { .node_name = "node-1",
					  .capacity = capacity,
					  .age_usec = age_usec };

	world->events = events_free(world->events);
	store_world_reopen(&world->store);
	options.store = world->store.store;
	options.event = world->store.event;
	assert_int_equal(events_new(&options, &world->events), 0);
}

static void restart(struct test_world *world, size_t capacity)
{
	restart_with(world, capacity, YEARS_100);
}

static int teardown(void **state)
{
	struct test_world *world = *state;

	assert_null(events_free(world->events));
	store_world_close(&world->store);
	free(world);
	return 0;
}

static void record(struct test_world *world, const struct object *about, const char *text,
		   uint64_t now_usec)
{
	events_record(world->events, about, "Warning", "FailedMount", text, now_usec);
}

/* Everything queued before is answered once this is, and sent to watches. */
static void settle(struct test_world *world)
{
	(void) world_delete(&world->store, KIND_LEASE, "default", "none");
}

struct listing {
	const struct object *objects[8];
	size_t count;
};

static int list_one(const struct object *object, void *userdata)
{
	struct listing *listing = userdata;

	assert_true(listing->count < 8);
	listing->objects[listing->count++] = object;
	return 0;
}

static struct listing stored(struct test_world *world)
{
	struct listing listing = { .count = 0 };

	settle(world);
	(void) store_list(world->store.store, KIND_EVENT, NULL, list_one, &listing);
	return listing;
}

/* The messages of what is stored, in the order of names, each followed by '|'. */
static const char *messages(struct test_world *world)
{
	static char text[400];
	struct listing listing = stored(world);

	text[0] = '\0';
	for (size_t i = 0; i < listing.count; i++) {
		cleanup_json struct cJSON *tree = object_tree(listing.objects[i]);
		size_t used = strlen(text);

		(void) snprintf(text + used, sizeof(text) - used, "%s|",
				json_string(json_get(tree, "message"), "?"));
	}
	return text;
}

static const char *text_of(const struct cJSON *tree, const char *key)
{
	return json_string(json_get(tree, key), "");
}

static void test_fields(void **state)
{
	cleanup_json struct cJSON *tree = NULL;
	struct listing listing;
	const struct cJSON *about;
	int64_t count;

	record(*state, &pod_a, "no such path", 1000000);
	listing = stored(*state);
	assert_int_equal(listing.count, 1);
	assert_string_equal(listing.objects[0]->meta.name_space, "demo");
	assert_string_equal(listing.objects[0]->meta.name, "a.3b9aca00");
	tree = object_tree(listing.objects[0]);
	about = json_get(tree, "involvedObject");
	assert_string_equal(text_of(about, "kind"), "Pod");
	assert_string_equal(text_of(about, "apiVersion"), "v1");
	assert_string_equal(text_of(about, "namespace"), "demo");
	assert_string_equal(text_of(about, "name"), "a");
	assert_string_equal(text_of(about, "uid"), "uid-a");
	assert_string_equal(text_of(about, "resourceVersion"), "7");
	assert_string_equal(text_of(tree, "type"), "Warning");
	assert_string_equal(text_of(tree, "reason"), "FailedMount");
	assert_string_equal(text_of(tree, "message"), "no such path");
	assert_string_equal(text_of(json_get(tree, "source"), "component"), "podvold");
	assert_string_equal(text_of(json_get(tree, "source"), "host"), "node-1");
	assert_string_equal(text_of(tree, "firstTimestamp"), "1970-01-01T00:00:01Z");
	assert_true(json_int64(json_get(tree, "count"), &count));
	assert_int_equal(count, 1);
}

static void test_equal_events_are_counted(void **state)
{
	cleanup_json struct cJSON *tree = NULL;
	struct listing listing;
	int64_t count;

	record(*state, &pod_a, "x", 1000000);
	record(*state, &pod_b, "x", 2000000);
	record(*state, &pod_a, "x", 3000000);
	listing = stored(*state);
	record(*state, &pod_a, "x", 5000000);
	listing = stored(*state);
	assert_int_equal(listing.count, 2);
	tree = object_tree(listing.objects[0]);
	assert_true(json_int64(json_get(tree, "count"), &count));
	assert_int_equal(count, 3);
	assert_string_equal(text_of(tree, "firstTimestamp"), "1970-01-01T00:00:01Z");
	assert_string_equal(text_of(tree, "lastTimestamp"), "1970-01-01T00:00:05Z");
}

/* Which attempt it was, and when the next comes, makes no other event; the newest is shown. */
static void test_attempts_are_counted_in_one_event(void **state)
{
	record(*state, &pod_a, "x (y) (attempt 1, next at 00:00:02Z)", 1000000);
	settle(*state);
	record(*state, &pod_a, "x (y) (attempt 2, next at 00:00:04Z)", 3000000);
	assert_string_equal(messages(*state), "x (y) (attempt 2, next at 00:00:04Z)|");
	restart(*state, 8);
	record(*state, &pod_a, "x (y) (attempt 10, next at 00:00:09Z)", 5000000);
	assert_string_equal(messages(*state), "x (y) (attempt 10, next at 00:00:09Z)|");
	record(*state, &pod_a, "x (z) (attempt 1, next at 00:00:09Z)", 6000000);
	record(*state, &pod_a, "x (attempt 1) y", 7000000);
	record(*state, &pod_a, "x (attempt 2) y", 8000000);
	/* By name, and names are numbers of other lengths here. */
	assert_string_equal(messages(*state), "x (z) (attempt 1, next at 00:00:09Z)|"
					      "x (attempt 1) y|x (attempt 2) y|"
					      "x (y) (attempt 10, next at 00:00:09Z)|");
}

/* In order of the last time: what keeps happening stays. */
static void test_the_oldest_is_forgotten(void **state)
{
	record(*state, &pod_a, "1", SECOND(1));
	record(*state, &pod_a, "2", SECOND(2));
	record(*state, &pod_a, "3", SECOND(3));
	record(*state, &pod_a, "1", SECOND(4));
	record(*state, &pod_a, "4", SECOND(5));
	assert_string_equal(messages(*state), "1|3|4|");
	record(*state, &pod_a, "5", SECOND(6));
	assert_string_equal(messages(*state), "1|4|5|");
	record(*state, &pod_a, "2", SECOND(7)); /* again: its count begins again */
	assert_string_equal(messages(*state), "4|5|2|");
}

/* More than one group of the store at once, so that deletions trail behind what they delete. */
static void test_a_flood_ends_at_the_capacity(void **state)
{
	for (int i = 0; i < 1000; i++) {
		char text[16];

		(void) snprintf(text, sizeof(text), "%d", i);
		record(*state, &pod_a, text, SECOND(1));
	}
	assert_string_equal(messages(*state), "997|998|999|");
}

/* One that comes again is young. */
static void test_old_ones_are_forgotten(void **state)
{
	uint64_t now_usec = realtime_usec();

	restart_with(*state, 3, HOUR_USEC);
	record(*state, &pod_a, "old", now_usec - 2 * HOUR_USEC);
	record(*state, &pod_a, "again", now_usec - 2 * HOUR_USEC);
	record(*state, &pod_a, "again", now_usec);
	record(*state, &pod_a, "new", now_usec);
	assert_string_equal(messages(*state), "again|new|");
}

static void test_old_ones_are_forgotten_by_a_start(void **state)
{
	uint64_t now_usec = realtime_usec();

	record(*state, &pod_a, "old", now_usec - 2 * HOUR_USEC);
	record(*state, &pod_a, "new", now_usec);
	assert_string_equal(messages(*state), "old|new|");
	restart_with(*state, 3, HOUR_USEC);
	assert_string_equal(messages(*state), "new|");
}

static void test_cluster_scoped_objects_have_theirs_in_default(void **state)
{
	cleanup_json struct cJSON *tree = NULL;
	struct listing listing;

	record(*state, &volume, "x", 1);
	listing = stored(*state);
	assert_int_equal(listing.count, 1);
	assert_string_equal(listing.objects[0]->meta.name_space, "default");
	tree = object_tree(listing.objects[0]);
	assert_null(json_get(json_get(tree, "involvedObject"), "namespace"));
}

static int create_foreign(struct test_world *world, const char *name)
{
	cleanup_object const struct object *event = NULL;
	char text[300];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Event','metadata':{'name':'%s','namespace':"
			"'demo'},'involvedObject':{'namespace':'demo'},'message':'%s'}",
			name, name);
	event = object_of(text);
	return world_create(&world->store, event);
}

static void test_events_of_others_count(void **state)
{
	struct test_world *world = *state;

	assert_int_equal(create_foreign(world, "z1"), 0);
	assert_int_equal(create_foreign(world, "z2"), 0);
	record(world, &pod_a, "ours", SECOND(1));
	assert_string_equal(messages(world), "ours|z1|z2|");
	assert_int_equal(create_foreign(world, "z3"), 0);
	assert_string_equal(messages(world), "ours|z2|z3|");
	record(world, &pod_a, "more", SECOND(2));
	assert_string_equal(messages(world), "ours|more|z3|");
}

/* An event that is deleted was seen: the same again begins at one. */
static void test_a_deleted_event_is_told_anew(void **state)
{
	struct test_world *world = *state;
	cleanup_json struct cJSON *tree = NULL;
	struct listing listing;
	int64_t count;

	record(world, &pod_a, "x", SECOND(1));
	record(world, &pod_a, "x", SECOND(1));
	listing = stored(world);
	assert_int_equal(
		world_delete(&world->store, KIND_EVENT, "demo", listing.objects[0]->meta.name), 0);
	assert_int_equal(stored(world).count, 0);
	record(world, &pod_a, "x", SECOND(2));
	listing = stored(world);
	assert_int_equal(listing.count, 1);
	tree = object_tree(listing.objects[0]);
	assert_true(json_int64(json_get(tree, "count"), &count));
	assert_int_equal(count, 1);
}

static void test_long_names_and_texts_are_cut(void **state)
{
	struct object about = pod_a;
	char name[254], text[3 * EVENT_TEXT_BYTES];
	struct listing listing;
	cleanup_json struct cJSON *tree = NULL;

	memset(name, 'n', sizeof(name) - 1);
	name[235] = '-';
	name[sizeof(name) - 1] = '\0';
	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	about.meta.name = name;
	record(*state, &about, text, UINT64_C(1795250100000000));
	listing = stored(*state);
	assert_int_equal(listing.count, 1);
	assert_true(strlen(listing.objects[0]->meta.name) <= 253);
	tree = object_tree(listing.objects[0]);
	assert_in_range(strlen(text_of(tree, "message")), EVENT_TEXT_BYTES - 64,
			EVENT_TEXT_BYTES - 1);
	assert_non_null(strstr(text_of(tree, "message"), " bytes cut ...] ttt"));
}

/* Answers that come after the events are gone, as when podvold stops. */
static void test_writes_outlive_the_events(void **state)
{
	struct test_world *world = *state;

	for (int i = 0; i < 5; i++) {
		char text[16];

		(void) snprintf(text, sizeof(text), "%d", i);
		record(world, &pod_a, text, SECOND(1));
	}
	world->events = events_free(world->events);
	assert_string_equal(messages(world), "2|3|4|");
}

/* With their first time and their count; the name of a new one is new, though the clock went back.
 */
static void test_events_are_counted_on_after_a_restart(void **state)
{
	cleanup_json struct cJSON *tree = NULL;
	struct listing listing;
	int64_t count;

	record(*state, &pod_a, "again", SECOND(1));
	record(*state, &pod_a, "again", SECOND(2));
	restart(*state, 3);
	record(*state, &pod_a, "again", SECOND(9));
	record(*state, &pod_a, "other", SECOND(1));
	listing = stored(*state);
	assert_int_equal(listing.count, 2);
	tree = object_tree(listing.objects[0]);
	assert_string_equal(text_of(tree, "message"), "again");
	assert_true(json_int64(json_get(tree, "count"), &count));
	assert_int_equal(count, 3);
	assert_string_equal(text_of(tree, "firstTimestamp"), "2026-11-21T08:35:01Z");
	assert_string_equal(text_of(tree, "lastTimestamp"), "2026-11-21T08:35:09Z");
}

/* By the order of the last change, not by name; also when there are more than may be now. */
static void test_the_oldest_goes_first_after_a_restart(void **state)
{
	record(*state, &pod_b, "b1", SECOND(1));
	record(*state, &pod_a, "a2", SECOND(2));
	record(*state, &pod_b, "b3", SECOND(3));
	record(*state, &pod_b, "b1", SECOND(4));
	restart(*state, 3);
	record(*state, &pod_a, "a5", SECOND(5));
	assert_string_equal(messages(*state), "a5|b1|b3|");
	restart(*state, 1);
	assert_string_equal(messages(*state), "a5|");
}

/* A drain has no event recorder (NULL); what it reports is not stored. */
static void test_a_drain_records_no_events(void **state)
{
	struct test_world *world = *state;

	record(world, &pod_a, "before", SECOND(1));
	events_record(NULL, &pod_a, "Normal", "Test", "while draining", SECOND(2));
	assert_string_equal(messages(world), "before|");
}

#define WITH_EVENTS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_EVENTS(test_fields),
		WITH_EVENTS(test_equal_events_are_counted),
		WITH_EVENTS(test_attempts_are_counted_in_one_event),
		WITH_EVENTS(test_the_oldest_is_forgotten),
		WITH_EVENTS(test_a_flood_ends_at_the_capacity),
		WITH_EVENTS(test_old_ones_are_forgotten),
		WITH_EVENTS(test_old_ones_are_forgotten_by_a_start),
		WITH_EVENTS(test_cluster_scoped_objects_have_theirs_in_default),
		WITH_EVENTS(test_events_of_others_count),
		WITH_EVENTS(test_a_deleted_event_is_told_anew),
		WITH_EVENTS(test_long_names_and_texts_are_cut),
		WITH_EVENTS(test_writes_outlive_the_events),
		WITH_EVENTS(test_events_are_counted_on_after_a_restart),
		WITH_EVENTS(test_the_oldest_goes_first_after_a_restart),
		WITH_EVENTS(test_a_drain_records_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
