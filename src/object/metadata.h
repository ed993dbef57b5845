/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata - the part that all kinds have in common
 *
 * Only src/object/ uses it.
 */
#pragma once

#include "object/json/arena.h"
#include "object/kind.h"

/* "default" for the namespace where a kind has one; none where it has not. Return: 0 or -ENOMEM. */
int metadata_set_defaults(const struct kind_row *row, struct cJSON *tree);
/* Names, labels, annotations and owners by Kubernetes' rules. Return: as in field.h. */
bool metadata_validate(const struct kind_row *row, const struct field *metadata);
/* Of a valid tree; texts live in @arena, which is marked exhausted without memory. */
void metadata_decode(const struct cJSON *tree, struct arena *arena, struct object_meta *ret);
/* An annotation of @tree, or NULL. */
const char *metadata_annotation(const struct cJSON *tree, const char *key);
