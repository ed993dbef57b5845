/* SPDX-License-Identifier: Apache-2.0 */
/*
 * populator - pods of the store become entries of the desired state (spec: volume manager, 3)
 *
 * Event-driven: a change of a pod, or of a claim, a volume or any other object that its volumes are
 * made from (plugins' references()), brings exactly those pods here. All checks of section 3.1 on
 * claims and volumes, in their order and with their texts. The loop thread only.
 */
#pragma once

#include "state/actual.h"
#include "state/desired.h"
#include "store/store.h"

struct populator;

struct populator_options {
	struct store *store;
	struct desired *desired;
	const struct actual *actual;
	const char *node_name; /* borrowed; pods for other nodes are passed over */
	/* The pod was processed: its desired volumes or its errors may have changed. For waiters
	 * and events. */
	void (*synced)(void *userdata, const struct object *pod);
	/* An object that the volume is made from changed: what failed before may succeed now. NULL:
	 * not reported. */
	void (*renewed)(void *userdata, const char *unique_name);
	/* Must a pod without mounts wait before its volumes are desired? The callee calls
	 * populator_pod() when that is over. NULL: never. */
	bool (*must_wait)(void *userdata, const struct object *pod);
	/* Out of memory, a pod was not fully processed: a full resync is due, but not at once.
	 * NULL: not reported. */
	void (*lost)(void *userdata);
	/* Appends to @reterr why a claim is not bound. Return: the error to report; -EINPROGRESS
	 * its volume is being provisioned. NULL: nothing is known. */
	int (*explain_claim)(void *userdata, const struct object *claim, struct failure *reterr);
	/* A first pod leads to the object, which may not be in the store; the last one does no
	 * more. NULL: whatever there is, is in the store. */
	void (*uses)(void *userdata, const struct object_reference *reference, bool is_used);
	/* Claims are moved to other classes here: a pod gets none that is being moved. */
	bool waits_for_moves;
	void *userdata;
};

/* @options is copied, what it points to is borrowed. Processes no pod yet. Return: 0 or -ENOMEM. */
int populator_new(const struct populator_options *options, struct populator **ret);
/* The desired table is kept. Accepts NULL. Return: NULL. */
struct populator *populator_free(struct populator *populator);

/* A pod that left the store, succeeded or failed has no desired volumes. One that is being deleted
 * keeps its volumes until all its containers terminated, and gets no new ones; at start, or when it
 * has mounts from before, its volumes are added all the same. */
void populator_change(struct populator *populator, const struct store_change *change,
		      uint64_t now_usec);

/* Has the pod terminated, by its object? Pure. */
bool populator_is_finished(const struct object *pod);

/* The reason why a claim is not bound changed: its pods are processed again. */
void populator_claim(struct populator *populator, const char *name_space, const char *name,
		     uint64_t now_usec);

/* Process every pod again: at start, and after the watch fell off the ring. */
void populator_full_pass(struct populator *populator, uint64_t now_usec);

/* ReprocessPod: process one pod again, because a client waits for it; plugins that require remounts
 * mount again. */
void populator_pod(struct populator *populator, const char *name_space, const char *name,
		   uint64_t now_usec);
