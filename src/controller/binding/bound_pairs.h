/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_pairs - which claims name a volume, which volumes name a claim: an index, on the loop
 * thread
 *
 * So that one changed object costs its own pairs, not a walk over all claims and volumes. Holds
 * names, no objects: the store has those.
 */
#pragma once

#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>

/* One claim or volume: its work and who names it. */
struct bound_pair;

struct bound_pairs {
	struct bound_pair *table;
	struct bound_pair *due_claims, *due_volumes; /* to be looked at */
	struct bound_pair *waiting;                  /* claims without a volume */
};

struct bound_pair_name {
	const char *name_space, *name; /* name_space "" for volumes */
};

void bound_pairs_done(struct bound_pairs *bound_pairs);

/* The entry of a claim or volume, present in the store or only named. NULL: no memory. */
struct bound_pair *bound_pairs_add(struct bound_pairs *bound_pairs, enum object_kind kind,
				   const char *name_space, const char *name);
/* NULL: unknown. */
struct bound_pair *bound_pairs_get(const struct bound_pairs *bound_pairs, enum object_kind kind,
				   const char *name_space, const char *name);

enum object_kind bound_pair_kind(const struct bound_pair *bound_pair);
struct bound_pair_name bound_pair_name(const struct bound_pair *bound_pair);

/**
 * bound_pairs_set - an object changed: it now names another partner, or none
 * @object:   now; NULL: deleted
 * @previous: before; NULL: created
 *
 * The object itself, the partner it named and the one it names become due, and so does everyone who
 * names the object.
 *
 * Return: 0 or -ENOMEM.
 */
int bound_pairs_set(struct bound_pairs *bound_pairs, const struct object *object,
		    const struct object *previous);

/* The objects that name this one, sorted by name; an array of @ret_count entries. */
struct bound_pair *const *bound_pair_namers(const struct bound_pair *bound_pair, size_t *ret_count);

void bound_pairs_make_due(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair);
/* The next one due, no longer due; NULL: none. Claims come first: it is they that bind volumes. */
struct bound_pair *bound_pairs_take_due(struct bound_pairs *bound_pairs);

/* A claim that looks for a volume is due whenever one becomes free. */
void bound_pair_set_waiting(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair,
			    bool waiting);
void bound_pairs_make_waiting_due(struct bound_pairs *bound_pairs);

/* Is it among those that can be taken? */
bool bound_pair_is_due(const struct bound_pair *bound_pair);
/* The next claim of those that are due, after @after (NULL: the first of them). */
struct bound_pair *bound_pairs_next_claim(const struct bound_pairs *bound_pairs,
					  const struct bound_pair *after);
/* Of those due this one is the next. Nothing happens where it is not due. */
void bound_pairs_put_first(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair);

/* A write for it is under way: it is not taken while this holds. */
bool bound_pair_is_busy(const struct bound_pair *bound_pair);
void bound_pair_set_busy(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair, bool busy);

/* Was this said last about it? Remembers it. Both NULL: nothing was said. */
bool bound_pair_says_again(struct bound_pair *bound_pair, const char *reason, const char *text);

/* The same of a pod that cannot be on this node for want of this claim. */
bool bound_pair_refuses_again(struct bound_pair *bound_pair, const char *text);

/* Forget one that no longer exists, unless an object names it or it has work. */
void bound_pairs_forget(struct bound_pairs *bound_pairs, struct bound_pair *bound_pair);
