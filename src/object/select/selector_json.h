/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_json - label selectors and node selectors as objects spell them
 *
 * Only src/object/ uses it.
 */
#pragma once

#include "object/json/arena.h"
#include "object/schema/field.h"
#include "object/select/selector.h"

bool label_selector_validate(const struct field *selector);
bool node_selector_validate(const struct field *selector);

/* What was validated. NULL for an absent selector, and when the arena is exhausted. */
const struct label_selector *label_selector_decode(const struct cJSON *selector,
						   struct arena *arena);
const struct node_selector *node_selector_decode(const struct cJSON *selector, struct arena *arena);

/* metadata.labels and their like. */
struct labels labels_decode(const struct cJSON *map, struct arena *arena);
