/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit_field_refs - which fields of a pod its downwardAPI volumes and its variables may name
 *
 * Judged when a pod is written, as Kubernetes does, and not when a stored one is read: what an
 * earlier version stored goes on being served, and an update that leaves it alone is admitted.
 */
#ifndef PODVOL_OBJECT_ADMIT_FIELD_REFS_H
#define PODVOL_OBJECT_ADMIT_FIELD_REFS_H

#include "object/schema/field.h"

/* @old: the pod before; NULL: it is created. Types have been checked. Return: as in field.h. */
int admit_field_refs_check(const struct cJSON *old, const struct cJSON *tree,
			   struct violations *found);

#endif
