/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach_node - keeps Node.status.volumesAttached; see attach_detach.h
 *
 * One write for each Node at a time, of all that is to change by then. What is reported of a volume
 * counts when it is stored: an item waits for the Node to say so. A write that fails leaves the
 * Node as it was, so what was to leave the list is still in it, and nothing of it is detached.
 * Entries of other kinds of volumes are left alone.
 */
#include "controller/attach/attach_detach_internal.h"

#include "base/log.h"
#include "csi/csi_drivers.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

struct attach_node *attach_node_of(struct attach_detach *controller, const char *name)
{
	struct attach_node *node =
		(struct attach_node *) work_queue_item(controller->base.queues[NODES], name);

	if (node && !node->controller) {
		node->controller = controller;
		DL_APPEND(controller->node_list, node);
	}
	return node;
}

void attach_node_clear(struct work_item *work)
{
	struct attach_node *node = (struct attach_node *) work;

	assert(!node->items);
	if (node->controller)
		DL_DELETE(node->controller->node_list, node);
}

const struct node *attach_node_object(const struct attach_node *node)
{
	const struct object *object =
		store_get(node->controller->options.common.store, KIND_NODE, "", node->work.name);

	return object ? object->node : NULL;
}

/* ---- what changed ---- */

static bool takes_part_otherwise(const struct store_change *change)
{
	return change->type != STORE_MODIFIED ||
	       change->object->node->is_managed != change->previous->node->is_managed ||
	       change->object->node->keeps_terminated != change->previous->node->keeps_terminated;
}

void attach_node_changed(struct attach_detach *controller, const struct store_change *change)
{
	struct attach_node *node = attach_node_of(controller, change->object->meta.name);
	const struct node *said = change->object->node; /* its last word, when it is deleted */

	controller->sync_pods |= takes_part_otherwise(change);
	if (!node) {
		log_message(LOG_ERR, "out of memory: Node '%s' waits for its next change",
			    change->object->meta.name);
		return;
	}
	work_item_due(&node->work);
	for (struct attach_item *item = node->items; item; item = item->next) {
		if (node_volumes_have(&said->attached, item->unique_name))
			item->assumes_use = false;
		item->is_let_go = change->type == STORE_DELETED &&
				  !node_volumes_have(&said->in_use, item->unique_name);
		work_item_due(&item->work);
	}
}

/* ---- writing ---- */

static bool differs(const struct attach_node *node, const struct node *object)
{
	for (const struct attach_item *item = node->items; item; item = item->next)
		if (item->reports != node_volumes_have(&object->attached, item->unique_name))
			return true;
	return false;
}

static bool is_ours(const char *unique_name)
{
	return strncmp(unique_name, CSI_PLUGIN_NAME "/", strlen(CSI_PLUGIN_NAME "/")) == 0;
}

static int edit_attached(struct cJSON *tree, void *userdata)
{
	const struct attach_node *node = userdata;
	struct cJSON *status = json_ensure_object(tree, "status"), *list = json_new_array();

	JSON_FOREACH (i, json_get(status, "volumesAttached"))
		if (!is_ours(json_text(i, "name")))
			(void) json_set(list, NULL, json_copy(i));
	for (const struct attach_item *item = node->items; item; item = item->next) {
		struct cJSON *entry = item->reports ? json_add_object(list, NULL) : NULL;

		(void) json_set_string(entry, "devicePath", "");
		(void) json_set_string(entry, "name", item->unique_name);
	}
	if (json_count(list) > 0)
		return json_set(status, "volumesAttached", list);
	json_free(list);
	json_remove(status, "volumesAttached");
	return 0;
}

static int edit_again(void *userdata, const struct object *present, const struct object **ret,
		      struct failure *why)
{
	struct attach_node *node = userdata;

	if (!node->controller)
		return failed_plain(why, -ECANCELED, "podvold is shutting down");
	return object_edit(present, edit_attached, node, ret, why);
}

/* What was to be reported otherwise is as it was; each of them tries again by itself. */
static void put_back(struct attach_node *node)
{
	const struct node *object = attach_node_object(node);

	for (struct attach_item *item = node->items; item; item = item->next) {
		bool is_reported =
			object && node_volumes_have(&object->attached, item->unique_name);

		if (item->reports != is_reported)
			work_item_failed(&item->work);
		item->reports = is_reported;
	}
}

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct attach_node *node = userdata;

	if (!work_item_end(&node->work))
		return;
	if (error == 0) {
		work_item_succeeded(&node->work);
	} else if (error != -ECANCELED) {
		log_message(LOG_WARNING, "Node '%s' does not report its attached volumes: %s",
			    node->work.name, why->text);
		put_back(node);
	}
	controller_run(node->controller);
}

bool attach_node_sync(struct work_item *work)
{
	struct attach_node *node = (struct attach_node *) work;
	struct store *store = node->controller->options.common.store;
	const struct node *object = attach_node_object(node);
	cleanup_object const struct object *made = NULL;
	struct failure why = { .error = 0 };
	struct store_precondition present;
	int r;

	if (!object || !differs(node, object))
		return object || node->items;
	present = (struct store_precondition){
		.resource_version = object->object->meta.resource_version,
	};
	r = object_edit(object->object, edit_attached, node, &made, &why);
	if (r == 0)
		r = store_edit(store, made, &present, edit_again, on_written, node);
	if (r == 0) {
		work_item_begin(work);
		return true;
	}
	log_message(LOG_WARNING, "Node '%s' does not report its attached volumes: %s", work->name,
		    why.text[0] ? why.text : strerror(-r));
	put_back(node);
	return true;
}
