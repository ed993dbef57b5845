/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_holds - posting, listing and releasing holds: what a request may say, how it is answered
 */
#include "api_world.h"

#include "api/api.h"
#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HOLDS "/podvol/v1/pods/default/web/holds"

static const char one_hold[] = "{\"items\":[{\"id\":\"00000000aa\",\"container\":\"c\",\"pid\":7,"
			       "\"since\":\"2026-01-01T00:00:00.000Z\"}]}";

static void store_pod(struct world *world, char uid[64])
{
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/namespaces/default/pods",
				       world_pod_json),
			 201);
	(void) snprintf(uid, 64, "%s", world_string(world, "metadata.uid"));
	world->agent.holds = one_hold;
}

static void test_posted_hold_is_answered_as_the_list_shows_it(void **state)
{
	struct world *world = *state;
	char uid[64], asked[256];

	store_pod(world, uid);
	assert_int_equal(
		world_request(world, METHOD_POST, HOLDS, "{\"container\":\"c\",\"pid\":7}"), 201);
	(void) snprintf(asked, sizeof(asked), "default/web %s c 7 ''", uid);
	assert_string_equal(world->agent.hold_asked, asked);
	assert_string_equal(world_string(world, "id"), "00000000aa");
	assert_string_equal(world_string(world, "container"), "c");
	assert_string_equal(world_string(world, "since"), "2026-01-01T00:00:00.000Z");
}

static void test_all_three_kinds_are_read(void **state)
{
	static const struct {
		const char *body, *asked;
	} rows[] = {
		{ "{\"container\":\"c\"}", "c 0 ''" },
		{ "{\"cgroup\":\"/sys/fs/cgroup/a\",\"container\":\"c\"}",
		  "c 0 '/sys/fs/cgroup/a'" },
		{ "{\"container\":\"c\",\"pid\":1,\"cgroup\":\"/x\"}", "c 1 '/x'" },
	};
	struct world *world = *state;
	char uid[64], asked[256];

	store_pod(world, uid);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(world_request(world, METHOD_POST, "/podvol/v1/pods/web/holds",
					       rows[i].body),
				 201);
		(void) snprintf(asked, sizeof(asked), "default/web %s %s", uid, rows[i].asked);
		assert_string_equal(world->agent.hold_asked, asked);
	}
}

/* A misspelt member must not become a hold that nothing ends. */
static void test_unclear_bodies_are_refused(void **state)
{
	static const char *const bodies[] = {
		"",
		"[]",
		"{",
		"{}",
		"{\"container\":\"\"}",
		"{\"container\":1}",
		"{\"container\":\"c\",\"PID\":1}",
		"{\"container\":\"c\",\"pid\":\"1\"}",
		"{\"container\":\"c\",\"pid\":0}",
		"{\"container\":\"c\",\"pid\":-1}",
		"{\"container\":\"c\",\"pid\":1.5}",
		"{\"container\":\"c\",\"cgroup\":\"\"}",
		"{\"container\":\"c\",\"container\":\"d\"}",
		"{\"container\":\"c\",\"cgroup\":{}}",
	};
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		assert_int_equal(world_request(world, METHOD_POST, HOLDS, bodies[i]), 400);
		assert_string_equal(world_string(world, "reason"), "BadRequest");
	}
	assert_string_equal(world->agent.hold_asked, "");
}

static void test_long_body_is_refused(void **state)
{
	struct world *world = *state;
	char uid[64], body[API_HOLD_BYTES_MAX + 64];

	store_pod(world, uid);
	memset(body, ' ', sizeof(body));
	memcpy(body, "{\"container\":\"c\"", 16);
	memcpy(body + sizeof(body) - 2, "}", 2);
	assert_int_equal(world_request(world, METHOD_POST, HOLDS, body), 413);
	assert_string_equal(world->agent.hold_asked, "");
}

static void test_refusals_have_their_codes(void **state)
{
	static const struct {
		int error, status;
		const char *reason;
	} rows[] = {
		{ -ESTALE, 409, "Conflict" },      { -EINVAL, 422, "Invalid" },
		{ -ESRCH, 422, "Invalid" },        { -EDQUOT, 403, "Forbidden" },
		{ -EIO, 500, "InternalError" },    { -EOPNOTSUPP, 500, "InternalError" },
		{ -ENOMEM, 500, "InternalError" },
	};
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world->agent.hold_result = rows[i].error;
		assert_int_equal(world_request(world, METHOD_POST, HOLDS, "{\"container\":\"c\"}"),
				 rows[i].status);
		assert_string_equal(world_string(world, "reason"), rows[i].reason);
		assert_string_equal(world_string(world, "message"), "as the test says");
		assert_string_equal(world_string(world, "details.name"), "web");
	}
}

static void test_release_names_pod_and_hold(void **state)
{
	struct world *world = *state;
	char uid[64], uri[160], asked[128];

	store_pod(world, uid);
	assert_int_equal(world_request(world, METHOD_DELETE, HOLDS "/00000000aa", NULL), 200);
	(void) snprintf(asked, sizeof(asked), "release %s 00000000aa", uid);
	assert_string_equal(world->agent.hold_asked, asked);
	assert_string_equal(world_string(world, "status"), "Success");

	(void) snprintf(uri, sizeof(uri), "/podvol/v1/pods/%s/holds/b", uid);
	assert_int_equal(world_request(world, METHOD_DELETE, uri, NULL), 200);
	(void) snprintf(asked, sizeof(asked), "release %s b", uid);
	assert_string_equal(world->agent.hold_asked, asked);

	world->agent.hold_result = -ENOENT;
	assert_int_equal(world_request(world, METHOD_DELETE, HOLDS "/x", NULL), 404);
	assert_string_equal(world_string(world, "message"), "as the test says");
}

/* Deleted, and still mounted: such a pod is what holds are for. */
static void test_pod_that_is_only_mounted(void **state)
{
	struct world *world = *state;

	world->agent.volumes = "{\"items\":[{\"pod\":\"default/gone\",\"podUID\":\"u-gone\"}]}";
	assert_int_equal(world_request(world, METHOD_POST, "/podvol/v1/pods/default/gone/holds",
				       "{\"container\":\"c\"}"),
			 500); /* the list does not show the one that was asked for */
	assert_string_equal(world->agent.hold_asked, "default/gone u-gone c 0 ''");
}

static void test_unknown_pod(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST, HOLDS, "{\"container\":\"c\"}"), 404);
	assert_int_equal(world_request(world, METHOD_GET, HOLDS, NULL), 404);
	assert_int_equal(world_request(world, METHOD_DELETE, HOLDS "/x", NULL), 404);
	assert_int_equal(world_request(world, METHOD_PUT, HOLDS, NULL), 405);
	assert_string_equal(world->agent.hold_asked, "");
}

static void test_list_as_it_is_and_as_table(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod(world, uid);
	assert_int_equal(world_request(world, METHOD_GET, HOLDS, NULL), 200);
	assert_string_equal(world_reply(world), one_hold);
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/holds", NULL), 200);
	assert_string_equal(world_string(world, "kind"), "Table");
	assert_string_equal(world_string(world, "columnDefinitions.1.name"), "ID");
	assert_string_equal(world_string(world, "rows.0.cells.1"), "00000000aa");
	assert_string_equal(world_string(world, "rows.0.cells.4"), "7");
}

#define WORLD_TEST(function)                                                                       \
	cmocka_unit_test_setup_teardown(function, world_set_up, world_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WORLD_TEST(test_posted_hold_is_answered_as_the_list_shows_it),
		WORLD_TEST(test_all_three_kinds_are_read),
		WORLD_TEST(test_unclear_bodies_are_refused),
		WORLD_TEST(test_long_body_is_refused),
		WORLD_TEST(test_refusals_have_their_codes),
		WORLD_TEST(test_release_names_pod_and_hold),
		WORLD_TEST(test_pod_that_is_only_mounted),
		WORLD_TEST(test_unknown_pod),
		WORLD_TEST(test_list_as_it_is_and_as_table),
	};

	return cmocka_run_group_tests_name("api_holds", tests, NULL, NULL);
}
