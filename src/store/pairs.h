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
 * @ret_before: the texts of claim and volume as they were; NULL: that one is unchanged
 *
 * On the loop. Both are admitted and nothing else has read them: object_edit_new() changes them.
 */
typedef void store_bind_fn(void *userdata, const struct object *claim, const struct object *volume,
			   char *ret_before[2]);

/* Asked from now on; NULL: never. */
void store_bind_new(struct store *store, store_bind_fn *bind, void *userdata);

/* For group_seal(). */
struct group;
void group_bind_pairs(struct group *group);
