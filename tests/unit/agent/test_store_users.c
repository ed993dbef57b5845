/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_users - the manifest source and the binder on a store that fails or is written by
 * others
 *
 * database_commit() is interposed, as in test_store_failure.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/source/manifest_world.h"

#include "base/cleanup.h"
#include "controller/controller.h"
#include "object/kinds/persistent_volume.h"
#include "store/database.h"

#include <stdatomic.h>
#include <string.h>

static atomic_int failures; /* so many commits fail */

int __real_database_commit(struct database *database, const struct database_write *writes,
			   size_t count, uint64_t resource_version, struct failure *reterr);
int __wrap_database_commit(struct database *database, const struct database_write *writes,
			   size_t count, uint64_t resource_version, struct failure *reterr);

int __wrap_database_commit(struct database *database, const struct database_write *writes,
			   size_t count, uint64_t resource_version, struct failure *reterr)
{
	if (atomic_load(&failures) > 0) {
		atomic_fetch_sub(&failures, 1);
		return failed(reterr, -ENOSPC, "the store");
	}
	return __real_database_commit(database, writes, count, resource_version, reterr);
}

static void full_disk_is_reported_and_the_file_read_again(void **state)
{
	struct manifest_world *world = *state;

	failures = 1;
	put_file(world, "a.yaml", POD("a", "/a"));
	wait_for_problem(world, "a.yaml:Pod/default/a:the store: No space left on device");
	assert_null(stored(world, KIND_POD, "a"));
	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	wait_for_no_problems(world);
}

static void pod_is_not_lost_between_delete_and_create(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	failures = 1; /* the delete */
	put_file(world, "a.yaml", POD("a", "/b"));
	wait_for_problem(world, "No space left on device");
	assert_non_null(strstr(stored(world, KIND_POD, "a")->json, "\"/a\""));
	put_file(world, "a.yaml", POD("a", "/b"));
	(void) wait_for_text(world, KIND_POD, "a", "\"/b\"");
	wait_for_no_problems(world);
}

static void others_write_the_same_object(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "a.yaml", CLAIM("claim"));
	(void) wait_for_object(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim");
	/* Each round the file's update meets one of another writer, before or after it. */
	for (unsigned int i = 0; i < 20; i++) {
		const struct object *claim = stored(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim");
		char text[400], label[64];

		(void) snprintf(label, sizeof(label), "\"round\":\"%u\"", i);
		(void) snprintf(text, sizeof(text),
				"apiVersion: v1\nkind: PersistentVolumeClaim\n"
				"metadata: {name: claim, labels: {round: '%u'}}\nspec:\n"
				"  accessModes: [ReadWriteOnce]\n"
				"  resources: {requests: {storage: 1Gi}}\n",
				i);
		put_file(world, "a.yaml", text);
		assert_int_equal(store_update(world->store.store, claim, NULL, NULL, NULL), 0);
		(void) wait_for_text(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim", label);
	}
	assert_int_equal(problem_count(world), 0);
}

static void no_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
}

static void binding_goes_on_when_there_is_room(void **state)
{
	struct manifest_world *world = *state;
	cleanup_object const struct object *volume = make_volume("v", "a");
	cleanup_object const struct object *other = make_volume("w", "a");
	cleanup_object const struct object *claim = object_of(
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		"'namespace':'default'},'spec':{'volumeName':'v','accessModes':["
		"'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}");
	struct pv_binder *binder;

	assert_int_equal(world_create(&world->store, volume), 0);
	assert_int_equal(world_create(&world->store, claim), 0);
	failures = 1;
	assert_int_equal(pv_binder_new(&(struct controller_options){ .event = world->store.event,
								     .store = world->store.store,
								     .event_fn = no_event },
				       &binder),
			 0);
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "nobody"), -ENOENT);
	assert_int_equal(store_resource_version(world->store.store), 2);
	/* Any change is a reason to try again. */
	assert_int_equal(world_create(&world->store, other), 0);
	(void) wait_for_text(world, KIND_PERSISTENT_VOLUME_CLAIM, "c", "\"phase\":\"Bound\"");
	binder = pv_binder_free(binder);
}

int main(void)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, manifest_world_setup, manifest_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(full_disk_is_reported_and_the_file_read_again),
		TEST(pod_is_not_lost_between_delete_and_create),
		TEST(others_write_the_same_object),
		TEST(binding_goes_on_when_there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
