/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consumers - the pods that a claim waits for, and whether one of them can be on this node
 *
 * A pod gets a node for all its claims or for none: a claim that was given to this node while
 * another claim of its pod can never be here would keep the pod from every node. Pure but for
 * look-ups.
 */
#pragma once

#include "controller/scheduling/scheduling.h"

enum { CONSUMER_NAMES_BYTES = 128, CONSUMER_TEXT_BYTES = 1024 };

struct consumers {
	const struct object *node;        /* that a pod can be on; NULL: none can */
	char names[CONSUMER_NAMES_BYTES]; /* of all that wait, for people; "" none */
	/* The first that cannot be here, and why, in the scheduler's words; NULL: there is none. Of
	 * its claims that wait this is the first: one event for each pod. */
	const struct object *refused;
	char why[CONSUMER_TEXT_BYTES];
	char reason[SCHEDULING_REASON_BYTES]; /* the first of it; "" none */
	bool is_crowded;                      /* one of them could be here if another pod went */
};

/* @claim: one without a node, whose class waits for its first consumer; @node_name NULL: which node
 * this is cannot be said; @assumed NULL: nothing is. */
void consumers_find(struct store *store, const char *node_name, const struct object *claim,
		    const struct scheduling_assumed *assumed, struct consumers *ret);

/* Does a volume of the pod name this claim? */
bool consumers_has_claim(const struct pod *pod, const char *claim);
/* The same, without ephemeral volumes whose claim another owner has: they are never mounted, so the
 * pod does not protect that claim. */
bool consumers_may_use(const struct pod *pod, const struct object *claim);
