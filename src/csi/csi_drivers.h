/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_drivers - which CSI drivers are registered on this node, and where each one listens
 *
 * What the volume plugin asks before each call, and what `podvolctl drivers` shows. Registration
 * fills it; nothing else writes. The loop thread only.
 */
#pragma once

#include "csi/csi_call.h"

enum csi_driver_state {
	CSI_DRIVER_REGISTERING, /* its socket is there; what it lacks is in the last error */
	CSI_DRIVER_READY,       /* calls may be made */
	CSI_DRIVER_FAILED, /* registration ended with an error, and is tried again: retry_usec */
	CSI_DRIVER_GONE,   /* was registered and is not: kept while something of it is mounted, for
			      people */
	CSI_DRIVER_STATE_COUNT
};

struct csi_topology_segment {
	const char *key, *value;
};

/* Borrowed until the loop turns. */
struct csi_driver {
	const char *name; /* "csi.example.com"; "" while unknown */
	enum csi_driver_state state;
	const char *registration_socket, *endpoint; /* absolute */
	const char *version;                        /* chosen: "1.0.0" */
	const char *node_id;
	int64_t max_volumes; /* as the driver says; 0 no limit */
	const struct csi_topology_segment *segments;
	size_t segment_count;
	uint64_t since_usec; /* monotonic; in this state */
	uint64_t retry_usec; /* monotonic; of one that failed: when it is tried again; 0 not yet */
	const struct failure *last_error;
	/* Bits 1 << number of NodeServiceCapability.RPC.Type (STAGE_UNSTAGE_VOLUME is 1), as last
	 * reported, for people only: who acts on the node asks again. */
	uint32_t node_capabilities;
	/* Asked once after each registration, and zeroes until all is known. */
	bool capabilities_known;
	bool has_controller;              /* the registered endpoint offers the controller, too */
	uint32_t controller_capabilities; /* bits 1 << enum csi_controller_capability */
	uint32_t plugin_capabilities;     /* of enum csi_plugin_capability */
	bool takes_group_snapshots; /* CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT, of its own service
				     */
};

/* As ControllerServiceCapability.RPC.Type numbers them. */
enum csi_controller_capability {
	CSI_CAN_CREATE_DELETE_VOLUME = 1,
	CSI_CAN_PUBLISH_UNPUBLISH_VOLUME = 2,
	CSI_CAN_LIST_VOLUMES = 3,
	CSI_CAN_GET_CAPACITY = 4,
	CSI_CAN_CREATE_DELETE_SNAPSHOT = 5,
	CSI_CAN_LIST_SNAPSHOTS = 6,
	CSI_CAN_CLONE_VOLUME = 7,
	CSI_CAN_PUBLISH_READONLY = 8,
	CSI_CAN_EXPAND_VOLUME = 9,
	CSI_CAN_SINGLE_NODE_MULTI_WRITER = 13,
	CSI_CAN_MODIFY_VOLUME = 14,
};

/* Services as PluginCapability.Service.Type numbers them, expansion above these. */
enum { CSI_PLUGIN_EXPANSION_SHIFT = 16 };
enum csi_plugin_capability {
	CSI_PLUGIN_CONTROLLER_SERVICE = 1 << 1,
	CSI_PLUGIN_VOLUME_ACCESSIBILITY_CONSTRAINTS = 1 << 2,
	CSI_PLUGIN_GROUP_CONTROLLER_SERVICE = 1 << 3,
	CSI_PLUGIN_EXPANSION_ONLINE = 1 << (CSI_PLUGIN_EXPANSION_SHIFT + 1),
	CSI_PLUGIN_EXPANSION_OFFLINE = 1 << (CSI_PLUGIN_EXPANSION_SHIFT + 2),
};

/* Does the driver have a controller that can do this? */
bool csi_driver_can(const struct csi_driver *driver, enum csi_controller_capability capability);

struct csi_drivers;

int csi_drivers_new(sd_event *event, struct csi_log *log, struct csi_drivers **ret);
struct csi_drivers *csi_drivers_free(struct csi_drivers *drivers); /* accepts NULL */

/* A driver that is ready; NULL: none of this name is. */
const struct csi_driver *csi_drivers_find(const struct csi_drivers *drivers, const char *name);

/* All of them, sorted by name, then socket. */
int csi_drivers_walk(const struct csi_drivers *drivers,
		     int (*visit)(const struct csi_driver *driver, void *userdata), void *userdata);

/**
 * csi_drivers_call - call a registered driver by name
 * @request: socket_path may be NULL: the driver's endpoint
 *
 * Return: 0; -ENOTCONN no driver of this name is ready (nothing was started: transient; the text
 * says so, with what is known of it); else as csi_call_start().
 */
int csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
		     struct csi_call **ret, struct failure *reterr);

/* ---- csi_names.c ---- */

/* Names that kubelet, controllers and drivers' records must agree on to the letter; pure. */

#define CSI_PLUGIN_NAME "kubernetes.io/csi"

enum { CSI_HASH_TEXT_BYTES = 2 * 32 + 1 };

/* SHA-256 in hexadecimal. Return: 0 or -ENOMEM. */
int csi_hash_text(const char *text, char ret[CSI_HASH_TEXT_BYTES]);
/* "csi-" and that hash. NULL: no memory. Freed with free(); so are those below. */
char *csi_hashed_name(const char *text);
/* Of handle, driver and node, one behind the other: the name of the VolumeAttachment. */
char *csi_attachment_name(const char *handle, const char *driver, const char *node_name);
/* "kubernetes.io/csi/<driver>^<handle>": of a volume that a PersistentVolume describes. */
char *csi_unique_name(const char *driver, const char *handle);
