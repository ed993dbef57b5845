/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_filling - what a claim's new directory is filled from; looks up and writes nothing
 *
 * Another claim's volume of podvol/local, or a snapshot of one. Refused are sources in another
 * namespace, larger ones, and what is neither.
 */
#ifndef PODVOL_CONTROLLER_LOCAL_FILLING_H
#define PODVOL_CONTROLLER_LOCAL_FILLING_H

#include "controller/local/local_provisioner.h"
#include "object/kinds/persistent_volume.h"

struct local_filling {
	struct directory_source from;           /* name NULL: nothing is wanted */
	const struct persistent_volume *volume; /* of a clone; NULL: of a snapshot */
	char *base_path, *name;                 /* from borrows them */
};

/* @ret borrows from stored objects. Return: 0; -EAGAIN not yet; -EINVAL never like this; -ENOMEM.
 */
int local_filling_find(struct store *store, const struct persistent_volume_claim *claim,
		       struct local_filling *ret, struct failure *reterr);
void local_filling_done(struct local_filling *source);

#endif
