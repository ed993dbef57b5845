/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_move - a claim's data go to another class: orders and writes, through kills
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "directory_world.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

#define OLD                                                                                        \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" PV                     \
	"','annotations':{'pv.kubernetes.io/provisioned-by':'podvol/local',"                       \
	"'podvol.io/base-path':'/b'}},'spec':{'capacity':{'storage':'1Gi'},"                       \
	"'accessModes':['ReadWriteOnce'],'persistentVolumeReclaimPolicy':'Delete',"                \
	"'storageClassName':'s','volumeMode':'Filesystem','local':{'path':'/b/" PV                 \
	"'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"     \
	"'operator':'Exists'}]}]}},'claimRef':{'namespace':'ns','name':'c','uid':'" UID            \
	"'}},'status':{'phase':'Bound'}}"
#define MOVING ",'podvol.io/move-to':'t'"
#define BOUND_CLAIM(annotations)                                                                   \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':"    \
	"'ns','uid':'" UID                                                                         \
	"','annotations':{'pv.kubernetes.io/bind-completed':'yes'," ASKS annotations               \
	"}},'spec':{'storageClassName':'s','volumeName':'" PV                                      \
	"','accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}},"           \
	"'status':{'phase':'Bound','capacity':{'storage':'1Gi'}}}"
#define TARGET_CLASS(provisioner, base)                                                            \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'t'},"         \
	"'provisioner':'" provisioner                                                              \
	"','reclaimPolicy':'Delete','parameters':{'basePaths':'" base "'}}"

#define OTHER_CLASS                                                                                \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'o'},"         \
	"'provisioner':'podvol/local','parameters':{'basePaths':'/o'}}"

static const struct persistent_volume_claim *claim(struct world *world)
{
	return store_get(world->store.store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c")->claim;
}

/* The new volume; NULL: there is none. */
static const struct persistent_volume *made(struct world *world)
{
	static char name[CLAIM_MOVE_NAME_BYTES];
	const struct object *object;

	if (strcmp(claim(world)->volume_name, PV) == 0)
		(void) claim_move_name(claim(world)->object, name);
	object = store_get(world->store.store, KIND_PERSISTENT_VOLUME, "", name);
	return object ? object->persistent_volume : NULL;
}

static void put_all(struct world *world, const char *target_class)
{
	put(world, NODE);
	put(world, CLASS(""));
	put(world, target_class);
	put(world, OLD);
	put(world, BOUND_CLAIM(MOVING));
}

static void begin_move(struct world *world)
{
	put_all(world, TARGET_CLASS("podvol/local", "/t"));
	start(world);
	settle(world);
}

static void restart(struct world *world)
{
	world->provisioner = local_provisioner_free(world->provisioner);
	for (; world->answered < world->count; world->answered++)
		world->orders[world->answered].done(world->orders[world->answered].userdata,
						    -ECANCELED, NULL, NULL);
	start(world);
	settle(world);
}

static void assert_moved(struct world *world)
{
	const struct persistent_volume *new_volume = made(world);

	assert_int_equal(world->count, world->answered);
	assert_false(new_volume->origin.is_unfinished);
	assert_string_equal(new_volume->origin.moved_from, PV);
	assert_int_equal(new_volume->reclaim_policy, RECLAIM_DELETE);
	assert_string_equal(claim(world)->volume_name, new_volume->object->meta.name);
	assert_string_equal(claim(world)->storage_class, "t");
	assert_string_equal(claim(world)->move_to, "");
	assert_string_equal(volume(world)->origin.moved_to, new_volume->object->meta.name);
	assert_int_equal(volume(world)->reclaim_policy, RECLAIM_RETAIN);
}

static void assert_refused(struct world *world, const char *why)
{
	assert_string_equal(claim(world)->move_to, "");
	assert_string_equal(claim(world)->volume_name, PV);
	assert_string_equal(claim(world)->storage_class, "s");
	assert_non_null(strstr(claim(world)->object->json, why));
	assert_int_equal(volume(world)->reclaim_policy, RECLAIM_DELETE);
	assert_non_null(strstr(world->events, "VolumeMoveFailed "));
}

static void a_copy_is_made_and_the_claim_gets_it(void **state)
{
	struct world *world = *state;
	const struct order *order;

	begin_move(world);
	assert_string_equal(assert_ordered(world, DIRECTORY_CHOOSE)->base, "/t");
	assert_null(made(world));
	answer(world, 0);
	order = assert_ordered(world, DIRECTORY_MAKE);
	assert_true(made(world)->origin.is_unfinished);
	assert_string_equal(order->mark, made(world)->object->meta.uid);
	assert_string_equal(order->source.base, "/b");
	assert_string_equal(order->source.name, PV);
	assert_string_equal(order->source.mark, volume(world)->object->meta.uid);
	assert_string_equal(claim(world)->volume_name, PV);
	answer(world, 0);
	(void) assert_ordered(world, DIRECTORY_SETTLE);
	assert_string_equal(claim(world)->volume_name, PV);
	answer(world, 0);
	assert_moved(world);
	assert_string_equal(world->events, "VolumeMoving VolumeMoved ");
}

static void a_kill_at_any_order_goes_on(void **state)
{
	struct world *world = *state;

	begin_move(world);
	restart(world);
	(void) assert_ordered(world, DIRECTORY_CHOOSE);
	answer(world, 0);
	restart(world);
	(void) assert_ordered(world, DIRECTORY_MAKE);
	answer(world, 0);
	restart(world);
	(void) assert_ordered(world, DIRECTORY_MAKE);
	answer(world, 0);
	answer(world, 0);
	assert_moved(world);
	restart(world);
	assert_moved(world);
}

static int unfinish(struct cJSON *tree, void *userdata)
{
	return metadata_set_annotation(tree, ANNOTATION_UNFINISHED, "yes");
}

/* The claim has it, and it is not finished: that alone is done. */
static void a_kill_before_the_last_write_finishes(void **state)
{
	struct world *world = *state;
	cleanup_object const struct object *before = NULL;

	begin_move(world);
	for (unsigned int i = 0; i < 3; i++)
		answer(world, 0);
	world->provisioner = local_provisioner_free(world->provisioner);
	assert_int_equal(object_edit(made(world)->object, unfinish, NULL, &before, NULL), 0);
	assert_int_equal(world_update(&world->store, before), 0);
	assert_true(made(world)->origin.is_unfinished);
	start(world);
	settle(world);
	assert_moved(world);
}

static void what_is_used_or_wanted_is_not_moved(void **state)
{
	struct world *world = *state;

	world->in_use = true;
	begin_move(world);
	assert_int_equal(world->count, 0);
	assert_refused(world, "is in use");
	world->in_use = false;
	world->wanted = true;
	put(world, BOUND_CLAIM(MOVING));
	settle(world);
	assert_int_equal(world->count, 0);
	assert_refused(world, "is in use");
}

/* A pod may come that has it already. */
static void nothing_is_moved_before_all_is_read(void **state)
{
	struct world *world = *state;

	world->incomplete = true;
	begin_move(world);
	assert_int_equal(world->count, 0);
	assert_string_equal(claim(world)->move_to, "t");
	world->incomplete = false;
	local_provisioner_resync(world->provisioner, NULL);
	(void) assert_ordered(world, DIRECTORY_CHOOSE);
}

static void what_cannot_be_made_is_taken_back(void **state)
{
	struct world *world = *state;

	begin_move(world);
	answer(world, -ENOSPC);
	assert_refused(world, "error -28");
	put(world, BOUND_CLAIM(MOVING));
	settle(world);
	answer(world, 0);
	answer(world, -ENOSPC);
	assert_refused(world, "error -28");
	(void) assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, 0);
	assert_true(made(world)->object->meta.deletes);
}

static void a_move_that_is_called_off_is_taken_back(void **state)
{
	struct world *world = *state;

	begin_move(world);
	answer(world, 0);
	put(world, BOUND_CLAIM(""));
	settle(world);
	answer(world, 0);
	assert_true(assert_ordered(world, DIRECTORY_UNMAKE)->is_unused);
	assert_string_equal(claim(world)->volume_name, PV);
	answer(world, 0);
	assert_true(made(world)->object->meta.deletes);
	assert_int_equal(world->count, world->answered);
	assert_string_equal(volume(world)->origin.moved_to, "");
}

/* Also when it is settled: the claim never had it. */
static void a_move_that_is_called_off_before_the_switch_is_taken_back(void **state)
{
	struct world *world = *state;

	begin_move(world);
	answer(world, 0);
	answer(world, 0);
	put(world, BOUND_CLAIM(""));
	settle(world);
	(void) assert_ordered(world, DIRECTORY_SETTLE);
	answer(world, 0);
	assert_true(assert_ordered(world, DIRECTORY_UNMAKE)->is_unused);
	answer(world, 0);
	assert_true(made(world)->object->meta.deletes);
	assert_int_equal(volume(world)->reclaim_policy, RECLAIM_DELETE);
}

/* Whether it had the new volume is not known: that becomes one, and nothing is removed. */
static void a_claim_that_is_gone_takes_nothing_that_is_settled(void **state)
{
	struct world *world = *state;
	cleanup_object const struct object *free = NULL;
	char name[CLAIM_MOVE_NAME_BYTES];

	begin_move(world);
	answer(world, 0);
	answer(world, 0);
	(void) claim_move_name(claim(world)->object, name);
	assert_int_equal(object_edit(claim(world)->object, remove_finalizers, NULL, &free, NULL),
			 0);
	assert_int_equal(world_update(&world->store, free), 0);
	assert_int_equal(world_delete(&world->store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c"), 0);
	settle(world);
	answer(world, 0);
	assert_false(assert_ordered(world, DIRECTORY_UNMAKE)->is_unused);
	answer(world, -EALREADY);
	assert_false(store_get(world->store.store, KIND_PERSISTENT_VOLUME, "", name)
			     ->persistent_volume->origin.is_unfinished);
	assert_int_equal(world->count, world->answered);
}

/* A pod may have written to the old volume in between. */
static void a_copy_from_before_is_not_taken(void **state)
{
	struct world *world = *state;

	begin_move(world);
	answer(world, 0);
	put(world, BOUND_CLAIM(""));
	put(world, BOUND_CLAIM(MOVING));
	settle(world);
	(void) assert_ordered(world, DIRECTORY_MAKE);
	restart(world); /* nor after a kill */
	(void) assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, 0);
	assert_true(made(world)->object->meta.deletes);
	assert_string_equal(claim(world)->volume_name, PV);
}

/* As the binder does when it is being deleted. */
static void unprotect_made(struct world *world)
{
	cleanup_object const struct object *free = NULL;

	assert_true(made(world)->object->meta.deletes);
	assert_int_equal(object_edit(made(world)->object, remove_finalizers, NULL, &free, NULL), 0);
	assert_int_equal(world_update(&world->store, free), 0);
	settle(world);
}

/* What was copied for one class is no volume of the other. */
static void another_class_begins_again(void **state)
{
	struct world *world = *state;

	begin_move(world);
	answer(world, 0);
	put(world, OTHER_CLASS);
	put(world, BOUND_CLAIM(",'podvol.io/move-to':'o'"));
	settle(world);
	answer(world, 0);
	(void) assert_ordered(world, DIRECTORY_UNMAKE);
	answer(world, 0);
	unprotect_made(world);
	assert_string_equal(assert_ordered(world, DIRECTORY_CHOOSE)->base, "/o");
	for (unsigned int i = 0; i < 3; i++)
		answer(world, 0);
	assert_string_equal(claim(world)->storage_class, "o");
	assert_string_equal(claim(world)->volume_name, made(world)->object->meta.name);
	assert_string_equal(made(world)->storage_class, "o");
}

#define MOVING_TO(path) ",'podvol.io/move-to':'" path "'"

/* Of the claim's own class, and retained. */
static void a_path_gets_the_data(void **state)
{
	struct world *world = *state;

	put_all(world, TARGET_CLASS("podvol/local", "/t"));
	put(world, BOUND_CLAIM(MOVING_TO("/srv/x/data")));
	restart(world);
	assert_string_equal(assert_ordered(world, DIRECTORY_CHOOSE)->base, "/srv/x");
	assert_true(world->orders[world->answered].is_named);
	answer(world, 0);
	for (unsigned int i = 0; i < 2; i++) {
		restart(world);
		assert_string_equal(assert_ordered(world, DIRECTORY_MAKE)->name, "data");
	}
	answer(world, 0);
	answer(world, 0);
	assert_string_equal(made(world)->local_path, "/srv/x/data");
	assert_int_equal(made(world)->reclaim_policy, RECLAIM_RETAIN);
	assert_false(made(world)->origin.is_unfinished);
	assert_string_equal(claim(world)->volume_name, made(world)->object->meta.name);
	assert_string_equal(claim(world)->storage_class, "s");
	assert_string_equal(claim(world)->move_to, "");
}

/* What was copied to one path is nothing of the other. */
static void another_path_begins_again(void **state)
{
	struct world *world = *state;

	put_all(world, TARGET_CLASS("podvol/local", "/t"));
	put(world, BOUND_CLAIM(MOVING_TO("/srv/x")));
	restart(world);
	answer(world, 0);
	(void) assert_ordered(world, DIRECTORY_MAKE);
	put(world, BOUND_CLAIM(MOVING_TO("/srv/y")));
	settle(world);
	answer(world, 0);
	assert_string_equal(assert_ordered(world, DIRECTORY_UNMAKE)->name, "x");
	answer(world, 0);
	assert_true(made(world)->object->meta.deletes);
	assert_string_equal(claim(world)->volume_name, PV);
}

static void paths_that_are_none_are_refused(void **state)
{
	static const char *const paths[] = {
		BOUND_CLAIM(MOVING_TO("/")),      BOUND_CLAIM(MOVING_TO("/x")),
		BOUND_CLAIM(MOVING_TO("/a/")),    BOUND_CLAIM(MOVING_TO("/a/../b")),
		BOUND_CLAIM(MOVING_TO("/a/./b")), BOUND_CLAIM(MOVING_TO("//a/b")),
		BOUND_CLAIM(MOVING_TO("/a/..")),  BOUND_CLAIM(MOVING_TO("/a/\\u0001")),
	};
	struct world *world = *state;

	put_all(world, TARGET_CLASS("podvol/local", "/t"));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		put(world, paths[i]);
		restart(world);
		assert_refused(world, "a path is absolute and has a directory above it");
		assert_int_equal(world->count, 0);
	}
	put(world, BOUND_CLAIM(MOVING_TO("/b/" PV "/x")));
	restart(world);
	assert_refused(world, "it lies in the directory of volume '" PV "', or holds it");
	assert_int_equal(world->count, 0);
}

#define FORGED(origin, source)                                                                     \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" PV                     \
	"-a92db63ff0d54e9c','annotations':{'pv.kubernetes.io/provisioned-by':'podvol/local',"      \
	"'podvol.io/unfinished':'yes','podvol.io/moved-from':'" PV "'" origin                      \
	"}},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],"                 \
	"'storageClassName':'t'," source ",'claimRef':{'namespace':'ns','name':'c','uid':'" UID    \
	"'}}}"

/* Who may write volumes knows the name that it will have. */
static void a_volume_of_that_name_is_not_filled(void **state)
{
	static const char *const forged[] = {
		FORGED(",'podvol.io/base-path':'/e'", "'hostPath':{'path':'/e/v'}"),
		FORGED(",'podvol.io/base-path':'/t'", "'hostPath':{'path':'/e/v'}"),
		FORGED("", "'csi':{'driver':'x','volumeHandle':'v'}"),
	};
	struct world *world = *state;

	put_all(world, TARGET_CLASS("podvol/local", "/t"));
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		put(world, forged[i]);
		put(world, BOUND_CLAIM(MOVING));
		restart(world);
		assert_refused(world, "which no move made");
		for (; world->answered < world->count; answer(world, 0))
			(void) assert_ordered(world, DIRECTORY_UNMAKE);
		(void) world_delete(&world->store, KIND_PERSISTENT_VOLUME, "",
				    made(world)->object->meta.name);
		unprotect_made(world);
	}
}

/* It is made one volume, by its own name, when it cannot be moved yet. */
static void a_claim_without_a_volume_gets_one(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, CLASS(""));
	put(world, TARGET_CLASS("podvol/local", "/t"));
	put(world, CLAIM(ASKS MOVING, ""));
	start(world);
	settle(world);
	assert_string_equal(claim(world)->move_to, "");
	(void) assert_ordered(world, DIRECTORY_CHOOSE);
}

static void other_classes_are_refused(void **state)
{
	struct world *world = *state;

	put_all(world, TARGET_CLASS("rancher.io/local-path", "/t"));
	start(world);
	settle(world);
	assert_refused(world, "the class's provisioner is 'rancher.io/local-path'");
	assert_int_equal(world_delete(&world->store, KIND_STORAGE_CLASS, "", "t"), 0);
	put(world, TARGET_CLASS("podvol/local", "/b/" PV "/below"));
	put(world, BOUND_CLAIM(MOVING));
	settle(world);
	assert_refused(world, "lies in volume");
	assert_int_equal(world_delete(&world->store, KIND_STORAGE_CLASS, "", "t"), 0);
	put(world, BOUND_CLAIM(MOVING));
	settle(world);
	assert_refused(world, "there is no StorageClass 't'");
	assert_int_equal(world->count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_copy_is_made_and_the_claim_gets_it),
		TEST(a_kill_at_any_order_goes_on),
		TEST(a_kill_before_the_last_write_finishes),
		TEST(what_is_used_or_wanted_is_not_moved),
		TEST(nothing_is_moved_before_all_is_read),
		TEST(what_cannot_be_made_is_taken_back),
		TEST(a_move_that_is_called_off_is_taken_back),
		TEST(a_move_that_is_called_off_before_the_switch_is_taken_back),
		TEST(a_claim_that_is_gone_takes_nothing_that_is_settled),
		TEST(a_copy_from_before_is_not_taken),
		TEST(another_class_begins_again),
		TEST(a_path_gets_the_data),
		TEST(another_path_begins_again),
		TEST(paths_that_are_none_are_refused),
		TEST(a_volume_of_that_name_is_not_filled),
		TEST(a_claim_without_a_volume_gets_one),
		TEST(other_classes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
