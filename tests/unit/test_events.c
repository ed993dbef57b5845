/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_events - equal events are counted, old ones forgotten, and v1.Event has what kubectl shows
 */
#include "agent/events.h"

#include "base/cleanup.h"
#include "object/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct object pod_a = {
	.kind = KIND_POD,
	.meta = { .name_space = "default", .name = "a", .uid = "uid-a" },
};
static const struct object pod_b = {
	.kind = KIND_POD,
	.meta = { .name_space = "default", .name = "b", .uid = "uid-b" },
};
static const struct object volume = {
	.kind = KIND_PERSISTENT_VOLUME,
	.meta = { .name_space = "", .name = "pv", .uid = "uid-pv" },
};

static int setup(void **state)
{
	return events_new(3, (struct events **) state);
}

static int teardown(void **state)
{
	assert_null(events_free(*state));
	return 0;
}

static const struct cJSON *item_at(const struct cJSON *list, size_t index)
{
	return json_at(json_get(list, "items"), index);
}

static const char *text_at(const struct cJSON *list, size_t index, const char *key)
{
	return json_string(json_get(item_at(list, index), key), "");
}

static void test_fields(void **state)
{
	cleanup_json struct cJSON *list = NULL;
	const struct cJSON *about;
	int64_t count;

	events_record(*state, &pod_a, "Warning", "FailedMount", "no such path", 1000000);
	list = events_view(*state);
	assert_string_equal(json_string(json_get(list, "kind"), ""), "EventList");
	assert_int_equal(json_count(json_get(list, "items")), 1);
	assert_string_equal(text_at(list, 0, "type"), "Warning");
	assert_string_equal(text_at(list, 0, "reason"), "FailedMount");
	assert_string_equal(text_at(list, 0, "message"), "no such path");
	assert_string_equal(text_at(list, 0, "firstTimestamp"), "1970-01-01T00:00:01Z");
	assert_true(json_int64(json_get(item_at(list, 0), "count"), &count));
	assert_int_equal(count, 1);
	about = json_get(item_at(list, 0), "involvedObject");
	assert_string_equal(json_string(json_get(about, "kind"), ""), "Pod");
	assert_string_equal(json_string(json_get(about, "namespace"), ""), "default");
	assert_string_equal(json_string(json_get(about, "name"), ""), "a");
	assert_string_equal(json_string(json_get(about, "uid"), ""), "uid-a");
}

static void test_equal_events_are_counted(void **state)
{
	cleanup_json struct cJSON *list = NULL;
	int64_t count;

	events_record(*state, &pod_a, "Warning", "FailedMount", "x", 1000000);
	events_record(*state, &pod_b, "Warning", "FailedMount", "x", 2000000);
	events_record(*state, &pod_a, "Warning", "FailedMount", "x", 3000000);
	list = events_view(*state);
	assert_int_equal(json_count(json_get(list, "items")), 2);
	/* The one that happened last stands last. */
	assert_true(json_int64(json_get(item_at(list, 1), "count"), &count));
	assert_int_equal(count, 2);
	assert_string_equal(text_at(list, 1, "firstTimestamp"), "1970-01-01T00:00:01Z");
	assert_string_equal(text_at(list, 1, "lastTimestamp"), "1970-01-01T00:00:03Z");
}

static void test_the_oldest_is_forgotten(void **state)
{
	static const char *const texts[] = { "1", "2", "3", "4" };
	cleanup_json struct cJSON *list = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		events_record(*state, &pod_a, "Normal", "Test", texts[i], i);
	list = events_view(*state);
	assert_int_equal(json_count(json_get(list, "items")), 3);
	assert_string_equal(text_at(list, 0, "message"), "2");
	assert_string_equal(text_at(list, 2, "message"), "4");
}

static void test_events_of_cluster_scoped_objects(void **state)
{
	cleanup_json struct cJSON *list = NULL;
	const struct cJSON *item;

	events_record(*state, &volume, "Warning", "VolumeMismatch", "x", 1);
	list = events_view(*state);
	item = item_at(list, 0);
	assert_string_equal(json_string(json_get(json_get(item, "metadata"), "namespace"), ""),
			    "default");
	assert_null(json_get(json_get(item, "involvedObject"), "namespace"));
}

#define WITH_EVENTS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_EVENTS(test_fields),
		WITH_EVENTS(test_equal_events_are_counted),
		WITH_EVENTS(test_the_oldest_is_forgotten),
		WITH_EVENTS(test_events_of_cluster_scoped_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
