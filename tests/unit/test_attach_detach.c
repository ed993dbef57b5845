/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attach_detach - the attach/detach controller on a real store, with several Nodes
 *
 * The test is the driver's attacher and the nodes: it writes what they would write.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "controller/attach_detach.h"
#include "csi/csi_names.h"
#include "object/json.h"
#include "object/node.h"
#include "object/volume_attachment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANAGED "'volumes.kubernetes.io/controller-managed-attach-detach':'true'"
#define TAINT   "'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]"

struct world {
	struct store_world store;
	struct attach_detach *controller;
	bool is_incomplete, may_force;
	char events[2048];
};

/* ---- writes that fail ---- */

static unsigned int node_writes_that_fail;

int __real_store_edit(struct store *store, const struct object *object,
		      const struct store_precondition *precondition, store_edit_fn *edit,
		      store_done_fn *done, void *userdata);
int __wrap_store_edit(struct store *store, const struct object *object,
		      const struct store_precondition *precondition, store_edit_fn *edit,
		      store_done_fn *done, void *userdata);

int __wrap_store_edit(struct store *store, const struct object *object,
		      const struct store_precondition *precondition, store_edit_fn *edit,
		      store_done_fn *done, void *userdata)
{
	if (node_writes_that_fail == 0)
		return __real_store_edit(store, object, precondition, edit, done, userdata);
	node_writes_that_fail--;
	return -ENOBUFS;
}

/* ---- the world ---- */

static bool is_complete(void *userdata)
{
	return !((const struct world *) userdata)->is_incomplete;
}

static void on_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	struct world *world = userdata;
	size_t used = strlen(world->events);

	(void) snprintf(world->events + used, sizeof(world->events) - used, "%s %s %s: %s\n",
			about->meta.name, type, reason, text);
}

static void start(struct world *world)
{
	const struct attach_detach_options options = {
		.event = world->store.event,
		.store = world->store.store,
		.node_name = "here",
		.may_force = world->may_force,
		.is_complete = is_complete,
		.event_fn = on_event,
		.userdata = world,
	};

	assert_int_equal(attach_detach_new(&options, &world->controller), 0);
}

static void restart(struct world *world)
{
	world->controller = attach_detach_free(world->controller);
	start(world);
}

/* Until it writes no more: a write of ours is answered after all that were queued before. */
static void run(struct world *world)
{
	uint64_t before;

	do {
		before = store_resource_version(world->store.store);
		for (unsigned int i = 0; i < 8; i++)
			(void) world_delete(&world->store, KIND_POD, "ns", "nobody");
	} while (store_resource_version(world->store.store) != before);
}

static void put(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct world *world, const char *format, ...)
{
	cleanup_object const struct object *object = NULL;
	cleanup_free char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	assert_true(vasprintf(&text, format, arguments) > 0);
	va_end(arguments);
	object = object_of(text);
	assert_int_equal(store_get(world->store.store, object->kind, object->meta.name_space,
				   object->meta.name)
				 ? world_update(&world->store, object)
				 : world_create(&world->store, object),
			 0);
	run(world);
}

static void put_node(struct world *world, const char *name)
{
	put(world,
	    "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','annotations':{" MANAGED
	    "}},'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
	    name);
}

static void put_volume(struct world *world, const char *name, const char *modes)
{
	put(world,
	    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'%s','namespace':"
	    "'ns','uid':'uid-%s'},'spec':{'accessModes':[%s],'volumeName':'pv-%s','resources':{"
	    "'requests':{'storage':'1Gi'}}},'status':{'phase':'Bound'}}",
	    name, name, modes, name);
	put(world,
	    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv-%s'},'spec':{"
	    "'capacity':{'storage':'1Gi'},'accessModes':[%s],'csi':{'driver':'d','volumeHandle':"
	    "'h-%s'},'claimRef':{'namespace':'ns','name':'%s','uid':'uid-%s'}}}",
	    name, modes, name, name, name);
}

static void put_pod(struct world *world, const char *name, const char *claim, const char *node)
{
	put(world,
	    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'ns'},'spec':{%s%"
	    "s%s"
	    "'containers':[{'name':'c','volumeMounts':[{'name':'v','mountPath':'/"
	    "v'}]}],'volumes':[{"
	    "'name':'v','persistentVolumeClaim':{'claimName':'%s'}}]}}",
	    name, *node ? "'nodeName':'" : "", node, *node ? "'," : "", claim);
}

static void remove_pod(struct world *world, const char *name)
{
	assert_int_equal(world_delete(&world->store, KIND_POD, "ns", name), 0);
	run(world);
}

static char *attachment_name(const char *volume, const char *node)
{
	char handle[64];

	(void) snprintf(handle, sizeof(handle), "h-%s", volume);
	return csi_attachment_name(handle, "d", node);
}

static const struct volume_attachment *attachment(struct world *world, const char *volume,
						  const char *node)
{
	cleanup_free char *name = attachment_name(volume, node);
	const struct object *object =
		store_get(world->store.store, KIND_VOLUME_ATTACHMENT, "", name);

	return object ? object->volume_attachment : NULL;
}

static const struct node *node_of(struct world *world, const char *name)
{
	const struct object *object = store_get(world->store.store, KIND_NODE, "", name);

	assert_non_null(object);
	return object->node;
}

static bool is_reported(struct world *world, const char *volume, const char *node)
{
	char handle[64];
	cleanup_free char *name = NULL;

	(void) snprintf(handle, sizeof(handle), "h-%s", volume);
	name = csi_unique_name("d", handle);
	return node_volumes_have(&node_of(world, node)->attached, name);
}

/* ---- the attacher and the node ---- */

static void edit(struct world *world, enum object_kind kind, const char *name,
		 int (*change)(struct cJSON *tree, void *userdata), const char *what)
{
	const struct object *object = store_get(world->store.store, kind, "", name);
	cleanup_object const struct object *made = NULL;

	assert_non_null(object);
	assert_int_equal(object_edit(object, change, (void *) what, &made, NULL), 0);
	assert_int_equal(world_update(&world->store, made), 0);
	run(world);
}

static int edit_attached(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	(void) json_set_string(json_add_array(metadata, "finalizers"), NULL, "external-attacher/d");
	return json_set_bool(json_ensure_object(tree, "status"), "attached", true);
}

static int edit_error(struct cJSON *tree, void *userdata)
{
	return json_set_string(json_add_object(json_ensure_object(tree, "status"), "attachError"),
			       "message", userdata);
}

static int edit_gone(struct cJSON *tree, void *userdata)
{
	json_remove(json_ensure_object(tree, "metadata"), "finalizers");
	return 0;
}

static void attach(struct world *world, const char *volume, const char *node)
{
	cleanup_free char *name = attachment_name(volume, node);

	edit(world, KIND_VOLUME_ATTACHMENT, name, edit_attached, NULL);
}

static void detach(struct world *world, const char *volume, const char *node)
{
	cleanup_free char *name = attachment_name(volume, node);

	assert_true(attachment(world, volume, node)->object->meta.deletes);
	edit(world, KIND_VOLUME_ATTACHMENT, name, edit_gone, NULL);
}

static int edit_in_use(struct cJSON *tree, void *userdata)
{
	const char *volume = userdata;
	char text[64];

	(void) snprintf(text, sizeof(text), "kubernetes.io/csi/d^h-%s", volume);
	if (*volume)
		(void) json_set_string(
			json_add_array(json_ensure_object(tree, "status"), "volumesInUse"), NULL,
			text);
	else
		json_remove(json_ensure_object(tree, "status"), "volumesInUse");
	return 0;
}

static void use(struct world *world, const char *volume, const char *node)
{
	edit(world, KIND_NODE, node, edit_in_use, volume);
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(&world->store);
	*state = world;
	node_writes_that_fail = 0;
	put_node(world, "here");
	put_node(world, "there");
	put_volume(world, "a", "'ReadWriteOnce'");
	start(world);
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	world->controller = attach_detach_free(world->controller);
	store_world_close(&world->store);
	free(world);
	return 0;
}

/* ---- tests ---- */

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
	attach_detach_look_again(world->controller);
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

/* case 454 */
static void test_elsewhere(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "there");
	attach(world, "a", "there");
	use(world, "a", "there");
	world->events[0] = '\0';
	put_pod(world, "q", "a", "here");
	put_pod(world, "q", "a", "here");
	restart(world);
	world->events[0] = '\0';
	run(world);
	use(world, "a", "there");
	put_node(world, "other");
	assert_null(attachment(world, "a", "here"));
	assert_string_equal(world->events, "");
	remove_pod(world, "p");
	assert_null(attachment(world, "a", "here"));
	use(world, "", "there");
	assert_null(attachment(world, "a", "here"));
	detach(world, "a", "there");
	assert_non_null(attachment(world, "a", "here"));
}

static void test_multi_attach_words(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "there");
	attach(world, "a", "there");
	world->events[0] = '\0';
	put_pod(world, "q", "a", "here");
	assert_string_equal(world->events,
			    "q Warning FailedAttachVolume: Multi-Attach error for volume \"pv-a\" "
			    "Volume is already used by pod(s) p\n");
	use(world, "a", "there");
	world->events[0] = '\0';
	remove_pod(world, "p");
	remove_pod(world, "q");
	put_pod(world, "r", "a", "here");
	assert_string_equal(world->events,
			    "r Warning FailedAttachVolume: Multi-Attach error for volume \"pv-a\" "
			    "Volume is already exclusively attached to one node and can't be "
			    "attached to another\n");
}

/* case 455 */
static void test_shared(void **state)
{
	struct world *world = *state;

	put_volume(world, "s", "'ReadWriteMany'");
	put_pod(world, "p", "s", "there");
	attach(world, "s", "there");
	put_pod(world, "q", "s", "here");
	assert_non_null(attachment(world, "s", "here"));
	attach(world, "s", "here");
	remove_pod(world, "p");
	detach(world, "s", "there");
	assert_false(attachment(world, "s", "here")->object->meta.deletes);
}

static void test_limit(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'here'},"
		   "'spec':{'drivers':[{'name':'d','nodeID':'n','allocatable':{'count':1}}]}}");
	put_volume(world, "b", "'ReadWriteOnce'");
	put_pod(world, "p", "a", "here");
	put_pod(world, "q", "b", "here");
	assert_null(attachment(world, "b", "here"));
	assert_string_equal(world->events,
			    "q Warning FailedAttachVolume: AttachVolume.Attach failed for volume "
			    "\"pv-b\" : node(s) exceed max volume count\n");
	attach(world, "a", "here");
	remove_pod(world, "p");
	assert_null(attachment(world, "b", "here"));
	detach(world, "a", "here");
	assert_non_null(attachment(world, "b", "here"));
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
	node_writes_that_fail = 1;
	remove_pod(world, "p");
	store_world_run(&world->store, has_failed, world);
	assert_true(is_reported(world, "a", "here"));
	assert_false(is_deleted(world));
	store_world_run(&world->store, is_deleted, world);
	run(world);
	assert_false(is_reported(world, "a", "here"));
}

static void test_errors_of_the_driver(void **state)
{
	struct world *world = *state;
	cleanup_free char *name = attachment_name("a", "here");

	put_pod(world, "p", "a", "here");
	edit(world, KIND_VOLUME_ATTACHMENT, name, edit_error, "no such disk");
	edit(world, KIND_VOLUME_ATTACHMENT, name, edit_error, "no such disk");
	assert_string_equal(world->events,
			    "p Warning FailedAttachVolume: AttachVolume.Attach failed "
			    "for volume \"pv-a\" : no such disk\n");
	remove_pod(world, "p");
	assert_null(attachment(world, "a", "here"));
}

/* What somebody deletes by hand is made again; what is somebody's own is left alone. */
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_life),
		TEST(test_life_with_restarts),
		TEST(test_who_gets_nothing),
		TEST(test_driver_without_attaching),
		TEST(test_late),
		TEST(test_elsewhere),
		TEST(test_multi_attach_words),
		TEST(test_shared),
		TEST(test_limit),
		TEST(test_out_of_service),
		TEST(test_node_that_cannot_be_written),
		TEST(test_errors_of_the_driver),
		TEST(test_other_hands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
