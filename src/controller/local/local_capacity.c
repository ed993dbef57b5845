/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_capacity - an item is a class, or an object that is left of one; see local_capacity.h
 */
#include "controller/local/local_capacity.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/controller_class.h"
#include "controller/csi/csi_capacity_rule.h"
#include "controller/local/local_plan.h"
#include "object/json/json.h"
#include "object/quantity.h"

#include <assert.h>
#include <string.h>

enum {
	NAME_BYTES = 512,        /* of an object */
	OLD_SECONDS = 60,        /* external-provisioner's --capacity-poll-interval */
	LITTLE_BYTES = 16 << 20, /* or less than a hundredth: not written */
};

#define PROBE "podvol-room" /* below a base path; nothing of that name is made */

struct capacity_item {
	struct work_item work; /* the class's name */
	uint64_t room_bytes;
	bool is_fresh; /* nothing has changed since that was asked for */
};

struct local_capacity {
	struct controller base;
	struct local_capacity_options options;
	sd_event_source *timer; /* on while there is a class */
	bool is_stopped;
};

static struct local_capacity *capacity_of(const struct capacity_item *item)
{
	return work_queue_userdata(item->work.queue);
}

/* ---- the stored objects ---- */

static void name_object(const struct local_capacity *capacity, const char *class,
			char ret[NAME_BYTES])
{
	(void) snprintf(ret, NAME_BYTES, "%.253s.%.253s", class,
			capacity->options.local.common.node_name);
}

static const struct object *stored(const struct local_capacity *capacity, const char *class)
{
	char name[NAME_BYTES];

	name_object(capacity, class, name);
	return store_get(capacity->options.local.common.store, KIND_CSI_STORAGE_CAPACITY,
			 CSI_CAPACITY_NAMESPACE, name);
}

/* NULL: nothing is to be published for a class of this name. */
static const struct storage_class *wanted_class(const struct local_capacity *capacity,
						const char *name)
{
	struct store *store = capacity->options.local.common.store;
	const struct object *object = store_get(store, KIND_STORAGE_CLASS, "", name);
	const struct object *driver = store_get(store, KIND_CSI_DRIVER, "", LOCAL_DRIVER_NAME);
	const struct storage_class *class = object ? object->storage_class : NULL;

	return class && class->waits_for_first_consumer && !object->meta.deletes && driver &&
			       driver->csi_driver->storage_capacity &&
			       strcmp(class->provisioner, LOCAL_DRIVER_NAME) == 0
		       ? class
		       : NULL;
}

/* ---- writing ---- */

static void set_room(struct cJSON *tree, uint64_t bytes)
{
	char text[QUANTITY_TEXT_BYTES];

	quantity_print_bytes(bytes > INT64_MAX ? INT64_MAX : (int64_t) bytes, text);
	(void) json_set_string(tree, "capacity", text);
	(void) json_set_string(tree, "maximumVolumeSize", text); /* one of the base paths has it */
}

static int edit_room(struct cJSON *tree, void *userdata)
{
	set_room(tree, *(const uint64_t *) userdata);
	return 0;
}

static int make_object(const struct capacity_item *item, const struct object **ret)
{
	const struct local_capacity *capacity = capacity_of(item);
	const struct object *node = store_get(capacity->options.local.common.store, KIND_NODE, "",
					      capacity->options.local.common.node_name);
	cleanup_json struct cJSON *tree = json_new_object(), *of = node ? object_tree(node) : NULL;
	const char *host = json_string(
		json_get(json_get_path(of, "metadata.labels"), "kubernetes.io/hostname"),
		capacity->options.local.common.node_name);
	struct cJSON *metadata, *part;
	char name[NAME_BYTES];

	if (!node)
		return -ENODEV;
	name_object(capacity, item->work.name, name);
	(void) json_set_string(tree, "apiVersion", "storage.k8s.io/v1");
	(void) json_set_string(tree, "kind", "CSIStorageCapacity");
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "name", name);
	(void) json_set_string(metadata, "namespace", CSI_CAPACITY_NAMESPACE);
	part = json_add_object(metadata, "labels");
	(void) json_set_string(part, CSI_CAPACITY_LABEL_DRIVER, LOCAL_DRIVER_NAME);
	(void) json_set_string(part, CSI_CAPACITY_LABEL_MANAGED_BY, CSI_CAPACITY_MANAGED_BY);
	part = json_add_object(json_add_array(metadata, "ownerReferences"), NULL);
	(void) json_set_string(part, "apiVersion", "v1");
	(void) json_set_string(part, "kind", "Node");
	(void) json_set_string(part, "name", node->meta.name);
	(void) json_set_string(part, "uid", node->meta.uid);
	(void) json_set_string(tree, "storageClassName", item->work.name);
	part = json_add_object(json_add_object(tree, "nodeTopology"), "matchLabels");
	(void) json_set_string(part, "kubernetes.io/hostname", host);
	set_room(tree, item->room_bytes);
	return object_propose(tree, ret, NULL);
}

static bool differs(const struct object *object, uint64_t room_bytes)
{
	cleanup_json struct cJSON *tree = object_tree(object);
	struct quantity quantity;
	uint64_t before, by;

	if (quantity_parse(json_text(tree, "capacity"), &quantity, NULL) < 0)
		return true;
	before = (uint64_t) quantity_value(&quantity);
	by = before > room_bytes ? before - room_bytes : room_bytes - before;
	return by > 0 && (by >= LITTLE_BYTES || by >= before / 100);
}

static void write_object(struct capacity_item *item, const struct object *object)
{
	const struct object *made = NULL;
	int r;

	if (object && !differs(object, item->room_bytes))
		return;
	r = object ? object_edit(object, edit_room, &item->room_bytes, &made, NULL)
		   : make_object(item, &made);
	if (object)
		work_item_update(&item->work, r, object, made);
	else
		work_item_create(&item->work, r, made);
}

/* It is there, as this node has not read yet, or the server has no such kind. */
static void written(struct work_item *work, int error, const struct failure *why)
{
	const struct local_capacity *capacity = work_queue_userdata(work->queue);

	if (error == 0 && wanted_class(capacity, work->name) && !stored(capacity, work->name))
		work_item_failed(work);
}

/* ---- asking ---- */

static void query_later(struct local_capacity *capacity)
{
	(void) sd_event_source_set_time_relative(capacity->timer, OLD_SECONDS * USEC_PER_SEC);
	(void) sd_event_source_set_enabled(capacity->timer, SD_EVENT_ONESHOT);
}

/* What cannot be made here at all has no room. */
static void on_done(void *userdata, int error, const struct directory_choice *choice,
		    const struct failure *why)
{
	struct capacity_item *item = userdata;

	if (!work_item_end(&item->work))
		return;
	if (capacity_of(item)->is_stopped)
		return;
	item->room_bytes = error < 0 ? 0 : choice->room_bytes;
	work_item_succeeded(&item->work);
	work_queue_run(item->work.queue);
}

static void query_room(struct capacity_item *item, const struct storage_class *class)
{
	const struct local_provisioner_options *options = &capacity_of(item)->options.local;
	struct local_plan plan;
	struct directory_order order = { .deed = DIRECTORY_CHOOSE, .name = PROBE };
	struct failure why;
	int r = local_plan_room(class, &plan, &why);

	order.base_paths = (const char *const *) plan.base_paths;
	order.base_count = plan.base_count;
	order.capacity = plan.capacity;
	if (r == 0)
		r = options->start(options->start_userdata, &order, on_done, item);
	local_plan_done(&plan);
	if (r < 0) {
		work_item_failed(&item->work);
		return;
	}
	item->is_fresh = true;
	work_item_begin(&item->work);
	query_later(capacity_of(item));
}

static bool sync_item(struct work_item *work)
{
	struct capacity_item *item = (struct capacity_item *) work;
	struct local_capacity *capacity = capacity_of(item);
	const struct storage_class *class = wanted_class(capacity, work->name);
	const struct object *object = stored(capacity, work->name);
	char name[NAME_BYTES];

	name_object(capacity, work->name, name);
	capacity->options.uses(capacity->options.local.common.userdata, name, class || object);
	if (work_item_backs_off(work))
		return true;
	if (!class && object)
		work_item_delete(work, object);
	else if (class && !item->is_fresh)
		query_room(item, class);
	else if (class)
		write_object(item, object);
	return class || object;
}

/* ---- watching ---- */

static int take_class(const struct object *object, void *userdata)
{
	struct local_capacity *capacity = userdata;
	struct capacity_item *item = (struct capacity_item *) work_queue_item(
		capacity->base.queues[0], object->meta.name);

	if (!item)
		return -ENOMEM;
	item->is_fresh = false;
	work_item_due(&item->work);
	return 0;
}

/* Of this node: its name without the node's is the class's. */
static int take_object(const struct object *object, void *userdata)
{
	struct local_capacity *capacity = userdata;
	const char *node = capacity->options.local.common.node_name, *name = object->meta.name;
	size_t length = strlen(name), end = strlen(node) + 1;
	char class[NAME_BYTES];

	if (strcmp(object->meta.name_space, CSI_CAPACITY_NAMESPACE) != 0 || length <= end ||
	    name[length - end] != '.' || strcmp(name + length - end + 1, node) != 0)
		return 0;
	(void) snprintf(class, sizeof(class), "%.*s", (int) (length - end), name);
	return work_queue_due(capacity->base.queues[0], class);
}

static void make_old(struct work_item *work)
{
	((struct capacity_item *) work)->is_fresh = false;
	work_item_due(work);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct local_capacity *capacity = userdata;

	if (change->object->kind == KIND_STORAGE_CLASS)
		return take_class(change->object, capacity);
	if (change->object->kind == KIND_CSI_STORAGE_CAPACITY)
		return take_object(change->object, capacity);
	if (change->object->kind == KIND_CSI_DRIVER || change->type != STORE_MODIFIED)
		work_queue_walk(capacity->base.queues[0], make_old);
	if (change->object->kind == KIND_CSI_DRIVER)
		return store_list(capacity->options.local.common.store, KIND_STORAGE_CLASS, NULL,
				  take_class, capacity);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct local_capacity *capacity = userdata;

	work_queue_walk(capacity->base.queues[0], make_old);
	work_queue_run(capacity->base.queues[0]);
	return 0;
}

/* ---- life ---- */

static int open_timer(void *userdata)
{
	struct local_capacity *capacity = userdata;
	int r = sd_event_add_time(capacity->options.local.common.event, &capacity->timer,
				  CLOCK_MONOTONIC, UINT64_MAX, USEC_PER_SEC, on_timer, capacity);

	if (r >= 0)
		r = sd_event_source_set_enabled(capacity->timer, SD_EVENT_OFF);
	return r < 0 ? r : 0;
}

static void close_timer(void *userdata)
{
	(void) sd_event_source_disable_unref(((struct local_capacity *) userdata)->timer);
}

static const struct controller_class local_capacity_class = {
	CONTROLLER_OF(local_capacity),
	.what = "capacities",
	.kinds = 1 << KIND_STORAGE_CLASS | 1 << KIND_CSI_DRIVER | 1 << KIND_CSI_STORAGE_CAPACITY |
		 1 << KIND_PERSISTENT_VOLUME,
	.lists = { { KIND_STORAGE_CLASS, take_class }, { KIND_CSI_STORAGE_CAPACITY, take_object } },
	.queues = { { .what = "capacity of class",
		      .item_bytes = sizeof(struct capacity_item),
		      .sync = sync_item,
		      .written = written } },
	.open = open_timer,
	.take_change = take_change,
	.close = close_timer,
};

int local_capacity_new(const struct local_capacity_options *options, struct local_capacity **ret)
{
	assert(options->local.start && options->local.common.node_name && options->uses && ret);
	return controller_new(&local_capacity_class, options, ret);
}

void local_capacity_stop(struct local_capacity *capacity)
{
	if (!capacity)
		return;
	capacity->is_stopped = true;
	work_queue_stop(capacity->base.queues[0]);
}

struct local_capacity *local_capacity_free(struct local_capacity *capacity)
{
	return controller_free(capacity);
}
