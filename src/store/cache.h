/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache - the committed objects in memory, on the loop thread: one sorted array per kind
 *
 * Sorted by namespace and name, so that a look-up is a binary search (0.3 us among 10,000) and a
 * list is a walk. Inserting moves the pointers behind it: 4 us at 10,000 objects, less than
 * decoding one. Holds references; changes nothing else and knows no versions.
 */
#pragma once

#include "object/object.h"
#include "store/store.h"

#include <stddef.h>

/* ---- uid_index.c: stored pods by their uid, so that a new one's is compared with few ---- */

struct uid_index {
	const struct object **pods;
	size_t count, room;
};

void uid_index_done(struct uid_index *index);

/* Make sure that @room pods in all need no memory. Return: 0 or -ENOMEM. */
int uid_index_reserve(struct uid_index *index, size_t room);

/* @replaced: the version before, with the same uid; NULL: the pod is new, which needs
 * uid_index_reserve() before. */
void uid_index_put(struct uid_index *index, const struct object *pod,
		   const struct object *replaced);
void uid_index_remove(struct uid_index *index, const struct object *pod);

/* Has @other the uid of @pod, and another name? */
bool uid_is_taken_by(const struct object *pod, const struct object *other);

/* Borrowed: a pod of another name than @pod that has the uid of @pod; NULL: none has. */
const struct object *uid_index_other(const struct uid_index *index, const struct object *pod);

/* ---- cache_names.c: stored objects of one kind by their name ---- */

struct cache_names {
	const struct object **slots;
	size_t size; /* a power of two, or 0 */
};

void cache_names_done(struct cache_names *index);

/* Make sure that @room objects in all need no memory. Return: 0 or -ENOMEM. */
int cache_names_reserve(struct cache_names *index, size_t room);

/* Borrowed; NULL when absent. */
const struct object *cache_names_get(const struct cache_names *index, const char *name_space,
				     const char *name);

/* There must be room. Return: the version before, NULL. */
const struct object *cache_names_put(struct cache_names *index, const struct object *object);
/* It must be there. */
void cache_names_remove(struct cache_names *index, const struct object *object);

/* ---- cache.c ---- */

struct cache {
	size_t bytes[STORE_PLACES]; /* JSON of all objects, by where their kinds live */
	struct cache_kind {
		const struct object **objects;
		uint64_t *bits; /* labels_bits() of each: most of what a list leaves out is not
				 * looked at */
		size_t count, room;
		struct cache_names names;
	} kinds[KIND_COUNT];
	struct uid_index uids; /* of pods */
};

void cache_done(struct cache *cache);

/* Borrowed; NULL when absent. */
const struct object *cache_get(const struct cache *cache, enum object_kind kind,
			       const char *name_space, const char *name);

/* Make sure that @more cache_put() of this kind need no memory. Return: 0 or -ENOMEM. */
int cache_reserve(struct cache *cache, enum object_kind kind, size_t more);

/**
 * cache_put - insert or replace; takes a reference
 * @object: needs cache_reserve() before
 *
 * Return: the object that was there, whose reference is now the caller's; NULL when none was.
 */
const struct object *cache_put(struct cache *cache, const struct object *object);

/* Return: the removed object, whose reference is now the caller's; NULL when none was there. */
const struct object *cache_remove(struct cache *cache, enum object_kind kind,
				  const char *name_space, const char *name);

/* As store_list(). */
int cache_walk(const struct cache *cache, enum object_kind kind, const char *name_space,
	       int (*visit)(const struct object *object, void *userdata), void *userdata);

/* As store_count_after(). */
size_t cache_count_after(const struct cache *cache, const char *name_space,
			 const struct store_key *after);

/* As store_list_after(). */
int cache_walk_after(const struct cache *cache, const char *name_space,
		     const struct store_key *after, uint64_t bits,
		     int (*visit)(const struct object *object, void *userdata), void *userdata);
