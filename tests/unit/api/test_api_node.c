/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_node - views that wait or stream, and that docs/api.md names every path
 */
#include "api_node.h"
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state)
{
	world_node = (struct api_node){ 0 };
	return world_set_up(state);
}

/* ---- drivers, statistics ---- */

static void test_drivers(void **state)
{
	struct world *world = *state;

	world_node.drivers = "{\"items\":[{\"name\":\"kubernetes.io/local-volume\",\"inTree\":true,"
			     "\"deviceMountable\":true,\"block\":true,\"mountOptions\":true,"
			     "\"remounts\":false,\"reconstructed\":true}]}";
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/drivers", NULL), 200);
	assert_string_equal(world_reply(world), world_node.drivers);
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/drivers", NULL), 200);
	assert_string_equal(world_string(world, "rows.0.cells.0"), "kubernetes.io/local-volume");
	assert_string_equal(world_string(world, "rows.0.cells.13"), "yes");
	assert_string_equal(world_string(world, "rows.0.cells.16"), "yes"); /* mount options */
	assert_string_equal(world_string(world, "rows.0.cells.17"), "no");
}

static void test_csi_driver(void **state)
{
	struct world *world = *state;

	world_node.drivers = "{\"items\":[{\"name\":\"d\",\"inTree\":false,\"state\":\"ready\","
			     "\"nodeID\":\"n1\",\"volumes\":3,\"error\":\"\",\"topology\":{"
			     "\"zone\":\"a\",\"rack\":\"7\"},\"capabilities\":[\"ONE\",\"TWO\"]}]}";
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/drivers/d", NULL), 200);
	assert_string_equal(world_string(world, "rows.0.cells.0"), "d");
	assert_string_equal(world_string(world, "rows.0.cells.1"), "ready");
	assert_string_equal(world_string(world, "rows.0.cells.4"), "n1");
	assert_string_equal(world_string(world, "rows.0.cells.5"), "3");
	assert_string_equal(world_string(world, "rows.0.cells.6"), "-");
	assert_string_equal(world_string(world, "rows.0.cells.9"), "-");
	assert_string_equal(world_string(world, "rows.0.cells.10"), "zone=a,rack=7");
	assert_string_equal(world_string(world, "rows.0.cells.11"), "ONE,TWO");
	assert_string_equal(world_node.driver_name, "d");
	world_node.drivers = NULL;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/drivers/e", NULL), 404);
}

/* What a cell has no room for is cut, not written over its end. */
static void test_many_members(void **state)
{
	struct world *world = *state;
	char text[8192] = "{\"items\":[{\"name\":\"d\",\"capabilities\":[\"x\"";
	size_t used = strlen(text);

	for (int i = 0; i < 600; i++)
		used += (size_t) snprintf(text + used, sizeof(text) - used, ",\"a%d\"", i);
	(void) snprintf(text + used, sizeof(text) - used, "]}]}");
	world_node.drivers = text;
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/drivers", NULL), 200);
	assert_memory_equal(world_string(world, "rows.0.cells.11"), "x,a0,a1,", 8);
}

static void test_foreign_volumes(void **state)
{
	struct world *world = *state;

	world_node.foreign_volumes = "{\"items\":[{\"kind\":\"Volume\",\"podUID\":\"u\",\"plugin\":"
				     "\"kubernetes.io/csi\",\"volume\":\"pvc-7\",\"mounted\":true,"
				     "\"driver\":\"d\",\"handle\":\"h\"}]}";
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/strangers", NULL), 200);
	assert_string_equal(world_reply(world), world_node.foreign_volumes);
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/strangers", NULL), 200);
	assert_string_equal(world_string(world, "rows.0.cells.4"), "yes");
	assert_string_equal(world_string(world, "rows.0.cells.6"), "h");
	assert_string_equal(world_string(world, "rows.0.cells.7"), "-");
}

static void test_steps(void **state)
{
	struct world *world = *state;

	world_node.steps = "{\"items\":[{\"pod\":\"default/web\",\"volume\":\"data\","
			   "\"step\":\"volume_mount\",\"tookMicroseconds\":1500,\"attempt\":2,"
			   "\"stages\":[{\"name\":\"bind it\",\"tookMicroseconds\":850},"
			   "{\"name\":\"own it\",\"tookMicroseconds\":12300}]},"
			   "{\"pod\":\"other/db\",\"volume\":\"logs\",\"error\":\"gone\"}]}";
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/steps", NULL), 200);
	assert_string_equal(world_reply(world), world_node.steps);
	world_form = FORM_TABLE;
	assert_int_equal(
		world_request(world, METHOD_GET, "/podvol/v1/steps?namespace=default", NULL), 200);
	assert_string_equal(world_string(world, "rows.0.cells.0"), "default/web");
	assert_string_equal(world_string(world, "rows.0.cells.4"), "1.5ms");
	assert_string_equal(world_string(world, "rows.0.cells.7"), "bind it 850us, own it 12.3ms");
	assert_string_equal(world_string(world, "rows.0.cells.8"), "-");
	assert_null(strstr(world_reply(world), "other/db"));
}

static void test_threads(void **state)
{
	struct world *world = *state;

	world_node.threads = "{\"items\":[{\"pool\":\"worker\",\"threads\":64,\"threadsMax\":64,"
			     "\"running\":64,\"hanging\":64,\"waiting\":7,\"allHang\":true}]}";
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/threads", NULL), 200);
	assert_string_equal(world_reply(world), world_node.threads);
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/threads", NULL), 200);
	assert_string_equal(world_string(world, "rows.0.cells.0"), "worker");
	assert_string_equal(world_string(world, "rows.0.cells.5"), "7");
	assert_string_equal(world_string(world, "rows.0.cells.6"), "yes");
}

static void test_metrics(void **state)
{
	struct world *world = *state;

	world_node.metrics = "volumes 3\n";
	world_form = FORM_TABLE; /* they have one form, whatever is asked for */
	assert_int_equal(world_request(world, METHOD_GET, "/metrics", NULL), 200);
	assert_string_equal(world_reply(world), "volumes 3\n");
	assert_int_equal(strncmp(world->exchange.reply_type, "text/plain; version=0.0.4", 25), 0);
	world_node.metrics = NULL;
	assert_int_equal(world_request(world, METHOD_GET, "/metrics", NULL), 500);
}

static struct cJSON *parse(const char *text)
{
	const struct json_limits limits = { .bytes = 4096, .depth = 8 };
	struct cJSON *tree = NULL;

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	return tree;
}

static const char fullness[] =
	"{\"items\":[{\"pod\":\"default/web\",\"volume\":\"data\",\"capacityBytes\":10737418240,"
	"\"usedBytes\":1610612736,\"availableBytes\":512,\"inodes\":50,\"inodesUsed\":30},"
	"{\"pod\":\"default/db\",\"volume\":\"nfs\",\"error\":\"no answer for 2.0 s\"}]}";

static void test_statistics_come_later(void **state)
{
	struct world *world = *state;

	world_begin(world, METHOD_GET, "/podvol/v1/statistics", NULL);
	assert_int_equal(world->answers, 0);
	world_node.statistics_done(world_node.statistics_userdata, parse(fullness));
	assert_int_equal(world->answers, 1);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_reply(world), fullness);
}

static void test_statistics_as_a_table(void **state)
{
	static const char *const cells[] = { "default/web", "data", "10.0Gi", "1.5Gi",
					     "512",         "50",   "30" };
	struct world *world = *state;

	world_form = FORM_TABLE;
	world_begin(world, METHOD_GET, "/podvol/v1/statistics", NULL);
	world_node.statistics_done(world_node.statistics_userdata, parse(fullness));
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		char path[32];

		(void) snprintf(path, sizeof(path), "rows.0.cells.%zu", i);
		assert_string_equal(world_string(world, path), cells[i]);
	}
	assert_string_equal(world_string(world, "rows.1.cells.2"), "-");
	assert_string_equal(world_string(world, "rows.1.cells.13"), "no answer for 2.0 s");
}

static void test_statistics_are_refused_or_left(void **state)
{
	struct world *world = *state;

	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/statistics", NULL), 429);
	world_may_wait = true;
	world_node.result = -ENOMEM;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/statistics", NULL), 500);
	world_node.result = -ENOBUFS;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/statistics", NULL), 429);
	world_node.result = 0;
	world_begin(world, METHOD_GET, "/podvol/v1/statistics", NULL);
	world_node.statistics_done(world_node.statistics_userdata, NULL); /* no memory */
	assert_int_equal(world->exchange.status, 500);

	world_begin(world, METHOD_GET, "/podvol/v1/statistics", NULL);
	exchange_abandon(&world->exchange);
	assert_int_equal(world_node.statistics_left, 1);
	assert_int_equal(world->answers, 0);
}

/* ---- the stream ---- */

static unsigned int wake_ups;

static void count_wake_up(struct exchange *exchange)
{
	wake_ups++;
}

static void begin_stream(struct world *world, const char *uri)
{
	wake_ups = 0;
	world_begin(world, METHOD_GET, uri, NULL);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world->exchange.reply_type, "application/json;stream=watch");
	assert_non_null(world->exchange.pull);
	world->exchange.pull_ready = count_wake_up;
}

static ssize_t pull(struct world *world, char *buffer, size_t size)
{
	ssize_t used = world->exchange.pull(world->exchange.work, buffer, size);

	assert_true(used >= 0 && (size_t) used <= size);
	return used;
}

static void test_stream(void **state)
{
	static const char *const first[] = { "{\"a\":1}", "{\"b\":2}", NULL };
	static const char *const later[] = { "{\"c\":3}", NULL };
	struct world *world = *state;
	char buffer[64] = "";

	begin_stream(world, "/podvol/v1/events?watch=true");
	assert_int_equal(world_node.after, UINT64_MAX);
	assert_int_equal(pull(world, buffer, sizeof(buffer)), 0);
	world_node.lines = first;
	world_node.changed(world_node.changed_userdata);
	assert_int_equal(wake_ups, 1);
	assert_int_equal(pull(world, buffer, sizeof(buffer) - 1), 16);
	assert_string_equal(buffer, "{\"a\":1}\n{\"b\":2}\n");
	assert_int_equal(pull(world, buffer, sizeof(buffer)), 0);
	world_node.lines = later;
	assert_int_equal(pull(world, buffer, sizeof(buffer)), 8);
	assert_int_equal(world_node.watches, 1);
	exchange_abandon(&world->exchange);
	assert_int_equal(world_node.watches, 0);
}

/* A client that takes a few bytes at a time gets the same bytes; one that leaves takes none. */
static void test_stream_in_pieces(void **state)
{
	static const char *const lines[] = { "{\"first\":1}", "{\"second\":2}", "{\"third\":3}",
					     NULL };
	struct world *world = *state;
	char text[64] = "";
	size_t used = 0;

	begin_stream(world, "/podvol/v1/events?watch=true&after=7");
	assert_int_equal(world_node.after, 7);
	world_node.lines = lines;
	for (size_t size = 1; used < 30; size = size % 5 + 1)
		used += (size_t) pull(world, text + used, size);
	assert_memory_equal(text, "{\"first\":1}\n{\"second\":2}\n{\"third\":3}\n", used);
	exchange_abandon(&world->exchange);
	assert_int_equal(world_node.watches, 0);
}

static void test_stream_refused(void **state)
{
	static const char *const sequences[] = { "", "-1", "1x", "99999999999999999999" };
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		char uri[128];

		(void) snprintf(uri, sizeof(uri), "/podvol/v1/events?watch=true&after=%s",
				sequences[i]);
		assert_int_equal(world_request(world, METHOD_GET, uri, NULL), 400);
	}
	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/events?watch=1", NULL), 429);
	world_may_wait = true;
	world_node.result = -ENOMEM;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/events?watch=1", NULL), 500);
	assert_int_equal(world_node.watches, 0);
}

static void test_list_of_events(void **state)
{
	struct world *world = *state;

	world_node.volume_events = "{\"items\":[{\"type\":\"Failed\",\"pod\":\"default/web\","
				   "\"volume\":\"v\",\"error\":\"it broke\",\"sequence\":4}]}";
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/events?watch=false", NULL),
			 200);
	assert_string_equal(world_reply(world), world_node.volume_events);
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/events", NULL), 200);
	assert_string_equal(world_string(world, "rows.0.cells.1"), "Failed");
	assert_string_equal(world_string(world, "rows.0.cells.5"), "it broke");
}

/* ---- the document ---- */

static char *read_document(void)
{
	const char *top = getenv("top_srcdir");
	char path[4096], *text = calloc(1, 65536);
	FILE *file;

	(void) snprintf(path, sizeof(path), "%s/docs/api.md", top ? top : ".");
	file = fopen(path, "re");
	if (!file || !text) {
		free(text);
		return NULL;
	}
	assert_true(fread(text, 1, 65535, file) < 65535);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* "/podvol/v1/pods/POD/mount" of the document is two routes: POD is one word or two. */
static void to_pattern(const char *path, const char *pod, char pattern[256])
{
	size_t used = 0;

	for (path++; *path && used + 8 < 256;) {
		size_t length = strcspn(path, "/");
		bool is_pod = length == 3 && strncmp(path, "POD", 3) == 0;
		bool variable = length > 1 && strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= length;
		const char *word = is_pod ? pod : variable ? "*" : NULL;

		used += (size_t) snprintf(pattern + used, 256 - used, "%s%.*s", used > 0 ? "/" : "",
					  (int) (word ? strlen(word) : length), word ? word : path);
		path += length;
		if (*path == '/')
			path++;
	}
}

/* "{volume}" of a route is "*". */
static void to_stars(const char *route, char stars[256])
{
	size_t used = 0;

	for (bool inside = false; *route; route++) {
		inside = *route == '{' || (inside && *route != '}');
		if (!inside)
			stars[used++] = *route == '}' ? '*' : *route;
	}
	stars[used] = '\0';
}

static void mark(bool *seen, const char *pattern)
{
	bool found = false;
	char stars[256];

	for (size_t i = 0; api_route(i); i++) {
		to_stars(api_route(i), stars);
		if (strcmp(stars, pattern) == 0)
			found = seen[i] = true;
	}
	if (!found)
		fail_msg("docs/api.md names '%s', which no route is", pattern);
}

/* Every route is named, as `METHOD /path`, and every path that is named below /podvol is a route.
 */
static void test_document_names_every_path(void **state)
{
	cleanup_free char *text = read_document();
	bool seen[256] = { false };

	if (!text)
		skip(); /* run outside the tree */
	for (const char *at = strstr(text, " /"); at; at = strstr(at + 1, " /")) {
		size_t length = strcspn(at + 1, "` ?|\n");
		char path[256], pattern[256];

		if (strncmp(at - 3, "GET", 3) != 0 && strncmp(at - 4, "POST", 4) != 0 &&
		    strncmp(at - 6, "DELETE", 6) != 0)
			continue;
		(void) snprintf(path, sizeof(path), "%.*s", (int) length, at + 1);
		if (strncmp(path, "/podvol/v1/", 11) != 0)
			continue;
		to_pattern(path, "*", pattern);
		mark(seen, pattern);
		to_pattern(path, "*/*", pattern);
		mark(seen, pattern);
	}
	for (size_t i = 0; api_route(i); i++)
		if (strncmp(api_route(i), "podvol/v1/", 10) == 0 && !seen[i])
			fail_msg("docs/api.md does not name '%s'", api_route(i));
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_drivers),
		WITH_WORLD(test_csi_driver),
		WITH_WORLD(test_many_members),
		WITH_WORLD(test_foreign_volumes),
		WITH_WORLD(test_steps),
		WITH_WORLD(test_threads),
		WITH_WORLD(test_metrics),
		WITH_WORLD(test_statistics_come_later),
		WITH_WORLD(test_statistics_as_a_table),
		WITH_WORLD(test_statistics_are_refused_or_left),
		WITH_WORLD(test_stream),
		WITH_WORLD(test_stream_in_pieces),
		WITH_WORLD(test_stream_refused),
		WITH_WORLD(test_list_of_events),
		cmocka_unit_test(test_document_names_every_path),
	};

	return cmocka_run_group_tests_name("api_node", tests, NULL, NULL);
}
