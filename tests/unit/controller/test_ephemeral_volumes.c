/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ephemeral_volumes - claims of generic ephemeral volumes, created and deleted; in a real
 * store
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
#include "controller/binding/ephemeral_volumes.h"
#include "object/kinds/persistent_volume.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UID   "11111111-2222-3333-4444-000000000001"
#define OTHER "11111111-2222-3333-4444-000000000002"

#define POD(uid, more)                                                                             \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'app','namespace':'ns','uid':'" uid    \
	"'},'spec':{" more "'containers':[{'name':'a','image':'i','volumeMounts':[{'name':"        \
	"'scratch','mountPath':'/s'}]}],'volumes':[{'name':'e','emptyDir':{}},{'name':'scratch',"  \
	"'ephemeral':{'volumeClaimTemplate':{'metadata':{'labels':{'l':'1'},'annotations':{"       \
	"'a':'2'}},'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'fast',"             \
	"'resources':{'requests':{'storage':'1Mi'}}}}}}]}}"
#define CLAIM(metadata)                                                                            \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'app-scratch',"      \
	"'namespace':'ns'" metadata "},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"      \
	"'requests':{'storage':'1Gi'}}}}"
#define OWNED_BY(uid)                                                                              \
	",'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'app','uid':'" uid             \
	"','controller':true}]"

struct world {
	struct store_world store;
	struct ephemeral_volumes *controller;
	bool is_in_use, is_incomplete;
};

static bool is_in_use(void *userdata, const struct object *claim, const char *pod_uid)
{
	assert_string_equal(claim->meta.name, "app-scratch");
	assert_string_equal(claim->claim->controller_owner_uid, pod_uid);
	return ((const struct world *) userdata)->is_in_use;
}

static bool is_complete(void *userdata)
{
	return !((const struct world *) userdata)->is_incomplete;
}

static void start(struct world *world)
{
	const struct ephemeral_volumes_options options = {
		.common = { .event = world->store.event,
			    .store = world->store.store,
			    .node_name = "here",
			    .is_complete = is_complete,
			    .userdata = world },
		.is_in_use = is_in_use,
	};

	assert_int_equal(ephemeral_volumes_new(&options, &world->controller), 0);
}

static void stop(struct world *world)
{
	world->controller = ephemeral_volumes_free(world->controller);
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

static void run(struct world *world)
{
	store_world_settle(&world->store);
}

static const struct object *claim(struct world *world)
{
	return store_get(world->store.store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "app-scratch");
}

static void delete_pod(struct world *world)
{
	assert_int_equal(world_delete(&world->store, KIND_POD, "ns", "app"), 0);
	run(world);
}

/* A claim has its protection finalizer until the binder takes it. */
static bool is_deleted(struct world *world)
{
	return claim(world)->meta.deletes;
}

static void assert_has(const struct object *object, const char *text)
{
	assert_non_null(strstr(object->json, text));
}

static void claim_is_created_from_the_template_case_457(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, POD(UID, ""));
	run(world);
	assert_non_null(claim(world));
	assert_string_equal(claim(world)->claim->controller_owner_uid, UID);
	assert_string_equal(claim(world)->claim->storage_class, "fast");
	assert_has(claim(world), "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
				 "\"name\":\"app\",\"uid\":\"" UID "\",\"controller\":true,"
				 "\"blockOwnerDeletion\":true}]");
	assert_has(claim(world), "\"labels\":{\"l\":\"1\"}");
	assert_has(claim(world), "\"a\":\"2\"");
	assert_has(claim(world), "\"storage\":\"1Mi\"");
}

static void pod_of_before_the_start_gets_its_claim(void **state)
{
	struct world *world = *state;

	put(world, POD(UID, ""));
	start(world);
	run(world);
	assert_non_null(claim(world));
}

static void pod_of_another_node_gets_none(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, POD(UID, "'nodeName':'elsewhere',"));
	run(world);
	assert_null(claim(world));
}

static void foreign_claim_stays_case_458(void **state)
{
	struct world *world = *state;
	uint64_t version;

	put(world, CLAIM(""));
	version = claim(world)->meta.resource_version;
	start(world);
	put(world, POD(UID, ""));
	run(world);
	delete_pod(world);
	assert_int_equal(claim(world)->meta.resource_version, version);

	/* Its name is free now. */
	put(world, POD(OTHER, ""));
	assert_int_equal(
		world_delete(&world->store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "app-scratch"), 0);
	assert_true(is_deleted(world));
}

static void claim_goes_after_the_unmount_case_459(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, POD(UID, ""));
	run(world);
	world->is_in_use = true;
	delete_pod(world);
	assert_false(is_deleted(world));

	world->is_in_use = false;
	ephemeral_volumes_resync(world->controller);
	run(world);
	assert_true(is_deleted(world));
	assert_string_equal(claim(world)->claim->deleted_by,
			    "podvold: pod 'ns/app' (uid " UID "), which owned it, is gone");
}

static void claim_goes_when_its_pod_went_while_stopped(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, POD(UID, ""));
	run(world);
	stop(world);
	delete_pod(world);
	world->is_incomplete = true;
	start(world);
	run(world);
	assert_false(is_deleted(world));
	world->is_incomplete = false;
	ephemeral_volumes_resync(world->controller);
	run(world);
	assert_true(is_deleted(world));
}

static void next_pod_of_the_name_owns_nothing(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, POD(UID, ""));
	run(world);
	stop(world);
	delete_pod(world);
	put(world, POD(OTHER, ""));
	start(world);
	run(world);
	assert_true(is_deleted(world));
}

static void claim_of_an_owner_that_was_never_seen_stays(void **state)
{
	struct world *world = *state;

	put(world, CLAIM(OWNED_BY(OTHER)));
	start(world);
	run(world);
	put(world, POD(UID, ""));
	run(world);
	delete_pod(world);
	assert_false(is_deleted(world));
}

static void claim_that_was_applied_with_its_pod_goes_with_it(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, CLAIM(OWNED_BY(UID)));
	put(world, POD(UID, ""));
	run(world);
	delete_pod(world);
	assert_true(is_deleted(world));
}

static void break_pod(const struct world *world)
{
	char path[128];
	sqlite3 *database;

	(void) snprintf(path, sizeof(path), "%s/store.db", world->store.directory);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, "UPDATE objects SET json = '{}' WHERE kind = 'Pod'",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_changes(database), 1);
	assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

/* The store serves no such pod, which is no proof that it is gone. */
static void claim_of_an_unreadable_pod_stays(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, POD(UID, ""));
	run(world);
	stop(world);
	world->store.store = store_free(world->store.store);
	break_pod(world);
	store_world_reopen(&world->store);
	assert_null(store_get(world->store.store, KIND_POD, "ns", "app"));
	start(world);
	run(world);
	assert_false(is_deleted(world));
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(claim_is_created_from_the_template_case_457),
		WITH_WORLD(pod_of_before_the_start_gets_its_claim),
		WITH_WORLD(pod_of_another_node_gets_none),
		WITH_WORLD(foreign_claim_stays_case_458),
		WITH_WORLD(claim_goes_after_the_unmount_case_459),
		WITH_WORLD(claim_goes_when_its_pod_went_while_stopped),
		WITH_WORLD(next_pod_of_the_name_owns_nothing),
		WITH_WORLD(claim_of_an_owner_that_was_never_seen_stays),
		WITH_WORLD(claim_that_was_applied_with_its_pod_goes_with_it),
		WITH_WORLD(claim_of_an_unreadable_pod_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
