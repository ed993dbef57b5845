/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology - where storage may be, as classes and capacities write it; pure
 */
#pragma once

#include "object/kinds/persistent_volume.h"
#include "object/select/selector.h"

struct cJSON;

/* allowedTopologies of a class: terms are ORed, the expressions of a term ANDed; none allows all.
 */
bool topology_allows(const struct storage_class *storage_class, const struct labels *node);

/* A LabelSelector as JSON: an empty one selects all, an absent one nothing. */
bool topology_selects(const struct cJSON *selector, const struct labels *labels);

/* The value of a label; NULL: it has none. */
const char *topology_label(const struct labels *labels, const char *key);
