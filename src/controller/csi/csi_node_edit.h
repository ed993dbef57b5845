/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_node_edit - what a driver changes in the Node and CSINode of its node; pure
 *
 * Works on trees of objects. The fields, their order and what is left alone are kubelet's (spec:
 * CSI, 1.5). Topology labels are added and never taken away.
 */
#pragma once

#include "object/json/json.h"
#include "object/select/selector.h"

/* Kubelet's words, which others read. */
#define CSI_NODE_ID_ANNOTATION  "csi.volume.kubernetes.io/nodeid"
#define CSI_MIGRATED_ANNOTATION "storage.alpha.kubernetes.io/migrated-plugins"

/* What a driver tells of this node. */
struct csi_node_entry {
	const char *driver, *node_id;
	struct labels topology;
	int64_t max_volumes; /* 0 or less: no limit */
};

/* Return of all: 1 the tree is another one now; 0 it says so already; negative errno, and the tree
 * is as it was. */

/* Node: the annotation and the labels. -EINVAL no node id, or the annotation cannot be read;
 * -EEXIST a label has another value. */
int csi_node_edit_node(struct cJSON *node, const struct csi_node_entry *entry,
		       struct failure *reterr);
int csi_node_edit_node_back(struct cJSON *node, const char *driver, struct failure *reterr);

/* CSINode. An entry cannot be changed, only taken out and put in again: a driver that says
 * something else than before is taken out by the first call, and put in, at the end, by the next.
 */
int csi_node_edit_entry(struct cJSON *csi_node, const struct csi_node_entry *entry,
			struct failure *reterr);
int csi_node_edit_entry_back(struct cJSON *csi_node, const char *driver);

/* CSINode: take out the annotation of migrated plugins, which earlier versions wrote. It would tell
 * schedulers and controllers that in-tree volumes are translated here; they are not. */
int csi_node_edit_migrated(struct cJSON *csi_node);

/* CSINode: owned by this Node alone. One whose owner is gone is deleted by the garbage collector.
 */
int csi_node_edit_owner(struct cJSON *csi_node, const char *node_name, const char *node_uid);

/* A CSINode without drivers, owned by the Node. NULL: no memory. */
struct cJSON *csi_node_tree(const char *node_name, const char *node_uid);
