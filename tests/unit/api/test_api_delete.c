/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_delete - what goes, what must stay, and collections
 */
#include "api_world.h"

#include "base/cleanup.h"
#include "object/kinds/persistent_volume.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MAPS "/api/v1/namespaces/default/configmaps"

static void make_map(struct world *world, const char *name_space, const char *name,
		     const char *label)
{
	char uri[128], body[256];

	(void) snprintf(uri, sizeof(uri), "/api/v1/namespaces/%s/configmaps", name_space);
	(void) snprintf(body, sizeof(body),
			"{\"metadata\":{\"name\":\"%s\",\"labels\":{\"part\":\"%s\"}}}", name,
			label);
	assert_int_equal(world_request(world, METHOD_POST, uri, body), 201);
}

static void assert_options(struct world *world, const char *query, const char *body, int status)
{
	char uri[256];

	(void) snprintf(uri, sizeof(uri), MAPS "/a%s", query);
	if (world_request(world, METHOD_DELETE, uri, body) != status)
		fail_msg("%s %s: %s", query, body ? body : "", world_reply(world));
}

static void test_options(void **state)
{
	struct world *world = *state;

	make_map(world, "default", "a", "one");
	assert_options(world, "", "{\"propagationPolicy\":\"Slow\"}", 422);
	assert_options(world, "?propagationPolicy=Slow", NULL, 422);
	assert_options(world, "", "{\"propagationPolicy\":\"Orphan\",\"orphanDependents\":true}",
		       422);
	assert_options(world, "", "{\"gracePeriodSeconds\":-1}", 422);
	assert_options(world, "?gracePeriodSeconds=x", NULL, 422);
	assert_options(world, "", "{\"dryRun\":[\"Some\"]}", 422);
	assert_options(world, "", "[]", 400);
	assert_options(world, "", "{", 400);
	assert_options(world, "", "{\"preconditions\":{\"resourceVersion\":\"9\"}}", 409);
	/* One that cannot be is not the same as none. */
	assert_options(world, "", "{\"preconditions\":{\"resourceVersion\":\"x1\"}}", 409);
	assert_options(world, "", "{\"preconditions\":{\"resourceVersion\":\"\"}}", 409);
	assert_options(world, "", "{\"preconditions\":{\"resourceVersion\":\"0\"}}", 409);
	assert_options(world, "", "{\"preconditions\":{\"resourceVersion\":5}}", 409);
	assert_options(world, "", "{\"preconditions\":{\"uid\":\"\"}}", 409);
	assert_options(world, "", "{\"preconditions\":{\"uid\":5}}", 409);
	assert_options(world, "?propagationPolicy=Background&gracePeriodSeconds=0",
		       "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"dryRun\":[\"All\"],"
		       "\"propagationPolicy\":\"Foreground\",\"gracePeriodSeconds\":30}",
		       200);
	assert_options(world, "", "{\"preconditions\":{\"resourceVersion\":\"1\"}}", 200);
	assert_options(world, "", NULL, 404);
}

/* A difference from Kubernetes, which knows no manifests. */
static void test_a_manifest_holds_its_object(void **state)
{
	struct world *world = *state;

	make_map(world, "default", "a", "one");
	world->agent.manifest_file = "conf.yaml";
	assert_options(world, "", NULL, 409);
	assert_string_equal(world_string(world, "reason"), "Conflict");
	assert_string_equal(world_string(world, "message"),
			    "configmap 'default/a' comes from the manifest 'conf.yaml' and would "
			    "come back: remove it from the manifest instead");
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS, NULL), 409);
	world->agent.manifest_file = NULL;
	assert_options(world, "", NULL, 200);
}

/* A difference from Kubernetes, which deletes what is in it. */
static void test_a_namespace_that_is_not_empty(void **state)
{
	struct world *world = *state;

	(void) world_request(world, METHOD_POST, "/api/v1/namespaces",
			     "{\"metadata\":{\"name\":\"shop\"}}");
	make_map(world, "shop", "a", "one");
	make_map(world, "shop", "b", "one");
	assert_int_equal(world_request(world, METHOD_DELETE, "/api/v1/namespaces/shop", NULL), 409);
	assert_non_null(strstr(world_reply(world), "still holds 2 configmaps"));
	assert_int_equal(
		world_request(world, METHOD_DELETE, "/api/v1/namespaces/shop/configmaps", NULL),
		200);
	assert_int_equal(world_request(world, METHOD_DELETE, "/api/v1/namespaces/shop", NULL), 200);
	(void) world_request(world, METHOD_POST, "/api/v1/namespaces",
			     "{\"metadata\":{\"name\":\"default\"}}");
	assert_int_equal(world_request(world, METHOD_DELETE, "/api/v1/namespaces/default", NULL),
			 403);
}

static void assert_left(struct world *world, const char *first, const char *second)
{
	assert_int_equal(world_request(world, METHOD_GET, "/api/v1/configmaps", NULL), 200);
	assert_string_equal(world_string(world, "items.0.metadata.name"), first);
	assert_string_equal(world_string(world, "items.1.metadata.name"), second);
}

static void test_collections(void **state)
{
	struct world *world = *state;

	make_map(world, "default", "a", "one");
	make_map(world, "default", "b", "two");
	make_map(world, "default", "c", "one");
	make_map(world, "other", "d", "one");
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "?labelSelector=%3D", NULL), 400);
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "?dryRun=All", NULL), 200);
	assert_int_equal(
		world_request(world, METHOD_DELETE, MAPS, "{\"preconditions\":{\"uid\":\"x\"}}"),
		422);
	assert_int_equal(world_request(world, METHOD_DELETE,
				       MAPS "?labelSelector=part%3Done&fieldSelector="
					    "metadata.name!%3Dc",
				       NULL),
			 200);
	assert_string_equal(world_string(world, "status"), "Success");
	assert_left(world, "b", "c");
	assert_int_equal(
		world_request(world, METHOD_DELETE, MAPS "?labelSelector=part%3Done", NULL), 200);
	assert_left(world, "b", "d");
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS, NULL), 200);
	assert_left(world, "d", "");
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS, NULL), 200);
	/* All namespaces at once is no path of Kubernetes. */
	assert_int_equal(world_request(world, METHOD_DELETE, "/api/v1/configmaps", NULL), 405);
}

/* More than are queued at a time. */
static void test_a_large_collection(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 150; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "m%d", i);
		make_map(world, "default", name, "one");
	}
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS, NULL), 200);
	assert_left(world, "", "");
}

/* A client that leaves takes back only what was not begun. */
static void test_a_client_that_leaves(void **state)
{
	struct world *world = *state;

	make_map(world, "default", "a", "one");
	world_begin(world, METHOD_DELETE, MAPS, NULL);
	world_leave(world);
	for (int i = 0; i < 100; i++)
		(void) sd_event_run(world->event, 1000);
	assert_left(world, "", "");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"

static void make_claim_named(struct world *world, const char *name)
{
	char body[512];

	(void) snprintf(body, sizeof(body),
			"{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"accessModes\":["
			"\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}",
			name);
	assert_int_equal(world_request(world, METHOD_POST, CLAIMS, body), 201);
}

static const char *deleted_by(struct world *world, const char *name)
{
	const struct object *claim =
		store_get(world->agent.store, KIND_PERSISTENT_VOLUME_CLAIM, "default", name);

	assert_non_null(claim);
	return claim->claim->deleted_by;
}

/* Its data may go with it: whose doing that was must not be lost. */
static void test_who_deletes_a_claim_is_noted(void **state)
{
	struct world *world = *state;

	make_claim_named(world, "a");
	make_claim_named(world, "b");
	assert_int_equal(world_request(world, METHOD_DELETE, CLAIMS "/a?dryRun=All", NULL), 202);
	assert_string_equal(deleted_by(world, "a"), "");
	assert_int_equal(world_request(world, METHOD_DELETE, CLAIMS "/a", NULL), 202);
	assert_string_equal(deleted_by(world, "a"), "uid 7, process 8");
	assert_string_equal(deleted_by(world, "b"), "");
	assert_int_equal(world_request(world, METHOD_DELETE, CLAIMS, NULL), 200);
	assert_string_equal(deleted_by(world, "b"), "uid 7, process 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_options),
		IN_WORLD(test_a_manifest_holds_its_object),
		IN_WORLD(test_a_namespace_that_is_not_empty),
		IN_WORLD(test_collections),
		IN_WORLD(test_a_large_collection),
		IN_WORLD(test_a_client_that_leaves),
		IN_WORLD(test_who_deletes_a_claim_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
