/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_annotation - lets the cluster's attach/detach controller attach for this node
 *
 * As kubelet does, by an annotation of the own Node, which is written once for each uid: when
 * every pod is known, so the cluster is the same one, and the Node is in the store, whichever comes
 * last. A write that failed is repeated; an annotation that is removed later stays removed, until
 * the Node was deleted and made again.
 */
#pragma once

struct cluster;
struct node_annotation;

/* Part of @cluster. Return: 0; -ENOMEM. */
int node_annotation_new(struct cluster *cluster);
/* Accepts NULL. Return: NULL. */
struct node_annotation *node_annotation_free(struct node_annotation *annotation);
/* Every pod is known. */
void node_annotation_begin(struct node_annotation *annotation);
