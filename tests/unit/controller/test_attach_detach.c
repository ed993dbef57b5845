/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attach_detach - the attach/detach controller on a real store: lives, restarts, other hands
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach_world.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAINT "'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]"

static void test_life(void **state)
{
	struct world *world = *state;
	const struct volume_attachment *made;

	put_pod(world, "p", "a", "here");
	made = attachment(world, "a", "here");
	assert_non_null(made);
	assert_string_equal(made->attacher, "d");
	assert_string_equal(made->node_name, "here");
	assert_string_equal(made->volume_name, "pv-a");
	assert_false(is_reported(world, "a", "here"));
	attach(world, "a", "here");
	assert_true(is_reported(world, "a", "here"));
	assert_string_equal(world->events, "p Normal SuccessfulAttachVolume: AttachVolume.Attach "
					   "succeeded for volume \"pv-a\" \n");
	/* case 450 */
	use(world, "a", "here");
	remove_pod(world, "p");
	assert_false(attachment(world, "a", "here")->object->meta.deletes);
	assert_true(is_reported(world, "a", "here"));
	use(world, "", "here");
	assert_false(is_reported(world, "a", "here"));
	detach(world, "a", "here");
	assert_null(attachment(world, "a", "here"));
	assert_null(strstr(node_of(world, "here")->object->json, "volumesAttached"));
}

/* Each step with another controller in the same store, as after kills. */
static void test_life_with_restarts(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "");
	restart(world);
	run(world);
	attach(world, "a", "here");
	restart(world);
	run(world);
	assert_true(is_reported(world, "a", "here"));
	use(world, "a", "here");
	world->is_incomplete = true;
	restart(world);
	remove_pod(world, "p");
	use(world, "", "here");
	assert_true(is_reported(world, "a", "here"));
	world->is_incomplete = false;
	attach_detach_resync(world->controller);
	run(world);
	restart(world);
	run(world);
	detach(world, "a", "here");
	restart(world);
	run(world);
	assert_null(attachment(world, "a", "here"));
}

static void test_who_gets_nothing(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'alone'}}");
	put_pod(world, "p1", "a", "alone");
	put_pod(world, "p2", "a", "nowhere");
	put(world, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p3','namespace':'ns'},"
		   "'spec':{'nodeName':'here','containers':[{'name':'c'}],'volumes':[{'name':'v',"
		   "'persistentVolumeClaim':{'claimName':'a'}}]},'status':{'phase':'Succeeded'}}");
	assert_null(attachment(world, "a", "alone"));
	assert_null(attachment(world, "a", "nowhere"));
	assert_null(attachment(world, "a", "here"));
	/* A node that takes part from now on. */
	put_node(world, "alone");
	assert_non_null(attachment(world, "a", "alone"));
}

static void test_driver_without_attaching(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'d'},"
		   "'spec':{'attachRequired':false}}");
	put_pod(world, "p", "a", "here");
	assert_null(attachment(world, "a", "here"));
	assert_int_equal(world_delete(&world->store, KIND_CSI_DRIVER, "", "d"), 0);
	run(world);
	assert_non_null(attachment(world, "a", "here"));
}

/* Pod, claim, volume in the wrong order; a pod that gets its node late. */
static void test_late(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "b", "");
	put_pod(world, "q", "a", "");
	assert_non_null(attachment(world, "a", "here"));
	put_volume(world, "b", "'ReadWriteOnce'");
	assert_non_null(attachment(world, "b", "here"));
	put_pod(world, "q", "a", "there");
	assert_null(attachment(world, "a", "here"));
	assert_non_null(attachment(world, "a", "there"));
}

/* case 453; not so for podvold's own node */
static void test_out_of_service(void **state)
{
	struct world *world = *state;

	put_volume(world, "b", "'ReadWriteOnce'");
	put_pod(world, "p", "a", "there");
	put_pod(world, "q", "b", "here");
	attach(world, "a", "there");
	attach(world, "b", "here");
	use(world, "a", "there");
	use(world, "b", "here");
	remove_pod(world, "p");
	remove_pod(world, "q");
	for (const char *const *name = (const char *const[]){ "here", "there", NULL }; *name;
	     name++) {
		const struct node *node = node_of(world, *name);
		cleanup_free char *text = strdup(node->object->json);
		char *spec = strstr(text, "\"status\":");

		*spec = '\0';
		put(world, "%s'spec':{" TAINT "},%s", text, node->object->json + (spec - text));
	}
	assert_false(attachment(world, "b", "here")->object->meta.deletes);
	assert_true(attachment(world, "a", "there")->object->meta.deletes);
	assert_non_null(strstr(attachment(world, "a", "there")->object->json,
			       "\"podvol.io/forced-detach\":\"out-of-service\""));
	assert_false(is_reported(world, "a", "there"));
}

static bool is_deleted(void *userdata)
{
	return attachment(userdata, "a", "here") == NULL ||
	       attachment(userdata, "a", "here")->object->meta.deletes;
}

static bool has_failed(void *userdata)
{
	return node_writes_that_fail == 0;
}

/* case 456 */
static void test_node_that_cannot_be_written(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "here");
	attach(world, "a", "here");
	node_writes_that_fail = 4;
	remove_pod(world, "p");
	assert_int_equal(node_writes_that_fail, 3); /* it backs off */
	node_writes_that_fail = 1;
	store_world_run(&world->store, has_failed, world);
	assert_true(is_reported(world, "a", "here"));
	assert_false(is_deleted(world));
	store_world_run(&world->store, is_deleted, world);
	run(world);
	assert_false(is_reported(world, "a", "here"));
}

/* The Node is made again by a client that knows nothing of what it uses. */
static void test_own_node_is_asked(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "here");
	put_pod(world, "q", "a", "there");
	attach(world, "a", "here");
	world->is_staged = true;
	remove_pod(world, "p");
	remove_pod(world, "q");
	assert_int_equal(world_delete(&world->store, KIND_NODE, "", "here"), 0);
	put_node(world, "here");
	assert_false(is_deleted(world));
	world->is_staged = false;
	attach_detach_resync(world->controller);
	run(world);
	assert_true(is_deleted(world));
}

/* A machine that is gone for good said before that it uses nothing of it, or it may live on:
 * difference from Kubernetes. */
static void test_node_that_is_deleted(void **state)
{
	struct world *world = *state;

	put_volume(world, "b", "'ReadWriteOnce'");
	put_pod(world, "p", "a", "there");
	put_pod(world, "q", "b", "there");
	attach(world, "a", "there");
	attach(world, "b", "there");
	use(world, "a", "there");
	remove_pod(world, "p");
	assert_int_equal(world_delete(&world->store, KIND_NODE, "", "there"), 0);
	run(world);
	assert_non_null(attachment(world, "a", "there"));
	assert_true(attachment(world, "b", "there")->object->meta.deletes);
	/* One that comes again knows nothing. */
	detach(world, "b", "there");
	restart(world);
	assert_false(attachment(world, "a", "there")->object->meta.deletes);
}

static void test_errors_of_the_driver(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "here");
	fail_attach(world, "a", "here", "no such disk");
	fail_attach(world, "a", "here", "no such disk");
	assert_string_equal(world->events,
			    "p Warning FailedAttachVolume: AttachVolume.Attach failed "
			    "for volume \"pv-a\" : no such disk\n");
	remove_pod(world, "p");
	assert_null(attachment(world, "a", "here"));
}

/* What is deleted by hand is made again; what is foreign is left alone. */
static void test_other_hands(void **state)
{
	struct world *world = *state;
	cleanup_free char *name = attachment_name("a", "here");

	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{'name':"
		   "'mine'},'spec':{'attacher':'d','nodeName':'here','source':{"
		   "'persistentVolumeName':'pv-a'}}}");
	put_pod(world, "p", "a", "here");
	attach(world, "a", "here");
	assert_int_equal(world_delete(&world->store, KIND_VOLUME_ATTACHMENT, "", name), 0);
	run(world);
	assert_false(is_reported(world, "a", "here"));
	detach(world, "a", "here");
	assert_non_null(attachment(world, "a", "here"));
	remove_pod(world, "p");
	assert_null(attachment(world, "a", "here"));
	assert_non_null(store_get(world->store.store, KIND_VOLUME_ATTACHMENT, "", "mine"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, attach_world_setup, attach_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_life),
		TEST(test_life_with_restarts),
		TEST(test_who_gets_nothing),
		TEST(test_driver_without_attaching),
		TEST(test_late),
		TEST(test_out_of_service),
		TEST(test_node_that_cannot_be_written),
		TEST(test_own_node_is_asked),
		TEST(test_node_that_is_deleted),
		TEST(test_errors_of_the_driver),
		TEST(test_other_hands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
