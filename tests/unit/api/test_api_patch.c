/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_patch - PATCH: its types, conflicts, refusals and the status subresource
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

static int patch(struct world *world, enum api_content content, const char *uri, const char *body)
{
	int status;

	world_content = content;
	status = world_request(world, METHOD_PATCH, uri, body);
	world_content = CONTENT_JSON;
	return status;
}

static void make_map(struct world *world)
{
	assert_int_equal(world_request(world, METHOD_POST, MAPS,
				       "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}},"
				       "\"data\":{\"k\":\"v\"}}"),
			 201);
}

static void test_the_three_types(void **state)
{
	struct world *world = *state;

	make_map(world);
	assert_int_equal(
		patch(world, CONTENT_MERGE_PATCH, MAPS "/a", "{\"data\":{\"k\":null,\"l\":\"w\"}}"),
		200);
	assert_string_equal(world_string(world, "data.k"), "");
	assert_string_equal(world_string(world, "data.l"), "w");
	assert_string_equal(world_string(world, "metadata.resourceVersion"), "2");
	assert_int_equal(
		patch(world, CONTENT_JSON_PATCH, MAPS "/a",
		      "[{\"op\":\"replace\",\"path\":\"/metadata/labels/x\",\"value\":\"2\"}]"),
		200);
	assert_string_equal(world_string(world, "metadata.labels.x"), "2");
	assert_int_equal(patch(world, CONTENT_STRATEGIC_PATCH, MAPS "/a",
			       "{\"metadata\":{\"finalizers\":[\"a.b/c\"]}}"),
			 200);
	assert_int_equal(patch(world, CONTENT_STRATEGIC_PATCH, MAPS "/a",
			       "{\"metadata\":{\"finalizers\":[\"a.b/d\"]}}"),
			 200);
	/* A list that merges. */
	assert_string_equal(world_string(world, "metadata.finalizers.0"), "a.b/d");
	assert_string_equal(world_string(world, "metadata.finalizers.1"), "a.b/c");
	/* One that changes nothing makes no version. */
	assert_int_equal(patch(world, CONTENT_MERGE_PATCH, MAPS "/a", "{\"data\":{\"l\":\"w\"}}"),
			 200);
	assert_string_equal(world_string(world, "metadata.resourceVersion"), "5");
	assert_int_equal(
		patch(world, CONTENT_MERGE_PATCH, MAPS "/a?dryRun=All", "{\"data\":{\"l\":\"x\"}}"),
		200);
	assert_string_equal(world_string(world, "data.l"), "x");
	assert_int_equal(world_request(world, METHOD_GET, MAPS "/a", NULL), 200);
	assert_string_equal(world_string(world, "data.l"), "w");
}

static void assert_refused(struct world *world, enum api_content content, const char *body,
			   int status, const char *reason)
{
	if (patch(world, content, MAPS "/a", body) != status)
		fail_msg("%s: %s", body ? body : "", world_reply(world));
	assert_string_equal(world_string(world, "reason"), reason);
}

/* A difference from Kubernetes, which serves apply patches. */
static void test_refusals(void **state)
{
	struct world *world = *state;

	assert_refused(world, CONTENT_MERGE_PATCH, "{}", 404, "NotFound");
	make_map(world);
	assert_refused(world, CONTENT_JSON, "{}", 415, "UnsupportedMediaType");
	assert_refused(world, CONTENT_APPLY_PATCH, "{}", 415, "UnsupportedMediaType");
	assert_non_null(strstr(world_reply(world), "server-side apply is not served"));
	assert_refused(world, CONTENT_MERGE_PATCH, NULL, 400, "BadRequest");
	assert_refused(world, CONTENT_MERGE_PATCH, "{", 400, "BadRequest");
	assert_refused(world, CONTENT_MERGE_PATCH, "[]", 400, "BadRequest");
	assert_refused(world, CONTENT_JSON_PATCH, "{}", 400, "BadRequest");
	assert_refused(world, CONTENT_JSON_PATCH, "[{\"op\":\"remove\",\"path\":\"/nothing\"}]",
		       422, "Invalid");
	assert_refused(world, CONTENT_STRATEGIC_PATCH, "{\"data\":{\"$patch\":\"x\"}}", 400,
		       "BadRequest");
	assert_refused(world, CONTENT_MERGE_PATCH, "{\"data\":{\"k\":5}}", 422, "Invalid");
	assert_string_equal(world_string(world, "details.causes.0.field"), "data[k]");
	assert_refused(world, CONTENT_MERGE_PATCH, "{\"metadata\":{\"name\":\"b\"}}", 422,
		       "Invalid");
	assert_refused(world, CONTENT_MERGE_PATCH, "{\"metadata\":{\"namespace\":\"b\"}}", 422,
		       "Invalid");
	assert_refused(world, CONTENT_MERGE_PATCH, "{\"kind\":\"Secret\"}", 422, "Invalid");
	assert_refused(world, CONTENT_MERGE_PATCH, "{\"kind\":\"Foo\"}", 422, "Invalid");
	assert_refused(world, CONTENT_MERGE_PATCH, "{\"metadata\":{\"uid\":\"other\"}}", 422,
		       "Invalid");
	assert_int_equal(
		patch(world, CONTENT_MERGE_PATCH, MAPS "/a?fieldValidation=Strict", "{\"foo\":1}"),
		400);
	assert_int_equal(world_request(world, METHOD_GET, MAPS "/a", NULL), 200);
	assert_string_equal(world_string(world, "metadata.resourceVersion"), "1");
}

static void test_versions(void **state)
{
	struct world *world = *state;

	make_map(world);
	assert_refused(world, CONTENT_MERGE_PATCH,
		       "{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{}}", 409, "Conflict");
	assert_int_equal(patch(world, CONTENT_MERGE_PATCH, MAPS "/a",
			       "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"k\":\"w\"}}"),
			 200);
}

static unsigned int patches_done;

static void count_answer(struct exchange *exchange)
{
	patches_done++;
}

/* Two at once change different members: the second is applied again, nothing is lost. */
static void test_patches_at_the_same_time(void **state)
{
	struct world *world = *state;
	struct exchange other;

	make_map(world);
	world_content = CONTENT_MERGE_PATCH;
	world_prepare(world, METHOD_PATCH, MAPS "/a", "{\"data\":{\"one\":\"1\"}}");
	other = world->exchange;
	world->exchange = (struct exchange){ 0 };
	other.answered = count_answer;
	assert_int_equal(api_path_parse(MAPS "/a", &other.path, NULL), 0);
	patches_done = 0;
	api_dispatch(&other);
	assert_int_equal(
		world_request(world, METHOD_PATCH, MAPS "/a", "{\"data\":{\"two\":\"2\"}}"), 200);
	assert_int_equal(patches_done, 1);
	assert_int_equal(other.status, 200);
	assert_string_equal(world_string(world, "data.one"), "1");
	assert_string_equal(world_string(world, "data.two"), "2");
	exchange_done(&other);

	/* With a version of its own the second is a conflict. */
	world_prepare(world, METHOD_PATCH, MAPS "/a", "{\"data\":{\"one\":\"3\"}}");
	other = world->exchange;
	world->exchange = (struct exchange){ 0 };
	other.answered = count_answer;
	assert_int_equal(api_path_parse(MAPS "/a", &other.path, NULL), 0);
	api_dispatch(&other);
	assert_int_equal(world_request(world, METHOD_PATCH, MAPS "/a",
				       "{\"metadata\":{\"resourceVersion\":\"3\"},"
				       "\"data\":{\"two\":\"4\"}}"),
			 409);
	exchange_done(&other);
}

static void test_status_has_its_own_path(void **state)
{
	struct world *world = *state;
	const char *body = "{\"metadata\":{\"labels\":{\"x\":\"1\"}},"
			   "\"status\":{\"phase\":\"Succeeded\"}}";

	assert_int_equal(world_request(world, METHOD_POST, PODS, world_pod_json), 201);
	assert_int_equal(patch(world, CONTENT_STRATEGIC_PATCH, PODS "/web/status", body), 200);
	assert_string_equal(world_string(world, "status.phase"), "Succeeded");
	assert_string_equal(world_string(world, "metadata.labels.x"), "");
	assert_int_equal(patch(world, CONTENT_STRATEGIC_PATCH, PODS "/web",
			       "{\"metadata\":{\"labels\":{\"x\":\"1\"}},"
			       "\"status\":{\"phase\":\"Failed\"}}"),
			 200);
	assert_string_equal(world_string(world, "status.phase"), "Succeeded");
	assert_string_equal(world_string(world, "metadata.labels.x"), "1");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

/* By bodies that are each below the limit of an object; nothing is stored above it. */
static void test_growth_is_bounded(void **state)
{
	enum { KEYS = 40 }; /* few enough for PATCH_STEPS_MAX in the largest object */
	struct world *world = *state;
	int status = 200;

	make_map(world);
	for (int n = 0; n < OBJECT_NODES_MAX / KEYS && status == 200; n++) {
		cleanup_free char *text = NULL;
		size_t length = 0;
		FILE *file = open_memstream(&text, &length);

		assert_non_null(file);
		(void) fputs("{\"data\":{", file);
		for (int i = 0; i < KEYS; i++)
			(void) fprintf(file, "%s\"k%d-%d\":\"v\"", i ? "," : "", n, i);
		(void) fputs("}}", file);
		assert_int_equal(fclose(file), 0);
		status = patch(world, CONTENT_MERGE_PATCH, MAPS "/a", text);
		assert_int_equal(status, (n + 1) * KEYS < OBJECT_NODES_MAX ? 200 : 413);
	}
	assert_non_null(
		strstr(world_string(world, "message"), "the object would hold more than 12000"));
	assert_int_equal(patch(world, CONTENT_MERGE_PATCH, MAPS "/a", "{\"data\":null}"), 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_the_three_types),
		IN_WORLD(test_refusals),
		IN_WORLD(test_versions),
		IN_WORLD(test_patches_at_the_same_time),
		IN_WORLD(test_status_has_its_own_path),
		IN_WORLD(test_growth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
