/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller - store to store: what a cluster's controllers would write, on one node without a
 * cluster
 *
 * Event-driven by a watch; each decision is a pure function of objects, apart from the write that
 * follows it. Every write is repeatable, so a crash between two of them is finished by the next
 * look at the object.
 */
#pragma once

#include "base/failure.h"
#include "store/store.h"

/* An event about an object, to be recorded by the controller's owner. */
typedef void controller_event_fn(void *userdata, const struct object *about, const char *type,
				 const char *reason, const char *text);

struct pv_binder;

struct pv_binder_options {
	sd_event *event; /* borrowed, like store and node_name */
	int64_t priority;
	struct store *store;
	const char *node_name;         /* NULL: no claim is given to a node */
	controller_event_fn *event_fn; /* of Kubernetes' names (FailedBinding, ...) */
	void *userdata;
};

/**
 * pv_binder_new - bind claims to volumes
 * @options: copied
 *
 * Claims and volumes that name each other or were matched become Bound by the writes
 * of the specification's section 2.3, in that order; phases follow sections 2.2 and 3 of
 * the controllers. The finalizers kubernetes.io/pvc-protection and pv-protection come off objects
 * that are being deleted when no pod with a node uses the claim, or the volume is not Bound.
 * A claim that names no volume gets the one made for it, else the best free one
 * (volume_match.h). A claim whose class waits for its first consumer is given to this node when a
 * pod without a node, or of this one, wants it: what a scheduler does in a cluster, and in its
 * order (scheduling.h). Claims that no
 * volume fits are marked for their class's provisioner, who is not part of this. No system call, no
 * clock.
 *
 * Return: 0 or -ENOMEM.
 */
int pv_binder_new(const struct pv_binder_options *options, struct pv_binder **ret);
/* Leaves objects as they are; a queued write of it ends in the store. Accepts NULL. Return: NULL.
 */
struct pv_binder *pv_binder_free(struct pv_binder *binder);
