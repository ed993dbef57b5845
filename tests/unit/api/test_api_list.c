/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_list - collections: selected, paged, long ones as streams, in every form
 */
#include "api_world.h"

#include "base/cleanup.h"
#include "store/embedded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

static void make_map(struct world *world, const char *name_space, const char *name,
		     const char *label, const char *data)
{
	cleanup_free char *body = NULL;
	char uri[128];

	(void) snprintf(uri, sizeof(uri), "/api/v1/namespaces/%s/configmaps", name_space);
	assert_true(asprintf(&body,
			     "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"part\":\"%s\"}},"
			     "\"data\":{\"text\":\"%s\"}}",
			     name, label, data) > 0);
	assert_int_equal(world_request(world, METHOD_POST, uri, body), 201);
}

static const char *shown_phase; /* of each pod; NULL: as it is stored */

int agent_pod_print(struct agent *agent, const struct object *pod, char **ret)
{
	if (shown_phase)
		assert_true(asprintf(ret, "%.*s,\"status\":{\"phase\":\"%s\"}}",
				     (int) pod->json_length - 1, pod->json, shown_phase) > 0);
	return 0;
}

/* The names of the items of the last answer. */
static const char *names(struct world *world)
{
	static char text[512];
	size_t used = 0;
	char path[64];

	text[0] = '\0';
	for (int i = 0;; i++) {
		const char *name;

		(void) snprintf(path, sizeof(path), "items.%d.metadata.name", i);
		name = world_string(world, path);
		if (*name == '\0')
			return text;
		used += (size_t) snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					  name);
	}
}

static void assert_list(struct world *world, const char *uri, const char *expected)
{
	if (world_request(world, METHOD_GET, uri, NULL) != 200)
		fail_msg("%s: %s", uri, world_reply(world));
	if (strcmp(names(world), expected) != 0)
		fail_msg("%s: '%s' instead of '%s'", uri, names(world), expected);
}

static void make_five(struct world *world)
{
	make_map(world, "default", "a", "one", "");
	make_map(world, "default", "b", "two", "");
	make_map(world, "default", "c", "one", "");
	make_map(world, "other", "a", "two", "");
	make_map(world, "other", "d", "one", "");
}

static void test_selectors(void **state)
{
	struct world *world = *state;

	make_five(world);
	assert_list(world, "/api/v1/configmaps", "a b c a d");
	assert_list(world, "/api/v1/configmaps?labelSelector=part%3Done", "a c d");
	assert_list(world, "/api/v1/configmaps?labelSelector=part+in+(two,three)", "b a");
	assert_list(world, MAPS "?labelSelector=part!%3Done", "b");
	assert_list(world, "/api/v1/configmaps?fieldSelector=metadata.name%3Da", "a a");
	assert_list(world, "/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother", "a d");
	assert_list(world,
		    "/api/v1/configmaps?fieldSelector=metadata.name%3Da&labelSelector=part%3Dtwo",
		    "a");
	assert_int_equal(
		world_request(world, METHOD_GET, MAPS "?fieldSelector=data.text%3Dx", NULL), 400);
	assert_string_equal(world_string(world, "message"), "field label not supported: data.text");
}

static void next_page(struct world *world, const char *uri, char token[256])
{
	(void) snprintf(token, 256, "%s&continue=%s", uri,
			world_string(world, "metadata.continue"));
}

/* A difference from Kubernetes, whose pages are of one version. */
static void test_pages(void **state)
{
	struct world *world = *state;
	char next[256], version[32];

	make_five(world);
	assert_list(world, "/api/v1/configmaps?limit=2", "a b");
	assert_string_equal(world_string(world, "metadata.remainingItemCount"), "3");
	(void) snprintf(version, sizeof(version), "%s",
			world_string(world, "metadata.resourceVersion"));
	next_page(world, "/api/v1/configmaps?limit=2", next);
	/* What comes meanwhile is on the page, which says the first page's version all the same. */
	make_map(world, "default", "bb", "one", "");
	assert_list(world, next, "bb c");
	assert_string_equal(world_string(world, "metadata.resourceVersion"), version);
	next_page(world, "/api/v1/configmaps?limit=2", next);
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "/c", NULL), 200);
	assert_list(world, next, "a d");
	assert_string_equal(world_string(world, "metadata.continue"), "");
	assert_string_equal(world_string(world, "metadata.remainingItemCount"), "");

	assert_list(world, "/api/v1/configmaps?limit=1&labelSelector=part%3Dtwo", "b");
	assert_true(*world_string(world, "metadata.continue") != '\0');
	assert_string_equal(world_string(world, "metadata.remainingItemCount"), "");
	assert_list(world, "/api/v1/configmaps?limit=50", "a b bb a d");
	assert_string_equal(world_string(world, "metadata.continue"), "");
}

static void assert_refused(struct world *world, const char *query, int status, const char *reason)
{
	char uri[256];

	(void) snprintf(uri, sizeof(uri), MAPS "?%s", query);
	if (world_request(world, METHOD_GET, uri, NULL) != status)
		fail_msg("%s: %s", query, world_reply(world));
	assert_string_equal(world_string(world, "reason"), reason);
}

static void test_versions(void **state)
{
	struct world *world = *state;

	make_five(world);
	assert_list(world, MAPS "?resourceVersion=0", "a b c");
	assert_list(world, MAPS "?resourceVersion=2", "a b c");
	assert_list(world, MAPS "?resourceVersion=5&resourceVersionMatch=Exact", "a b c");
	assert_list(world, MAPS "?resourceVersion=2&resourceVersionMatch=NotOlderThan", "a b c");
	assert_refused(world, "resourceVersion=2&resourceVersionMatch=Exact", 410, "Expired");
	assert_refused(world, "resourceVersion=99", 504, "Timeout");
	assert_string_equal(world_string(world, "message"),
			    "Too large resource version: 99, current: 5");
	assert_string_equal(world_string(world, "details.retryAfterSeconds"), "1");
	assert_refused(world, "resourceVersionMatch=Exact", 422, "Invalid");
	assert_refused(world, "resourceVersion=0&resourceVersionMatch=Exact", 422, "Invalid");
	assert_refused(world, "resourceVersion=1&resourceVersionMatch=Some", 422, "Invalid");
	assert_refused(world, "resourceVersion=1&continue=v1:5:default/a", 400, "BadRequest");
	assert_refused(world, "resourceVersionMatch=Exact&continue=v1:5:default/a", 422, "Invalid");
	assert_refused(world, "continue=v1:9:default/a", 410, "Expired");
	assert_refused(world, "continue=v1:5:a", 400, "BadRequest");
	assert_refused(world, "continue=v2:5:default/a", 400, "BadRequest");
}

/* A page of a version that the ring has forgotten cannot be repaired by a watch. */
static void test_a_token_expires(void **state)
{
	struct world *world = *state;
	struct failure why;

	make_five(world);
	(void) store_free(world->agent.store);
	assert_int_equal(store_open_embedded(world->event, store_open_begin(world->directory),
					     &world->agent.store, &why),
			 0);
	assert_refused(world, "limit=1&continue=v1:2:default/a", 410, "Expired");
}

/* More than goes at once: the same bytes, whatever the pieces. */
static void make_long(struct world *world)
{
	enum { BYTES = 60000 };
	cleanup_free char *data = malloc(BYTES + 1);

	assert_non_null(data);
	memset(data, 'x', BYTES);
	data[BYTES] = '\0';
	for (int i = 0; i < 3; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "long%d", i);
		make_map(world, "default", name, "one", data);
	}
}

static char *pulled(struct world *world, size_t step)
{
	size_t length;
	char *text;

	world_begin(world, METHOD_GET, MAPS, NULL);
	length = world->exchange.reply_length;
	assert_int_equal(world->exchange.status, 200);
	assert_null(world->exchange.reply);
	text = strdup(world_pull(world, step));
	assert_true(world->stream_ended);
	assert_int_equal(length, world_form == FORM_JSON ? strlen(text) : 0);
	world_leave(world);
	return text;
}

static void test_long_lists_are_streams(void **state)
{
	struct world *world = *state;
	cleanup_free char *large = NULL, *small = NULL;
	const struct json_limits limits = { .bytes = 1 << 20, .depth = 32 };
	cleanup_json struct cJSON *tree = NULL;
	struct failure why;

	make_long(world);
	large = pulled(world, 100000);
	small = pulled(world, 7);
	assert_string_equal(large, small);
	assert_int_equal(json_parse(large, strlen(large), &limits, &tree, &why), 0);
	assert_int_equal(json_count(json_get(tree, "items")), 3);
	assert_string_equal(json_string(json_get(tree, "kind"), ""), "ConfigMapList");

	/* Who may not hold a connection gets it whole. */
	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_GET, MAPS, NULL), 200);
	assert_string_equal(world_reply(world), large);
}

/* Writes do not change what is being sent, and a client that leaves leaks nothing. */
static void test_a_list_is_a_snapshot(void **state)
{
	struct world *world = *state;
	cleanup_free char *before = NULL;
	struct exchange reader;
	char buffer[1000];
	size_t length = 0;
	ssize_t n;

	make_long(world);
	before = pulled(world, 1000);
	world_begin(world, METHOD_GET, MAPS, NULL);
	reader = world->exchange;
	world->exchange = (struct exchange){ 0 };
	assert_int_equal(reader.pull(reader.work, buffer, sizeof(buffer)), sizeof(buffer));
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "/long2", NULL), 200);
	for (length = sizeof(buffer); (n = reader.pull(reader.work, buffer, sizeof(buffer))) > 0;
	     length += (size_t) n)
		assert_memory_equal(buffer, before + length, (size_t) n);
	assert_int_equal(length, strlen(before));
	exchange_abandon(&reader);
	world_begin(world, METHOD_GET, MAPS, NULL);
	world_leave(world);
}

/* What is said of pods may change while their list is sent: its length was said before. */
static void test_long_lists_of_pods(void **state)
{
	struct world *world = *state;
	cleanup_free char *body = NULL, *large = malloc(60001);
	static const char *const phases[] = { "Odd", NULL };

	assert_non_null(large);
	memset(large, 'x', 60000);
	large[60000] = '\0';
	for (int i = 0; i < 3; i++) {
		free(body);
		assert_true(
			asprintf(&body,
				 "{\"metadata\":{\"name\":\"p%d\",\"annotations\":{\"a\":\"%s\"}},"
				 "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
				 i, large) > 0);
		assert_int_equal(world_request(world, METHOD_POST, PODS, body), 201);
	}
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		size_t length, found = 0;
		const char *text;

		shown_phase = phases[i];
		world_begin(world, METHOD_GET, PODS, NULL);
		length = world->exchange.reply_length;
		shown_phase = "Something else";
		text = world_pull(world, 1000);
		assert_int_equal(length, strlen(text));
		for (const char *at = text; phases[i] && (at = strstr(at, phases[i])); at++)
			found++;
		assert_int_equal(found, phases[i] ? 3 : 0);
		assert_null(strstr(text, shown_phase));
		world_leave(world);
	}
	shown_phase = NULL;
}

/* Only so many are printed before the first byte. */
static void test_many_pods(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 520; i++) {
		char body[512];

		(void) snprintf(body, sizeof(body),
				"{\"metadata\":{\"name\":\"p%d\"},"
				"\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
				i);
		assert_int_equal(world_request(world, METHOD_POST, PODS, body), 201);
	}
	for (int i = 0; i < 2; i++) {
		size_t length;

		shown_phase = i == 0 ? NULL : "Odd";
		world_begin(world, METHOD_GET, PODS, NULL);
		length = world->exchange.reply_length;
		assert_int_equal(length, i == 0 ? strlen(world_pull(world, 1000)) : 0);
		if (i > 0)
			assert_non_null(strstr(world_pull(world, 1000), "\"Odd\"}}]}"));
		world_leave(world);
	}
	shown_phase = NULL;
}

static void test_long_tables_and_yaml(void **state)
{
	struct world *world = *state;
	const struct json_limits limits = { .bytes = 1 << 20, .depth = 32 };
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *text = NULL;
	struct failure why;

	make_long(world);
	world_form = FORM_TABLE;
	text = pulled(world, 100);
	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, &why), 0);
	assert_int_equal(json_count(json_get(tree, "rows")), 3);
	assert_string_equal(json_string(json_get(tree, "kind"), ""), "Table");
	assert_string_equal(
		json_string(json_get(json_get(tree, "metadata"), "resourceVersion"), ""), "3");

	world_form = FORM_YAML;
	free(text);
	text = pulled(world, 100);
	assert_memory_equal(text, "kind: ConfigMapList\napiVersion: v1\n", 35);
	assert_non_null(strstr(text, "\nitems:\n- "));
	world_begin(world, METHOD_GET, "/api/v1/namespaces/none/configmaps", NULL);
	assert_non_null(strstr(world_reply(world), "\nitems: []\n"));
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_selectors),
		IN_WORLD(test_pages),
		IN_WORLD(test_versions),
		IN_WORLD(test_a_token_expires),
		IN_WORLD(test_long_lists_are_streams),
		IN_WORLD(test_a_list_is_a_snapshot),
		IN_WORLD(test_long_lists_of_pods),
		IN_WORLD(test_many_pods),
		IN_WORLD(test_long_tables_and_yaml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
