/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_text - bodies of requests that register a Node and keep it Ready; pure but for the machine's
 * own facts
 *
 * Only what podvold knows is written: no condition of memory, disk or processes, no taint. What
 * others write into the Node stays. Texts are freed with free(); NULL: no memory.
 */
#pragma once

#include "object/object.h"

#include <stdint.h>

enum {
	NODE_LEASE_SECONDS = 40, /* kubelet's nodeLeaseDurationSeconds */
	NODE_HOLDER_BYTES = 64,
};

#define NODE_READY_REASON "PodvoldReady"

/* Who renews the lease: podvold on this machine, the same after a restart. */
void node_holder(char ret[NODE_HOLDER_BYTES]);

/* To be created; a merge patch that adds the labels which it lacks, "" when it has them all. */
char *node_text(const char *name, const struct labels *labels);
char *node_labels_patch(const struct object *node, const struct labels *labels);

struct cJSON;

/* What another agent says of the Node, by its condition Ready: "" nothing, or nothing any more. */
enum { NODE_HEARTBEAT_BYTES = 160 };
void node_read_heartbeat(const struct cJSON *node, char ret[NODE_HEARTBEAT_BYTES]);

/* Has @node been reported by podvold, Ready and with this address? "": any address. */
bool node_is_reported(const struct object *node, const char *address);
/* A strategic merge patch of its status. @address: of this machine; "": none is known. */
char *node_status_patch(const struct object *node, const char *address, uint64_t now_usec);

/* @node_uid: its owner. @version: the lease that it replaces; "": there is none. */
char *node_lease_text(const char *name, const char *node_uid, const char *version,
		      const char *renew_time);
