/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs - a claim and the volume that it names, created by one commit, are bound by it
 *
 * Each is then created as bound and never seen otherwise, with two writes less. Only what the group
 * creates and leaves as it is: neither is in the cache, no other write of the group was judged
 * against it, and one commit stores both or none. Whether and how they are bound is the caller's
 * rule. All other pairs are bound by writes of their own.
 */
#pragma once

#include "store/store.h"

/**
 * store_bind_fn - bind these two, if they are to be
 * @claim_before, @volume_before: the text as it was, of one that is changed; else left NULL
 *
 * On the thread that commits. Both are admitted and nothing else has read them: object_edit_new()
 * changes them.
 */
typedef void store_bind_fn(const struct object *claim, const struct object *volume,
			   char **claim_before, char **volume_before);

/* Asked of the groups that begin from now on; NULL: never. */
void store_bind_new(struct store *store, store_bind_fn *bind);

/* Before the commit, on its thread, which has the group. */
struct group;
void group_bind_pairs(struct group *group);
