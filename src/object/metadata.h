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
#include "object/shape.h"

extern const struct shape metadata_shape;

/* "default" for the namespace where a kind has one; none where it has not. Return: 0 or -ENOMEM. */
int metadata_set_defaults(const struct kind_row *row, struct cJSON *tree);
/* Names, labels, annotations and owners by Kubernetes' rules. Return: 0; -EINVAL; -ENOMEM. */
int metadata_validate(const struct kind_row *row, const struct cJSON *tree, struct failure *reterr);
/* Of a valid tree; texts live in @arena, which is marked exhausted without memory. */
void metadata_decode(const struct cJSON *tree, struct arena *arena, struct object_meta *ret);

/* An annotation of @tree, or NULL. */
const char *metadata_annotation(const struct cJSON *tree, const char *key);

/* "2026-11-21T08:35:00Z" and back; microseconds of real time. 0 when @text is none. */
enum { TIMESTAMP_BYTES = 32 };
void timestamp_print(uint64_t usec, char text[TIMESTAMP_BYTES]);
uint64_t timestamp_parse(const char *text);

#endif
