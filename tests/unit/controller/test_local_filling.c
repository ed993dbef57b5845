/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_filling - volumes that are filled from others, through kills and claims that go
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "directory_world.h"

#include "base/cleanup.h"

#include <errno.h>

#define SOURCE_UID "11111111-2222-3333-4444-000000000009"
#define FROM_CLAIM ",'dataSource':{'kind':'PersistentVolumeClaim','name':'source'}"
#define SOURCE_CLAIM                                                                               \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'source',"           \
	"'namespace':'ns','uid':'" SOURCE_UID "'},'spec':{'storageClassName':'s','accessModes':["  \
	"'ReadWriteOnce'],'volumeName':'source-pv','resources':{'requests':{'storage':'1Gi'}}},"   \
	"'status':{'phase':'Bound'}}"
#define SOURCE_VOLUME(annotations, path)                                                           \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'source-pv',"             \
	"'annotations':{'pv.kubernetes.io/provisioned-by':'podvol/local',"                         \
	"'podvol.io/base-path':'/b'" annotations "}},'spec':{'capacity':{'storage':'1Gi'},"        \
	"'accessModes':['ReadWriteOnce'],'local':{'path':'" path "'},'nodeAffinity':{'required':{" \
	"'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}},"          \
	"'claimRef':{'namespace':'ns','name':'source','uid':'" SOURCE_UID "'}},'status':{"         \
	"'phase':'Bound'}}"

/* A claim that is to be a clone, until its directory is ordered. */
static void begin_clone(struct world *world)
{
	put(world, NODE);
	put(world, CLASS(""));
	put(world, SOURCE_CLAIM);
	put(world, SOURCE_VOLUME("", "/b/source-pv"));
	put(world, CLAIM(ASKS, FROM_CLAIM));
	start(world);
	settle(world);
	answer(world, 0);
	assert_true(assert_ordered(world, DIRECTORY_MAKE)->is_filled);
}

/* As the binder: the volume notes who deleted the claim, then the claim goes. */
static void delete_claim(struct world *world)
{
	cleanup_object const struct object *free = NULL;
	const struct object *claim;

	assert_int_equal(world_delete(&world->store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c"), 0);
	claim = store_get(world->store.store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");
	assert_int_equal(object_edit(claim, remove_finalizers, NULL, &free, NULL), 0);
	assert_int_equal(world_update(&world->store, free), 0);
	settle(world);
}

static void restart(struct world *world)
{
	world->provisioner = local_provisioner_free(world->provisioner);
	while (world->answered < world->count)
		answer(world, -ECANCELED);
	start(world);
	settle(world);
}

static void a_clone_is_filled_settled_and_finished(void **state)
{
	struct world *world = *state;
	const struct order *order;

	begin_clone(world);
	order = assert_ordered(world, DIRECTORY_MAKE);
	assert_string_equal(order->source.base, "/b");
	assert_string_equal(order->source.name, "source-pv");
	assert_false(order->source.is_snapshot);
	answer(world, 0);
	assert_ordered(world, DIRECTORY_SETTLE);
	assert_true(volume(world)->origin.is_unfinished);
	answer(world, 0);
	assert_false(volume(world)->origin.is_unfinished);
	assert_int_equal(world->count, 3);
}

/* What the kill left is full, and may not be taken back: it becomes a volume that goes by the rule
 * for all of them. */
static void one_that_was_settled_before_a_kill_is_finished(void **state)
{
	struct world *world = *state;

	begin_clone(world);
	answer(world, 0);
	assert_ordered(world, DIRECTORY_SETTLE);
	world->provisioner = local_provisioner_free(world->provisioner);
	answer(world, 0); /* without effect */
	delete_claim(world);
	start(world);
	settle(world);
	assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, -EALREADY);
	assert_false(volume(world)->origin.is_unfinished);
	assert_false(volume(world)->object->meta.deletes);
	assert_int_equal(world->count, world->answered);
}

static void one_that_cannot_be_settled_is_tried_again(void **state)
{
	struct world *world = *state;

	begin_clone(world);
	answer(world, 0);
	answer(world, -EIO);
	assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, -EALREADY);
	assert_true(volume(world)->origin.is_unfinished);
	assert_int_equal(world->count, world->answered); /* not at once */
	restart(world);
	assert_true(assert_ordered(world, DIRECTORY_MAKE)->is_filled);
}

static void one_whose_claim_goes_while_it_is_filled_is_taken_back(void **state)
{
	struct world *world = *state;

	begin_clone(world);
	delete_claim(world);
	answer(world, 0);
	assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, 0);
	unprotect(world);
	assert_null(volume(world));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_clone_is_filled_settled_and_finished),
		TEST(one_that_was_settled_before_a_kill_is_finished),
		TEST(one_that_cannot_be_settled_is_tried_again),
		TEST(one_whose_claim_goes_while_it_is_filled_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
