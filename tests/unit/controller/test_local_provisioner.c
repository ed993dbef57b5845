/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_provisioner - orders and writes in their order, in a real store
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "directory_world.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- making ---- */

static const struct persistent_volume_claim *claim(struct world *world)
{
	return store_get(world->store.store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c")->claim;
}

static void a_claim_gets_its_directory(void **state)
{
	struct world *world = *state;
	const struct order *order;

	begin(world);
	order = assert_ordered(world, DIRECTORY_CHOOSE);
	assert_int_equal(order->base_count, 2);
	assert_null(volume(world));
	answer(world, 0);
	/* The volume is stored before its directory is made, and nothing can be bound to it. */
	order = assert_ordered(world, DIRECTORY_MAKE);
	assert_true(volume(world)->origin.is_unfinished);
	assert_string_equal(order->base, "/b");
	assert_string_equal(order->name, PV);
	assert_string_equal(order->mark, volume(world)->object->meta.uid);
	assert_string_equal(volume(world)->local_path, "/b/" PV);
	answer(world, 0);
	assert_false(volume(world)->origin.is_unfinished);
	/* No binder is here: the claim is bound by the write after that of the volume. */
	assert_int_equal(volume(world)->phase, VOLUME_BOUND);
	assert_int_equal(claim(world)->phase, CLAIM_BOUND);
	assert_true(claim(world)->bind_completed);
	assert_string_equal(claim(world)->volume_name, PV);
	assert_int_equal(claim(world)->object->meta.resource_version,
			 volume(world)->object->meta.resource_version + 1);
	assert_int_equal(world->count, 2);
	assert_string_equal(world->events, "Provisioning ProvisioningSucceeded ");
}

/* Then the binder says so of the claim. */
static void a_claim_that_names_another_volume_is_not_bound(void **state)
{
	struct world *world = *state;

	begin(world);
	answer(world, 0);
	put(world, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		   "'namespace':'ns','uid':'" UID "','annotations':{" ASKS "}},"
		   "'spec':{'storageClassName':'s','volumeName':'other','accessModes':["
		   "'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}");
	settle(world);
	answer(world, 0);
	assert_false(volume(world)->origin.is_unfinished);
	assert_false(claim(world)->bind_completed);
	assert_string_equal(claim(world)->volume_name, "other");
	assert_int_not_equal(volume(world)->phase, VOLUME_BOUND);
}

#define AT(path, annotations)                                                                      \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'at','annotations':"      \
	"{" annotations "}},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce']," \
	"'hostPath':{'path':'" path "'}}}"
#define BELOW AT("/b/" PV "/x", "")

static void a_directory_in_another_claims_is_not_made(void **state)
{
	struct world *world = *state;

	put(world, AT("/b", "'pv.kubernetes.io/provisioned-by':'p'"));
	begin(world);
	answer(world, 0);
	assert_ordered(world, DIRECTORY_UNMAKE);
	assert_string_equal(world->events, "Provisioning ProvisioningFailed ");
	answer(world, 0);
	unprotect(world);
	assert_null(volume(world));
}

static void a_directory_in_what_somebody_wrote_is_made(void **state)
{
	struct world *world = *state;

	put(world, AT("/b", ""));
	begin(world);
	answer(world, 0);
	assert_ordered(world, DIRECTORY_MAKE);
}

static void a_start_goes_on_with_the_same_directory(void **state)
{
	struct world *world = *state;
	char mark[64];

	begin(world);
	answer(world, 0);
	(void) snprintf(mark, sizeof(mark), "%s", assert_ordered(world, DIRECTORY_MAKE)->mark);
	world->provisioner = local_provisioner_free(world->provisioner); /* killed, made or not */
	answer(world, 0);
	start(world);
	settle(world);
	assert_string_equal(assert_ordered(world, DIRECTORY_MAKE)->mark, mark);
	assert_string_equal(assert_ordered(world, DIRECTORY_MAKE)->base, "/b");
	answer(world, 0);
	assert_false(volume(world)->origin.is_unfinished);
}

static void delete_claim(struct world *world)
{
	assert_int_equal(world_delete(&world->store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c"), 0);
	put(world, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		   "'namespace':'ns','uid':'" UID "','annotations':{" ASKS "},'finalizers':[]},"
		   "'spec':{'storageClassName':'s','accessModes':['ReadWriteOnce'],'resources':{"
		   "'requests':{'storage':'1Gi'}}}}");
	settle(world);
}

static void a_claim_that_goes_meanwhile_leaves_nothing(void **state)
{
	struct world *world = *state;

	begin(world);
	answer(world, 0);
	assert_ordered(world, DIRECTORY_MAKE);
	delete_claim(world);
	answer(world, 0);
	assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, 0);
	unprotect(world);
	assert_null(volume(world));
}

static void a_claim_that_went_before_the_start_leaves_nothing(void **state)
{
	struct world *world = *state;

	begin(world);
	answer(world, 0);
	world->provisioner = local_provisioner_free(world->provisioner);
	answer(world, 0);
	delete_claim(world);
	start(world);
	settle(world);
	assert_ordered(world, DIRECTORY_UNMAKE);
}

static void what_cannot_be_made_is_taken_back_and_tried_again(void **state)
{
	struct world *world = *state;

	begin(world);
	answer(world, 0);
	answer(world, -EEXIST);
	assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, -EPERM); /* foreign: nothing of podvold's is there */
	unprotect(world);
	assert_null(volume(world));
	assert_string_equal(world->events, "Provisioning ProvisioningFailed ");
	/* Not at once, but when the class changes. */
	assert_int_equal(world->count, world->answered);
	put(world, CLASS(",'allowVolumeExpansion':true"));
	settle(world);
	assert_ordered(world, DIRECTORY_CHOOSE);
}

static void no_room_is_said_and_tried_again(void **state)
{
	struct world *world = *state;

	begin(world);
	answer(world, -ENOSPC);
	assert_null(volume(world));
	assert_string_equal(world->events, "Provisioning ProvisioningFailed ");
	put(world, CLASS(",'allowVolumeExpansion':true"));
	settle(world);
	assert_ordered(world, DIRECTORY_CHOOSE);
}

static void case_438_a_selected_node_that_is_not_there(void **state)
{
	struct world *world = *state;
	const struct object *claim;

	put(world, NODE);
	put(world, CLASS(",'volumeBindingMode':'WaitForFirstConsumer'"));
	put(world, CLAIM(ASKS ",'volume.kubernetes.io/selected-node':'gone'", ""));
	start(world);
	settle(world);
	claim = store_get(world->store.store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");
	assert_string_equal(claim->claim->selected_node, "");
	assert_int_equal(world->count, 0);
}

static void case_449_a_bad_node_map_leaves_the_one_before(void **state)
{
	struct world *world = *state;

#define NODE_MAP(text)                                                                             \
	"{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'local-path-config',"            \
	"'namespace':'local-path-storage'},'data':{'config.json':'" text "'}}"
	put(world, NODE);
	put(world, NODE_MAP("{\\\"nodePathMap\\\":[{\\\"node\\\":\\\"n\\\",\\\"paths\\\":["
			    "\\\"/mine\\\"]}]}"));
	start(world);
	put(world, NODE_MAP("{\\\"nodePathMap\\\":[{\\\"node\\\":\\\"n\\\",\\\"paths\\\":["
			    "\\\"no\\\"]}]}"));
	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':"
		   "'s'},'provisioner':'rancher.io/local-path'}");
	put(world, CLAIM("'volume.kubernetes.io/storage-provisioner':'rancher.io/local-path'", ""));
	settle(world);
	assert_string_equal(assert_ordered(world, DIRECTORY_CHOOSE)->base, "/mine");
}

/* ---- removing ---- */

#define VOLUME_IN(phase, annotations, spec)                                                        \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" PV                     \
	"','annotations':{'pv.kubernetes.io/provisioned-by':'podvol/local',"                       \
	"'podvol.io/base-path':'/b'" annotations "}},'spec':{'capacity':{'storage':'1Gi'},"        \
	"'accessModes':['ReadWriteOnce'],'persistentVolumeReclaimPolicy':'Delete','hostPath':{"    \
	"'path':'/b/" PV "'},'claimRef':{'namespace':'ns','name':'c','uid':'" UID "'}" spec        \
	"},'status':{'phase':'" phase "'}}"
#define VOLUME(annotations, spec) VOLUME_IN("Released", annotations, spec)
#define WAS_DELETED               ",'podvol.io/claim-deleted':'" UID "','podvol.io/deleted-by':'uid 7'"

static void a_released_volume_goes_with_its_directory(void **state)
{
	struct world *world = *state;
	const struct order *order;

	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	order = assert_ordered(world, DIRECTORY_REMOVE);
	assert_string_equal(order->base, "/b");
	assert_string_equal(order->mark, volume(world)->object->meta.uid);
	answer(world, 0);
	unprotect(world);
	assert_null(volume(world));
	assert_int_equal(world->count, 1);
}

static void a_kill_while_removing_goes_on(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	assert_ordered(world, DIRECTORY_REMOVE);
	world->provisioner = local_provisioner_free(world->provisioner);
	answer(world, -ECANCELED);
	assert_false(volume(world)->object->meta.deletes);
	start(world);
	assert_ordered(world, DIRECTORY_REMOVE);
}

static void what_is_used_waits(void **state)
{
	struct world *world = *state;

	world->in_use = true;
	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	assert_int_equal(world->count, 0);
	assert_string_equal(world->events, "VolumeDelete ");
	local_provisioner_resync(world->provisioner, NULL);
	assert_int_equal(world->count, 0);
	world->in_use = false;
	local_provisioner_resync(world->provisioner, NULL);
	assert_ordered(world, DIRECTORY_REMOVE);
}

static void incomplete_sources_remove_nothing(void **state)
{
	struct world *world = *state;

	world->incomplete = true;
	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	assert_int_equal(world->count, 0);
	world->incomplete = false;
	local_provisioner_resync(world->provisioner, NULL);
	assert_ordered(world, DIRECTORY_REMOVE);
}

static void a_missing_claim_is_no_deleted_one(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, VOLUME("", ""));
	start(world);
	assert_int_equal(world->count, 0);
	assert_string_equal(world->events, "VolumeFailedDelete ");
	assert_non_null(volume(world));
}

static void a_volume_with_the_same_path_keeps_it(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	put(world, BELOW);
	start(world);
	assert_int_equal(world->count, 0);
	assert_string_equal(world->events, "VolumeFailedDelete ");
}

/* Stored already, and not yet reported: the very moment in which another client may look. */
static void a_volume_that_came_a_moment_ago_counts(void **state)
{
	struct world *world = *state;

	world->in_use = true;
	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	put(world, BELOW);
	world->in_use = false;
	local_provisioner_resync(world->provisioner, PV);
	assert_int_equal(world->count, 0);
	assert_string_equal(world->events, "VolumeDelete VolumeFailedDelete ");
}

static void only_the_volume_that_is_spoken_of_is_looked_at(void **state)
{
	struct world *world = *state;

	world->in_use = true;
	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	world->in_use = false;
	local_provisioner_resync(world->provisioner, "another");
	assert_int_equal(world->count, 0);
	local_provisioner_resync(world->provisioner, PV);
	assert_ordered(world, DIRECTORY_REMOVE);
}

#define BOUND(annotations) VOLUME_IN("Bound", annotations, "")
#define QUOTA              ",'podvol.io/capacity':'quota'"
#define GROWING                                                                                    \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':"    \
	"'ns','uid':'" UID "','annotations':{" ASKS "}},'spec':{'storageClassName':'s',"           \
	"'volumeName':'" PV "','accessModes':['ReadWriteOnce'],'resources':{'requests':{"          \
	"'storage':'2Gi'}}},'status':{'phase':'Bound','capacity':{'storage':'1Gi'}}}"

static void begin_growing(struct world *world, const char *volume)
{
	put(world, NODE);
	put(world, volume);
	put(world, GROWING);
	start(world);
	settle(world);
}

static void a_claim_that_asks_for_more_gets_it(void **state)
{
	struct world *world = *state;
	const struct order *order;

	begin_growing(world, BOUND(QUOTA));
	order = assert_ordered(world, DIRECTORY_GROW);
	assert_int_equal(order->bytes, 2LL << 30);
	assert_string_equal(order->mark, volume(world)->object->meta.uid);
	/* Not before it was done. */
	assert_int_equal(quantity_value(&volume(world)->capacity), 1LL << 30);
	answer(world, 0);
	assert_int_equal(quantity_value(&volume(world)->capacity), 2LL << 30);
	assert_int_equal(quantity_value(&claim(world)->status_capacity), 2LL << 30);
	assert_string_equal(world->events, "VolumeResizeSuccessful ");
}

static void what_cannot_grow_says_so_and_stays(void **state)
{
	struct world *world = *state;

	begin_growing(world, BOUND(QUOTA));
	assert_ordered(world, DIRECTORY_GROW);
	answer(world, -ENOSPC);
	assert_string_equal(world->events, "VolumeResizeFailed ");
	assert_int_equal(quantity_value(&volume(world)->capacity), 1LL << 30);
	assert_int_equal(quantity_value(&claim(world)->status_capacity), 1LL << 30);
	assert_true(strstr(claim(world)->object->json, "ControllerResizeError") != NULL);
}

static void what_is_mounted_elsewhere_is_no_failure(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	answer(world, -EBUSY);
	assert_string_equal(world->events, "VolumeDelete ");
	assert_false(volume(world)->object->meta.deletes);
}

static void a_failed_removal_keeps_the_volume(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, VOLUME(WAS_DELETED, ""));
	start(world);
	answer(world, -EXDEV);
	assert_string_equal(world->events, "VolumeFailedDelete ");
	assert_non_null(volume(world));
	assert_false(volume(world)->object->meta.deletes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_claim_gets_its_directory),
		TEST(a_claim_that_names_another_volume_is_not_bound),
		TEST(a_directory_in_another_claims_is_not_made),
		TEST(a_directory_in_what_somebody_wrote_is_made),
		TEST(a_start_goes_on_with_the_same_directory),
		TEST(a_claim_that_goes_meanwhile_leaves_nothing),
		TEST(a_claim_that_went_before_the_start_leaves_nothing),
		TEST(what_cannot_be_made_is_taken_back_and_tried_again),
		TEST(no_room_is_said_and_tried_again),
		TEST(case_438_a_selected_node_that_is_not_there),
		TEST(case_449_a_bad_node_map_leaves_the_one_before),
		TEST(a_released_volume_goes_with_its_directory),
		TEST(a_kill_while_removing_goes_on),
		TEST(what_is_used_waits),
		TEST(incomplete_sources_remove_nothing),
		TEST(a_missing_claim_is_no_deleted_one),
		TEST(a_volume_with_the_same_path_keeps_it),
		TEST(a_volume_that_came_a_moment_ago_counts),
		TEST(only_the_volume_that_is_spoken_of_is_looked_at),
		TEST(a_claim_that_asks_for_more_gets_it),
		TEST(what_cannot_grow_says_so_and_stays),
		TEST(what_is_mounted_elsewhere_is_no_failure),
		TEST(a_failed_removal_keeps_the_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
