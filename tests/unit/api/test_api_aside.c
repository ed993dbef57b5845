/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_aside - what is long is read and changed on a thread, and what is stored then fits
 *
 * json_parse() is wrapped: what the loop thread reads of JSON is counted, in bytes.
 */
#include "api_world.h"

#include "api/auth/authorize.h"
#include "base/cleanup.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

static pthread_t loop_thread;
static size_t read_on_loop;

int __real_json_parse(const char *text, size_t length, const struct json_limits *limits,
		      struct cJSON **ret, struct failure *reterr);
int __wrap_json_parse(const char *text, size_t length, const struct json_limits *limits,
		      struct cJSON **ret, struct failure *reterr);
int __wrap_json_parse(const char *text, size_t length, const struct json_limits *limits,
		      struct cJSON **ret, struct failure *reterr)
{
	if (pthread_equal(pthread_self(), loop_thread))
		read_on_loop += length;
	return __real_json_parse(text, length, limits, ret, reterr);
}

static int set_up(void **state)
{
	loop_thread = pthread_self();
	return world_set_up(state);
}

/* An annotation of @size bytes makes any object a long one. */
static char *long_object(const char *kind, const char *name, const char *rest, size_t size)
{
	cleanup_free char *filling = calloc(1, size + 1);
	char *text;

	assert_non_null(filling);
	memset(filling, 'x', size);
	if (asprintf(&text,
		     "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
		     "\"annotations\":{\"long\":\"%s\"}},%s}",
		     kind, name, filling, rest) < 0)
		fail();
	return text;
}

enum { LONG = 4 * API_READ_HERE_BYTES };

static int request(struct world *world, enum api_method method, enum api_content content,
		   const char *uri, const char *body)
{
	int status;

	read_on_loop = 0;
	world_content = content;
	world_begin(world, method, uri, body);
	assert_int_equal(world->answers, 0);
	world_turn(world);
	assert_int_equal(world->answers, 1);
	status = world->exchange.status;
	world_content = CONTENT_JSON;
	return status;
}

/* What remains for the loop is the old version, which admission compares, once. */
static void test_the_loop_reads_the_old_version_at_most(void **state)
{
	struct world *world = *state;
	cleanup_free char *first = long_object("ConfigMap", "a", "\"data\":{\"k\":\"1\"}", LONG);
	cleanup_free char *second = long_object("ConfigMap", "a", "\"data\":{\"k\":\"2\"}", LONG);
	const size_t most = LONG + 1024;

	assert_int_equal(request(world, METHOD_POST, CONTENT_JSON, MAPS, first), 201);
	assert_int_equal(read_on_loop, 0);
	assert_int_equal(request(world, METHOD_PUT, CONTENT_JSON, MAPS "/a", second), 200);
	assert_in_range(read_on_loop, 0, most);
	assert_string_equal(world_string(world, "data.k"), "2");
	assert_int_equal(request(world, METHOD_PATCH, CONTENT_MERGE_PATCH, MAPS "/a",
				 "{\"data\":{\"k\":\"3\"}}"),
			 200);
	assert_in_range(read_on_loop, 0, most);
	assert_string_equal(world_string(world, "data.k"), "3");
	assert_int_equal(request(world, METHOD_PATCH, CONTENT_JSON_PATCH, MAPS "/a",
				 "[{\"op\":\"replace\",\"path\":\"/data/k\",\"value\":\"4\"}]"),
			 200);
	assert_in_range(read_on_loop, 0, most);
}

/* Refusals are those of short bodies, warnings too. */
static void test_answers_are_the_same(void **state)
{
	struct world *world = *state;
	cleanup_free char *bad = long_object("ConfigMap", "a", "\"data\":{\"k\":5}", LONG);
	cleanup_free char *odd = long_object("ConfigMap", "a", "\"foo\":1", LONG);
	cleanup_free char *pod = long_object("Pod", "a", "\"spec\":{}", LONG);

	assert_int_equal(request(world, METHOD_POST, CONTENT_JSON, MAPS, bad), 422);
	assert_string_equal(world_string(world, "details.causes.0.field"), "data[k]");
	assert_string_equal(world->exchange.record.reason, "Invalid");
	assert_int_equal(request(world, METHOD_POST, CONTENT_JSON, MAPS, pod), 400);
	assert_int_equal(request(world, METHOD_PUT, CONTENT_JSON, MAPS "/b", odd), 400);
	assert_int_equal(request(world, METHOD_PUT, CONTENT_JSON, MAPS "/a", odd), 404);
	assert_int_equal(
		request(world, METHOD_POST, CONTENT_JSON, MAPS "?fieldValidation=Strict", odd),
		400);
	assert_int_equal(request(world, METHOD_POST, CONTENT_JSON, MAPS, odd), 201);
	assert_string_equal(world->exchange.warnings, "unknown field \"foo\"");
	assert_int_equal(request(world, METHOD_POST, CONTENT_JSON, MAPS, odd), 409);
	assert_int_equal(request(world, METHOD_PATCH, CONTENT_MERGE_PATCH, MAPS "/a", "{"), 400);
	assert_int_equal(request(world, METHOD_PATCH, CONTENT_MERGE_PATCH, MAPS "/a",
				 "{\"data\":{\"k\":5}}"),
			 422);
}

/* ---- another writes while the thread works ---- */

/* Holds up the one thread until it is let go. */
struct gate {
	struct worker_job job;
	sem_t open;
	bool over;
};

static void gate_run(struct worker_job *job)
{
	assert_int_equal(sem_wait(&((struct gate *) job)->open), 0);
}

static void gate_done(struct worker_job *job)
{
	((struct gate *) job)->over = true;
}

static void gate_close(struct world *world, struct gate *gate)
{
	*gate = (struct gate){ .job = { .run = gate_run, .done = gate_done } };
	assert_int_equal(sem_init(&gate->open, 0, 0), 0);
	worker_submit(world->readers, &gate->job);
}

static void gate_open(struct world *world, struct gate *gate)
{
	assert_int_equal(sem_post(&gate->open), 0);
	world_turn(world);
	while (!gate->over)
		assert_true(sd_event_run(world->event, UINT64_MAX) >= 0);
	(void) sem_destroy(&gate->open);
}

static void note_written(void *userdata, int error, const struct object *result,
			 const struct failure *why)
{
	assert_int_equal(error, 0);
	*(bool *) userdata = true;
}

/* Another replaces the object by what @text says; @is_new: by a new one, which may be anything. */
static void write_meanwhile(struct world *world, const char *text, bool is_new)
{
	cleanup_object const struct object *object = NULL;
	struct store *store = world->agent.store;
	bool written = false;

	assert_int_equal(object_parse_json(text, strlen(text), &object, NULL), 0);
	if (is_new) {
		const struct store_key key = { KIND_POD, "default", "a" };

		assert_int_equal(store_delete(store, &key, NULL, NULL, NULL), 0);
		assert_int_equal(store_create(store, object, note_written, &written), 0);
	} else {
		assert_int_equal(store_update(store, object, NULL, note_written, &written), 0);
	}
	while (!written)
		assert_true(sd_event_run(world->event, UINT64_MAX) >= 0);
}

#define SPEC(image) "\"spec\":{\"containers\":[{\"name\":\"m\",\"image\":\"" image "\"}]}"
#define HOST_VOLUMES                                                                               \
	"\"spec\":{\"containers\":[{\"name\":\"m\",\"image\":\"x\"}],"                             \
	"\"volumes\":[{\"name\":\"h\",\"hostPath\":{\"path\":\"/\"}}]}"

static void make_pod(struct world *world)
{
	cleanup_free char *pod = long_object("Pod", "a", SPEC("x"), LONG);

	assert_int_equal(request(world, METHOD_POST, CONTENT_JSON, PODS, pod), 201);
}

static void test_what_is_written_meanwhile_stays(void **state)
{
	struct world *world = *state;
	cleanup_free char *pod = long_object("Pod", "a", SPEC("x"), LONG + 1);
	cleanup_free char *other = long_object(
		"Pod", "a", SPEC("x") ",\"status\":{\"phase\":\"Running\",\"message\":\"new\"}",
		LONG);
	const char *long_text;
	struct gate gate;

	make_pod(world);
	gate_close(world, &gate);
	world_begin(world, METHOD_PUT, PODS "/a", pod);
	write_meanwhile(world, other, false);
	gate_open(world, &gate);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_string(world, "status.message"), "new");

	gate_close(world, &gate);
	world_content = CONTENT_MERGE_PATCH;
	world_begin(world, METHOD_PATCH, PODS "/a", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
	world_content = CONTENT_JSON;
	write_meanwhile(world, pod, false);
	gate_open(world, &gate);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_string(world, "metadata.labels.a"), "b");
	long_text = strstr(world_reply(world), "xxx");
	assert_non_null(long_text);
	assert_int_equal(strcspn(long_text, "\""), LONG + 1);
}

/* The version that a body names is the one that it replaces. */
static void test_a_named_version_is_that_version(void **state)
{
	struct world *world = *state;
	cleanup_free char *other = long_object("Pod", "a", SPEC("x"), LONG + 1);
	cleanup_free char *status = NULL;
	struct gate gate;

	make_pod(world);
	if (asprintf(&status, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}," SPEC(
				      "x") ",\"status\":{\"phase\":\"Running\"}}") < 0)
		fail();
	gate_close(world, &gate);
	world_begin(world, METHOD_PUT, PODS "/a/status", status);
	write_meanwhile(world, other, false);
	gate_open(world, &gate);
	assert_int_equal(world->exchange.status, 409);
}

/* What is written is judged as it is written: who may name no directory of the host writes no
 * status of a pod that came to have one. */
static void test_rights_are_those_to_what_is_written(void **state)
{
	struct world *world = *state;
	cleanup_free char *host = long_object("Pod", "a", HOST_VOLUMES, LONG);
	struct gate gate;

	make_pod(world);
	world_rights = RIGHTS_ALL & ~RIGHT_HOST;
	gate_close(world, &gate);
	world_begin(
		world, METHOD_PUT, PODS "/a/status",
		"{\"metadata\":{\"name\":\"a\"}," SPEC("x") ",\"status\":{\"phase\":\"Running\"}}");
	write_meanwhile(world, host, true);
	gate_open(world, &gate);
	assert_int_equal(world->exchange.status, 403);
}

/* ---- apply and list ---- */

#define APPLY "/podvol/v1/apply"

static void test_apply_merges_elsewhere(void **state)
{
	struct world *world = *state;
	cleanup_free char *first = long_object("ConfigMap", "a", "\"data\":{\"k\":\"1\"}", LONG);
	cleanup_free char *second = long_object("ConfigMap", "a", "\"data\":{\"l\":\"2\"}", LONG);

	assert_int_equal(request(world, METHOD_POST, CONTENT_YAML, APPLY, first), 200);
	assert_int_equal(read_on_loop, 0);
	assert_int_equal(request(world, METHOD_POST, CONTENT_YAML, APPLY, second), 200);
	/* The annotation that says what was applied is as long as the document. */
	assert_in_range(read_on_loop, 0, 2 * LONG + 2048);
	assert_string_equal(world_string(world, "items.0.result"), "configured");
	assert_int_equal(world_request(world, METHOD_GET, MAPS "/a", NULL), 200);
	assert_string_equal(world_string(world, "data.l"), "2");
	assert_string_equal(world_string(world, "data.k"), "");
}

/* What another wrote while a thread merged is merged with, too. */
static void test_apply_merges_again(void **state)
{
	struct world *world = *state;
	cleanup_free char *pod = long_object("Pod", "a", SPEC("x"), LONG);
	cleanup_free char *other = long_object(
		"Pod", "a", SPEC("x") ",\"status\":{\"phase\":\"Running\",\"message\":\"new\"}",
		LONG + 1);
	struct gate reading, merging;

	make_pod(world);
	gate_close(world, &reading);
	world_content = CONTENT_YAML;
	world_begin(world, METHOD_POST, APPLY, pod);
	world_content = CONTENT_JSON;
	gate_close(world, &merging);
	assert_int_equal(sem_post(&reading.open), 0);
	while (!reading.over)
		assert_true(sd_event_run(world->event, UINT64_MAX) >= 0);
	for (int i = 0; i < 10; i++) /* until the merge is behind the other gate */
		assert_true(sd_event_run(world->event, 10000) >= 0);
	write_meanwhile(world, other, false);
	gate_open(world, &merging);
	(void) sem_destroy(&reading.open);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_string(world, "items.0.result"), "configured");
	assert_int_equal(world_request(world, METHOD_GET, PODS "/a", NULL), 200);
	assert_string_equal(world_string(world, "status.message"), "new");
}

/* Rows are short: that they leave room in the buffer is no reason to read more objects. */
static void test_few_long_objects_are_read_in_one_turn(void **state)
{
	enum { MAPS_COUNT = 12, AT_ONCE = 65536 };
	struct world *world = *state;
	static char buffer[1048576];
	size_t turns = 0, most = 0;
	ssize_t n;

	for (int i = 0; i < MAPS_COUNT; i++) {
		char name[8];
		cleanup_free char *map = NULL;

		(void) snprintf(name, sizeof(name), "m%d", i);
		map = long_object("ConfigMap", name, "\"data\":{\"k\":\"1\"}", LONG);
		assert_int_equal(request(world, METHOD_POST, CONTENT_JSON, MAPS, map), 201);
	}
	for (enum api_form form = FORM_TABLE;; form = FORM_YAML) {
		world_form = form;
		world_begin(world, METHOD_GET, MAPS, NULL);
		assert_int_equal(world->exchange.status, 200);
		for (read_on_loop = 0;
		     (n = world->exchange.pull(world->exchange.work, buffer, sizeof(buffer))) > 0;
		     read_on_loop = 0) {
			turns++;
			most = read_on_loop > most ? read_on_loop : most;
		}
		if (form == FORM_YAML)
			break;
	}
	world_form = FORM_JSON;
	assert_in_range(most, LONG, AT_ONCE + LONG + 1024);
	assert_in_range(turns, 2 * MAPS_COUNT * LONG / (AT_ONCE + LONG + 1024), 100);
}

/* ---- who leaves ---- */

static void test_a_client_that_leaves_has_begun_nothing(void **state)
{
	struct world *world = *state;
	cleanup_free char *map = long_object("ConfigMap", "a", "\"data\":{}", LONG);
	struct gate gate;

	gate_close(world, &gate);
	world_begin(world, METHOD_POST, MAPS, map);
	exchange_abandon(&world->exchange);
	gate_open(world, &gate);
	assert_int_equal(world->answers, 0);
	assert_null(store_get(world->agent.store, KIND_CONFIG_MAP, "default", "a"));
	/* One that is still on the thread when everything ends. */
	world_begin(world, METHOD_POST, MAPS, map);
}

#define IN(test) cmocka_unit_test_setup_teardown(test, set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN(test_the_loop_reads_the_old_version_at_most),
		IN(test_answers_are_the_same),
		IN(test_what_is_written_meanwhile_stays),
		IN(test_a_named_version_is_that_version),
		IN(test_rights_are_those_to_what_is_written),
		IN(test_apply_merges_elsewhere),
		IN(test_apply_merges_again),
		IN(test_few_long_objects_are_read_in_one_turn),
		IN(test_a_client_that_leaves_has_begun_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
