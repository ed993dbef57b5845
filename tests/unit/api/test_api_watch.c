/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_watch - watches: their order, their gaps, selectors, bookmarks, limits
 */
#include "api_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/embedded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MAPS "/api/v1/namespaces/default/configmaps"

/* A watch stands beside the requests that change something: its exchange is put aside. */
struct watcher {
	struct world *world;
	struct exchange exchange;
	unsigned int wake_ups;
	char *text; /* what came last */
	bool ended;
};

static unsigned int wake_ups;

static void count_wake_up(struct exchange *exchange)
{
	wake_ups++;
}

static void answered(struct exchange *exchange)
{
}

static struct watcher *watch(struct world *world, const char *uri)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	struct failure why;

	assert_non_null(watcher);
	watcher->world = world;
	world_prepare(world, METHOD_GET, uri, NULL);
	watcher->exchange = world->exchange;
	world->exchange = (struct exchange){ 0 };
	watcher->exchange.answered = answered;
	watcher->exchange.pull_ready = count_wake_up;
	assert_int_equal(api_path_parse(uri, &watcher->exchange.path, &why), 0);
	api_dispatch(&watcher->exchange);
	return watcher;
}

static void leave(struct watcher *watcher)
{
	exchange_abandon(&watcher->exchange);
	exchange_done(&watcher->exchange);
	free(watcher->text);
	free(watcher);
}

/* "ADDED a 1, DELETED b 4": type, name and version of what came since the last call. */
static const char *events_by(struct watcher *watcher, size_t step)
{
	static char summary[1024];
	const struct json_limits limits = { .bytes = 1 << 20, .depth = 64 };
	struct world other = { 0 };
	size_t used = 0;

	assert_int_equal(watcher->exchange.status, 200);
	other.exchange = watcher->exchange;
	(void) world_pull(&other, step);
	free(watcher->text);
	watcher->text = other.pulled;
	watcher->ended = other.stream_ended;
	watcher->exchange.pull_ready = count_wake_up;
	wake_ups = 0;
	summary[0] = '\0';
	for (const char *line = watcher->text; *line;) {
		size_t length = strcspn(line, "\n");
		cleanup_json struct cJSON *tree = NULL;
		const struct cJSON *metadata;
		struct failure why;

		assert_true(line[length] == '\n');
		assert_int_equal(json_parse(line, length, &limits, &tree, &why), 0);
		metadata = json_get(json_get(tree, "object"), "metadata");
		used += (size_t) snprintf(summary + used, sizeof(summary) - used, "%s%s %s %s",
					  used ? ", " : "", json_string(json_get(tree, "type"), ""),
					  json_string(json_get(metadata, "name"), "-"),
					  json_string(json_get(metadata, "resourceVersion"), "-"));
		line += length + 1;
	}
	return summary;
}

static const char *events(struct watcher *watcher)
{
	return events_by(watcher, 16384);
}

static void make(struct world *world, const char *name, const char *label)
{
	char body[256];

	(void) snprintf(body, sizeof(body),
			"{\"metadata\":{\"name\":\"%s\",\"labels\":{\"part\":\"%s\"}}}", name,
			label);
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);
}

static void change(struct world *world, const char *name, const char *label)
{
	char uri[128], body[256];

	(void) snprintf(uri, sizeof(uri), MAPS "/%s", name);
	(void) snprintf(body, sizeof(body),
			"{\"metadata\":{\"name\":\"%s\",\"labels\":{\"part\":\"%s\"}}}", name,
			label);
	assert_int_equal(world_request(world, METHOD_PUT, uri, body), 200);
}

static void delete (struct world *world, const char *name)
{
	char uri[128];

	(void) snprintf(uri, sizeof(uri), MAPS "/%s", name);
	assert_int_equal(world_request(world, METHOD_DELETE, uri, NULL), 200);
}

static void test_changes_in_their_order(void **state)
{
	struct world *world = *state;
	struct watcher *watcher;

	make(world, "a", "one");
	watcher = watch(world, MAPS "?watch=true&resourceVersion=1");
	assert_string_equal(watcher->exchange.reply_type, "application/json");
	assert_string_equal(events(watcher), "");
	assert_false(watcher->ended);
	make(world, "b", "one");
	assert_true(wake_ups > 0);
	change(world, "a", "two");
	delete (world, "b");
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/namespaces/other/configmaps",
				       "{\"metadata\":{\"name\":\"x\"}}"),
			 201);
	assert_string_equal(events(watcher), "ADDED b 2, MODIFIED a 3, DELETED b 4");
	assert_string_equal(events(watcher), "");
	leave(watcher);
}

/* Pieces of any size are the same events. */
static void test_events_in_small_pieces(void **state)
{
	struct world *world = *state;
	struct watcher *watcher = watch(world, MAPS "?watch=1");

	make(world, "a", "one");
	delete (world, "a");
	assert_string_equal(events_by(watcher, 3), "ADDED a 1, DELETED a 2");
	leave(watcher);
}

static void test_what_is_there_comes_first(void **state)
{
	static const char *const queries[] = { "", "&resourceVersion=", "&resourceVersion=0" };
	struct world *world = *state;

	make(world, "b", "one");
	make(world, "a", "one");
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		struct watcher *watcher;
		char uri[128];

		(void) snprintf(uri, sizeof(uri), MAPS "?watch=true%s", queries[i]);
		watcher = watch(world, uri);
		/* The snapshot is of the beginning; what comes then is a change. */
		if (i == 0)
			make(world, "c", "one");
		assert_string_equal(events(watcher), i == 0 ? "ADDED a 2, ADDED b 1, ADDED c 3"
							    : "ADDED a 2, ADDED b 1, ADDED c 3");
		leave(watcher);
	}
}

/* A watch goes on exactly where another ended: nothing twice, nothing missing. */
static void test_a_resumed_watch_has_no_gap(void **state)
{
	struct world *world = *state;
	struct watcher *watcher;

	make(world, "a", "one");
	delete (world, "a");
	make(world, "a", "two");
	change(world, "a", "three");
	for (int since = 1; since <= 4; since++) {
		static const char *const expected[] = { "DELETED a 2, ADDED a 3, MODIFIED a 4",
							"ADDED a 3, MODIFIED a 4", "MODIFIED a 4",
							"" };
		char uri[128];

		(void) snprintf(uri, sizeof(uri), MAPS "?watch=true&resourceVersion=%d", since);
		watcher = watch(world, uri);
		assert_string_equal(events(watcher), expected[since - 1]);
		leave(watcher);
	}
}

static void test_selectors(void **state)
{
	struct world *world = *state;
	struct watcher *labels, *name;

	make(world, "a", "one");
	labels = watch(world, MAPS "?watch=true&resourceVersion=1&labelSelector=part%3Dtwo");
	name = watch(world, MAPS "?watch=true&resourceVersion=1&fieldSelector=metadata.name%3Da");
	change(world, "a", "two");   /* begins to match */
	change(world, "a", "three"); /* ceases to */
	make(world, "b", "two");
	delete (world, "b");
	delete (world, "a");
	assert_string_equal(events(labels), "ADDED a 2, DELETED a 3, ADDED b 4, DELETED b 5");
	/* What ceased to match is sent as it was when it matched. */
	assert_non_null(strstr(labels->text, "\"part\":\"two\""));
	assert_null(strstr(labels->text, "\"part\":\"three\""));
	assert_string_equal(events(name), "MODIFIED a 2, MODIFIED a 3, DELETED a 6");
	leave(labels);
	leave(name);
}

static void test_tables(void **state)
{
	struct world *world = *state;
	struct watcher *watcher;

	world_form = FORM_TABLE;
	watcher = watch(world, MAPS "?watch=true");
	world_form = FORM_JSON;
	make(world, "a", "one");
	change(world, "a", "two");
	(void) events(watcher);
	assert_ptr_equal(
		strstr(watcher->text, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\","),
		watcher->text);
	assert_non_null(strstr(watcher->text, "\"name\":\"Name\""));
	/* The names of the columns come once. */
	assert_null(strstr(strchr(watcher->text, '\n'), "\"name\":\"Name\""));
	assert_non_null(strstr(strchr(watcher->text, '\n'), "\"cells\":[\"a\""));
	assert_non_null(strstr(strchr(watcher->text, '\n'), "\"resourceVersion\":\"2\""));
	leave(watcher);
}

static void assert_refused(struct world *world, const char *query, int status, const char *reason)
{
	char uri[256];

	(void) snprintf(uri, sizeof(uri), MAPS "?watch=true&%s", query);
	world_begin(world, METHOD_GET, uri, NULL);
	if (world->exchange.status != status)
		fail_msg("%s: %d", query, world->exchange.status);
	assert_string_equal(world_string(world, "reason"), reason);
}

static void test_refusals(void **state)
{
	struct world *world = *state;
	struct failure why;

	make(world, "a", "one");
	assert_refused(world, "resourceVersion=7", 410, "Expired");
	assert_refused(world, "resourceVersion=x", 400, "BadRequest");
	assert_refused(world, "timeoutSeconds=x", 400, "BadRequest");
	assert_refused(world, "labelSelector=%3D", 400, "BadRequest");
	assert_refused(world, "resourceVersionMatch=Exact", 422, "Invalid");
	assert_refused(world, "sendInitialEvents=true", 422, "Invalid");
	world_begin(world, METHOD_GET, MAPS "/a?watch=true", NULL);
	assert_int_equal(world->exchange.status, 400);
	world_form = FORM_YAML;
	world_begin(world, METHOD_GET, MAPS "?watch=true", NULL);
	assert_int_equal(world->exchange.status, 406);
	world_form = FORM_JSON;
	/* After a restart nothing older is known. */
	(void) store_free(world->agent.store);
	assert_int_equal(store_open_embedded(world->event, store_open_begin(world->directory),
					     &world->agent.store, &why),
			 0);
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "/a", NULL), 200);
	world_begin(world, METHOD_GET, MAPS "?watch=true&resourceVersion=0", NULL);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_pull(world, 100), "");
}

static void test_their_number_is_bounded(void **state)
{
	struct world *world = *state;
	struct watcher *watchers[WORLD_WATCHES];

	for (size_t i = 0; i < WORLD_WATCHES; i++)
		watchers[i] = watch(world, MAPS "?watch=true");
	assert_refused(world, "", 429, "TooManyRequests");
	assert_string_equal(world_string(world, "details.retryAfterSeconds"), "1");
	leave(watchers[1]);
	watchers[1] = watch(world, MAPS "?watch=true");
	assert_int_equal(watchers[1]->exchange.status, 200);
	for (size_t i = 0; i < WORLD_WATCHES; i++)
		leave(watchers[i]);
	world_may_wait = false;
	assert_refused(world, "", 429, "TooManyRequests");
}

/* A client that does not read falls off the ring; it gets one error, and the stream ends. */
static void test_who_lags_behind_is_told(void **state)
{
	struct world *world = *state;
	struct watcher *watcher;

	make(world, "a", "one");
	watcher = watch(world, MAPS "?watch=true&resourceVersion=1");
	for (int i = 0; i <= STORE_RING_CHANGES; i++)
		change(world, "a", i % 2 ? "one" : "two");
	assert_string_equal(events(watcher), "ERROR - -");
	assert_true(watcher->ended);
	assert_non_null(strstr(watcher->text, "\"reason\":\"Expired\",\"code\":410"));
	leave(watcher);
}

static void test_time_is_over(void **state)
{
	struct world *world = *state;
	struct watcher *watcher = watch(world, MAPS "?watch=true&timeoutSeconds=1");
	uint64_t begin = monotonic_usec();

	assert_string_equal(events(watcher), "");
	assert_false(watcher->ended);
	while (wake_ups == 0 && monotonic_usec() < begin + 100 * USEC_PER_SEC)
		assert_true(sd_event_run(world->event, 100000) >= 0);
	assert_true(monotonic_usec() >= begin + USEC_PER_SEC);
	assert_string_equal(events(watcher), "");
	assert_true(watcher->ended);
	leave(watcher);
}

/* Its first member is what the shared timer ticks. */
static void tick(struct watcher *watcher)
{
	struct watch_entry *entry = watcher->exchange.work;

	entry->tick(entry, false);
}

static void test_bookmarks(void **state)
{
	struct world *world = *state;
	struct watcher *watcher = watch(world, MAPS "?watch=true&allowWatchBookmarks=true");
	struct watch_entry *entry = watcher->exchange.work;

	assert_true(entry->bookmarks);
	assert_string_equal(events(watcher), "");
	/* What others do to other kinds and namespaces moves the version that the client may use.
	 */
	assert_int_equal(
		world_request(world, METHOD_POST, "/api/v1/persistentvolumes", world_pv_json), 201);
	assert_int_equal(wake_ups, 0);
	tick(watcher);
	assert_int_equal(wake_ups, 1);
	assert_string_equal(events(watcher), "BOOKMARK - 1");
	/* Never before what it stands for. */
	make(world, "a", "one");
	tick(watcher);
	assert_string_equal(events(watcher), "ADDED a 2, BOOKMARK - 2");
	assert_string_equal(events(watcher), "");
	leave(watcher);
}

static void test_initial_events_end_with_a_bookmark(void **state)
{
	struct world *world = *state;
	struct watcher *watcher;

	make(world, "a", "one");
	watcher = watch(world, MAPS "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
				    "&resourceVersionMatch=NotOlderThan");
	assert_string_equal(events(watcher), "ADDED a 1, BOOKMARK - 1");
	assert_non_null(strstr(watcher->text, "\"k8s.io/initial-events-end\":\"true\""));
	assert_non_null(strstr(watcher->text, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","));
	make(world, "b", "one");
	assert_string_equal(events(watcher), "ADDED b 2");
	leave(watcher);
	watcher = watch(world, MAPS "?watch=true&sendInitialEvents=false"
				    "&resourceVersionMatch=NotOlderThan");
	assert_string_equal(events(watcher), "");
	leave(watcher);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_changes_in_their_order),
		IN_WORLD(test_events_in_small_pieces),
		IN_WORLD(test_what_is_there_comes_first),
		IN_WORLD(test_a_resumed_watch_has_no_gap),
		IN_WORLD(test_selectors),
		IN_WORLD(test_tables),
		IN_WORLD(test_refusals),
		IN_WORLD(test_their_number_is_bounded),
		IN_WORLD(test_who_lags_behind_is_told),
		IN_WORLD(test_time_is_over),
		IN_WORLD(test_bookmarks),
		IN_WORLD(test_initial_events_end_with_a_bookmark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
