/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_node - keeps Node and CSINode saying which CSI drivers are registered here
 *
 * As kubelet's nodeinfomanager: one driver after the other, each write repeated with back-off on
 * conflicts, nothing written when nothing changes. What was written before a restart stays until
 * its driver is registered or taken out, as with kubelet. A CSINode that others delete is made
 * again at once, and a Node that was made again gets what the drivers said, which kubelet does with
 * its next registration. The loop thread only.
 */
#pragma once

#include "controller/csi/csi_node_edit.h"
#include "store/store.h"

struct csi_node;

/* On the loop, once for each job that was begun, never before the function that began it returned.
 */
typedef void csi_node_done_fn(void *userdata, int error, const struct failure *why);

/**
 * csi_node_new - have the CSINode of this node made
 * @store:     borrowed; outlives it
 * @node_name: borrowed; whose Node is there, or will be soon
 *
 * Return: 0 or negative errno.
 */
int csi_node_new(sd_event *event, struct store *store, const char *node_name,
		 struct csi_node **ret);
/* What was not begun is dropped, and done() is not called. Accepts NULL. Return: NULL. */
struct csi_node *csi_node_free(struct csi_node *csi_node);

/**
 * csi_node_install - what a driver tells goes into Node and CSINode
 * @entry: copied
 *
 * Given to @done: 0; -EEXIST a topology label contradicts, and nothing was written; -EINVAL the
 * driver tells nonsense, or the annotation of the Node cannot be read; else as writes fail, after
 * some attempts.
 *
 * Return: 0; -ENOMEM nothing was begun.
 */
int csi_node_install(struct csi_node *csi_node, const struct csi_node_entry *entry,
		     csi_node_done_fn *done, void *userdata);

/* The driver goes out of CSINode, then out of the Node's annotation; its labels stay.
 * Return: as csi_node_install(). */
int csi_node_uninstall(struct csi_node *csi_node, const char *driver, csi_node_done_fn *done,
		       void *userdata);
