/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_pods - mount, wait and unmount: which pod, what is answered when, and who is notified
 * nothing
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define WEB "/podvol/v1/pods/default/web"

static const char volumes_json[] = "{\"items\":[{\"pod\":\"default/gone\",\"podUID\":\"u-gone\","
				   "\"volume\":\"v\",\"state\":\"mounted\"},"
				   "{\"pod\":\"edge/other\",\"podUID\":\"u-other\"}]}";

static void store_pod(struct world *world, char uid[64])
{
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/namespaces/default/pods",
				       world_pod_json),
			 201);
	(void) snprintf(uid, 64, "%s", world_string(world, "metadata.uid"));
}

static void test_mount_answers_when_done(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	world->agent.volumes = volumes_json;
	world_begin(world, METHOD_POST, WEB "/mount?timeout=5s", NULL);
	assert_int_equal(world->answers, 0);
	assert_int_equal(world->agent.wait_for, WAIT_MOUNTED);
	assert_string_equal(world->agent.wait_pod, "default/web");
	assert_string_equal(world->agent.wait_uid, uid);
	assert_in_range(world->agent.wait_usec, 1000000, 5000000);

	world_end_wait(world, 0, "");
	assert_int_equal(world->answers, 1);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_reply(world), volumes_json);
}

static void test_a_pod_by_name_and_by_uid(void **state)
{
	struct world *world = *state;
	char uid[64], uri[128];

	store_pod(world, uid);
	world_begin(world, METHOD_POST, "/podvol/v1/pods/web/wait", NULL);
	assert_string_equal(world->agent.wait_uid, uid);
	assert_in_range(world->agent.wait_usec, 20000000, 30000000);
	world_end_wait(world, 0, "");

	(void) snprintf(uri, sizeof(uri), "/podvol/v1/pods/%s/wait", uid);
	world_begin(world, METHOD_POST, uri, NULL);
	assert_string_equal(world->agent.wait_pod, "default/web");
	world_end_wait(world, 0, "");

	assert_int_equal(world_request(world, METHOD_POST, "/podvol/v1/pods/edge/web/wait", NULL),
			 404);
	assert_string_equal(world_string(world, "message"), "pods \"web\" not found");
}

static void test_a_failed_wait_says_why(void **state)
{
	struct world *world = *state;
	static const struct {
		int error, status;
		const char *reason;
	} rows[] = {
		{ -ETIMEDOUT, 504, "Timeout" },    { -ENOENT, 404, "NotFound" },
		{ -EIO, 422, "Invalid" },          { -ECANCELED, 503, "ServiceUnavailable" },
		{ -ENOMEM, 500, "InternalError" },
	};
	char uid[64];

	store_pod(world, uid);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world_begin(world, METHOD_POST, WEB "/mount", NULL);
		world_end_wait(world, rows[i].error,
			       "volume 'v': SetUp: Permission denied after 3 attempts");
		assert_int_equal(world->exchange.status, rows[i].status);
		assert_string_equal(world_string(world, "reason"), rows[i].reason);
		assert_string_equal(world_string(world, "message"),
				    "volume 'v': SetUp: Permission denied after 3 attempts");
		assert_string_equal(world_string(world, "details.uid"), uid);
	}
	world->agent.wait_result = -ENOBUFS;
	assert_int_equal(world_request(world, METHOD_POST, WEB "/mount", NULL), 429);
	world->agent.wait_result = -ENOMEM;
	assert_int_equal(world_request(world, METHOD_POST, WEB "/mount", NULL), 500);
}

static void test_no_wait(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	assert_int_equal(world_request(world, METHOD_POST, WEB "/mount?timeout=0", NULL), 202);
	assert_int_equal(world->agent.waits, 0);
	/* A wait of no length is a question to the agent. */
	world_begin(world, METHOD_POST, WEB "/wait?timeout=0", NULL);
	assert_int_equal(world->agent.waits, 1);
	assert_int_equal(world->agent.wait_usec, 0);
	world_end_wait(world, -ETIMEDOUT, "not yet");
	assert_int_equal(world->exchange.status, 504);
}

static void test_bad_parameters(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	assert_int_equal(world_request(world, METHOD_POST, WEB "/mount?timeout=soon", NULL), 400);
	assert_int_equal(world_request(world, METHOD_POST, WEB "/mount?timeout=9999h", NULL), 400);
	assert_int_equal(world_request(world, METHOD_POST, WEB "/wait?for=ever", NULL), 400);
	assert_string_equal(world_string(world, "message"),
			    "for: 'ever' is neither 'mounted' nor 'unmounted'");
	assert_int_equal(world_request(world, METHOD_GET, WEB "/mount", NULL), 405);
	assert_int_equal(world->agent.waits, 0);
}

static void test_too_many_wait(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_POST, WEB "/mount", NULL), 429);
	assert_int_equal(world_request(world, METHOD_POST, WEB "/unmount", NULL), 429);
	assert_int_equal(world_request(world, METHOD_POST, WEB "/mount?timeout=0", NULL), 202);
	assert_int_equal(
		world_request(world, METHOD_GET, "/api/v1/namespaces/default/pods/web", NULL), 200);
}

static void test_unmount(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	world_begin(world, METHOD_POST, WEB "/unmount?timeout=5s", NULL);
	assert_int_equal(world->agent.waits, 0); /* first the pod goes */
	for (int i = 0; i < 50 && world->agent.waits == 0; i++)
		assert_true(sd_event_run(world->event, 20000) >= 0);
	assert_int_equal(world->agent.wait_for, WAIT_UNMOUNTED);
	assert_string_equal(world->agent.wait_uid, uid);
	assert_null(store_get(world->agent.store, KIND_POD, "default", "web"));
	assert_int_equal(world->answers, 0);
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_string(world, "status"), "Success");
	assert_string_equal(world_string(world, "message"),
			    "pod 'default/web' has no volume mounted");

	assert_int_equal(world_request(world, METHOD_POST, WEB "/unmount", NULL), 404);
	store_pod(world, uid);
	assert_int_equal(world_request(world, METHOD_POST, WEB "/unmount?timeout=0", NULL), 202);
	assert_null(store_get(world->agent.store, KIND_POD, "default", "web"));
}

/* Deleted by another client at the same moment: what is left to do is the same. */
static void test_unmount_of_a_pod_that_just_went(void **state)
{
	const struct store_key key = { KIND_POD, "default", "web" };
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	assert_int_equal(store_delete(world->agent.store, &key, NULL, NULL, NULL), 0);
	world_begin(world, METHOD_POST, WEB "/unmount", NULL);
	for (int i = 0; i < 50 && world->agent.waits == 0; i++)
		assert_true(sd_event_run(world->event, 20000) >= 0);
	assert_string_equal(world->agent.wait_uid, uid);
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 200);
}

static void test_a_manifest_holds_its_pod(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	world->agent.manifest_file = "web.yaml";
	assert_int_equal(world_request(world, METHOD_POST, WEB "/unmount", NULL), 409);
	assert_string_equal(world_string(world, "reason"), "Conflict");
	assert_string_equal(world_string(world, "message"),
			    "pod 'default/web' comes from the manifest 'web.yaml' and would be "
			    "mounted again: remove it from the manifest instead");
	assert_non_null(store_get(world->agent.store, KIND_POD, "default", "web"));
}

/* It left the store, its volumes are still there. */
static void test_a_pod_that_is_gone(void **state)
{
	struct world *world = *state;

	world->agent.volumes = volumes_json;
	assert_int_equal(
		world_request(world, METHOD_GET, "/podvol/v1/pods/default/gone/volumes", NULL),
		200);
	assert_string_equal(world_string(world, "items.0.podUID"), "u-gone");
	assert_string_equal(world_string(world, "items.1.podUID"), "");
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/pods/u-other/volumes", NULL),
			 200);
	assert_string_equal(world_string(world, "items.0.pod"), "edge/other");

	assert_int_equal(world_request(world, METHOD_POST, "/podvol/v1/pods/u-gone/mount", NULL),
			 404);
	world_begin(world, METHOD_POST, "/podvol/v1/pods/u-gone/unmount", NULL);
	assert_string_equal(world->agent.wait_pod, "default/gone");
	assert_string_equal(world->agent.wait_uid, "u-gone");
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 200);

	/* This one is unknown: nothing of it is mounted, and there is nothing to unmount. */
	assert_int_equal(
		world_request(world, METHOD_POST, "/podvol/v1/pods/a/b/wait?for=unmounted", NULL),
		200);
	assert_int_equal(world_request(world, METHOD_POST, "/podvol/v1/pods/a/b/unmount", NULL),
			 404);
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/pods/a/b/volumes", NULL),
			 404);
}

static void test_a_client_that_leaves(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	world_begin(world, METHOD_POST, WEB "/mount", NULL);
	exchange_abandon(&world->exchange);
	assert_int_equal(world->agent.cancelled, 1);
	assert_int_equal(world->answers, 0);

	/* In the middle of the delete: it happens, no wait begins. */
	world_begin(world, METHOD_POST, WEB "/unmount", NULL);
	exchange_abandon(&world->exchange);
	for (int i = 0; i < 50 && store_get(world->agent.store, KIND_POD, "default", "web"); i++)
		assert_true(sd_event_run(world->event, 20000) >= 0);
	assert_null(store_get(world->agent.store, KIND_POD, "default", "web"));
	assert_int_equal(world->agent.waits, 1);
	assert_int_equal(world->answers, 0);
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_mount_answers_when_done),
		IN_WORLD(test_a_pod_by_name_and_by_uid),
		IN_WORLD(test_a_failed_wait_says_why),
		IN_WORLD(test_no_wait),
		IN_WORLD(test_bad_parameters),
		IN_WORLD(test_too_many_wait),
		IN_WORLD(test_unmount),
		IN_WORLD(test_unmount_of_a_pod_that_just_went),
		IN_WORLD(test_a_manifest_holds_its_pod),
		IN_WORLD(test_a_pod_that_is_gone),
		IN_WORLD(test_a_client_that_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
