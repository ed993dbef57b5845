/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_memory - every request again and again, the n-th allocation failing
 *
 * Whatever fails, the request is answered once, with what it asked for or with a Status, and
 * nothing is lost (the address sanitizer looks).
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- the n-th allocation of the loop thread fails, once ---- */

static unsigned long fail_at, seen;
static bool armed, fired;
static pthread_t loop_thread;

static bool fails(void)
{
	if (!armed || !pthread_equal(pthread_self(), loop_thread))
		return false;
	if (++seen != fail_at)
		return false;
	fired = true;
	errno = ENOMEM;
	return true;
}

#define FAILING(result, name, parameters, ...)                                                     \
	result __real_##name parameters;                                                           \
	result __wrap_##name parameters;                                                           \
	result __wrap_##name parameters                                                            \
	{                                                                                          \
		return fails() ? NULL : __real_##name(__VA_ARGS__);                                \
	}

FAILING(void *, malloc, (size_t size), size)
FAILING(void *, calloc, (size_t count, size_t size), count, size)
FAILING(void *, realloc, (void *old, size_t size), old, size)
FAILING(void *, reallocarray, (void *old, size_t count, size_t size), old, count, size)
FAILING(char *, strdup, (const char *text), text)
FAILING(char *, strndup, (const char *text, size_t size), text, size)
FAILING(FILE *, open_memstream, (char **text, size_t *size), text, size)

/* ---- requests ---- */

static const char volume[] = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk}\n"
			     "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
			     "hostPath: {path: /data}}\n";
static const char stream[] = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk}\n"
			     "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
			     "hostPath: {path: /data}}\n---\n"
			     "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
			     "spec: {containers: [{name: c, image: i}]}\n";

static const struct request {
	enum api_method method;
	const char *uri, *body;
	enum api_form form;
	enum api_content content;
	bool waits; /* for the agent, whose wait the test ends */
} requests[] = {
	{ METHOD_GET, "/api/v1/pods", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/pods", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/pods", NULL, FORM_YAML, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/namespaces/long/pods", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/namespaces/default/pods/web", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/namespaces/default/pods/web", NULL, FORM_YAML, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/namespaces/default/pods/no", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_POST, "/api/v1/persistentvolumes", world_pv_json, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_POST, "/api/v1/persistentvolumes", volume, FORM_JSON, CONTENT_YAML, false },
	{ METHOD_PUT, "/api/v1/namespaces/default/pods/web", world_pod_json, FORM_JSON,
	  CONTENT_JSON, false },
	{ METHOD_DELETE, "/api/v1/persistentvolumes/disk", "{\"preconditions\":{}}", FORM_JSON,
	  CONTENT_JSON, false },
	{ METHOD_POST, "/podvol/v1/apply", stream, FORM_TABLE, CONTENT_YAML, false },
	{ METHOD_GET, "/podvol/v1/volumes?pod=a/b", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/events?fieldSelector=reason%3Db", NULL, FORM_TABLE, CONTENT_JSON,
	  false },
	{ METHOD_GET, "/", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_GET, "/apis", NULL, FORM_GROUPS, CONTENT_JSON, false },
	{ METHOD_GET, "/openapi/v3", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_GET, "/podvol/v1/drivers", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_GET, "/podvol/v1/strangers", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_GET, "/podvol/v1/steps", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_GET, "/podvol/v1/threads", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_GET,
	  "/api/v1/"
	  "pods?limit=1&labelSelector=!a,b+notin+(c)&fieldSelector=spec.hostNetwork%3Dfalse",
	  NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_GET, "/api/v1/pods?watch=true&labelSelector=!a", NULL, FORM_JSON, CONTENT_JSON,
	  false },
	{ METHOD_GET, "/api/v1/pods?watch=true", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_PATCH, "/api/v1/namespaces/default/pods/web",
	  "{\"metadata\":{\"labels\":{\"a\":null,\"b\":\"c\"}}}", FORM_JSON, CONTENT_MERGE_PATCH,
	  false },
	{ METHOD_PATCH, "/api/v1/namespaces/default/pods/web",
	  "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"c\":\"d\"}},"
	  "{\"op\":\"copy\",\"from\":\"/metadata/labels/c\",\"path\":\"/metadata/labels/e\"}]",
	  FORM_JSON, CONTENT_JSON_PATCH, false },
	{ METHOD_PATCH, "/api/v1/namespaces/default/pods/web/status",
	  "{\"status\":{\"phase\":\"Running\"},\"metadata\":{\"finalizers\":[\"a/b\"],"
	  "\"$setElementOrder/finalizers\":[\"a/b\"]}}",
	  FORM_JSON, CONTENT_STRATEGIC_PATCH, false },
	{ METHOD_POST, "/api/v1/namespaces/default/configmaps",
	  "{\"metadata\":{\"generateName\":\"g-\"},\"x\":1}", FORM_JSON, CONTENT_JSON, false },
	{ METHOD_DELETE, "/api/v1/namespaces/default/pods?labelSelector=!z", NULL, FORM_JSON,
	  CONTENT_JSON, false },
	{ METHOD_GET, "/podvol/v1/version", NULL, FORM_TABLE, CONTENT_JSON, false },
	{ METHOD_GET, "/version", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_GET, "/readyz", NULL, FORM_JSON, CONTENT_JSON, false },
	{ METHOD_POST, "/podvol/v1/pods/default/web/mount", NULL, FORM_TABLE, CONTENT_JSON, true },
	{ METHOD_POST, "/podvol/v1/pods/web/unmount?timeout=0", NULL, FORM_JSON, CONTENT_JSON,
	  false },
};

static void put_pod_back(struct world *world)
{
	world_form = FORM_JSON;
	world_content = CONTENT_JSON;
	(void) world_request(world, METHOD_POST, "/api/v1/namespaces/default/pods", world_pod_json);
}

/* One whose list is a stream. */
static void put_long_pod(struct world *world)
{
	enum { LONG_BYTES = 150000 };
	cleanup_free char *body = NULL, *text = calloc(1, LONG_BYTES + 1);

	assert_non_null(text);
	memset(text, 'x', LONG_BYTES);
	assert_true(asprintf(&body,
			     "{\"metadata\":{\"name\":\"long\",\"annotations\":{\"a\":\"%s\"}},"
			     "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
			     text) > 0);
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/namespaces/long/pods", body),
			 201);
}

/* Return: whether the failure happened. */
static bool run_once(struct world *world, const struct request *request)
{
	char piece[256];
	int status;

	world_form = request->form;
	world_content = request->content;
	seen = 0;
	fired = false;
	world_prepare(world, request->method, request->uri, request->body);
	armed = true;
	api_dispatch(&world->exchange);
	if (request->waits && world->answers == 0)
		world_end_wait(world, 0, "");
	world_turn(world);
	/* A stream that broke off is no whole answer, but no crash. */
	while (world->exchange.pull &&
	       world->exchange.pull(world->exchange.work, piece, sizeof(piece)) > 0)
		;
	armed = false;
	if (world->exchange.pull) {
		world_leave(world);
		return fired;
	}

	assert_int_equal(world->answers, 1);
	status = world->exchange.status;
	/* None of these requests is wrong, so want of memory must not be put down to the client. */
	assert_true(status == 500 || status / 100 == 2 || status == 404 || status == 409);
	/* Without memory for the constant Status there is no body; never a broken one. */
	assert_int_equal(world->exchange.reply ? strlen(world->exchange.reply) : 0,
			 world->exchange.reply_length);
	assert_true(world->exchange.reply || status == 500);
	return fired;
}

static void test_every_allocation_fails_once(void **state)
{
	struct world *world = *state;
	unsigned long points = 0;

	loop_thread = pthread_self();
	put_long_pod(world);
	world->agent.volumes = "{\"items\":[{\"pod\":\"a/b\",\"podUID\":\"u\"}]}";
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		fail_at = 0;
		do {
			put_pod_back(world);
			fail_at++;
		} while (run_once(world, &requests[i]));
		points += fail_at - 1;
	}
	assert_true(points > 100); /* the loop did visit them */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_allocation_fails_once, world_set_up,
						world_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
