/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_growth - may a claim ask for more than it did: Kubernetes' admission of resizes; pure
 *
 * Only src/object/ uses it.
 */
#ifndef PODVOL_OBJECT_CLAIM_GROWTH_H
#define PODVOL_OBJECT_CLAIM_GROWTH_H

#include "object/kinds/persistent_volume.h"
#include "object/schema/violation.h"

/* @storage_class: of @old; NULL: none. Return: 0; -EINVAL. */
int claim_check_growth(const struct persistent_volume_claim *old,
		       const struct persistent_volume_claim *proposed,
		       const struct object *storage_class, struct violations *found);

#endif
