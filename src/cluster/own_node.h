/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_node - what podvold writes into its own Node: it registers it, keeps it Ready, and lets the
 * cluster's attach/detach controller attach for it
 *
 * Only what podvold knows is written: no condition of memory, disk or processes, no taint. What
 * others write into the Node stays.
 */
#pragma once

#include "object/object.h"

#include <stdint.h>

struct cJSON;
struct cluster;

/* ---- registration.c: --register-node ---- */

/*
 * The lease of kube-node-lease is renewed four times in its life, the status is written when it
 * differs, and every five minutes. Refuses while another agent keeps the Node: nothing is written
 * then, podvold mounts as ever, and looks again until the other one has been silent for as long as
 * its lease lasts, by podvold's own clock. A Node that is deleted later is not made again by the
 * same process, as kubelet's is not. The loop thread only.
 */
struct registration;

/* Nothing, unless options.registered_labels. */
int registration_new(struct cluster *cluster);
struct registration *registration_free(struct registration *registration);
void registration_view(const struct cluster *cluster, struct cJSON *view);

/* ---- node_annotation.c ---- */

/*
 * As kubelet's, an annotation that is written once for each uid: when every pod is known, so the
 * cluster is the same one, and the Node is in the store, whichever comes last. A write that failed
 * is repeated; an annotation that is removed later stays removed, until the Node was deleted and
 * made again.
 */
struct node_annotation;

/* Part of @cluster. Return: 0; -ENOMEM. */
int node_annotation_new(struct cluster *cluster);
/* Accepts NULL. Return: NULL. */
struct node_annotation *node_annotation_free(struct node_annotation *annotation);
/* Every pod is known. */
void node_annotation_begin(struct node_annotation *annotation);

/* ---- node_text.c: bodies of requests; texts are freed with free(), NULL: no memory ---- */

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
