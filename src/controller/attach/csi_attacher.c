/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher - carries out VolumeAttachments: external-attacher's work
 *
 * A VolumeAttachment of a driver whose controller attaches becomes ControllerPublishVolume, and its
 * deletion ControllerUnpublishVolume, each again until the driver said that it is done; finalizers
 * on the VolumeAttachment and its volume keep both until then, so that a kill at any moment is
 * finished by the next start. Of a driver that attaches nothing it is said at once that it is
 * attached. Better than external-attacher: a volume that the node reports in use is not detached
 * when its VolumeAttachment is deleted, unless that says that the detach is forced.
 */
#include "controller/attach/csi_attacher_internal.h"

/* ---- watching ---- */

static int take_attachment(const struct object *object, void *userdata)
{
	struct csi_attacher *attacher = userdata;

	return work_queue_due(attacher->base.queues[ATTACHMENTS], object->meta.name);
}

static int take_volume(const struct object *object, void *userdata)
{
	struct csi_attacher *attacher = userdata;

	if (!object->meta.deletes || !object->persistent_volume->csi)
		return 0;
	return work_queue_due(attacher->base.queues[VOLUMES], object->meta.name);
}

static void make_waiting_due(struct work_item *work)
{
	if (!((struct attacher_item *) work)->is_waiting)
		return;
	work_item_succeeded(work);
	work_item_due(work);
}

static void stop_waiting(struct csi_attacher *attacher)
{
	if (attacher->has_waiting)
		work_queue_walk(attacher->base.queues[ATTACHMENTS], make_waiting_due);
	attacher->has_waiting = false;
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct csi_attacher *attacher = userdata;
	const struct object *object = change->object;
	int r = 0;

	if (object->kind == KIND_VOLUME_ATTACHMENT) {
		r = take_attachment(object, attacher);
		if (r == 0 && change->type == STORE_DELETED)
			r = work_queue_due(attacher->base.queues[VOLUMES],
					   object->volume_attachment->volume_name);
		return r;
	}
	stop_waiting(attacher);
	return object->kind == KIND_PERSISTENT_VOLUME ? take_volume(object, attacher) : 0;
}

static void make_all_due(struct work_item *work)
{
	work_item_due(work);
}

/* Those of other drivers find that nothing of theirs changed, and still back off. */
static void driver_changed(void *userdata, const char *driver)
{
	work_queue_walk(((struct controller *) userdata)->queues[ATTACHMENTS], make_all_due);
	controller_run(userdata);
}

static void resync(void *userdata)
{
	stop_waiting(userdata);
	controller_run(userdata);
}

/* ---- the row ---- */

const struct controller_class csi_attacher_class = {
	CONTROLLER_OF(csi_attacher),
	.what = "VolumeAttachments",
	.kinds = 1 << KIND_VOLUME_ATTACHMENT | 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_NODE |
		 1 << KIND_CSI_NODE | 1 << KIND_SECRET,
	.lists = { { KIND_VOLUME_ATTACHMENT, take_attachment },
		   { KIND_PERSISTENT_VOLUME, take_volume } },
	.queues = { [ATTACHMENTS] = { .what = "VolumeAttachment",
				      .item_bytes = sizeof(struct attacher_item),
				      .sync = attacher_item_sync },
		    [VOLUMES] = { .what = "volume",
				  .item_bytes = sizeof(struct work_item),
				  .sync = attacher_volume_sync } },
	.take_change = take_change,
	.end_item = csi_item_end_call,
	.call_at = offsetof(struct attacher_item, call),
	.driver_changed = driver_changed,
	.resync = resync,
};
