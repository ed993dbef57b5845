/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_first_consumer - claims that wait for a pod, claims that wait for a provisioner, and what a
 * volume is notified when its claim goes; in a real store
 *
 * The texts use ' for ".
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

#define LATE(provisioner)                                                                          \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'late'},"      \
	"'provisioner':'" provisioner "','volumeBindingMode':'WaitForFirstConsumer'}"
#define POD(name, spec, status)                                                                    \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                \
	"','namespace':'ns'},'spec':{'containers':[{'name':'a','image':'i'}],'volumes':[{'name':"  \
	"'v','persistentVolumeClaim':{'claimName':'c'}}]" spec "},'status':{" status "}}"
#define NODE(labels)                                                                               \
	"{'apiVersion':'v1','kind':'Node','metadata':{'name':'here','labels':{" labels "}}}"
#define DELETE_POLICY ",'persistentVolumeReclaimPolicy':'Delete'"

static bool is_selected(struct world *world, const char *node)
{
	return strcmp(claim(world)->selected_node, node) == 0;
}

/* ---- the first consumer ---- */

static void a_pod_of_this_node_selects_it(void **state)
{
	struct world *world = *state;

	put(world, NODE("'a':'b'"));
	put(world, LATE("example.com/p"));
	put(world, CLAIM("", CLASS("late"), ""));
	start_and_run(world);
	assert_string_equal(world->events, "c/WaitForFirstConsumer ");
	assert_true(is_selected(world, ""));
	assert_string_equal(claim(world)->storage_provisioner, "");

	put(world, POD("p", "", ""));
	run(world);
	assert_true(is_selected(world, "here"));
	assert_string_equal(claim(world)->storage_provisioner, "example.com/p");
	/* Both by one write. */
	assert_int_equal(claim(world)->object->meta.resource_version,
			 get(world, KIND_POD, "p")->meta.resource_version + 1);
	assert_string_equal(world->events, "c/WaitForFirstConsumer c/ExternalProvisioning ");
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
}

static void pods_that_consume_nothing_here_select_nothing(void **state)
{
	static const char *const pods[] = {
		POD("p", ",'nodeName':'elsewhere'", ""),
		POD("p", "", "'phase':'Succeeded'"),
	};
	static const char *const events[] = {
		"c/WaitForPodScheduled ",
		"c/WaitForFirstConsumer ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		struct world world = { .binder = NULL };

		store_world_open(&world.store);
		put(&world, NODE("'a':'b'"));
		put(&world, LATE("example.com/p"));
		put(&world, CLAIM("", CLASS("late"), ""));
		put(&world, pods[i]);
		start_and_run(&world);
		assert_true(is_selected(&world, ""));
		assert_string_equal(world.events, events[i]);
		world.binder = pv_binder_free(world.binder);
		store_world_close(&world.store);
	}
}

static void a_volume_of_this_node_comes_before_a_new_one(void **state)
{
	struct world *world = *state;

	put(world, NODE("'a':'b'"));
	put(world, LATE("example.com/p"));
	put(world, VOLUME("free", "", CLASS("late"), ""));
	put(world, CLAIM("", CLASS("late"), ""));
	put(world, POD("p", "", ""));
	start_and_run(world);
	/* case 419 */
	assert_bound(world, "free");
	assert_true(is_selected(world, ""));
	/* case 422, a difference: what the claim was bound to forgets it, and is bound again */
	put(world, VOLUME("free", "", CLASS("late"), ""));
	run(world);
	assert_bound(world, "free");
}

/* case 420, a difference: the one node is selected again. */
static void a_selector_match_that_its_provisioner_takes_back(void **state)
{
	struct world *world = *state;

	put(world, NODE("'a':'b'"));
	put(world, LATE("example.com/p"));
	put(world, CLAIM("", CLASS("late"), ""));
	put(world, POD("p", "", ""));
	start_and_run(world);
	assert_true(is_selected(world, "here"));
	put(world, CLAIM("", CLASS("late"), ""));
	run(world);
	assert_true(is_selected(world, "here"));
}

static void a_class_that_leaves_this_node_out(void **state)
{
	struct world *world = *state;

	put(world, NODE("'a':'b'"));
	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':"
		   "'late'},'provisioner':'example.com/p','volumeBindingMode':"
		   "'WaitForFirstConsumer','allowedTopologies':[{'matchLabelExpressions':[{'key':"
		   "'a','values':['c']}]}]}");
	put(world, CLAIM("", CLASS("late"), ""));
	put(world, POD("p", "", ""));
	start_and_run(world);
	assert_true(is_selected(world, ""));
	assert_string_equal(world->events, "p/FailedScheduling c/WaitForPodScheduled ");
}

/* The Node object of a first start comes after the pods. */
static void a_node_that_comes_last(void **state)
{
	struct world *world = *state;

	put(world, LATE("example.com/p"));
	put(world, CLAIM("", CLASS("late"), ""));
	put(world, POD("p", "", ""));
	start_and_run(world);
	assert_true(is_selected(world, ""));
	put(world, NODE("'a':'b'"));
	run(world);
	assert_true(is_selected(world, "here"));
}

static void a_volume_of_another_node_is_left_alone(void **state)
{
	struct world *world = *state;

	put(world, NODE("'other':'b'"));
	put(world, LATE("kubernetes.io/no-provisioner"));
	put(world, VOLUME("far", "", CLASS("late"), ""));
	put(world, CLAIM("", CLASS("late"), ""));
	put(world, POD("p", "", ""));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "p/FailedScheduling c/WaitForPodScheduled ");
	assert_int_equal(volume(world, "far")->phase, VOLUME_AVAILABLE);
}

static void a_claim_of_another_node_is_left_alone(void **state)
{
	struct world *world = *state;

	put(world, NODE("'a':'b'"));
	put(world, LATE("example.com/p"));
	put(world, VOLUME("free", "", CLASS("late"), ""));
	put(world, CLAIM("'volume.kubernetes.io/selected-node':'elsewhere'", CLASS("late"), ""));
	put(world, POD("p", "", ""));
	start_and_run(world);
	/* case 421 */
	assert_true(is_selected(world, "elsewhere"));
	assert_int_equal(volume(world, "free")->phase, VOLUME_AVAILABLE);
}

/* ---- who makes the volume ---- */

static void a_claim_names_its_provisioner(void **state)
{
	struct world *world = *state;

	put(world, CLASS_OBJECT("fast", "", "example.com/p"));
	put(world, CLAIM("", CLASS("fast"), ""));
	start_and_run(world);
	assert_string_equal(claim(world)->storage_provisioner, "example.com/p");
	assert_true(has(claim(world)->object,
			"\"volume.kubernetes.io/storage-provisioner\":\"example.com/p\""));
	assert_true(has(claim(world)->object,
			"\"volume.beta.kubernetes.io/storage-provisioner\":\"example.com/p\""));
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "c/ExternalProvisioning ");
}

static void what_nobody_can_make_is_said(void **state)
{
	struct world *world = *state;

	put(world, CLAIM("", CLASS("fast"), ""));
	start_and_run(world);
	assert_string_equal(world->events, "c/ProvisioningFailed ");
	put(world, CLASS_OBJECT("fast", "", "kubernetes.io/aws-ebs"));
	run(world);
	assert_string_equal(world->events, "c/ProvisioningFailed c/ProvisioningFailed ");
	assert_string_equal(claim(world)->storage_provisioner, "");
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
}

static void an_unfinished_volume_is_not_bound(void **state)
{
	struct world *world = *state;

	put(world, CLASS_OBJECT("fast", "", "example.com/p"));
	put(world, CLAIM("", CLASS("fast"), ""));
	put(world, VOLUME("v", "'podvol.io/unfinished':'yes'", REF_UID(UID) CLASS("fast"), ""));
	start_and_run(world);
	assert_string_equal(claim(world)->volume_name, "");
	assert_int_equal(volume(world, "v")->phase, VOLUME_PHASE_UNSET);
	put(world, VOLUME("v", "", REF_UID(UID) CLASS("fast"), ""));
	run(world);
	assert_bound(world, "v");
}

static void another_attributes_class_is_another_volume(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("v", "", ",'volumeAttributesClassName':'gold'", ""));
	put(world, CLAIM("", ",'volumeAttributesClassName':'silver'", ""));
	start_and_run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	put(world, VOLUME("w", "", ",'volumeAttributesClassName':'silver'", ""));
	run(world);
	assert_bound(world, "w");
}

/* ---- the claim goes ---- */

static void delete_claim(struct world *world)
{
	assert_int_equal(world_delete(&world->store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c"), 0);
	run(world);
}

static void a_provisioned_volume_keeps_who_deleted_its_claim(void **state)
{
	struct world *world = *state;

	put(world, CLAIM("'podvol.io/deleted-by':'uid 0'", NAMES("v"), ""));
	put(world, VOLUME("v", "'pv.kubernetes.io/provisioned-by':'podvol/local'",
			  REF_UID(UID) DELETE_POLICY, ""));
	put(world, POD("p", "", ""));
	start_and_run(world);
	assert_bound(world, "v");

	delete_claim(world);
	/* Still used. */
	assert_string_equal(volume(world, "v")->origin.claim_deleted, "");
	assert_int_equal(world_delete(&world->store, KIND_POD, "ns", "p"), 0);
	run(world);
	assert_null(get(world, KIND_PERSISTENT_VOLUME_CLAIM, "c"));
	assert_string_equal(volume(world, "v")->origin.claim_deleted, UID);
	assert_string_equal(volume(world, "v")->origin.deleted_by, "uid 0");
	assert_int_equal(volume(world, "v")->phase, VOLUME_RELEASED);
}

static void a_volume_of_a_claim_that_is_only_missing_knows_of_no_deletion(void **state)
{
	struct world *world = *state;

	put(world, VOLUME("v", "'pv.kubernetes.io/provisioned-by':'podvol/local'",
			  REF_UID(UID) DELETE_POLICY, "'phase':'Bound'"));
	start_and_run(world);
	assert_int_equal(volume(world, "v")->phase, VOLUME_RELEASED);
	assert_string_equal(volume(world, "v")->origin.claim_deleted, "");
}

/* Unfinished or not: the claim went before it named the volume. */
static void a_claim_that_goes_before_it_is_bound_tells_its_volume(void **state)
{
	struct world *world = *state;

	put(world, CLASS_OBJECT("fast", "", "podvol/local"));
	put(world, CLAIM("", CLASS("fast"), ""));
	put(world, VOLUME("v",
			  "'pv.kubernetes.io/provisioned-by':'podvol/local',"
			  "'podvol.io/unfinished':'yes'",
			  REF_UID(UID) DELETE_POLICY CLASS("fast"), ""));
	start_and_run(world);
	assert_string_equal(claim(world)->volume_name, "");
	delete_claim(world);
	assert_null(get(world, KIND_PERSISTENT_VOLUME_CLAIM, "c"));
	assert_string_equal(volume(world, "v")->origin.claim_deleted, UID);
}

static void another_claim_tells_a_volume_nothing(void **state)
{
	struct world *world = *state;

	put(world, CLAIM("", NAMES("v"), ""));
	put(world, VOLUME("v", "'pv.kubernetes.io/provisioned-by':'podvol/local'",
			  REF_UID(OTHER) DELETE_POLICY, "'phase':'Bound'"));
	start_and_run(world);
	delete_claim(world);
	assert_null(get(world, KIND_PERSISTENT_VOLUME_CLAIM, "c"));
	assert_string_equal(volume(world, "v")->origin.claim_deleted, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, binder_world_setup, binder_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pod_of_this_node_selects_it),
		cmocka_unit_test(pods_that_consume_nothing_here_select_nothing),
		TEST(a_volume_of_this_node_comes_before_a_new_one),
		TEST(a_selector_match_that_its_provisioner_takes_back),
		TEST(a_class_that_leaves_this_node_out),
		TEST(a_node_that_comes_last),
		TEST(a_volume_of_another_node_is_left_alone),
		TEST(a_claim_of_another_node_is_left_alone),
		TEST(a_claim_names_its_provisioner),
		TEST(what_nobody_can_make_is_said),
		TEST(an_unfinished_volume_is_not_bound),
		TEST(another_attributes_class_is_another_volume),
		TEST(a_provisioned_volume_keeps_who_deleted_its_claim),
		TEST(a_volume_of_a_claim_that_is_only_missing_knows_of_no_deletion),
		TEST(a_claim_that_goes_before_it_is_bound_tells_its_volume),
		TEST(another_claim_tells_a_volume_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
