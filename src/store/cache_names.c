/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_names - stored objects of one kind by namespace and name; see cache.h
 *
 * Open addressing, at most half full: a look-up meets the object itself, where a search in the
 * sorted array meets one more for each doubling of their number, each in another place of the
 * memory. Borrows: what is in it is in the cache as well.
 */
#include "store/cache.h"

#include "base/fnv1a.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cache_names_done(struct cache_names *index)
{
	free(index->slots);
	*index = (struct cache_names){ 0 };
}

static size_t home_of(const struct cache_names *index, const char *name_space, const char *name)
{
	uint64_t hash = fnv1a_add_text(fnv1a_add_text(FNV1A_FIRST, name), name_space);

	return (size_t) (hash ^ hash >> 32) & (index->size - 1);
}

/* Where the object is, or would be. */
static size_t find(const struct cache_names *index, const char *name_space, const char *name)
{
	size_t i = home_of(index, name_space, name);

	while (index->slots[i] && (strcmp(index->slots[i]->meta.name, name) != 0 ||
				   strcmp(index->slots[i]->meta.name_space, name_space) != 0))
		i = (i + 1) & (index->size - 1);
	return i;
}

int cache_names_reserve(struct cache_names *index, size_t room)
{
	struct cache_names grown = { .size = index->size ? index->size : 1 };

	while (grown.size < 2 * room)
		grown.size *= 2;
	if (grown.size == index->size)
		return 0;
	grown.slots = calloc(grown.size, sizeof(grown.slots[0]));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->size; i++)
		if (index->slots[i])
			(void) cache_names_put(&grown, index->slots[i]);
	free(index->slots);
	*index = grown;
	return 0;
}

const struct object *cache_names_get(const struct cache_names *index, const char *name_space,
				     const char *name)
{
	return index->size > 0 ? index->slots[find(index, name_space, name)] : NULL;
}

const struct object *cache_names_put(struct cache_names *index, const struct object *object)
{
	const struct object **slot =
		&index->slots[find(index, object->meta.name_space, object->meta.name)];
	const struct object *old = *slot;

	*slot = object;
	return old;
}

/* Is @home outside of what lies between @hole (exclusive) and @at, going round? */
static bool may_move(size_t home, size_t hole, size_t at)
{
	return hole <= at ? home <= hole || home > at : home <= hole && home > at;
}

/* What stands behind the hole moves into it, where a look-up would stop at the hole. */
void cache_names_remove(struct cache_names *index, const struct object *object)
{
	size_t hole = find(index, object->meta.name_space, object->meta.name);

	assert(index->slots[hole] == object);
	index->slots[hole] = NULL;
	for (size_t at = (hole + 1) & (index->size - 1); index->slots[at];
	     at = (at + 1) & (index->size - 1)) {
		const struct object_meta *meta = &index->slots[at]->meta;

		if (!may_move(home_of(index, meta->name_space, meta->name), hole, at))
			continue;
		index->slots[hole] = index->slots[at];
		index->slots[at] = NULL;
		hole = at;
	}
}
