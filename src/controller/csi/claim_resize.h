/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_resize - what is next for a claim that asks for more than it has, and what its status says
 * then; pure
 *
 * As external-resizer with recovery from failures: what a resize is aiming at is kept in
 * status.allocatedResources, so that a kill goes on with the same size, and a request that was made
 * smaller counts only once the larger one has failed for good. The volume grows first, then the
 * file system on the node where it must (status/status.h writes what comes of that).
 */
#pragma once

#include "object/kinds/persistent_volume.h"

enum claim_resize_next {
	CLAIM_RESIZE_NOTHING,
	CLAIM_RESIZE_BEGIN,  /* write what it aims at: CLAIM_RESIZE_BEGUN */
	CLAIM_RESIZE_EXPAND, /* make the volume so large */
	CLAIM_RESIZE_FORGET, /* it failed for good and is no longer wanted: _FORGOTTEN */
};

struct claim_resize {
	enum claim_resize_next next;
	int64_t bytes; /* that it aims at */
};

/* @volume: that the claim is bound to; NULL: none. Return: 0 or -ENOMEM. */
int claim_resize_decide(const struct persistent_volume_claim *claim,
			const struct persistent_volume *volume, struct claim_resize *ret);

/* What the status says. */
enum claim_resize_state {
	CLAIM_RESIZE_BEGUN,
	CLAIM_RESIZE_FAILED,          /* and is tried again */
	CLAIM_RESIZE_INFEASIBLE,      /* so it cannot be */
	CLAIM_RESIZE_ON_NODE,         /* the volume has grown, its file system has not */
	CLAIM_RESIZE_NODE_BEGUN,      /* the node is at it: only of one that is ON_NODE */
	CLAIM_RESIZE_NODE_FAILED,     /* there, and is tried again */
	CLAIM_RESIZE_NODE_INFEASIBLE, /* there, and with the next set-up */
	CLAIM_RESIZE_DONE,
	CLAIM_RESIZE_FORGOTTEN,
};

/**
 * claim_resize_edit - the claim with the status of a state
 * @bytes: of CLAIM_RESIZE_BEGUN what it aims at, of CLAIM_RESIZE_DONE what it has
 * @text:  of the failed ones
 *
 * Conditions that say the same already keep their time. Return: 0; -EALREADY it is not the node's
 * turn, by a state of the node; -EINVAL; -ENOMEM.
 */
int claim_resize_edit(const struct object *claim, enum claim_resize_state state, int64_t bytes,
		      const char *text, const struct object **ret, struct failure *reterr);

/* Why the last attempt failed, as the claim's condition has it; the caller frees it. NULL: none
 * failed, or no memory. Cheap for claims without such a condition. */
char *claim_resize_error(const struct object *claim);

/* The volume with this size. Return: as above. */
int claim_resize_edit_volume(const struct object *volume, int64_t bytes, const struct object **ret,
			     struct failure *reterr);
