/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volumes_in_use - what the node says it uses, and when a stage may begin, on a real store
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "csinode/volumes_in_use.h"
#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kinds/node.h"
#include "plugins/csi_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOLUME   "kubernetes.io/csi/d^h"
#define OTHER    "kubernetes.io/csi/d^other"
#define LISTED   "'volumesInUse':['" VOLUME "']"
#define REPORTED "'volumesAttached':[{'name':'" VOLUME "','devicePath':''}]"

struct world {
	struct store_world store;
	struct dirty_set *dirty;
	struct desired *desired;
	struct actual *actual;
	const struct object *pod;
	struct volumes_in_use *volumes_in_use;
};

static const struct volume_plugin plugin = { .name = CSI_PLUGIN_NAME };
static unsigned int retries, writes_that_fail;

void __wrap_operation_retry_later(struct operations *operations, const char *unique_name,
				  uint64_t now_usec);
int __real_store_edit(struct store *store, const struct object *object,
		      const struct store_precondition *precondition, store_edit_fn *edit,
		      store_done_fn *done, void *userdata);
int __wrap_store_edit(struct store *store, const struct object *object,
		      const struct store_precondition *precondition, store_edit_fn *edit,
		      store_done_fn *done, void *userdata);

void __wrap_operation_retry_later(struct operations *operations, const char *unique_name,
				  uint64_t now_usec)
{
	retries++;
}

int __wrap_store_edit(struct store *store, const struct object *object,
		      const struct store_precondition *precondition, store_edit_fn *edit,
		      store_done_fn *done, void *userdata)
{
	if (writes_that_fail == 0)
		return __real_store_edit(store, object, precondition, edit, done, userdata);
	writes_that_fail--;
	return -ENOBUFS;
}

/* ---- the world ---- */

static void run(struct world *world)
{
	store_world_settle(&world->store);
}

static void put(struct world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	world_put(&world->store, object);
	run(world);
	volumes_in_use_object_changed(world->volumes_in_use, object);
}

static void put_node(struct world *world, const char *status)
{
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'status':{%s}}",
			status);
	put(world, text);
}

static void put_attachment(struct world *world, const char *status)
{
	cleanup_free char *name = csi_attachment_name("h", "d", "n");
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{"
			"'name':'%s'},'spec':{'attacher':'d','nodeName':'n','source':{"
			"'persistentVolumeName':'pv'}},'status':{%s}}",
			name, status);
	put(world, text);
}

static void put_driver_without_attaching(struct world *world)
{
	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'d'},"
		   "'spec':{'attachRequired':false}}");
}

static const struct node_volumes *in_use(struct world *world)
{
	return &store_get(world->store.store, KIND_NODE, "", "n")->node->in_use;
}

static void assert_listed(struct world *world, size_t count)
{
	assert_int_equal(in_use(world)->count, count);
	if (count > 0)
		assert_true(node_volumes_have(in_use(world), VOLUME));
}

static void want(struct world *world, const char *unique_name)
{
	static const char *const names[] = { "data" };
	const struct volume_spec spec = { .name = "pv" };
	const struct desired_want wanted = { .unique_name = unique_name,
					     .plugin = &plugin,
					     .device_mountable = true,
					     .spec = &spec,
					     .pod = world->pod,
					     .outer_names = names,
					     .outer_name_count = 1,
					     .now_usec = 1 };

	assert_int_equal(desired_add(world->desired, &wanted), 1);
	volumes_in_use_sync(world->volumes_in_use, unique_name);
}

static void want_no_more(struct world *world)
{
	desired_remove(world->desired, VOLUME, world->pod->meta.uid);
	volumes_in_use_sync(world->volumes_in_use, VOLUME);
}

static void stage(struct world *world)
{
	const struct actual_entry entry = { .unique_name = VOLUME,
					    .plugin_name = CSI_PLUGIN_NAME,
					    .spec_name = "pv",
					    .plugin = &plugin,
					    .device_mountable = true };

	assert_int_equal(actual_begin(world->actual, &entry), 0);
}

static void unstage(struct world *world)
{
	const struct step_result result = { .kind = STEP_FORGET, .unique_name = VOLUME };

	actual_apply(world->actual, &result);
	volumes_in_use_sync(world->volumes_in_use, VOLUME);
}

static void settle(struct world *world)
{
	volumes_in_use_settle(world->volumes_in_use, true);
	run(world);
}

static bool may_stage(struct world *world)
{
	const struct step step = { .kind = STEP_STAGE, .unique_name = VOLUME };

	return volumes_in_use_pass(world->volumes_in_use, &step);
}

static void assert_explained(struct world *world, const char *text)
{
	struct failure why;

	assert_true(volumes_in_use_explain(world->volumes_in_use, VOLUME, NULL, "data", &why));
	if (!strstr(why.text, text))
		fail_msg("'%s' is not in '%s'", text, why.text);
}

static bool is_dirty(struct world *world, const char *unique_name)
{
	cleanup_free char *name = dirty_take(world->dirty);

	return name && strcmp(name, unique_name) == 0;
}

static void forget_dirty(struct world *world)
{
	char *name;

	while ((name = dirty_take(world->dirty)))
		free(name);
}

static void on_dirty(void *userdata)
{
}

static bool has_all_sources(void *userdata)
{
	return true;
}

static void open_attachments(struct world *world)
{
	const struct volumes_in_use_options options = {
		.common = { .event = world->store.event,
			    .store = world->store.store,
			    .node_name = "n",
			    .is_complete = has_all_sources },
		.actual = world->actual,
		.desired = world->desired,
		.dirty = world->dirty,
	};

	assert_int_equal(volumes_in_use_new(&options, &world->volumes_in_use), 0);
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	*state = world;
	retries = writes_that_fail = 0;
	store_world_open(&world->store);
	assert_int_equal(dirty_set_new(on_dirty, NULL, &world->dirty), 0);
	assert_int_equal(desired_new(world->dirty, &world->desired), 0);
	assert_int_equal(actual_new(world->dirty, &world->actual), 0);
	world->pod = object_of("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':"
			       "'ns','uid':'u1'},'spec':{'containers':[{'name':'c'}]}}");
	put_node(world, "");
	open_attachments(world);
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	(void) volumes_in_use_free(world->volumes_in_use);
	store_world_close(&world->store);
	(void) desired_free(world->desired);
	(void) actual_free(world->actual);
	dirty_set_free(world->dirty);
	object_unref(world->pod);
	free(world);
	return 0;
}

/* ---- tests ---- */

/* case 326: nothing is begun, and nothing backs off, before the Node says so */
static void test_said_before_it_is_staged(void **state)
{
	struct world *world = *state;

	put_attachment(world, "'attached':true");
	put_node(world, REPORTED);
	want(world, VOLUME);
	assert_false(may_stage(world));
	volumes_in_use_settle(world->volumes_in_use, false);
	assert_false(may_stage(world));
	assert_listed(world, 0);
	forget_dirty(world);
	run(world);
	assert_listed(world, 1);
	assert_true(is_dirty(world, VOLUME));
	assert_true(may_stage(world));
	assert_int_equal(retries, 0);
}

/* case 327: the same before the Node says that it is attached */
static void test_attached_before_it_is_staged(void **state)
{
	struct world *world = *state;

	want(world, VOLUME);
	settle(world);
	assert_false(may_stage(world));
	assert_explained(world, "there is no VolumeAttachment of it for node 'n'");
	put_attachment(world, "'attached':false");
	assert_false(may_stage(world));
	assert_explained(world, "its driver has not reported it yet");
	put_attachment(world, "'attached':false,'attachError':{'message':'no such disk'}");
	assert_false(may_stage(world));
	assert_explained(world, "no such disk");
	put_attachment(world, "'attached':true");
	assert_false(may_stage(world));
	assert_explained(world, "its Node does not report it yet");
	forget_dirty(world);
	put_node(world, LISTED "," REPORTED);
	assert_true(is_dirty(world, VOLUME));
	assert_true(may_stage(world));
	assert_int_equal(retries, 0);
}

static void test_dropped_when_every_pod_is_known(void **state)
{
	struct world *world = *state;

	want(world, VOLUME);
	want(world, OTHER);
	settle(world);
	assert_listed(world, 2);
	stage(world);
	want_no_more(world);
	settle(world);
	assert_listed(world, 2);
	unstage(world);
	volumes_in_use_settle(world->volumes_in_use, false);
	run(world);
	assert_listed(world, 2);
	settle(world);
	assert_int_equal(in_use(world)->count, 1);
	assert_true(node_volumes_have(in_use(world), OTHER));
}

/* The stored list still has it, but the write that is under way leaves it out. */
static void test_wanted_again_while_it_is_dropped(void **state)
{
	struct world *world = *state;

	put_attachment(world, "'attached':true");
	want(world, VOLUME);
	settle(world);
	put_node(world, LISTED "," REPORTED);
	assert_true(may_stage(world));
	want_no_more(world);
	volumes_in_use_settle(world->volumes_in_use, true);
	want(world, VOLUME);
	assert_listed(world, 1);
	assert_false(may_stage(world));
	settle(world);
	settle(world);
	assert_listed(world, 1);
	assert_true(may_stage(world));
}

/* case 323: what is staged stays listed until it is gone; nothing is waited for any more */
static void test_driver_turns_out_to_attach_nothing(void **state)
{
	struct world *world = *state;

	want(world, VOLUME);
	stage(world);
	settle(world);
	put_driver_without_attaching(world);
	assert_true(may_stage(world));
	volumes_in_use_sync(world->volumes_in_use, VOLUME);
	settle(world);
	assert_listed(world, 1);
	unstage(world);
	settle(world);
	assert_listed(world, 0);
	/* Wanted it still is, but that needs no word any more. */
	volumes_in_use_sync(world->volumes_in_use, VOLUME);
	settle(world);
	assert_listed(world, 0);
}

static void test_only_stages_of_attached_kinds_wait(void **state)
{
	struct world *world = *state;
	struct step step = { .kind = STEP_PUBLISH, .unique_name = VOLUME };

	assert_true(volumes_in_use_pass(world->volumes_in_use, &step));
	step.kind = STEP_UNSTAGE;
	assert_true(volumes_in_use_pass(world->volumes_in_use, &step));
	step.kind = STEP_STAGE;
	step.unique_name = "kubernetes.io/local-volume/pv";
	assert_true(volumes_in_use_pass(world->volumes_in_use, &step));
	volumes_in_use_sync(world->volumes_in_use, step.unique_name);
	step.unique_name = "kubernetes.io/csi/u1-inline";
	assert_true(volumes_in_use_pass(world->volumes_in_use, &step));
	settle(world);
	assert_listed(world, 0);
	/* Without memory it was not noted: then it is tried again. */
	assert_false(may_stage(world));
	assert_int_equal(retries, 1);
}

/* What the Node says from before stays until every pod is known, and while it is there. */
static void test_restart(void **state)
{
	struct world *world = *state;

	want(world, VOLUME);
	want(world, OTHER);
	settle(world);
	(void) volumes_in_use_free(world->volumes_in_use);
	desired_remove(world->desired, VOLUME, "u1");
	desired_remove(world->desired, OTHER, "u1");
	stage(world);
	open_attachments(world);
	volumes_in_use_settle(world->volumes_in_use, false);
	run(world);
	assert_listed(world, 2);
	settle(world);
	assert_listed(world, 1);
	unstage(world);
	settle(world);
	assert_listed(world, 0);
}

static bool is_listed(void *userdata)
{
	return in_use(userdata)->count == 1;
}

static void test_writes_that_fail(void **state)
{
	struct world *world = *state;

	writes_that_fail = 1;
	want(world, VOLUME);
	settle(world);
	assert_listed(world, 0);
	assert_false(may_stage(world));
	store_world_run(&world->store, is_listed, world);
}

static void test_others_write_the_node(void **state)
{
	struct world *world = *state;

	want(world, VOLUME);
	settle(world);
	put_node(world, "");
	settle(world);
	assert_listed(world, 1);
	/* One that is gone is not made; one that comes back is reported. */
	assert_int_equal(world_delete(&world->store, KIND_NODE, "", "n"), 0);
	run(world);
	assert_false(may_stage(world));
	put_node(world, "");
	settle(world);
	assert_listed(world, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_said_before_it_is_staged),
		TEST(test_attached_before_it_is_staged),
		TEST(test_dropped_when_every_pod_is_known),
		TEST(test_wanted_again_while_it_is_dropped),
		TEST(test_driver_turns_out_to_attach_nothing),
		TEST(test_only_stages_of_attached_kinds_wait),
		TEST(test_restart),
		TEST(test_writes_that_fail),
		TEST(test_others_write_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
