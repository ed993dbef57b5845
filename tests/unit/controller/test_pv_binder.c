/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pv_binder - claims and volumes that name each other, in a real store
 *
 * The texts use ' for ". C() and V() make a claim and a volume that fit each other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "binder_world.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

/* ---- a claim that names a volume ---- */

static void case_386_named_volume_is_missing(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, CLAIM("", NAMES("v"), ""));
	run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "");
	/* It comes later. */
	put(world, VOLUME("v", "", "", ""));
	run(world);
	assert_bound(world, "v");
}

static void case_387_named_volume_is_bound_whatever_the_selector(void **state)
{
	struct world *world = *state;

	put(world, CLAIM("", NAMES("v") ",'selector':{'matchLabels':{'no':'such'}}", ""));
	put(world, VOLUME("v", "", "", ""));
	start_and_run(world);
	assert_bound(world, "v");
	assert_false(claim(world)->bound_by_controller);
	assert_true(volume(world, "v")->bound_by_controller);
	assert_string_equal(world->events, "");
}

static void the_status_says_what_attributes_the_volume_has(void **state)
{
	struct world *world = *state;

	put(world, CLAIM("", NAMES("v") ",'volumeAttributesClassName':'gold'", ""));
	put(world, VOLUME("v", "", ",'volumeAttributesClassName':'gold'", ""));
	start_and_run(world);
	assert_bound(world, "v");
	assert_true(has(claim(world)->object, "\"currentVolumeAttributesClassName\":\"gold\""));
}

static void case_388_named_volume_does_not_fit(void **state)
{
	static const char *const claims[] = {
		CLAIM("", NAMES("v") CLASS("other"), ""),
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		"'namespace':'ns'},'spec':{'volumeName':'v','storageClassName':'','accessModes':["
		"'ReadWriteOnce'],'resources':{'requests':{'storage':'3Gi'}}}}",
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		"'namespace':'ns'},'spec':{'volumeName':'v','accessModes':['ReadWriteMany'],"
		"'resources':{'requests':{'storage':'1Gi'}}}}",
		CLAIM("", NAMES("v") ",'volumeMode':'Block'", ""),
	};
	for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
		struct world world = { .binder = NULL };

		store_world_open(&world.store);
		start(&world);
		put(&world, VOLUME("v", "", "", ""));
		put(&world, claims[i]);
		run(&world);
		assert_int_equal(claim(&world)->phase, CLAIM_PENDING);
		assert_int_equal(volume(&world, "v")->phase, VOLUME_AVAILABLE);
		assert_string_equal(world.events, "c/VolumeMismatch ");
		world.binder = pv_binder_free(world.binder);
		store_world_close(&world.store);
	}
}

static void case_389_named_volume_belongs_to_another(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, VOLUME("v", "", ",'claimRef':{'namespace':'ns','name':'other'}", ""));
	put(world, CLAIM("", NAMES("v"), ""));
	run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "c/FailedBinding ");
	/* case 379 beside it: the same name with another uid is another claim */
	put(world, VOLUME("v", "", REF_UID(OTHER), ""));
	run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "c/FailedBinding c/FailedBinding "); /* by whom */
}

/* ---- a claim that was bound ---- */

static void case_390_bound_claim_lost_its_volume_name(void **state)
{
	struct world *world = *state;

	put(world, CLAIM(IS_DONE, "", "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_LOST);
	assert_string_equal(world->events, "c/ClaimLost ");
}

static void case_391_bound_claim_lost_its_volume(void **state)
{
	struct world *world = *state;

	put(world, CLAIM(IS_DONE, NAMES("v"), "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_LOST);
	assert_string_equal(world->events, "c/ClaimLost ");
	run(world);
	assert_string_equal(world->events, "c/ClaimLost ");
}

static void case_392_bound_claim_repairs_its_volume(void **state)
{
	struct world *world = *state;

	put(world, CLAIM(IS_DONE, NAMES("v"), "'phase':'Lost'"));
	put(world, VOLUME("v", "", "", "'phase':'Available'"));
	start_and_run(world);
	assert_bound(world, "v");
	assert_string_equal(world->events, "");
}

static void case_393_bound_claim_whose_volume_has_another(void **state)
{
	struct world *world = *state;

	put(world, CLAIM(IS_DONE, NAMES("v"), "'phase':'Bound'"));
	put(world, VOLUME("v", "", REF_UID(OTHER), "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_LOST);
	assert_non_null(strstr(world->events, "c/ClaimMisbound "));
	assert_string_equal(volume(world, "v")->claim_uid, OTHER);
}

/* ---- a volume that names a claim ---- */

static void case_378_volume_made_for_the_claim_is_used(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("small", "", "", ""));
	put(world, VOLUME("v", "", REF(""), ""));
	put(world, CLAIM("", "", ""));
	start_and_run(world);
	assert_bound(world, "v");
	/* The claim named nothing: the controller chose. The user had written the claimRef. */
	assert_true(claim(world)->bound_by_controller);
	assert_false(volume(world, "v")->bound_by_controller);
	assert_int_equal(volume(world, "small")->phase, VOLUME_AVAILABLE);
	assert_string_equal(world->events, "");
}

static void case_379_volume_of_a_former_claim_is_not_used(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("v", "", REF_UID(OTHER), "'phase':'Released'"));
	put(world, CLAIM("", "", ""));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_int_equal(volume(world, "v")->phase, VOLUME_RELEASED);
	assert_string_equal(world->events, "c/FailedBinding ");
	run(world);
	assert_string_equal(world->events, "c/FailedBinding ");
}

static void case_380_class_and_selector_of_a_made_volume_do_not_matter(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("v", "", REF("") CLASS("gold"), ""));
	put(world, CLAIM("", CLASS("silver") ",'selector':{'matchLabels':{'no':'such'}}", ""));
	start_and_run(world);
	assert_bound(world, "v");
}

static void case_381_made_volume_that_does_not_fit_is_skipped(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		   "'namespace':'ns'},'spec':{'accessModes':['ReadWriteOnce'],"
		   "'resources':{'requests':{'storage':'5Gi'}}}}");
	put(world, VOLUME("v", "", REF(""), ""));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_int_equal(volume(world, "v")->phase, VOLUME_AVAILABLE);
}

static void case_384_and_case_385_delayed_class(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':"
		   "'late'},'provisioner':'kubernetes.io/no-provisioner',"
		   "'volumeBindingMode':'WaitForFirstConsumer'}");
	put(world, VOLUME("free", "", CLASS("late"), ""));
	put(world, CLAIM("", CLASS("late"), ""));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "c/WaitForFirstConsumer ");
	put(world, VOLUME("v", "", REF("") CLASS("late"), ""));
	run(world);
	assert_bound(world, "v");
}

static void no_wake(void *userdata)
{
}

static void a_binding_is_two_writes_in_their_order(void **state)
{
	static const char *const writes[] = { ("\"uid\":\"" UID), "bind-completed" };
	const struct store_change *change;
	struct world *world = *state;
	struct store_watch *watch;

	put(world, VOLUME("v", "", REF(""), "'phase':'Available'"));
	put(world, CLAIM("", "", "'phase':'Pending'"));
	assert_int_equal(store_watch_new(world->store.store, ~0U, 2, no_wake, NULL, &watch), 0);
	start_and_run(world);
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		assert_int_equal(store_watch_next(watch, &change), 1);
		assert_string_equal(change->object->meta.name, i < 1 ? "v" : "c");
		assert_true(has(change->object, writes[i]));
		assert_false(has(change->previous, writes[i]));
		assert_true(has(change->object, "\"phase\":\"Bound\""));
		assert_false(has(change->previous, "\"phase\":\"Bound\""));
	}
	assert_int_equal(store_watch_next(watch, &change), 0);
	watch = store_watch_free(watch);
}

static void volume_that_is_being_deleted_is_not_bound(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v',"
		   "'finalizers':['example.com/x']},'spec':{'capacity':{'storage':'2Gi'},"
		   "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/d'}}}");
	assert_int_equal(world_delete(&world->store, KIND_PERSISTENT_VOLUME, "", "v"), 0);
	put(world, CLAIM("", NAMES("v"), ""));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "c/VolumeMismatch ");
}

/* ---- a volume alone ---- */

static void case_395_free_volume_is_available(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, VOLUME("v", "", "", "'phase':'Pending'"));
	put(world, VOLUME("w", "", "", ""));
	run(world);
	assert_int_equal(volume(world, "v")->phase, VOLUME_AVAILABLE);
	assert_int_equal(volume(world, "w")->phase, VOLUME_AVAILABLE);
}

static void case_396_retained_volume_is_released(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("v", "", REF_UID(UID), "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(volume(world, "v")->phase, VOLUME_RELEASED);
	assert_string_equal(volume(world, "v")->claim_uid, UID);
	assert_string_equal(world->events, "");
	/* case 382: the same claim made again has another uid and does not get it */
	put(world, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		   "'namespace':'ns','uid':'" OTHER "'},'spec':{'accessModes':['ReadWriteOnce'],"
		   "'resources':{'requests':{'storage':'1Gi'}}}}");
	run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_int_equal(volume(world, "v")->phase, VOLUME_RELEASED);
}

static void case_397_volume_that_nobody_deletes_has_failed(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("v", "", REF_UID(UID) ",'persistentVolumeReclaimPolicy':'Delete'",
			  "'phase':'Bound'"));
	put(world,
	    VOLUME("w", "'pv.kubernetes.io/provisioned-by':'example.com/p'",
		   REF_UID(UID) ",'persistentVolumeReclaimPolicy':'Delete'", "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(volume(world, "v")->phase, VOLUME_FAILED);
	assert_string_equal(world->events, "v/VolumeFailedDelete ");
	assert_int_equal(volume(world, "w")->phase, VOLUME_RELEASED);
	assert_true(volume(world, "v")->has_claim_ref);
}

/* A difference from Kubernetes, which has a pod empty hostPath and NFS volumes. */
static void test_volume_that_is_to_be_recycled_is_kept(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("v", "", REF_UID(UID) ",'persistentVolumeReclaimPolicy':'Recycle'",
			  "'phase':'Bound'"));
	put(world,
	    VOLUME("w", "'pv.kubernetes.io/provisioned-by':'example.com/p'",
		   REF_UID(UID) ",'persistentVolumeReclaimPolicy':'Recycle'", "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(volume(world, "v")->phase, VOLUME_FAILED);
	assert_int_equal(volume(world, "w")->phase, VOLUME_FAILED);
	assert_string_equal(world->events, "w/VolumeFailedRecycle v/VolumeFailedRecycle ");
	assert_true(volume(world, "v")->has_claim_ref);
}

/* case 398: cache and API cannot differ here; a claim that is there is there. */
static void case_398_volume_of_a_claim_that_is_there_stays(void **state)
{
	struct world *world = *state;
	uint64_t version;

	put(world, CLAIM(IS_DONE, NAMES("v"), "'phase':'Bound'"));
	put(world, VOLUME("v", "", REF_UID(UID), "'phase':'Bound'"));
	version = store_resource_version(world->store.store);
	start_and_run(world);
	assert_int_equal(store_resource_version(world->store.store), version);
	assert_int_equal(volume(world, "v")->phase, VOLUME_BOUND);
}

static void case_399_and_case_400_claim_is_bound_elsewhere(void **state)
{
	struct world *world = *state;

	put(world, CLAIM(IS_DONE, NAMES("v"), "'phase':'Bound'"));
	put(world, VOLUME("v", "", REF_UID(UID), "'phase':'Bound'"));
	put(world, VOLUME("ours", BY_US, REF_UID(UID), "'phase':'Bound'"));
	put(world, VOLUME("users", "", REF_UID(UID), "'phase':'Bound'"));
	start_and_run(world);
	assert_false(volume(world, "ours")->has_claim_ref);
	assert_false(volume(world, "ours")->bound_by_controller);
	assert_int_equal(volume(world, "ours")->phase, VOLUME_AVAILABLE);
	assert_true(volume(world, "users")->has_claim_ref);
	assert_string_equal(volume(world, "users")->claim_name, "c");
	assert_string_equal(volume(world, "users")->claim_uid, "");
	assert_int_equal(volume(world, "users")->phase, VOLUME_AVAILABLE);
	assert_int_equal(claim(world)->phase, CLAIM_BOUND);
	assert_string_equal(claim(world)->volume_name, "v");
	assert_int_equal(volume(world, "v")->phase, VOLUME_BOUND);
}

static void what_was_moved_away_from_is_released(void **state)
{
	struct world *world = *state;

	put(world, CLAIM(IS_DONE, NAMES("v"), "'phase':'Bound'"));
	put(world, VOLUME("v", "'podvol.io/moved-from':'old'", REF_UID(UID), "'phase':'Bound'"));
	put(world, VOLUME("old", "'podvol.io/moved-to':'v'", REF_UID(UID), "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(volume(world, "old")->phase, VOLUME_RELEASED);
	assert_string_equal(volume(world, "old")->claim_uid, UID);
	assert_int_equal(volume(world, "v")->phase, VOLUME_BOUND);
}

/* ---- deletion ---- */

static void delete_by_name(struct world *world, enum object_kind kind, const char *name)
{
	assert_int_equal(
		world_delete(&world->store, kind, kind == KIND_PERSISTENT_VOLUME ? "" : "ns", name),
		0);
}

static void deleted_claim_waits_for_its_pods(void **state)
{
	static const char pod[] = "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s',"
				  "'namespace':'%s'},'spec':{'nodeName':'%s','containers':[{"
				  "'name':'c','image':'i'}],'volumes':[{'name':'v',"
				  "'persistentVolumeClaim':{'claimName':'c'}}]}}";
	struct world *world = *state;
	char text[512];

	put(world, VOLUME("v", "", "", ""));
	put(world, CLAIM("", NAMES("v"), ""));
	(void) snprintf(text, sizeof(text), pod, "user", "ns", "node");
	put(world, text);
	(void) snprintf(text, sizeof(text), pod, "nowhere", "ns", "");
	put(world, text);
	(void) snprintf(text, sizeof(text), pod, "stranger", "other", "node");
	put(world, text);
	start_and_run(world);
	assert_bound(world, "v");

	delete_by_name(world, KIND_PERSISTENT_VOLUME_CLAIM, "c");
	delete_by_name(world, KIND_PERSISTENT_VOLUME, "v");
	run(world);
	assert_true(claim(world)->object->meta.deletes);
	assert_non_null(get(world, KIND_PERSISTENT_VOLUME, "v"));

	delete_by_name(world, KIND_POD, "user");
	run(world);
	assert_true(claim(world)->object->meta.deletes);
	delete_by_name(world, KIND_POD, "nowhere"); /* without a node: this one's */
	run(world);
	assert_null(get(world, KIND_PERSISTENT_VOLUME_CLAIM, "c"));
	/* Released by then, so its own deletion goes on, too. */
	assert_null(get(world, KIND_PERSISTENT_VOLUME, "v"));
}

static void finalizers_of_others_are_left(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v',"
		   "'finalizers':['example.com/x']},'spec':{'capacity':{'storage':'2Gi'},"
		   "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/d'}}}");
	start_and_run(world);
	assert_true(has(volume(world, "v")->object, "kubernetes.io/pv-protection"));
	delete_by_name(world, KIND_PERSISTENT_VOLUME, "v");
	run(world);
	assert_true(has(volume(world, "v")->object, "\"finalizers\":[\"example.com/x\"]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, binder_world_setup, binder_world_teardown)
		TEST(case_386_named_volume_is_missing),
		TEST(case_387_named_volume_is_bound_whatever_the_selector),
		TEST(the_status_says_what_attributes_the_volume_has),
		cmocka_unit_test(case_388_named_volume_does_not_fit),
		TEST(case_389_named_volume_belongs_to_another),
		TEST(case_390_bound_claim_lost_its_volume_name),
		TEST(case_391_bound_claim_lost_its_volume),
		TEST(case_392_bound_claim_repairs_its_volume),
		TEST(case_393_bound_claim_whose_volume_has_another),
		TEST(case_378_volume_made_for_the_claim_is_used),
		TEST(case_379_volume_of_a_former_claim_is_not_used),
		TEST(case_380_class_and_selector_of_a_made_volume_do_not_matter),
		TEST(case_381_made_volume_that_does_not_fit_is_skipped),
		TEST(case_384_and_case_385_delayed_class),
		TEST(a_binding_is_two_writes_in_their_order),
		TEST(volume_that_is_being_deleted_is_not_bound),
		TEST(case_395_free_volume_is_available),
		TEST(case_396_retained_volume_is_released),
		TEST(case_397_volume_that_nobody_deletes_has_failed),
		TEST(test_volume_that_is_to_be_recycled_is_kept),
		TEST(case_398_volume_of_a_claim_that_is_there_stays),
		TEST(case_399_and_case_400_claim_is_bound_elsewhere),
		TEST(what_was_moved_away_from_is_released),
		TEST(deleted_claim_waits_for_its_pods),
		TEST(finalizers_of_others_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
