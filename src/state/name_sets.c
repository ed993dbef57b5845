/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_sets - under each key a small set of names; see name_sets.h
 *
 * A set has few members, so that it is an array that is searched from the end.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/name_sets.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

enum { NAMES_FIRST_CAPACITY = 2 };

static struct name_set *find(const struct name_sets *sets, const char *key)
{
	struct name_set *set;

	HASH_FIND_STR(sets->sets, key, set);
	return set;
}

static void drop(struct name_sets *sets, struct name_set *set)
{
	if (set->hh.tbl)
		HASH_DEL(sets->sets, set);
	free(set->names);
	free(set);
}

static struct name_set *insert(struct name_sets *sets, const char *key)
{
	size_t length = strlen(key);
	struct name_set *set = calloc(1, sizeof(*set) + length + 1);

	if (!set)
		return NULL;
	memcpy(set->key, key, length);
	HASH_ADD(hh, sets->sets, key, length, set);
	if (set->hh.tbl)
		return set;
	drop(sets, set);
	return NULL;
}

int name_sets_add(struct name_sets *sets, const char *key, const char *name)
{
	struct name_set *set;

	assert(sets && key && name);

	set = find(sets, key);
	if (!set)
		set = insert(sets, key);
	if (!set)
		return -ENOMEM;
	if (ARRAY_ROOM(set->names, set->count, set->capacity, NAMES_FIRST_CAPACITY) < 0) {
		if (set->count == 0)
			drop(sets, set);
		return -ENOMEM;
	}
	set->names[set->count++] = name;
	return 0;
}

void name_sets_remove(struct name_sets *sets, const char *key, const char *name)
{
	struct name_set *set;
	size_t i;

	assert(sets && key && name);

	set = find(sets, key);
	assert(set);
	for (i = set->count; i > 0 && strcmp(set->names[i - 1], name) != 0; i--)
		;
	assert(i > 0);
	set->names[i - 1] = set->names[--set->count];
	if (set->count == 0)
		drop(sets, set);
}

const char *name_sets_at(const struct name_sets *sets, const char *key, size_t position)
{
	const struct name_set *set;

	assert(sets && key);

	set = find(sets, key);
	return set && position < set->count ? set->names[position] : NULL;
}
