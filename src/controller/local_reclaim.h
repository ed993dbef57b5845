/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_reclaim - may the directory of a volume be removed, with all that is in it; pure
 *
 * Yes only when everything says so: the volume is ours, finished and Released under policy Delete,
 * the very claim it was made for was deleted by somebody (not merely missing), nobody uses the
 * volume, no other volume lies there, above or below, and every source of objects has been read.
 * What a user wrote into the volume's path is not believed: the directory bears a mark
 * (mount/volume_directory.h), and that is looked at by whoever removes.
 */
#ifndef PODVOL_CONTROLLER_LOCAL_RECLAIM_H
#define PODVOL_CONTROLLER_LOCAL_RECLAIM_H

#include "controller/local_plan.h"

/* Where a volume's directory is, as its annotation and its path say. */
struct local_place {
	const char *base_path; /* borrowed from the volume */
	char name[LOCAL_NAME_BYTES];
};

/* Return: 0; -EINVAL the path does not lie below the base path, or has ".." in it. */
int local_place_of(const struct persistent_volume *volume, struct local_place *ret,
		   struct failure *reterr);

/* Does one of the two paths lie in the other, or are they the same? */
bool local_paths_touch(const char *a, const char *b);
/* Of a volume with a directory; NULL: it has none. */
const char *local_path_of(const struct persistent_volume *volume);

struct reclaim_facts {
	const struct persistent_volume *volume;
	bool claim_exists;              /* the one of claimRef, with its uid */
	bool is_in_use;                 /* something may still be mounted from it */
	bool sources_complete;          /* every source of objects delivered all it has */
	const struct object *neighbour; /* another volume whose path touches this one's; NULL */
	const struct labels *node;      /* of this node; NULL: unknown */
};

enum reclaim_verdict {
	RECLAIM_NOT_OURS, /* or not now: nothing to do until something changes */
	RECLAIM_WAIT,     /* soon: @why says for what */
	RECLAIM_REFUSED,  /* @why is for the operator; the data is kept */
	RECLAIM_REMOVE,
};

enum reclaim_verdict local_reclaim_decide(const struct reclaim_facts *facts, struct failure *why);

#endif
