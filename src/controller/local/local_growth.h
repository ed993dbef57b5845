/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_growth - a claim asks for more than its volume of podvol has, and the size is enforced
 *
 * The rule and the claim's words are claim_resize.h's, as for CSI: the limit is raised, or the
 * image grows, then the volume says so, then the claim; the file system in an image grows where it
 * is mounted. Volumes whose size nobody enforces are left alone: they have all there is.
 */
#ifndef PODVOL_CONTROLLER_LOCAL_GROWTH_H
#define PODVOL_CONTROLLER_LOCAL_GROWTH_H

#include "controller/local/local_item.h"

/* Begin what is next. Return: false: it has what its claim asks for. */
bool local_growth_look(struct item *item, const struct persistent_volume *volume,
		       const struct object *claim);
/* DIRECTORY_GROW ended. */
void local_growth_told(struct item *item, const struct persistent_volume *volume,
		       const struct object *claim, int error, const struct failure *why);

#endif
