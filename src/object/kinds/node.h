/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node - what of a v1.Node concerns the attaching of volumes, decoded
 *
 * Names are unique volume names ("kubernetes.io/csi/driver^handle"); all live as long as the object
 * they came from.
 */
#pragma once

#include "object/object.h"

/* There: a controller attaches and detaches for this node. */
#define ANNOTATION_MANAGED_ATTACH "volumes.kubernetes.io/controller-managed-attach-detach"
/* "true": volumes of pods that ended stay attached. */
#define ANNOTATION_KEEP_TERMINATED "volumes.kubernetes.io/keep-terminated-pod-volumes"
#define TAINT_OUT_OF_SERVICE       "node.kubernetes.io/out-of-service"

/* Sorted. */
struct node_volumes {
	const char *const *names;
	size_t count;
};

struct node {
	const struct object *object;
	bool is_ready; /* condition Ready is True */
	bool is_out_of_service;
	bool is_managed, keeps_terminated;
	struct node_volumes in_use;   /* status.volumesInUse: the node writes it */
	struct node_volumes attached; /* status.volumesAttached: the attacher writes it */
};

bool node_volumes_have(const struct node_volumes *volumes, const char *unique_name);
