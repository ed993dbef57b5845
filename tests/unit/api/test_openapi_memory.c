/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_openapi_memory - a document that found no memory is not kept, and the next one is whole
 *
 * cJSON's allocations are made to fail, each so many in its own run. A document is made once per
 * process, so each is made here until it comes out well.
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

/* A prime, so that runs fail at different members of the same schema. */
enum { STRIDE = 1999 };

static unsigned long seen, fail_at; /* 0: never */

static void *allocate(size_t size)
{
	return ++seen == fail_at ? NULL : malloc(size);
}

/* Return: how many runs failed before one did not. */
static unsigned long request_until_it_is_made(struct world *world, const char *uri,
					      enum api_form form)
{
	unsigned long runs = 0;

	for (;; runs++) {
		seen = 0;
		fail_at = runs * STRIDE + 1;
		world_form = form;
		world_prepare(world, METHOD_GET, uri, NULL);
		api_dispatch(&world->exchange);
		assert_int_equal(world->answers, 1);
		if (seen < fail_at)
			break;
		assert_int_equal(world->exchange.status, 500);
	}
	fail_at = 0;
	assert_int_equal(world->exchange.status, 200);
	return runs;
}

static void test_documents(void **state)
{
	static const char *const uris[] = { "/openapi/v2", "/openapi/v3/api/v1", "/openapi/v3" };
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(uris); i++) {
		enum api_form form = i == 0 ? FORM_OPENAPI : FORM_JSON;
		cleanup_free char *first = NULL;
		size_t length;

		assert_true(request_until_it_is_made(world, uris[i], form) > 0);
		length = world->exchange.reply_length;
		first = malloc(length);
		assert_non_null(first);
		memcpy(first, world->exchange.reply, length);
		assert_int_equal(request_until_it_is_made(world, uris[i], form), 0);
		assert_int_equal(world->exchange.reply_length, length);
		assert_memory_equal(world->exchange.reply, first, length);
	}
}

/* What was kept in the end lacks nothing: as long as a process that never failed makes it. */
static void test_what_was_kept_is_whole(void **state)
{
	struct world *world = *state;
	cleanup_json struct cJSON *tree = NULL;
	const struct json_limits limits = { .bytes = 8 << 20, .depth = 64 };

	world_form = FORM_JSON;
	assert_int_equal(world_request(world, METHOD_GET, "/openapi/v2", NULL), 200);
	assert_int_equal(
		json_parse(world_reply(world), strlen(world_reply(world)), &limits, &tree, NULL),
		0);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);
		char name[256];

		(void) snprintf(name, sizeof(name), "%s.%s", row->schema_package, row->name);
		assert_non_null(
			json_get(json_get(json_get(tree, "definitions"), name), "properties"));
	}
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void)
{
	cJSON_Hooks hooks = { allocate, free };
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_documents),
		WITH_WORLD(test_what_was_kept_is_whole),
	};

	cJSON_InitHooks(&hooks);
	return cmocka_run_group_tests_name("openapi_memory", tests, NULL, NULL);
}
