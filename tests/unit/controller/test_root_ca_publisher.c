/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_root_ca_publisher - ConfigMap kube-root-ca.crt in every namespace; in a real store
 *
 * The texts use ' for ".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/controller.h"
#include "object/kinds/root_ca.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN                                                                                    \
	"{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'kube-root-ca.crt','namespace':" \
	"'edge'},'data':{'ca.crt':'of a cluster'}}"

struct world {
	struct store_world store;
	struct root_ca_publisher *publisher;
};

static void start(struct world *world, const char *certificate)
{
	const struct root_ca_publisher_options options = {
		.common = { .event = world->store.event, .store = world->store.store },
		.certificate = certificate,
	};

	assert_int_equal(root_ca_publisher_new(&options, &world->publisher), 0);
}

static void stop(struct world *world)
{
	world->publisher = root_ca_publisher_free(world->publisher);
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(&world->store);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	stop(world);
	store_world_close(&world->store);
	free(world);
	return 0;
}

static void put(struct world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	assert_int_equal(world_create(&world->store, object), 0);
}

static void put_namespace(struct world *world, const char *name)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'%s'}}", name);
	put(world, text);
}

static void run(struct world *world)
{
	store_world_settle(&world->store);
}

static const struct object *stored(struct world *world, const char *name_space)
{
	run(world);
	return store_get(world->store.store, KIND_CONFIG_MAP, name_space, ROOT_CA_CONFIG_MAP);
}

static void assert_publishes(struct world *world, const char *name_space, const char *certificate)
{
	const struct object *object = stored(world, name_space);

	assert_non_null(object);
	assert_true(root_ca_has(object, certificate));
}

static void each_namespace_has_one_case_470(void **state)
{
	struct world *world = *state;

	put_namespace(world, "first");
	start(world, "A");
	assert_publishes(world, "first", "A");
	put_namespace(world, "second");
	assert_publishes(world, "second", "A");
	assert_non_null(strstr(stored(world, "second")->json, "\"data\":{\"ca.crt\":\"A\"}"));
}

static void one_that_is_deleted_comes_back(void **state)
{
	struct world *world = *state;

	put_namespace(world, "edge");
	start(world, "A");
	assert_publishes(world, "edge", "A");
	assert_int_equal(world_delete(&world->store, KIND_CONFIG_MAP, "edge", ROOT_CA_CONFIG_MAP),
			 0);
	assert_publishes(world, "edge", "A");
}

static void another_authority_replaces_it(void **state)
{
	struct world *world = *state;

	put_namespace(world, "edge");
	start(world, "A");
	assert_publishes(world, "edge", "A");
	stop(world);
	start(world, "B");
	assert_publishes(world, "edge", "B");
}

static void a_clusters_is_left_alone_case_470(void **state)
{
	struct world *world = *state;
	uint64_t version;

	put_namespace(world, "edge");
	put(world, FOREIGN);
	version = stored(world, "edge")->meta.resource_version;
	start(world, "A");
	assert_int_equal(stored(world, "edge")->meta.resource_version, version);
	assert_int_equal(world_delete(&world->store, KIND_NAMESPACE, "", "edge"), 0);
	assert_int_equal(stored(world, "edge")->meta.resource_version, version);
}

/* Applied over what was published: the annotation stays, the certificate is another one. */
static void one_that_a_user_changed_is_left_alone(void **state)
{
	struct world *world = *state;
	cleanup_object const struct object *changed = NULL;
	char text[1024];
	char *found;

	put_namespace(world, "edge");
	start(world, "AAAA");
	(void) snprintf(text, sizeof(text), "%s", stored(world, "edge")->json);
	found = strstr(text, "\"ca.crt\":\"AAAA\"");
	assert_non_null(found);
	(void) memcpy(found + strlen("\"ca.crt\":\""), "BBBB", 4);
	assert_int_equal(object_parse_json(text, strlen(text), &changed, NULL), 0);
	assert_int_equal(world_update(&world->store, changed), 0);
	assert_false(root_ca_is_published(stored(world, "edge")));
	assert_non_null(strstr(stored(world, "edge")->json, "BBBB"));
	stop(world);
	start(world, "CCCC");
	assert_non_null(strstr(stored(world, "edge")->json, "BBBB"));
}

static void it_goes_with_its_namespace(void **state)
{
	struct world *world = *state;

	put_namespace(world, "edge");
	start(world, "A");
	assert_publishes(world, "edge", "A");
	assert_int_equal(world_delete(&world->store, KIND_NAMESPACE, "", "edge"), 0);
	assert_null(stored(world, "edge"));
	/* Killed in between: the start finds it without its namespace. */
	stop(world);
	put_namespace(world, "edge");
	start(world, "A");
	assert_publishes(world, "edge", "A");
	stop(world);
	assert_int_equal(world_delete(&world->store, KIND_NAMESPACE, "", "edge"), 0);
	start(world, "A");
	assert_null(stored(world, "edge"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_namespace_has_one_case_470),
		TEST(one_that_is_deleted_comes_back),
		TEST(another_authority_replaces_it),
		TEST(a_clusters_is_left_alone_case_470),
		TEST(one_that_a_user_changed_is_left_alone),
		TEST(it_goes_with_its_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
