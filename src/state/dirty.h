/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty - the set of unique volume names that the reconciler has to look at
 *
 * Cost follows what changed: a table that changes a volume adds its name, the agent takes names out
 * and reconciles them; all volumes are never walked. Order of insertion is kept, so that bursts are
 * fair.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct dirty_set;

/* @wake: called when the set stops being empty; may be NULL. Return: 0 or -ENOMEM. */
int dirty_set_new(void (*wake)(void *userdata), void *userdata, struct dirty_set **ret);
/* The names that are left are forgotten. Accepts NULL. Return: NULL. */
struct dirty_set *dirty_set_free(struct dirty_set *set);

/* Copies the name; adding it twice is one entry. Return: 0 or -ENOMEM (the set then asks for a full
 * pass). */
int dirty_add(struct dirty_set *set, const char *unique_name);

/* The oldest name, owned by the caller (free()), or NULL when empty. */
char *dirty_take(struct dirty_set *set);

/* How many names are waiting; constant cost. */
size_t dirty_count(const struct dirty_set *set);

/* Everything must be looked at once: a name was lost for want of memory, or a resync was requested.
 * Reading resets it. */
bool dirty_take_full_pass(struct dirty_set *set);

/* From inside a turn: has the next one come. */
void dirty_request_full_pass(struct dirty_set *set);
