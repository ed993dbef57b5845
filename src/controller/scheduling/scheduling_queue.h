/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_queue - which claims are looked at first: the order of a scheduler's queue
 *
 * Who is served before others takes what is scarce: the last volume that fits, the last one that
 * the node can have. So the pod with the higher priority comes first, then the older one.
 */
#ifndef PODVOL_CONTROLLER_SCHEDULING_QUEUE_H
#define PODVOL_CONTROLLER_SCHEDULING_QUEUE_H

#include "controller/binding/bound_pairs.h"
#include "store/store.h"

/* Of the claims that are due those of pods come first, in the pods' order; a walk over all pods.
 * Without memory they stay as they are. */
void scheduling_queue_order(struct store *store, struct bound_pairs *bound_pairs);

/* All claims of a pod become due. */
void scheduling_queue_pod_due(struct bound_pairs *bound_pairs, const struct object *pod);
/* Those of all pods that use a claim; a walk over the pods of its namespace. */
void scheduling_queue_users_due(struct store *store, struct bound_pairs *bound_pairs,
				const struct object *claim);

#endif
