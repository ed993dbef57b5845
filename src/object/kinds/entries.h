/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries - what ConfigMaps and Secrets hold: the same rules for keys, size and immutability
 *
 * Only src/object/ uses it.
 */
#ifndef PODVOL_OBJECT_ENTRIES_H
#define PODVOL_OBJECT_ENTRIES_H

#include "object/schema/field.h"

enum { ENTRIES_BYTES_MAX = 1024 * 1024 }; /* of one object, decoded */

/* Keys that can be file names: alphanumeric, '-', '_' and '.', not beginning with "..". */
int entries_check_keys(const struct cJSON *map, const struct field *field,
		       struct violations *found);

/* Bytes of all values; @are_base64: as which they are written. */
size_t entries_bytes(const struct cJSON *map, bool are_base64);

/* Once immutable: the flag and these members, ended by NULL, are what they were. */
int entries_check_update(const struct object *old, const struct object *new_object,
			 const char *const *members, struct violations *found);

#endif
