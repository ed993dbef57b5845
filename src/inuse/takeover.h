/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover - pods that --takeover found, whose volumes are mounted and which no source lists
 *
 * Another agent's containers may still run on them and post no holds here, so store_epoch.c holds
 * every such pod, in the ledger before the pod's volumes are. A hold ends when the pod is listed,
 * or by 'podvolctl release'. When all sources were read, other mount namespaces are searched for
 * the pods' volumes: who uses them is said; with --takeover=remove the holds of pods that nothing
 * uses end, and the rest is searched again with back-off. An error of the search ends no hold. The
 * loop thread only.
 */
#pragma once

#include "inuse/inuse.h"

struct takeover;

/* @inuse is borrowed. Return: 0 or negative errno. */
int takeover_new(struct inuse *inuse, struct takeover **ret);
/* After the pools: a search that hangs is left behind. Accepts NULL. Return: NULL. */
struct takeover *takeover_free(struct takeover *takeover);
/* A turn has taken in every change there was: begins the search, once, when all sources are
 * complete. Cheap afterwards. Accepts NULL. */
void takeover_settled(struct takeover *takeover);
