/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit_names - the names in an object that its writer chose: label and annotation keys, label
 * values, finalizers, CSI drivers, nodes
 *
 * Judged when they are written, as Kubernetes does, and not when a stored object is read: what an
 * earlier version stored goes on being served, and an update that leaves it alone is admitted.
 */
#ifndef PODVOL_OBJECT_ADMIT_NAMES_H
#define PODVOL_OBJECT_ADMIT_NAMES_H

#include "object/schema/field.h"

/* @old: the object before; NULL: it is created. Types have been checked. Return: as in field.h. */
int admit_names_check(const struct cJSON *old, const struct cJSON *tree, struct violations *found);

/* "example.com/name" or "name". Return: as in field.h. */
int admit_qualified_name(const struct field *field, const char *name, struct violations *found);

#endif
