/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_binding_writes - the writes of one binding: queued together, in order, each refused with the
 * one before, and finished by the next look wherever they broke off
 *
 * database_commit() is interposed: it is counted, and fails when set to.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"
#include "tests/unit/store/failing_commit.h"

#include "base/cleanup.h"
#include "controller/controller.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"

#include <string.h>

enum { WRITES = 2 };

struct world {
	struct store_world store;
	struct pv_binder *binder;
	struct store_watch *watch;
};

static void on_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	fail_msg("%s: %s", reason, text);
}

static void on_wake(void *userdata)
{
}

static void start(struct world *world)
{
	const struct controller_options options = { .event = world->store.event,
						    .store = world->store.store,
						    .node_name = "here",
						    .event_fn = on_event,
						    .userdata = world };

	assert_int_equal(pv_binder_new(&options, &world->binder), 0);
}

static const struct object *first_volume(void)
{
	return object_of("{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v',"
			 "'uid':'11111111-2222-3333-4444-000000000001'},'spec':{'capacity':{"
			 "'storage':'2Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':"
			 "'/d'}},'status':{'phase':'Available'}}");
}

static const struct object *first_claim(void)
{
	return object_of("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':"
			 "'c','namespace':'ns','uid':'11111111-2222-3333-4444-000000000002'},"
			 "'spec':{'accessModes':['ReadWriteOnce'],'volumeName':'v','resources':{"
			 "'requests':{'storage':'1Gi'}}},'status':{'phase':'Pending'}}");
}

static void open_world(struct world *world)
{
	cleanup_object const struct object *volume = first_volume();
	cleanup_object const struct object *claim = first_claim();

	*world = (struct world){ .binder = NULL };
	store_world_open(&world->store);
	assert_int_equal(world_create(&world->store, volume), 0);
	assert_int_equal(world_create(&world->store, claim), 0);
	assert_int_equal(store_watch_new(world->store.store, ~0U, 2, on_wake, NULL, &world->watch),
			 0);
}

static void close_world(struct world *world)
{
	world->watch = store_watch_free(world->watch);
	world->binder = pv_binder_free(world->binder);
	store_world_close(&world->store);
}

static const struct object *volume_in(struct world *world)
{
	return store_get(world->store.store, KIND_PERSISTENT_VOLUME, "", "v");
}

static bool is_bound(void *userdata)
{
	struct world *world = userdata;
	const struct object *claim =
		store_get(world->store.store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");

	return claim->claim->phase == CLAIM_BOUND;
}

/* And nothing more is written. */
static void run_until_bound(struct world *world)
{
	store_world_run(&world->store, is_bound, world);
	for (unsigned int i = 0; i < 8; i++)
		(void) world_delete(&world->store, KIND_POD, "ns", "nobody");
	assert_int_equal(volume_in(world)->persistent_volume->phase, VOLUME_BOUND);
}

static void the_writes_share_a_commit(void **state)
{
	struct world world;

	open_world(&world);
	commits = 0;
	start(&world);
	run_until_bound(&world);
	assert_int_equal(commits, 1);
	assert_int_equal(store_resource_version(world.store.store), 2 + WRITES);
	close_world(&world);
}

/* What the two writes make, as new references. */
static void record_writes(const struct object *ret[WRITES])
{
	const struct store_change *change;
	struct world world;

	open_world(&world);
	start(&world);
	run_until_bound(&world);
	for (size_t i = 0; i < WRITES; i++) {
		assert_int_equal(store_watch_next(world.watch, &change), 1);
		ret[i] = object_ref(change->object);
	}
	assert_int_equal(store_watch_next(world.watch, &change), 0);
	close_world(&world);
}

/* case 394: any number of the two writes is there when the binder begins again. */
static void case_394_a_crash_between_two_writes_is_finished(void **state)
{
	const struct object *writes[WRITES];

	record_writes(writes);
	for (size_t stored = 0; stored <= WRITES; stored++) {
		struct world world;

		open_world(&world);
		for (size_t i = 0; i < stored; i++)
			assert_int_equal(world_update(&world.store, writes[i]), 0);
		world.watch = store_watch_free(world.watch);
		store_world_reopen(&world.store);
		start(&world);
		run_until_bound(&world);
		assert_int_equal(store_resource_version(world.store.store), 2 + WRITES);
		close_world(&world);
	}
	for (size_t i = 0; i < WRITES; i++)
		writes[i] = object_unref(writes[i]);
}

static int add_label(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "labels"), "kept", "yes");
}

/* A user's write is queued before the binder's, which know nothing of it. */
static void overtaken_writes_are_all_decided_again(void **state)
{
	static const char *const names[] = { "v", "c" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_object const struct object *changed = NULL;
		const struct store_change *change;
		const struct object *before;
		struct world world;

		open_world(&world);
		before = i == 0 ? volume_in(&world)
				: store_get(world.store.store, KIND_PERSISTENT_VOLUME_CLAIM, "ns",
					    "c");
		assert_int_equal(object_edit(before, add_label, NULL, &changed, NULL), 0);
		assert_int_equal(store_update(world.store.store, changed, NULL, NULL, NULL), 0);
		start(&world);
		run_until_bound(&world);
		assert_int_equal(store_resource_version(world.store.store), 2 + 1 + WRITES);
		while (store_watch_next(world.watch, &change) > 0)
			if (strcmp(change->object->meta.name, names[i]) == 0)
				assert_non_null(strstr(change->object->json, "\"kept\":\"yes\""));
		close_world(&world);
	}
}

static void a_full_disk_leaves_nothing_and_the_next_change_binds(void **state)
{
	cleanup_object const struct object *other = make_volume("other", "a");
	struct world world;

	open_world(&world);
	next_error = -ENOSPC;
	commits = 0;
	start(&world);
	while (commits == 0)
		assert_return_code(sd_event_run(world.store.event, UINT64_MAX), 0);
	(void) world_delete(&world.store, KIND_POD, "ns", "nobody");
	assert_int_equal(store_resource_version(world.store.store), 2);
	assert_false(volume_in(&world)->persistent_volume->has_claim_ref);
	assert_int_equal(commits, 1);

	assert_int_equal(world_create(&world.store, other), 0);
	run_until_bound(&world);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_writes_share_a_commit),
		cmocka_unit_test(case_394_a_crash_between_two_writes_is_finished),
		cmocka_unit_test(overtaken_writes_are_all_decided_again),
		cmocka_unit_test(a_full_disk_leaves_nothing_and_the_next_change_binds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
