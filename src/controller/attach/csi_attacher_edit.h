/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher_edit - what the attacher changes in objects; pure
 *
 * Functions for object_edit(): @userdata is a struct attacher_edit. Names and fields are
 * external-attacher's.
 */
#pragma once

#include "csi/csi_call.h"
#include "object/json/json.h"

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
