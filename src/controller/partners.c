/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partners - an index of claims and volumes by whom they name; see partners.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "controller/partners.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "object/persistent_volume.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

enum { KEY_BYTES = 1 + 64 + 254 };

struct partner {
	UT_hash_handle hh;
	struct partner *previous_due, *next_due;
	bool is_due, is_listed, is_busy, is_waiting; /* listed: in a list of due ones */
	uint64_t said, refused;                      /* hashes of the last event, and of a pod's */
	struct partner **namers;
	size_t namer_count, namer_room;
	const char *name_space, *name; /* into bytes */
	char bytes[];
};

static size_t make_key(enum object_kind kind, const char *name_space, const char *name,
		       char bytes[KEY_BYTES])
{
	size_t space = strlen(name_space) + 1, length = strlen(name) + 1;

	/* A name out of a reference of somebody else's making may be too long to exist. */
	if (1 + space + length > KEY_BYTES)
		return 0;
	bytes[0] = (char) kind;
	memcpy(bytes + 1, name_space, space);
	memcpy(bytes + 1 + space, name, length);
	return 1 + space + length;
}

/* The list of those due runs through the same entries: nothing else to free. */
void partners_done(struct partners *partners)
{
	struct partner *partner, *next;

	HASH_ITER (hh, partners->table, partner, next) {
		HASH_DEL(partners->table, partner);
		free(partner->namers);
		free(partner);
	}
	partners->due_claims = NULL;
	partners->due_volumes = NULL;
}

struct partner *partners_get(const struct partners *partners, enum object_kind kind,
			     const char *name_space, const char *name)
{
	struct partner *partner;
	char bytes[KEY_BYTES];
	size_t length = make_key(kind, name_space, name, bytes);

	if (length == 0)
		return NULL;
	HASH_FIND(hh, partners->table, bytes, length, partner);
	return partner;
}

/* Without an object yet: somebody names it, and it may come. */
struct partner *partners_add(struct partners *partners, enum object_kind kind,
			     const char *name_space, const char *name)
{
	struct partner *partner = partners_get(partners, kind, name_space, name);
	char bytes[KEY_BYTES];
	size_t length = make_key(kind, name_space, name, bytes);

	if (partner || length == 0)
		return partner;
	partner = calloc(1, sizeof(*partner) + length);
	if (!partner)
		return NULL;
	memcpy(partner->bytes, bytes, length);
	partner->name_space = partner->bytes + 1;
	partner->name = partner->name_space + strlen(partner->name_space) + 1;
	HASH_ADD(hh, partners->table, bytes, length, partner);
	if (!partner->hh.tbl) {
		free(partner);
		return NULL;
	}
	return partner;
}

enum object_kind partner_kind(const struct partner *partner)
{
	return (enum object_kind) partner->bytes[0];
}

struct partner_name partner_name(const struct partner *partner)
{
	return (struct partner_name){ .name_space = partner->name_space, .name = partner->name };
}

/* ---- who names whom ---- */

static int order(const struct partner *a, const struct partner *b)
{
	int r = strcmp(a->name_space, b->name_space);

	return r != 0 ? r : strcmp(a->name, b->name);
}

static size_t find_namer(const struct partner *partner, const struct partner *namer)
{
	size_t i = 0;

	while (i < partner->namer_count && order(partner->namers[i], namer) < 0)
		i++;
	return i;
}

static int add_namer(struct partner *partner, struct partner *namer)
{
	size_t place = find_namer(partner, namer);
	struct partner **namers;

	if (place < partner->namer_count && partner->namers[place] == namer)
		return 0;
	if (partner->namer_count == partner->namer_room) {
		size_t room = partner->namer_room ? partner->namer_room * 2 : 1;

		namers = reallocarray(partner->namers, room, sizeof(namers[0]));
		if (!namers)
			return -ENOMEM;
		partner->namers = namers;
		partner->namer_room = room;
	}
	namers = partner->namers;
	memmove(&namers[place + 1], &namers[place],
		(partner->namer_count - place) * sizeof(namers[0]));
	namers[place] = namer;
	partner->namer_count++;
	return 0;
}

static void remove_namer(struct partner *partner, const struct partner *namer)
{
	size_t place = find_namer(partner, namer);

	if (place == partner->namer_count || partner->namers[place] != namer)
		return;
	partner->namer_count--;
	memmove(&partner->namers[place], &partner->namers[place + 1],
		(partner->namer_count - place) * sizeof(partner->namers[0]));
}

struct partner *const *partner_namers(const struct partner *partner, size_t *ret_count)
{
	*ret_count = partner->namer_count;
	return partner->namers;
}

/* Whom an object names. Return: false when nobody. */
static bool named_by(const struct object *object, enum object_kind *ret_kind,
		     struct partner_name *ret)
{
	if (!object)
		return false;
	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM) {
		*ret_kind = KIND_PERSISTENT_VOLUME;
		*ret = (struct partner_name){ "", object->claim->volume_name };
		return object->claim->volume_name[0] != '\0';
	}
	assert(object->kind == KIND_PERSISTENT_VOLUME);
	*ret_kind = KIND_PERSISTENT_VOLUME_CLAIM;
	*ret = (struct partner_name){ object->persistent_volume->claim_namespace,
				      object->persistent_volume->claim_name };
	return object->persistent_volume->has_claim_ref;
}

int partners_set(struct partners *partners, const struct object *object,
		 const struct object *previous)
{
	const struct object *any = object ? object : previous;
	struct partner *self, *other;
	struct partner_name name;
	enum object_kind kind;
	int r = 0;

	assert(any);
	self = partners_add(partners, any->kind, any->meta.name_space, any->meta.name);
	if (!self)
		return -ENOMEM;
	partners_make_due(partners, self);
	if (named_by(previous, &kind, &name)) {
		other = partners_get(partners, kind, name.name_space, name.name);
		if (other) {
			remove_namer(other, self);
			partners_make_due(partners, other);
		}
	}
	if (named_by(object, &kind, &name)) {
		other = partners_add(partners, kind, name.name_space, name.name);
		r = other ? add_namer(other, self) : 0;
		if (other)
			partners_make_due(partners, other);
	}
	for (size_t i = 0; i < self->namer_count; i++)
		partners_make_due(partners, self->namers[i]);
	return r;
}

/* ---- work ---- */

static struct partner **due_list(struct partners *partners, const struct partner *partner)
{
	return partner_kind(partner) == KIND_PERSISTENT_VOLUME_CLAIM ? &partners->due_claims
								     : &partners->due_volumes;
}

void partners_make_due(struct partners *partners, struct partner *partner)
{
	struct partner **list = due_list(partners, partner);

	partner->is_due = true;
	if (partner->is_busy || partner->is_listed)
		return;
	partner->is_listed = true;
	DL_PREPEND2(*list, partner, previous_due, next_due);
}

static void unlist(struct partners *partners, struct partner *partner)
{
	struct partner **list = due_list(partners, partner);

	DL_DELETE2(*list, partner, previous_due, next_due);
	partner->is_listed = false;
}

bool partner_is_due(const struct partner *partner)
{
	return partner->is_listed && !partner->is_busy;
}

void partners_put_first(struct partners *partners, struct partner *partner)
{
	if (!partner_is_due(partner))
		return;
	unlist(partners, partner);
	partners_make_due(partners, partner);
}

struct partner *partners_take_due(struct partners *partners)
{
	for (;;) {
		struct partner *partner =
			partners->due_claims ? partners->due_claims : partners->due_volumes;

		if (!partner)
			return NULL;
		unlist(partners, partner);
		/* Busy since it was listed: it is due again when it is not. */
		if (partner->is_busy)
			continue;
		partner->is_due = false;
		return partner;
	}
}

bool partner_is_busy(const struct partner *partner)
{
	return partner->is_busy;
}

void partner_set_busy(struct partners *partners, struct partner *partner, bool busy)
{
	assert(partner->is_busy != busy);
	partner->is_busy = busy;
	if (!busy && partner->is_due)
		partners_make_due(partners, partner);
}

void partner_set_waiting(struct partner *partner, bool waiting)
{
	assert(partner_kind(partner) == KIND_PERSISTENT_VOLUME_CLAIM);
	partner->is_waiting = waiting;
}

void partners_make_waiting_due(struct partners *partners)
{
	struct partner *partner, *next;

	HASH_ITER (hh, partners->table, partner, next) {
		if (partner->is_waiting)
			partners_make_due(partners, partner);
	}
}

bool partner_says_again(struct partner *partner, const char *reason, const char *text)
{
	uint64_t hash = reason ? fnv1a_add_text(fnv1a_add_text(FNV1A_FIRST, reason), text) : 0;
	bool again = partner->said == hash;

	partner->said = hash;
	return again;
}

bool partner_refuses_again(struct partner *partner, const char *text)
{
	uint64_t hash = fnv1a_add_text(FNV1A_FIRST, text);
	bool again = partner->refused == hash;

	partner->refused = hash;
	return again;
}

void partners_forget(struct partners *partners, struct partner *partner)
{
	if (partner->namer_count > 0 || partner->is_due || partner->is_busy)
		return;
	HASH_DEL(partners->table, partner);
	free(partner->namers);
	free(partner);
}
