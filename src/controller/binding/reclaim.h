/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim - may what is behind a volume be deleted, with all that is in it: the one rule; pure
 *
 * Yes only when everything says so: the volume is Released under policy Delete, the very claim it
 * was made for was deleted by somebody (not merely missing), nobody uses the volume, and every
 * source of objects has been read. Whoever made the volume adds what else it has to know
 * (local_reclaim.h: where its directory is) and may only make the answer stricter.
 */
#ifndef PODVOL_CONTROLLER_RECLAIM_H
#define PODVOL_CONTROLLER_RECLAIM_H

#include "object/kinds/persistent_volume.h"

struct reclaim_facts {
	const struct persistent_volume *volume; /* that whoever asks has made */
	bool claim_exists;                      /* the one of claimRef, with its uid */
	bool is_in_use;                         /* something may still be mounted from it */
	bool sources_complete;                  /* every source of objects delivered all it has */
	/* Of local volumes. */
	const struct object *neighbour; /* another volume whose path touches this one's; NULL */
	const struct labels *node;      /* of this node; NULL: unknown */
};

enum reclaim_verdict {
	RECLAIM_NOT_OURS, /* or not now: nothing to do until something changes */
	RECLAIM_WAIT,     /* soon: @why says for what */
	RECLAIM_REFUSED,  /* @why is for the operator; the data is kept */
	RECLAIM_REMOVE,
};

enum reclaim_verdict reclaim_decide(const struct reclaim_facts *facts, struct failure *why);

#endif
