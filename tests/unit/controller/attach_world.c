/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_world - the attach/detach controller on a real store; see attach_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach_world.h"

#include "base/cleanup.h"
#include "csi/csi_drivers.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANAGED "'volumes.kubernetes.io/controller-managed-attach-detach':'true'"

/* ---- writes that fail ---- */

unsigned int node_writes_that_fail;

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
	static const struct store_key nothing = { KIND_POD, "ns", "nothing" };

	if (node_writes_that_fail == 0)
		return __real_store_edit(store, object, precondition, edit, done, userdata);
	/* At once, or by the answer. */
	if (node_writes_that_fail-- % 2 == 0)
		return store_delete(store, &nothing, NULL, done, userdata);
	return -ENOBUFS;
}

/* ---- the world ---- */

static bool is_complete(void *userdata)
{
	return !((const struct world *) userdata)->is_incomplete;
}

static bool is_in_use(void *userdata, const char *unique_name)
{
	assert_non_null(strstr(unique_name, "kubernetes.io/csi/d^h-"));
	return ((const struct world *) userdata)->is_staged;
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
		.common = { .event = world->store.event,
			    .store = world->store.store,
			    .node_name = "here",
			    .is_complete = is_complete,
			    .event_fn = on_event,
			    .userdata = world },
		.is_in_use = is_in_use,
		.userdata = world,
	};

	assert_int_equal(attach_detach_new(&options, &world->controller), 0);
}

void restart(struct world *world)
{
	world->controller = attach_detach_free(world->controller);
	start(world);
}

void run(struct world *world)
{
	store_world_settle(&world->store);
}

void put(struct world *world, const char *format, ...)
{
	cleanup_object const struct object *object = NULL;
	cleanup_free char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	assert_true(vasprintf(&text, format, arguments) > 0);
	va_end(arguments);
	object = object_of(text);
	world_put(&world->store, object);
	run(world);
}

void put_node(struct world *world, const char *name)
{
	put(world,
	    "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','annotations':{" MANAGED
	    "}},'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
	    name);
}

void put_volume(struct world *world, const char *name, const char *modes)
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

void put_pod(struct world *world, const char *name, const char *claim, const char *node)
{
	put(world,
	    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'ns'},'spec':{%s%"
	    "s%s"
	    "'containers':[{'name':'c','volumeMounts':[{'name':'v','mountPath':'/"
	    "v'}]}],'volumes':[{"
	    "'name':'v','persistentVolumeClaim':{'claimName':'%s'}}]}}",
	    name, *node ? "'nodeName':'" : "", node, *node ? "'," : "", claim);
}

void remove_pod(struct world *world, const char *name)
{
	assert_int_equal(world_delete(&world->store, KIND_POD, "ns", name), 0);
	run(world);
}

char *attachment_name(const char *volume, const char *node)
{
	char handle[64];

	(void) snprintf(handle, sizeof(handle), "h-%s", volume);
	return csi_attachment_name(handle, "d", node);
}

const struct volume_attachment *attachment(struct world *world, const char *volume,
					   const char *node)
{
	cleanup_free char *name = attachment_name(volume, node);
	const struct object *object =
		store_get(world->store.store, KIND_VOLUME_ATTACHMENT, "", name);

	return object ? object->volume_attachment : NULL;
}

const struct node *node_of(struct world *world, const char *name)
{
	const struct object *object = store_get(world->store.store, KIND_NODE, "", name);

	assert_non_null(object);
	return object->node;
}

bool is_reported(struct world *world, const char *volume, const char *node)
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

void attach(struct world *world, const char *volume, const char *node)
{
	cleanup_free char *name = attachment_name(volume, node);

	edit(world, KIND_VOLUME_ATTACHMENT, name, edit_attached, NULL);
}

void fail_attach(struct world *world, const char *volume, const char *node, const char *text)
{
	cleanup_free char *name = attachment_name(volume, node);

	edit(world, KIND_VOLUME_ATTACHMENT, name, edit_error, text);
}

void detach(struct world *world, const char *volume, const char *node)
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

void use(struct world *world, const char *volume, const char *node)
{
	edit(world, KIND_NODE, node, edit_in_use, volume);
}

int attach_world_setup(void **state)
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

int attach_world_teardown(void **state)
{
	struct world *world = *state;

	world->controller = attach_detach_free(world->controller);
	store_world_close(&world->store);
	free(world);
	return 0;
}
