/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_source - dataSource and dataSourceRef of a claim: what its new volume is filled from
 *
 * Only src/object/ uses it; what is decoded is struct data_source of persistent_volume.h.
 */
#ifndef PODVOL_OBJECT_DATA_SOURCE_H
#define PODVOL_OBJECT_DATA_SOURCE_H

#include "object/json/arena.h"
#include "object/kinds/persistent_volume.h"
#include "object/schema/field.h"

/* Whichever of the two is missing is made from the other, as the API machinery does; a source of
 * another namespace has no place in dataSource. Return: 0 or -ENOMEM. */
int data_source_set_defaults(struct cJSON *spec);
int data_source_validate(const struct cJSON *spec, const struct field *field,
			 struct violations *found);
struct data_source data_source_decode(const struct cJSON *spec, struct arena *arena);

#endif
