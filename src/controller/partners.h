/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partners - which claims name a volume, which volumes name a claim: an index, on the loop thread
 *
 * So that one changed object costs its own partners, not a walk over all claims and volumes. Holds
 * names, no objects: the store has those.
 */
#ifndef PODVOL_CONTROLLER_PARTNERS_H
#define PODVOL_CONTROLLER_PARTNERS_H

#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>

/* One claim or volume: its work and who names it. */
struct partner;

struct partners {
	struct partner *table;
	struct partner *due_claims, *due_volumes; /* to be looked at */
};

struct partner_name {
	const char *name_space, *name; /* name_space "" for volumes */
};

void partners_done(struct partners *partners);

/* The entry of a claim or volume, present in the store or only named. NULL: no memory. */
struct partner *partners_add(struct partners *partners, enum object_kind kind,
			     const char *name_space, const char *name);
/* NULL: unknown. */
struct partner *partners_get(const struct partners *partners, enum object_kind kind,
			     const char *name_space, const char *name);

enum object_kind partner_kind(const struct partner *partner);
struct partner_name partner_name(const struct partner *partner);

/**
 * partners_set - an object changed: it now names another partner, or none
 * @object:   now; NULL: deleted
 * @previous: before; NULL: created
 *
 * The object itself, the partner it named and the one it names become due, and so does everyone who
 * names the object.
 *
 * Return: 0 or -ENOMEM.
 */
int partners_set(struct partners *partners, const struct object *object,
		 const struct object *previous);

/* Whoever names this one, sorted by name; an array of @ret_count entries. */
struct partner *const *partner_namers(const struct partner *partner, size_t *ret_count);

void partners_make_due(struct partners *partners, struct partner *partner);
/* The next one due, no longer due; NULL: none. Claims come first: it is they that bind volumes. */
struct partner *partners_take_due(struct partners *partners);

/* A claim that looks for a volume is due whenever one becomes free. */
void partner_set_waiting(struct partner *partner, bool waiting);
void partners_make_waiting_due(struct partners *partners);

/* Is it among those that can be taken? */
bool partner_is_due(const struct partner *partner);
/* Of those due this one is the next. Nothing happens where it is not due. */
void partners_put_first(struct partners *partners, struct partner *partner);

/* A write for it is under way: it is not taken while this holds. */
bool partner_is_busy(const struct partner *partner);
void partner_set_busy(struct partners *partners, struct partner *partner, bool busy);

/* Was this said last about it? Remembers it. Both NULL: nothing was said. */
bool partner_says_again(struct partner *partner, const char *reason, const char *text);

/* The same of a pod that cannot be on this node for want of this claim. */
bool partner_refuses_again(struct partner *partner, const char *text);

/* Forget one that no longer exists, unless somebody names it or it has work. */
void partners_forget(struct partners *partners, struct partner *partner);

#endif
