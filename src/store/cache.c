/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache - committed objects, sorted; see cache.h
 */
#include "store/cache.h"

#include "object/kind.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 64 };

enum store_place store_place(enum object_kind kind)
{
	return kind_row(kind)->durability == KIND_SYNCED ? STORE_ON_DISK : STORE_IN_MEMORY;
}

void cache_done(struct cache *cache)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		struct cache_kind *row = &cache->kinds[kind];

		for (size_t i = 0; i < row->count; i++)
			(void) object_unref(row->objects[i]);
		free(row->objects);
		free(row->bits);
		cache_names_done(&row->names);
		*row = (struct cache_kind){ .count = 0 };
	}
	uid_index_done(&cache->uids);
}

static int compare(const struct object *object, const char *name_space, const char *name)
{
	int order = strcmp(object->meta.name_space, name_space);

	return order != 0 ? order : strcmp(object->meta.name, name);
}

/* The first place whose object is not before this name; @ret_found: it is this one. */
static size_t find(const struct cache_kind *row, const char *name_space, const char *name,
		   bool *ret_found)
{
	size_t low = 0, high = row->count;

	/* Loading and generated names mostly come in order. */
	if (high > 0 && compare(row->objects[high - 1], name_space, name) < 0)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(row->objects[middle], name_space, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_found = low < row->count && compare(row->objects[low], name_space, name) == 0;
	return low;
}

const struct object *cache_get(const struct cache *cache, enum object_kind kind,
			       const char *name_space, const char *name)
{
	assert(kind < KIND_COUNT && name_space && name);
	return cache_names_get(&cache->kinds[kind].names, name_space, name);
}

int cache_reserve(struct cache *cache, enum object_kind kind, size_t more)
{
	struct cache_kind *row = &cache->kinds[kind];
	const struct object **objects;
	uint64_t *bits;
	size_t room = row->room ? row->room : ROOM_MIN;

	while (room < row->count + more)
		room *= 2;
	/* Also when the objects have room: a try before may have had memory for them alone. */
	if (kind == KIND_POD && uid_index_reserve(&cache->uids, room) < 0)
		return -ENOMEM;
	if (cache_names_reserve(&row->names, room) < 0)
		return -ENOMEM;
	if (room == row->room)
		return 0;
	objects = reallocarray(row->objects, room, sizeof(objects[0]));
	if (!objects)
		return -ENOMEM;
	row->objects = objects;
	bits = reallocarray(row->bits, room, sizeof(bits[0]));
	if (!bits)
		return -ENOMEM;
	row->bits = bits;
	row->room = room;
	return 0;
}

const struct object *cache_put(struct cache *cache, const struct object *object)
{
	struct cache_kind *row = &cache->kinds[object->kind];
	const struct object *old = cache_names_put(&row->names, object);
	bool found;
	size_t place = find(row, object->meta.name_space, object->meta.name, &found);

	assert(found == (old != NULL));
	if (!found) {
		assert(row->count < row->room);
		memmove(&row->objects[place + 1], &row->objects[place],
			(row->count - place) * sizeof(row->objects[0]));
		memmove(&row->bits[place + 1], &row->bits[place],
			(row->count - place) * sizeof(row->bits[0]));
		row->count++;
	}
	row->objects[place] = object_ref(object);
	row->bits[place] = labels_bits(&object->meta.labels);
	if (object->kind == KIND_POD)
		uid_index_put(&cache->uids, object, old);
	cache->bytes[store_place(object->kind)] += object->json_length;
	if (old)
		cache->bytes[store_place(object->kind)] -= old->json_length;
	return old;
}

const struct object *cache_remove(struct cache *cache, enum object_kind kind,
				  const char *name_space, const char *name)
{
	struct cache_kind *row = &cache->kinds[kind];
	const struct object *old;
	bool found;
	size_t place;

	place = find(row, name_space, name, &found);
	if (!found)
		return NULL;
	old = row->objects[place];
	cache_names_remove(&row->names, old);
	cache->bytes[store_place(kind)] -= old->json_length;
	if (kind == KIND_POD)
		uid_index_remove(&cache->uids, old);
	row->count--;
	memmove(&row->objects[place], &row->objects[place + 1],
		(row->count - place) * sizeof(row->objects[0]));
	memmove(&row->bits[place], &row->bits[place + 1],
		(row->count - place) * sizeof(row->bits[0]));
	return old;
}

static int walk_from(const struct cache_kind *row, size_t i, const char *name_space, uint64_t bits,
		     int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	for (; i < row->count; i++) {
		const struct object *object = row->objects[i];
		int r;

		if ((row->bits[i] & bits) != bits)
			continue;
		if (name_space && strcmp(object->meta.name_space, name_space) != 0)
			break;
		r = visit(object, userdata);
		if (r != 0)
			return r;
	}
	return 0;
}

int cache_walk(const struct cache *cache, enum object_kind kind, const char *name_space,
	       int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	const struct cache_kind *row = &cache->kinds[kind];
	bool found;

	assert(kind < KIND_COUNT && visit);
	return walk_from(row, name_space ? find(row, name_space, "", &found) : 0, name_space, 0,
			 visit, userdata);
}

/* The place of the first object behind @after. */
static size_t place_after(const struct cache_kind *row, const char *name_space,
			  const struct store_key *after)
{
	bool found;

	assert(after->kind < KIND_COUNT && after->name_space && after->name);
	if (name_space && strcmp(after->name_space, name_space) < 0)
		return find(row, name_space, "", &found);
	return find(row, after->name_space, after->name, &found) + found;
}

size_t cache_count_after(const struct cache *cache, const char *name_space,
			 const struct store_key *after)
{
	const struct cache_kind *row = &cache->kinds[after->kind];
	size_t begin = place_after(row, name_space, after), end = row->count;
	bool found;

	/* Names are ASCII: no name is behind this one. */
	if (name_space)
		end = find(row, name_space, "\x7f", &found);
	return end > begin ? end - begin : 0;
}

int cache_walk_after(const struct cache *cache, const char *name_space,
		     const struct store_key *after, uint64_t bits,
		     int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	const struct cache_kind *row = &cache->kinds[after->kind];

	assert(visit);
	return walk_from(row, place_after(row, name_space, after), name_space, bits, visit,
			 userdata);
}
