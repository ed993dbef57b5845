/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher_item - the next step for a VolumeAttachment; see csi_attacher.c
 *
 * First finalizers, each by a write of its own, then the call, then the status: the next sync
 * continues where a kill interrupted. A call whose result was not stored is repeated, which CSI
 * makes idempotent.
 */
#include "controller/attach/csi_attacher_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/attach/attach_detach.h"
#include "controller/controller.h"
#include "csi/csi_drivers.h"
#include "object/kinds/node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct volume_attachment *attachment_of(const struct attacher_item *item)
{
	const struct object *object = store_get(attacher_of(item)->options.common.store,
						KIND_VOLUME_ATTACHMENT, "", item->work.name);

	return object ? object->volume_attachment : NULL;
}

static const struct persistent_volume *volume_of(const struct attacher_item *item,
						 const struct volume_attachment *attachment)
{
	const struct object *object =
		store_get(attacher_of(item)->options.common.store, KIND_PERSISTENT_VOLUME, "",
			  attachment->volume_name);

	return object && object->persistent_volume->csi ? object->persistent_volume : NULL;
}

/* ---- writing ---- */

/* The status has the reason and the time; an event of what it waits for makes it due earlier. */
static void fail(struct attacher_item *item, const struct volume_attachment *attachment,
		 bool detaches, const struct failure *why)
{
	struct attacher_edit edit = { .text = why->text, .now_usec = realtime_usec() };

	log_message(LOG_WARNING, "volume '%s' cannot be %s node '%s': %s", attachment->volume_name,
		    detaches ? "detached from" : "attached to", attachment->node_name, why->text);
	work_item_failed(&item->work);
	work_item_edit(&item->work, attachment->object,
		       detaches ? attacher_edit_detach_error : attacher_edit_attach_error, &edit);
}

/* The same for what has to change elsewhere first. */
static void wait_for(struct attacher_item *item, const struct volume_attachment *attachment,
		     bool detaches, const struct failure *why)
{
	const char *said = detaches ? attachment->detach_error : attachment->attach_error;

	item->is_waiting = attacher_of(item)->has_waiting = true;
	if (strcmp(said, why->text) == 0)
		work_item_failed(&item->work);
	else
		fail(item, attachment, detaches, why);
}

/* The result does not apply to another object of the same name. */
static void remember(struct attacher_item *item, const struct volume_attachment *attachment)
{
	(void) snprintf(item->uid, sizeof(item->uid), "%s", attachment->object->meta.uid);
}

/* ---- attaching ---- */

/* True: it is there. */
static bool has_volume_finalizer(struct attacher_item *item, const struct object *volume,
				 struct attacher_edit *edit)
{
	cleanup_json struct cJSON *tree = object_tree(volume);

	if (metadata_has_finalizer(tree, edit->finalizer))
		return true;
	work_item_edit(&item->work, volume, metadata_add_finalizer, (void *) edit->finalizer);
	return false;
}

static bool has_begun(struct attacher_item *item, const struct volume_attachment *attachment,
		      struct attacher_edit *edit)
{
	cleanup_json struct cJSON *tree = object_tree(attachment->object);
	const struct cJSON *annotations = json_get_path(tree, "metadata.annotations");

	if (metadata_has_finalizer(tree, edit->finalizer) &&
	    json_text_is(annotations, ANNOTATION_NODE_ID, edit->node_id))
		return true;
	work_item_edit(&item->work, attachment->object, attacher_edit_begun, edit);
	return false;
}

static void publish(struct attacher_item *item, const struct volume_attachment *attachment,
		    const struct persistent_volume *volume, struct attacher_edit *edit)
{
	struct failure why = { .error = 0 };
	int r;

	if (!has_volume_finalizer(item, volume->object, edit) || !has_begun(item, attachment, edit))
		return;
	remember(item, attachment);
	r = attacher_call_publish(item, volume, edit->node_id, &why);
	if (r == -ENOKEY)
		wait_for(item, attachment, false, &why);
	else if (r < 0 && r != -ENOTCONN)
		fail(item, attachment, false, &why);
}

static void sync_wanted(struct attacher_item *item, const struct volume_attachment *attachment,
			struct attacher_edit *edit)
{
	const struct persistent_volume *volume = volume_of(item, attachment);
	cleanup_free char *node_id = attacher_node_id(attacher_of(item), attachment);
	struct failure why = { .error = 0 };

	if (!volume)
		(void) failed_plain(&why, -ENOKEY, "persistentvolume \"%s\" not found",
				    attachment->volume_name);
	else if (volume->object->meta.deletes)
		(void) failed_plain(&why, -ENOKEY, "PersistentVolume \"%s\" is marked for deletion",
				    attachment->volume_name);
	else if (!node_id)
		(void) failed_plain(&why, -ENOKEY, "CSINode %s does not contain driver %s",
				    attachment->node_name, attachment->attacher);
	if (why.error < 0) {
		wait_for(item, attachment, false, &why);
		return;
	}
	edit->node_id = node_id;
	publish(item, attachment, volume, edit);
}

/* ---- detaching ---- */

/* No matter who deleted it: a device is not taken from under a node that uses it. */
static bool is_in_use(const struct attacher_item *item, const struct volume_attachment *attachment,
		      const struct persistent_volume *volume, const struct cJSON *tree)
{
	const struct csi_controller_options *options = &attacher_of(item)->options;
	const struct object *node =
		store_get(options->common.store, KIND_NODE, "", attachment->node_name);
	cleanup_free char *unique_name =
		csi_unique_name(volume->csi->driver, volume->csi->volume_handle);

	if (json_get(json_get_path(tree, "metadata.annotations"), ANNOTATION_FORCED_DETACH))
		return false;
	return !unique_name || (node && node_volumes_have(&node->node->in_use, unique_name)) ||
	       (strcmp(attachment->node_name, options->common.node_name) == 0 &&
		options->common.is_in_use(options->common.userdata, volume));
}

static void unpublish(struct attacher_item *item, const struct volume_attachment *attachment,
		      const struct persistent_volume *volume, const char *node_id)
{
	struct failure why = { .error = 0 };
	int r;

	remember(item, attachment);
	r = attacher_call_unpublish(item, volume, node_id, &why);
	if (r == -ENOKEY)
		wait_for(item, attachment, true, &why);
	else if (r < 0 && r != -ENOTCONN)
		fail(item, attachment, true, &why);
}

/* The id that the driver was given, whatever it is called now. */
static void sync_leaving(struct attacher_item *item, const struct volume_attachment *attachment,
			 struct attacher_edit *edit, bool is_trivial)
{
	const struct persistent_volume *volume = volume_of(item, attachment);
	cleanup_json struct cJSON *tree = object_tree(attachment->object);
	const struct cJSON *annotations = json_get_path(tree, "metadata.annotations");
	cleanup_free char *known = NULL;
	const char *node_id = json_string(json_get(annotations, ANNOTATION_NODE_ID), NULL);
	struct failure why = { .error = 0 };

	if (!metadata_has_finalizer(tree, edit->finalizer))
		return; /* the driver was never called: no detach is needed */
	if (!node_id)
		node_id = known = attacher_node_id(attacher_of(item), attachment);
	if (!volume)
		(void) failed_plain(&why, -ENOKEY, "persistentvolume \"%s\" not found",
				    attachment->volume_name);
	else if (is_in_use(item, attachment, volume, tree))
		(void) failed_plain(&why, -EBUSY, "node '%s' still uses it", attachment->node_name);
	else if (!is_trivial && !node_id)
		(void) failed_plain(&why, -ENOKEY, "CSINode %s does not contain driver %s",
				    attachment->node_name, attachment->attacher);
	if (why.error < 0)
		wait_for(item, attachment, true, &why);
	else if (is_trivial)
		work_item_edit(&item->work, attachment->object, attacher_edit_detached, edit);
	else
		unpublish(item, attachment, volume, node_id);
}

/* ---- results ---- */

static void describe(const struct csi_reply *reply, struct failure *ret)
{
	(void) failed_plain(ret, -EIO, "rpc error: code = %s desc = %s",
			    grpc_code_name(reply->status.code), reply->status.text);
}

void attacher_item_answered(struct attacher_item *item, const struct csi_reply *reply)
{
	const struct volume_attachment *attachment = attachment_of(item);
	struct csi_attacher *attacher = attacher_of(item);
	char finalizer[ATTACHER_FINALIZER_BYTES];
	struct failure why = { .error = 0 };
	struct attacher_edit edit = { .reply = reply->message };

	/* One that is being deleted by now is detached, whatever came of the attaching. */
	if (attachment && strcmp(attachment->object->meta.uid, item->uid) == 0 &&
	    (item->detaches || !attachment->object->meta.deletes)) {
		edit.finalizer = attacher_finalizer(attachment->attacher, finalizer);
		if (reply->status.code != GRPC_OK) {
			describe(reply, &why);
			fail(item, attachment, item->detaches, &why);
		} else {
			work_item_succeeded(&item->work);
			work_item_edit(&item->work, attachment->object,
				       item->detaches ? attacher_edit_detached
						      : attacher_edit_attached,
				       &edit);
		}
	}
	work_queue_run(attacher->base.queues[ATTACHMENTS]);
}

/* ---- sync ---- */

static void sync_attachment(struct attacher_item *item, const struct volume_attachment *attachment,
			    const struct csi_driver *driver)
{
	bool is_trivial = !csi_driver_can(driver, CSI_CAN_PUBLISH_UNPUBLISH_VOLUME);
	char finalizer[ATTACHER_FINALIZER_BYTES];
	struct attacher_edit edit = {
		.finalizer = attacher_finalizer(attachment->attacher, finalizer),
	};

	if (attachment->object->meta.deletes)
		sync_leaving(item, attachment, &edit, is_trivial);
	else if (attachment->attached)
		return;
	else if (is_trivial)
		work_item_edit(&item->work, attachment->object, attacher_edit_attached, &edit);
	else
		sync_wanted(item, attachment, &edit);
}

bool attacher_item_sync(struct work_item *work)
{
	struct attacher_item *item = (struct attacher_item *) work;
	const struct volume_attachment *attachment = attachment_of(item);
	const struct csi_driver *driver =
		attachment
			? csi_drivers_find(attacher_of(item)->options.drivers, attachment->attacher)
			: NULL;

	if (!attachment)
		return false;
	/* A deletion need not wait for the back-off of the attaching. */
	if (attachment->object->meta.deletes && !item->detaches) {
		item->detaches = true;
		work_item_succeeded(work);
	}
	if (!driver || !driver->capabilities_known || work_item_backs_off(work))
		return true;
	item->is_waiting = false;
	sync_attachment(item, attachment, driver);
	return true;
}
