/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_call - one RPC to a CSI driver, typed by protobuf-c's generated structs
 *
 * A method is a row: its path, and the descriptors of request and reply. So a caller fills the
 * generated struct (csi.pb-c.h), gets a generated struct back, and a person who debugs a driver can
 * call any method with JSON. Each call is remembered for describe (csi_log.h), without its secrets.
 * The loop thread only.
 */
#pragma once

#include "grpc/grpc.h"

#include <protobuf-c/protobuf-c.h>

enum csi_method {
	CSI_GET_PLUGIN_INFO, /* Identity */
	CSI_GET_PLUGIN_CAPABILITIES,
	CSI_PROBE,
	CSI_NODE_STAGE_VOLUME, /* Node */
	CSI_NODE_UNSTAGE_VOLUME,
	CSI_NODE_PUBLISH_VOLUME,
	CSI_NODE_UNPUBLISH_VOLUME,
	CSI_NODE_GET_VOLUME_STATS,
	CSI_NODE_EXPAND_VOLUME,
	CSI_NODE_GET_CAPABILITIES,
	CSI_NODE_GET_INFO,
	CSI_CREATE_VOLUME, /* Controller */
	CSI_DELETE_VOLUME,
	CSI_CONTROLLER_PUBLISH_VOLUME,
	CSI_CONTROLLER_UNPUBLISH_VOLUME,
	CSI_VALIDATE_VOLUME_CAPABILITIES,
	CSI_LIST_VOLUMES,
	CSI_GET_CAPACITY,
	CSI_CONTROLLER_GET_CAPABILITIES,
	CSI_CREATE_SNAPSHOT,
	CSI_DELETE_SNAPSHOT,
	CSI_LIST_SNAPSHOTS,
	CSI_GET_SNAPSHOT,
	CSI_CONTROLLER_EXPAND_VOLUME,
	CSI_CONTROLLER_GET_VOLUME,
	CSI_CONTROLLER_MODIFY_VOLUME,
	CSI_GROUP_CONTROLLER_GET_CAPABILITIES, /* GroupController */
	CSI_CREATE_VOLUME_GROUP_SNAPSHOT,
	CSI_DELETE_VOLUME_GROUP_SNAPSHOT,
	CSI_GET_VOLUME_GROUP_SNAPSHOT,
	REGISTRATION_GET_INFO, /* pluginregistration.Registration */
	REGISTRATION_NOTIFY_STATUS,
	CSI_METHOD_COUNT
};

struct csi_method_row {
	const char *path; /* "/csi.v1.Node/NodeStageVolume" */
	const char *name; /* "NodeStageVolume" */
	const ProtobufCMessageDescriptor *request, *reply;
	/* Repeating it changes nothing in the world: GetInfo, GetCapabilities, stats. */
	bool is_read_only_call;
};
const struct csi_method_row *csi_method_row(enum csi_method method);
/* By "NodeStageVolume" or the whole path. Return: 0 or -ENOENT. */
int csi_method_by_name(const char *name, enum csi_method *ret);

/* What a failed call says of the world; spec: CSI, 2. */
enum csi_class {
	CSI_DONE,      /* GRPC_OK */
	CSI_FINAL,     /* it did not happen */
	CSI_UNCERTAIN, /* it may have happened, or be happening */
};
/* Canceled, DeadlineExceeded, ResourceExhausted, Aborted, Unavailable, and whatever was no gRPC
 * status: uncertain; every other code: final. One thing better than kubelet: a call that never left
 * us is no doubt about the driver; callers ask result->was_sent. */
enum csi_class csi_classify(const struct grpc_result *result);

struct csi_reply {
	struct grpc_result status;       /* its bytes are gone */
	const ProtobufCMessage *message; /* with GRPC_OK; borrowed for the call of done() */
};
/* A reply that cannot be unpacked comes as GRPC_INTERNAL with from_server false. */
typedef void csi_done_fn(void *userdata, const struct csi_reply *reply);

struct csi_call_request {
	const char *driver; /* for the log and metrics: "csi.example.com" */
	const char *socket_path;
	enum csi_method method;
	const ProtobufCMessage
		*message; /* of the row's type; packed before csi_call_start() returns */
	uint64_t timeout_usec;
	const char *about; /* unique name of the volume that it is made for; NULL: none */
	csi_done_fn *done;
	void *userdata;
};

struct csi_call;
struct csi_log;

/* As grpc_call(). @log may be NULL. Calls of one iteration of the loop that are the same, have no
 * fields and change nothing are one RPC. */
int csi_call_start(sd_event *event, struct csi_log *log, const struct csi_call_request *request,
		   struct csi_call **ret, struct failure *reterr);
/* As grpc_cancel(). */
struct csi_call *csi_call_cancel(struct csi_call *call);

/* ---- csi_answer.c: what a call came to, as a tree for people who debug a driver ---- */

/* The daemon sends it, podvolctl prints it; a call without a daemon makes the same one. */

struct cJSON;

/* {"method", "code": 5, "codeName": "NotFound", "message", "fromDriver", "sent",
 * "tookMicroseconds", "reply": {...}}; without reply unless the code is 0. NULL: no memory. */
struct cJSON *csi_answer(enum csi_method method, const struct csi_reply *reply);
