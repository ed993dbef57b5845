/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach_rule - what is next for one volume on one node: the decisions of Kubernetes'
 * attach/detach controller; pure
 *
 * The desired state is that a pod on the node wants it; the actual one is its VolumeAttachment and
 * the two lists of the Node. The node writes what it uses before it looks whether the volume is
 * still attached; here the volume leaves the list of what is attached before the other list is
 * looked at for the last time. So one of the two sees the other, whichever comes first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How long a node may take to unmount before a detach may be forced: Kubernetes' six minutes. */
#define DETACH_TIMEOUT_USEC (360ULL * 1000 * 1000)

/* Of the VolumeAttachment. */
enum attachment_state {
	ATTACHMENT_NONE,
	ATTACHMENT_PENDING,  /* the driver has not said yet that it is attached */
	ATTACHMENT_ATTACHED, /* it has */
	ATTACHMENT_LEAVING,  /* being deleted: the driver is to detach, or does so */
};

struct attach_facts {
	bool is_wanted;     /* by a pod on this node, which has a controller attach for it */
	bool may_take_away; /* every pod there is is known */
	enum attachment_state state;
	/* Of another node, or of that node and not known to be gone. */
	bool is_elsewhere;
	unsigned int access_modes; /* set of enum access_mode, of the volume */
	bool has_room;             /* one more volume of this driver fits the node */
	/* Of the Node. One that is not there uses everything and is not ready. */
	bool is_reported; /* in its status.volumesAttached */
	bool is_in_use;   /* in its status.volumesInUse, or not known yet not to be */
	bool is_ready, is_out_of_service;
	/* podvold's own: what it says to be in use is in use. */
	bool is_own_node;
	bool may_force; /* configured: a node that is not ready loses its volumes in the end */
	uint64_t unwanted_usec; /* monotonic; since when it is unwanted; 0: from now on */
	uint64_t now_usec;
};

enum attach_step {
	ATTACH_NOTHING,       /* as it should be, or something else has to change first */
	ATTACH_FORGET,        /* unwanted, and nothing of it is there */
	ATTACH_CREATE,        /* the VolumeAttachment */
	ATTACH_REFUSED_MULTI, /* "Multi-Attach error": wait until it is nowhere else */
	ATTACH_REFUSED_LIMIT, /* wait until the node has room */
	ATTACH_REPORT,        /* put it into status.volumesAttached */
	ATTACH_UNREPORT,      /* take it out, and look again */
	ATTACH_DELETE,        /* the VolumeAttachment */
	ATTACH_STEP_COUNT
};

enum detach_force { DETACH_SAFE, DETACH_FORCED_TIMEOUT, DETACH_FORCED_OUT_OF_SERVICE };

struct attach_verdict {
	enum attach_step step;
	enum detach_force force; /* of UNREPORT and DELETE of what is in use */
	uint64_t resync_usec;    /* monotonic: even if nothing changes; 0: no need */
};

/* Cannot fail. */
struct attach_verdict attach_decide(const struct attach_facts *facts);

/* "timeout", "out-of-service"; NULL: it is safe. */
const char *detach_force_name(enum detach_force force);
