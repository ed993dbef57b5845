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
	/* The pod was looked at: its wants or its errors may have changed. For waiters and events.
	 */
	void (*synced)(void *userdata, const struct object *pod);
	/* An object that the volume is made from changed: what failed before may succeed now. NULL:
	 * not reported. */
	void (*renewed)(void *userdata, const char *unique_name);
	/* Must a pod that has nothing yet wait before it wants its volumes? The asked one has it
	 * looked at again (populator_pod()) when that is over. NULL: none has to. */
	bool (*must_wait)(void *userdata, const struct object *pod);
	/* For want of memory a pod was not looked at as it should have been: a full pass is due,
	 * but not at once. NULL: not reported. */
	void (*lost)(void *userdata);
	/* Says why a claim is not bound: appends to @reterr. Return: the error to report;
	 * -EINPROGRESS its volume is being provisioned. NULL: nothing is known. */
	int (*explain_claim)(void *userdata, const struct object *claim, struct failure *reterr);
	/* A first pod leads to the object, which may not be in the store; the last one does no
	 * more. NULL: whatever there is, is in the store. */
	void (*uses)(void *userdata, const struct object_reference *reference, bool is_used);
	/* Claims are moved to other classes here: a pod gets none that is being moved. */
	bool waits_for_moves;
	void *userdata;
};

/* @options is copied, what it points to is borrowed. Looks at nothing yet. Return: 0 or -ENOMEM. */
int populator_new(const struct populator_options *options, struct populator **ret);
/* Leaves the desired table as it is. Accepts NULL. Return: NULL. */
struct populator *populator_free(struct populator *populator);

/* A pod that left the store, succeeded or failed wants nothing. One that is being deleted keeps
 * what it has until all its containers ended, but gets nothing new; at start, or when it has mounts
 * from before, what it wants is added all the same. */
void populator_change(struct populator *populator, const struct store_change *change,
		      uint64_t now_usec);

/* Is the pod over, as far as its object says: does it want nothing any more? Pure. */
bool populator_is_finished(const struct object *pod);

/* Why a claim is not bound changed: its pods are looked at again. */
void populator_claim(struct populator *populator, const char *name_space, const char *name,
		     uint64_t now_usec);

/* Look at every pod again: at start, and after the watch fell off the ring. */
void populator_full_pass(struct populator *populator, uint64_t now_usec);

/* ReprocessPod: look at one pod again, because a client waits for it; plugins that ask for it mount
 * again. */
void populator_pod(struct populator *populator, const char *name_space, const char *name,
		   uint64_t now_usec);
