/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_index - the elements of a list by one of their strings
 *
 * Only src/object/ uses it, to find duplicates and references in lists that a client can make
 * long: n log n, not n squared.
 */
#pragma once

#include "base/cleanup.h"
#include "object/json/json.h"

struct name_entry {
	const char *name; /* borrowed from the list; "" where absent */
	const struct cJSON *item;
	size_t position;
};

struct name_index {
	struct name_entry *entries; /* by name, then position */
	size_t count;
};

/* @key: the member that names an element. Return: 0 or -ENOMEM. Give it to name_index_done(). */
int name_index_init(struct name_index *index, const struct cJSON *list, const char *key);
void name_index_done(struct name_index *index);
#define cleanup_name_index cleanup(name_index_done)

/* The first element with that name, or NULL. */
const struct name_entry *name_index_find(const struct name_index *index, const char *name);

/* An element whose name came before, "" not counted; NULL when there is none. */
const struct name_entry *name_index_duplicate(const struct name_index *index);
