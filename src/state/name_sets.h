/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_sets - under each key a small set of names: of which volumes a pod has entries in a table,
 * which pods use a claim
 *
 * So that a question about one pod or claim costs what belongs to it, never all there is. Names are
 * borrowed from the entries beside which such an index is kept. The loop thread only.
 */
#pragma once

#include <stddef.h>
#include "base/hash_table.h"

struct name_set {
	UT_hash_handle hh; /* by key */
	const char **names;
	size_t count, capacity;
	char key[];
};

struct name_sets {
	struct name_set *sets;
};

/* Return: 0 or -ENOMEM. The name must live until it is removed; one that was added twice is there
 * twice. */
int name_sets_add(struct name_sets *sets, const char *key, const char *name);
/* Both must be there (an assertion); a key goes with its last name. */
void name_sets_remove(struct name_sets *sets, const char *key, const char *name);

/* The @position-th name, in no order; NULL past the last. Valid until the index changes. */
const char *name_sets_at(const struct name_sets *sets, const char *key, size_t position);
