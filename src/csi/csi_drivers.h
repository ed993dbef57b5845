/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_drivers - which CSI drivers are registered on this node, and where each one listens
 *
 * What the volume plugin asks before each call, and what `podvolctl drivers` shows. Registration
 * fills it; nobody else writes. The loop thread only.
 */
#ifndef PODVOL_CSI_CSI_DRIVERS_H
#define PODVOL_CSI_CSI_DRIVERS_H

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
	int64_t max_volumes; /* as told; 0 no limit */
	const struct csi_topology_segment *segments;
	size_t segment_count;
	uint64_t since_usec; /* monotonic; in this state */
	uint64_t retry_usec; /* monotonic; of one that failed: when it is tried again; 0 not yet */
	const struct failure *last_error;
	/* Bits 1 << number of NodeServiceCapability.RPC.Type (STAGE_UNSTAGE_VOLUME is 1), as last
	 * told, for people only: whoever acts asks anew. */
	uint32_t node_capabilities;
};

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

#endif
