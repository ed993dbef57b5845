/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher_internal - what the files of the attacher share; no other file includes it
 *
 * csi_attacher.c watches; csi_attacher_item.c does what is next for a VolumeAttachment;
 * csi_attacher_call.c makes the calls; csi_attacher_volume.c lets go of volumes;
 * csi_attacher_edit.c changes trees.
 */
#pragma once

#include "controller/csi/csi_controller.h"
#include "object/kinds/volume_attachment.h"
#include "csi/csi_call.h"
#include "object/json/json.h"

enum { ATTACHMENTS, VOLUMES }; /* its queues, by their names */

struct csi_attacher {
	struct controller base;
	struct csi_controller_options options;
	bool has_waiting; /* some item may wait for another object */
};

/* A VolumeAttachment. */
struct attacher_item {
	struct work_item work;
	struct csi_call *call;              /* NULL: none is under way */
	bool detaches;                      /* what it is */
	char uid[OBJECT_UID_BYTES_MAX + 1]; /* of the object that it was made for */
	bool is_waiting;                    /* what it failed for may come or change */
};

static inline struct csi_attacher *attacher_of(const struct attacher_item *item)
{
	return work_queue_userdata(item->work.queue);
}

/* ---- csi_attacher_item.c ---- */

bool attacher_item_sync(struct work_item *work);
/* The answer to its call; the item is not busy any more. */
void attacher_item_answered(struct attacher_item *item, const struct csi_reply *reply);

/* ---- csi_attacher_call.c ---- */

/* The node as the driver knows it: from CSINode, else from the Node; NULL: it does not. Freed with
 * free(). */
char *attacher_node_id(const struct csi_attacher *attacher, const struct volume_attachment *about);

/* Both: on the loop the answer comes to attacher_item_answered(), and until then the item is busy.
 * Return: 0; -ENOKEY something is not there yet, in words; else as csi_drivers_call(). */
int attacher_call_publish(struct attacher_item *item, const struct persistent_volume *volume,
			  const char *node_id, struct failure *reterr);
int attacher_call_unpublish(struct attacher_item *item, const struct persistent_volume *volume,
			    const char *node_id, struct failure *reterr);

/* ---- csi_attacher_volume.c ---- */

/* A volume that is being deleted loses our finalizer when nothing of it is attached. */
bool attacher_volume_sync(struct work_item *work);

/* ---- csi_attacher_edit.c: functions for object_edit(), @userdata is a struct attacher_edit; names
 * and fields are external-attacher's; pure ---- */

/* On a VolumeAttachment: the node's id for the driver. */
#define ANNOTATION_NODE_ID "csi.alpha.kubernetes.io/node-id"

enum { ATTACHER_FINALIZER_BYTES = 128 };

struct attacher_edit {
	const char *finalizer, *node_id;
	const char *text; /* of an error */
	uint64_t now_usec;
	const ProtobufCMessage *reply; /* of ControllerPublishVolume; NULL: there is no context */
};

/* "external-attacher/csi-example-com": what is no letter or digit is '-'. */
const char *attacher_finalizer(const char *driver, char ret[ATTACHER_FINALIZER_BYTES]);

/* Of a VolumeAttachment. */
int attacher_edit_begun(struct cJSON *tree, void *userdata); /* finalizer and node id */
int attacher_edit_attached(struct cJSON *tree, void *userdata);
int attacher_edit_detached(struct cJSON *tree, void *userdata);
int attacher_edit_attach_error(struct cJSON *tree, void *userdata);
int attacher_edit_detach_error(struct cJSON *tree, void *userdata);
