/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_pairs - an index of claims and volumes by whom they name; see bound_pairs.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "controller/binding/bound_pairs.h"

#include "base/array.h"
#include "base/fnv1a.h"
#include "base/hash_table.h"
#include "object/kinds/persistent_volume.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <utlist.h>

enum { KEY_BYTES = 1 + 64 + 254 };

struct bound_pair {
	UT_hash_handle hh;
	struct bound_pair *previous_due, *next_due;
	struct bound_pair *previous_waiting, *next_waiting;
	bool is_due, is_listed, is_busy, is_waiting; /* listed: in a list of due ones */
	uint64_t said, refused;                      /* hashes of the last event, and of a pod's */
	struct bound_pair **namers;
	size_t namer_count, namer_room;
	const char *name_space, *name; /* into bytes */
	char bytes[];
};

static size_t make_key(enum object_kind kind, const char *name_space, const char *name,
		       char bytes[KEY_BYTES])
{
	size_t space = strlen(name_space) + 1, length = strlen(name) + 1;

	/* A name out of a reference of a user may be too long to exist. */
	if (1 + space + length > KEY_BYTES)
		return 0;
	bytes[0] = (char) kind;
	memcpy(bytes + 1, name_space, space);
	memcpy(bytes + 1 + space, name, length);
	return 1 + space + length;
}

/* The list of those due runs through the same entries: nothing else to free. */
void bound_pairs_done(struct bound_pairs *bound_pairs)
{
	struct bound_pair *bound_pair, *next;

	HASH_ITER (hh, bound_pairs->table, bound_pair, next) {
		HASH_DEL(bound_pairs->table, bound_pair);
		free(bound_pair->namers);
		free(bound_pair);
	}
	bound_pairs->due_claims = NULL;
	bound_pairs->due_volumes = NULL;
	bound_pairs->waiting = NULL;
}

struct bound_pair *bound_pairs_get(const struct bound_pairs *bound_pairs, enum object_kind kind,
				   const char *name_space, const char *name)
{
	struct bound_pair *bound_pair;
	char bytes[KEY_BYTES];
	size_t length = make_key(kind, name_space, name, bytes);

	if (length == 0)
		return NULL;
	HASH_FIND(hh, bound_pairs->table, bytes, length, bound_pair);
	return bound_pair;
}

/* Without an object yet: an object names it, and it may come. */
struct bound_pair *bound_pairs_add(struct bound_pairs *bound_pairs, enum object_kind kind,
				   const char *name_space, const char *name)
{
	struct bound_pair *bound_pair = bound_pairs_get(bound_pairs, kind, name_space, name);
	char bytes[KEY_BYTES];
	size_t length = make_key(kind, name_space, name, bytes);

	if (bound_pair || length == 0)
		return bound_pair;
	bound_pair = calloc(1, sizeof(*bound_pair) + length);
	if (!bound_pair)
		return NULL;
	memcpy(bound_pair->bytes, bytes, length);
	bound_pair->name_space = bound_pair->bytes + 1;
	bound_pair->name = bound_pair->name_space + strlen(bound_pair->name_space) + 1;
	HASH_ADD(hh, bound_pairs->table, bytes, length, bound_pair);
	if (!bound_pair->hh.tbl) {
		free(bound_pair);
		return NULL;
	}
	return bound_pair;
}

enum object_kind bound_pair_kind(const struct bound_pair *bound_pair)
{
	return (enum object_kind) bound_pair->bytes[0];
}

struct bound_pair_name bound_pair_name(const struct bound_pair *bound_pair)
{
	return (struct bound_pair_name){ .name_space = bound_pair->name_space,
					 .name = bound_pair->name };
}

/* ---- who names whom ---- */

static int order(const struct bound_pair *a, const struct bound_pair *b)
{
	int r = strcmp(a->name_space, b->name_space);

	return r != 0 ? r : strcmp(a->name, b->name);
}

static size_t find_namer(const struct bound_pair *bound_pair, const struct bound_pair *namer)
{
	size_t i = 0;

	while (i < bound_pair->namer_count && order(bound_pair->namers[i], namer) < 0)
		i++;
	return i;
}

static int add_namer(struct bound_pair *bound_pair, struct bound_pair *namer)
{
	size_t place = find_namer(bound_pair, namer);
	struct bound_pair **namers;

	if (place < bound_pair->namer_count && bound_pair->namers[place] == namer)
		return 0;
	if (ARRAY_ROOM(bound_pair->namers, bound_pair->namer_count, bound_pair->namer_room, 1) < 0)
		return -ENOMEM;
	namers = bound_pair->namers;
	memmove(&namers[place + 1], &namers[place],
		(bound_pair->namer_count - place) * sizeof(namers[0]));
	namers[place] = namer;
	bound_pair->namer_count++;
	return 0;
}

static void remove_namer(struct bound_pair *bound_pair, const struct bound_pair *namer)
{
	size_t place = find_namer(bound_pair, namer);

	if (place == bound_pair->namer_count || bound_pair->namers[place] != namer)
		return;
	bound_pair->namer_count--;
	memmove(&bound_pair->namers[place], &bound_pair->namers[place + 1],
		(bound_pair->namer_count - place) * sizeof(bound_pair->namers[0]));
}

struct bound_pair *const *bound_pair_namers(const struct bound_pair *bound_pair, size_t *ret_count)
{
	*ret_count = bound_pair->namer_count;
	return bound_pair->namers;
}

/* Whom an object names. Return: false when none. */
static bool named_by(const struct object *object, enum object_kind *ret_kind,
		     struct bound_pair_name *ret)
{
	if (!object)
		return false;
	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM) {
		*ret_kind = KIND_PERSISTENT_VOLUME;
		*ret = (struct bound_pair_name){ "", object->claim->volume_name };
		return object->claim->volume_name[0] != '\0';
	}
	assert(object->kind == KIND_PERSISTENT_VOLUME);
	*ret_kind = KIND_PERSISTENT_VOLUME_CLAIM;
	*ret = (struct bound_pair_name){ object->persistent_volume->claim_namespace,
					 object->persistent_volume->claim_name };
	return object->persistent_volume->has_claim_ref;
}

int bound_pairs_set(struct bound_pairs *bound_pairs, const struct object *object,
		    const struct object *previous)
{
	const struct object *any = object ? object : previous;
	struct bound_pair *self, *other;
	struct bound_pair_name name;
	enum object_kind kind;
	int r = 0;

	assert(any);
	self = bound_pairs_add(bound_pairs, any->kind, any->meta.name_space, any->meta.name);
	if (!self)
		return -ENOMEM;
	bound_pairs_make_due(bound_pairs, self);
	if (named_by(previous, &kind, &name)) {
		other = bound_pairs_get(bound_pairs, kind, name.name_space, name.name);
		if (other) {
			remove_namer(other, self);
			bound_pairs_make_due(bound_pairs, other);
		}
	}
	if (named_by(object, &kind, &name)) {
		other = bound_pairs_add(bound_pairs, kind, name.name_space, name.name);
		r = other ? add_namer(other, self) : 0;
		if (other)
			bound_pairs_make_due(bound_pairs, other);
	}
	for (size_t i = 0; i < self->namer_count; i++)
		bound_pairs_make_due(bound_pairs, self->namers[i]);
	return r;
}

/* ---- work ---- */

static struct bound_pair **due_list(struct bound_pairs *bound_pairs,
				    const struct bound_pair *bound_pair)
{
	return bound_pair_kind(bound_pair) == KIND_PERSISTENT_VOLUME_CLAIM
		       ? &bound_pairs->due_claims
		       : &bound_pairs->due_volumes;
}

void bound_pairs_make_due(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair)
{
	struct bound_pair **list = due_list(bound_pairs, bound_pair);

	bound_pair->is_due = true;
	if (bound_pair->is_busy || bound_pair->is_listed)
		return;
	bound_pair->is_listed = true;
	DL_PREPEND2(*list, bound_pair, previous_due, next_due);
}

static void unlist(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair)
{
	struct bound_pair **list = due_list(bound_pairs, bound_pair);

	DL_DELETE2(*list, bound_pair, previous_due, next_due);
	bound_pair->is_listed = false;
}

bool bound_pair_is_due(const struct bound_pair *bound_pair)
{
	return bound_pair->is_listed && !bound_pair->is_busy;
}

struct bound_pair *bound_pairs_next_claim(const struct bound_pairs *bound_pairs,
					  const struct bound_pair *after)
{
	return after ? after->next_due : bound_pairs->due_claims;
}

void bound_pairs_put_first(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair)
{
	if (!bound_pair_is_due(bound_pair))
		return;
	unlist(bound_pairs, bound_pair);
	bound_pairs_make_due(bound_pairs, bound_pair);
}

struct bound_pair *bound_pairs_take_due(struct bound_pairs *bound_pairs)
{
	for (;;) {
		struct bound_pair *bound_pair = bound_pairs->due_claims ? bound_pairs->due_claims
									: bound_pairs->due_volumes;

		if (!bound_pair)
			return NULL;
		unlist(bound_pairs, bound_pair);
		/* Busy since it was listed: it is due again when it is not. */
		if (bound_pair->is_busy)
			continue;
		bound_pair->is_due = false;
		return bound_pair;
	}
}

bool bound_pair_is_busy(const struct bound_pair *bound_pair)
{
	return bound_pair->is_busy;
}

void bound_pair_set_busy(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair, bool busy)
{
	assert(bound_pair->is_busy != busy);
	bound_pair->is_busy = busy;
	if (!busy && bound_pair->is_due)
		bound_pairs_make_due(bound_pairs, bound_pair);
}

void bound_pair_set_waiting(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair,
			    bool waiting)
{
	assert(bound_pair_kind(bound_pair) == KIND_PERSISTENT_VOLUME_CLAIM);
	if (bound_pair->is_waiting == waiting)
		return;
	bound_pair->is_waiting = waiting;
	if (waiting)
		DL_APPEND2(bound_pairs->waiting, bound_pair, previous_waiting, next_waiting);
	else
		DL_DELETE2(bound_pairs->waiting, bound_pair, previous_waiting, next_waiting);
}

void bound_pairs_make_waiting_due(struct bound_pairs *bound_pairs)
{
	struct bound_pair *bound_pair;

	DL_FOREACH2(bound_pairs->waiting, bound_pair, next_waiting)
	bound_pairs_make_due(bound_pairs, bound_pair);
}

bool bound_pair_says_again(struct bound_pair *bound_pair, const char *reason, const char *text)
{
	uint64_t hash = reason ? fnv1a_add_text(fnv1a_add_text(FNV1A_FIRST, reason), text) : 0;
	bool again = bound_pair->said == hash;

	bound_pair->said = hash;
	return again;
}

bool bound_pair_refuses_again(struct bound_pair *bound_pair, const char *text)
{
	uint64_t hash = fnv1a_add_text(FNV1A_FIRST, text);
	bool again = bound_pair->refused == hash;

	bound_pair->refused = hash;
	return again;
}

void bound_pairs_forget(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair)
{
	if (bound_pair->namer_count > 0 || bound_pair->is_due || bound_pair->is_busy)
		return;
	if (bound_pair->is_waiting)
		bound_pair_set_waiting(bound_pairs, bound_pair, false);
	HASH_DEL(bound_pairs->table, bound_pair);
	free(bound_pair->namers);
	free(bound_pair);
}
