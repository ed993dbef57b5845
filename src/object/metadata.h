/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata - the part that all kinds have in common
 *
 * Only src/object/ uses it.
 */
#ifndef PODVOL_OBJECT_METADATA_H
#define PODVOL_OBJECT_METADATA_H

#include "object/arena.h"
#include "object/kind.h"

/* "default" for the namespace where a kind has one; none where it has not. Return: 0 or -ENOMEM. */
int metadata_set_defaults(const struct kind_row *row, struct cJSON *tree);
/* Names, labels, annotations and owners by Kubernetes' rules. Return: 0; -EINVAL; -ENOMEM. */
int metadata_validate(const struct kind_row *row, const struct cJSON *tree,
		      struct violations *found);
/* Of a valid tree; texts live in @arena, which is marked exhausted without memory. */
void metadata_decode(const struct cJSON *tree, struct arena *arena, struct object_meta *ret);

/* An annotation of @tree, or NULL. */
const char *metadata_annotation(const struct cJSON *tree, const char *key);

/* Times of RFC 3339 as microseconds of real time. Printed to the second, or to the microsecond as
 * in events and leases; parsed to the microsecond, 0 when @text is none or lies before 1970. */
enum { TIMESTAMP_BYTES = 32 };
void timestamp_print(uint64_t usec, char text[TIMESTAMP_BYTES]);
void timestamp_print_micro(uint64_t usec, char text[TIMESTAMP_BYTES]);
uint64_t timestamp_parse(const char *text);
bool timestamp_is_valid(const char *text);

#endif
