/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_write - create and update: names that are made, trials, unknown fields, rights
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MAPS    "/api/v1/namespaces/default/configmaps"
#define PODS    "/api/v1/namespaces/default/pods"
#define SECRETS "/api/v1/namespaces/default/secrets"

static unsigned int random_calls;
static bool random_is_fixed;

ssize_t __real_getrandom(void *buffer, size_t length, unsigned int flags);
ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned int flags);

/* Five bytes are a name's: the first two draws are the same when a test wants a conflict. */
ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned int flags)
{
	if (!random_is_fixed || length != 5)
		return __real_getrandom(buffer, length, flags);
	memset(buffer, random_calls++ < 2 ? 0 : 1, length);
	return (ssize_t) length;
}

static void test_names_are_made(void **state)
{
	struct world *world = *state;
	const char *body = "{\"metadata\":{\"generateName\":\"conf-\"}}";
	char name[64];

	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);
	(void) snprintf(name, sizeof(name), "%s", world_string(world, "metadata.name"));
	assert_int_equal(strlen(name), strlen("conf-") + 5);
	assert_memory_equal(name, "conf-", 5);
	assert_int_equal(strspn(name + 5, "bcdfghjklmnpqrstvwxz2456789"), 5);
	assert_string_equal(world_string(world, "metadata.generateName"), "conf-");
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);
	assert_string_not_equal(world_string(world, "metadata.name"), name);
	/* A name of its own wins; a long base is cut so that the name is a label. */
	assert_int_equal(
		world_request(world, METHOD_POST, MAPS,
			      "{\"metadata\":{\"generateName\":\"conf-\",\"name\":\"mine\"}}"),
		201);
	assert_string_equal(world_string(world, "metadata.name"), "mine");
	assert_int_equal(
		world_request(world, METHOD_POST, MAPS,
			      "{\"metadata\":{\"generateName\":"
			      "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			      "aaaaaaaa-\"}}"),
		201);
	assert_int_equal(strlen(world_string(world, "metadata.name")), 63);
	assert_int_equal(world_request(world, METHOD_POST, MAPS, "{\"metadata\":{}}"), 422);
}

static void test_a_made_name_that_is_taken(void **state)
{
	struct world *world = *state;
	const char *body = "{\"metadata\":{\"generateName\":\"conf-\"}}";

	random_is_fixed = true;
	random_calls = 0;
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);
	assert_string_equal(world_string(world, "metadata.name"), "conf-bbbbb");
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);
	assert_string_equal(world_string(world, "metadata.name"), "conf-ccccc");
	assert_int_equal(random_calls, 3);
	/* Not for ever. */
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 409);
	assert_string_equal(world_string(world, "reason"), "AlreadyExists");
	random_is_fixed = false;
}

static void test_trials(void **state)
{
	struct world *world = *state;
	const char *body = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}";
	const char *other = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"w\"}}";

	assert_int_equal(world_request(world, METHOD_POST, MAPS "?dryRun=All", body), 201);
	assert_int_equal(strlen(world_string(world, "metadata.uid")), 36);
	assert_int_equal(world_request(world, METHOD_GET, MAPS "/a", NULL), 404);
	assert_int_equal(world_request(world, METHOD_PUT, MAPS "/a?dryRun=All", body), 404);
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);
	assert_int_equal(world_request(world, METHOD_POST, MAPS "?dryRun=All", body), 409);
	assert_int_equal(world_request(world, METHOD_PUT, MAPS "/a?dryRun=All", other), 200);
	assert_string_equal(world_string(world, "data.k"), "w");
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "/a?dryRun=All", NULL), 200);
	assert_int_equal(world_request(world, METHOD_GET, MAPS "/a", NULL), 200);
	assert_string_equal(world_string(world, "data.k"), "v");
	assert_string_equal(world_string(world, "metadata.resourceVersion"), "1");
	/* A word that we do not know must not become a write. */
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "/a?dryRun=Some", NULL), 422);
	assert_int_equal(world_request(world, METHOD_PUT, MAPS "/a?dryRun=", other), 422);
	assert_int_equal(world_request(world, METHOD_PUT, MAPS "/a?dryRun=All&dryRun=x", other),
			 422);
	assert_string_equal(world_string(world, "message"),
			    "UpdateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: "
			    "\"x\": supported values: \"All\"");
}

static void test_unknown_fields(void **state)
{
	struct world *world = *state;
	const char *body = "{\"metadata\":{\"name\":\"a\",\"lables\":{}},\"dta\":{}}";

	assert_int_equal(world_request(world, METHOD_POST, MAPS "?fieldValidation=Strict", body),
			 400);
	assert_string_equal(world_string(world, "message"),
			    "strict decoding error: unknown field \"metadata.lables\" and others");
	assert_int_equal(world_request(world, METHOD_POST, MAPS "?fieldValidation=Some", body),
			 422);
	assert_int_equal(
		world_request(world, METHOD_POST, MAPS "?dryRun=All&fieldValidation=Ignore", body),
		201);
	assert_null(world->exchange.warnings);
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);
	assert_string_equal(world->exchange.warnings,
			    "unknown field \"metadata.lables\"\nunknown field \"dta\"");
	assert_int_equal(world_request(world, METHOD_PUT, MAPS "/a?fieldValidation=Strict",
				       "{\"metadata\":{\"name\":\"a\"},\"data\":{}}"),
			 200);
}

static void test_rights(void **state)
{
	struct world *world = *state;
	const char *body = "{\"metadata\":{\"name\":\"a\"}}";

	assert_int_equal(world_request(world, METHOD_POST, SECRETS, body), 201);
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 201);

	world_rights = RIGHT_READ | RIGHT_WRITE;
	assert_int_equal(world_request(world, METHOD_GET, MAPS "/a", NULL), 200);
	assert_int_equal(world_request(world, METHOD_GET, SECRETS "/a", NULL), 403);
	assert_string_equal(world_string(world, "reason"), "Forbidden");
	assert_string_equal(
		world_string(world, "message"),
		"secrets \"a\" is forbidden: this client cannot get resource "
		"\"secrets\" in API group \"\": only root, or role admin, may read its contents");
	assert_int_equal(world_request(world, METHOD_GET, SECRETS, NULL), 403);
	assert_int_equal(world_request(world, METHOD_GET, SECRETS "?watch=true", NULL), 403);
	assert_int_equal(world_request(world, METHOD_DELETE, SECRETS "/a", NULL), 403);
	assert_int_equal(world_request(world, METHOD_PUT, SECRETS "/a", body), 403);

	world_rights = RIGHT_READ | RIGHT_SECRETS;
	assert_int_equal(world_request(world, METHOD_GET, SECRETS "/a", NULL), 200);
	assert_int_equal(world_request(world, METHOD_POST, MAPS, body), 403);
	assert_int_equal(world_request(world, METHOD_PUT, MAPS "/a", body), 403);
	assert_int_equal(world_request(world, METHOD_PATCH, MAPS "/a", "{}"), 403);
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "/a", NULL), 403);
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS, NULL), 403);

	world_rights = RIGHT_WRITE;
	assert_int_equal(world_request(world, METHOD_GET, MAPS, NULL), 403);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_names_are_made), IN_WORLD(test_a_made_name_that_is_taken),
		IN_WORLD(test_trials),         IN_WORLD(test_unknown_fields),
		IN_WORLD(test_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
