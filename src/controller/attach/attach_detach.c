/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach - watches pods, claims, volumes, Nodes and VolumeAttachments; see attach_detach.h
 */
#include "controller/attach/attach_detach_internal.h"

#include "base/log.h"
#include "base/timer.h"
#include "object/kinds/volume_attachment.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
	RETRY_FIRST_USEC = 500000, /* Kubernetes' constants */
	RETRY_MAX_USEC = 122 * 1000000,
};

/* ---- forced detaches ---- */

static void make_unwanted_due(struct work_item *work)
{
	if (!((struct attach_item *) work)->wants)
		work_item_due(work);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct attach_detach *controller = userdata;

	controller->deadline_usec = 0;
	work_queue_walk(controller->base.queues[ITEMS], make_unwanted_due);
	controller_run(controller);
	return 0;
}

void attach_resync_at(struct attach_detach *controller, uint64_t usec)
{
	if (controller->deadline_usec && controller->deadline_usec <= usec)
		return;
	controller->deadline_usec = usec;
	timer_set(controller->deadline, usec);
}

static int make_timer(void *userdata)
{
	struct attach_detach *controller = userdata;
	int r = timer_new(controller->options.common.event, 1, on_deadline, controller,
			  &controller->deadline);

	return r < 0 ? r
		     : sd_event_source_set_priority(controller->deadline,
						    controller->options.common.priority);
}

/* ---- watching ---- */

/* One of another name than that of its volume and node is foreign. */
static int take_attachment(const struct object *object, void *userdata)
{
	struct attach_detach *controller = userdata;
	const struct volume_attachment *attachment = object->volume_attachment;
	struct work_item *known =
		work_queue_find(controller->base.queues[ITEMS], object->meta.name);
	const struct object *volume =
		store_get(controller->options.common.store, KIND_PERSISTENT_VOLUME, "",
			  attachment->volume_name);
	struct attach_item *item;

	if (known) {
		work_item_due(known);
		return 0;
	}
	if (!volume || !volume->persistent_volume->csi ||
	    strcmp(volume->persistent_volume->csi->driver, attachment->attacher) != 0)
		return 0;
	item = attach_item_of(controller, volume->persistent_volume, attachment->node_name);
	if (!item)
		return -ENOMEM;
	work_item_due(&item->work);
	return 0;
}

static void make_refused_due(struct work_item *work)
{
	if (((struct attach_item *) work)->is_refused)
		work_item_due(work);
}

void attach_refused_due(struct attach_detach *controller)
{
	if (controller->has_refused)
		work_queue_walk(controller->base.queues[ITEMS], make_refused_due);
	controller->has_refused = false;
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct attach_detach *controller = userdata;
	const struct object *object = change->object;
	bool is_gone = change->type == STORE_DELETED;

	switch (object->kind) {
	case KIND_POD:
		if (!is_gone)
			return attach_pod_changed(controller, object);
		attach_pod_gone(controller, object);
		break;
	case KIND_NODE:
		attach_node_changed(controller, change);
		break;
	case KIND_VOLUME_ATTACHMENT:
		if (is_gone)
			attach_refused_due(controller);
		return take_attachment(object, controller);
	case KIND_CSI_NODE:
		attach_refused_due(controller);
		break;
	case KIND_CSI_DRIVER:
		controller->sync_pods |= change->type != STORE_MODIFIED;
		break;
	default:
		controller->sync_incomplete = true;
		controller->sync_attachments |=
			object->kind == KIND_PERSISTENT_VOLUME && change->type == STORE_ADDED;
		break;
	}
	return 0;
}

/* What a batch of changes left to be looked at, once. */
static void act(void *userdata)
{
	struct attach_detach *controller = userdata;

	if (controller->sync_attachments &&
	    store_list(controller->options.common.store, KIND_VOLUME_ATTACHMENT, NULL,
		       take_attachment, controller) < 0)
		log_message(LOG_ERR, "out of memory: VolumeAttachments wait for their next change");
	if (controller->sync_pods || controller->sync_incomplete)
		attach_pods_sync(controller, controller->sync_pods);
	controller->sync_pods = controller->sync_incomplete = controller->sync_attachments = false;
}

static int take_pod(const struct object *object, void *userdata)
{
	return attach_pod_changed(userdata, object);
}

static int take_node(const struct object *object, void *userdata)
{
	return attach_node_of(userdata, object->meta.name) ? 0 : -ENOMEM;
}

/* After changes were lost: pods that are gone by now want nothing any more. */
static void begin(void *userdata)
{
	struct attach_detach *controller = userdata;

	for (struct attach_pod *pod = controller->pods, *next; pod; pod = next) {
		const struct object *object = store_get(controller->options.common.store, KIND_POD,
							pod->name_space, pod->name);

		next = pod->hh.next;
		if (!object || strcmp(object->meta.uid, pod->uid) != 0)
			attach_pod_free(controller, pod);
	}
}

void attach_detach_resync(struct attach_detach *controller)
{
	if (!controller)
		return;
	work_queue_walk(controller->base.queues[ITEMS], make_unwanted_due);
	controller_run(controller);
}

/* ---- life ---- */

/* Items that are being written outlive this: they have no controller any more. */
static void close_all(void *userdata)
{
	struct attach_detach *controller = userdata;
	struct attach_pod *pod, *next_pod;
	struct attach_node *node;

	(void) sd_event_source_disable_unref(controller->deadline);
	HASH_ITER (hh, controller->pods, pod, next_pod)
		attach_pod_free(controller, pod);
	for (node = controller->node_list; node; node = node->next) {
		struct attach_item *item;

		for (item = node->items; item; item = item->next)
			item->node = NULL;
		node->items = NULL;
		node->controller = NULL;
	}
}

static const struct controller_class attach_detach_class = {
	CONTROLLER_OF(attach_detach),
	.what = "attachments",
	.kinds = 1 << KIND_POD | 1 << KIND_PERSISTENT_VOLUME_CLAIM | 1 << KIND_PERSISTENT_VOLUME |
		 1 << KIND_NODE | 1 << KIND_VOLUME_ATTACHMENT | 1 << KIND_CSI_DRIVER |
		 1 << KIND_CSI_NODE,
	.lists = { { KIND_NODE, take_node },
		   { KIND_POD, take_pod },
		   { KIND_VOLUME_ATTACHMENT, take_attachment } },
	.queues = { [ITEMS] = { .item_bytes = sizeof(struct attach_item),
				.retry_first_usec = RETRY_FIRST_USEC,
				.retry_max_usec = RETRY_MAX_USEC,
				.sync = attach_item_sync,
				.clear = attach_item_clear },
		    [NODES] = { .item_bytes = sizeof(struct attach_node),
				.retry_first_usec = RETRY_FIRST_USEC,
				.retry_max_usec = RETRY_MAX_USEC,
				.sync = attach_node_sync,
				.clear = attach_node_clear } },
	.open = make_timer,
	.begin = begin,
	.take_change = take_change,
	.act = act,
	.close = close_all,
};

int attach_detach_new(const struct attach_detach_options *options, struct attach_detach **ret)
{
	assert(options->common.node_name && ret);
	assert(options->is_in_use && options->common.is_complete && options->common.event_fn);
	return controller_new(&attach_detach_class, options, ret);
}

struct attach_detach *attach_detach_free(struct attach_detach *controller)
{
	return controller_free(controller);
}
