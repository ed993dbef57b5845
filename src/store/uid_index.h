/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid_index - stored pods by their uid, so that a new one's is compared with few
 *
 * A sorted array as the cache's: a look-up is a binary search. Pods that an earlier version stored
 * may have one uid, so that several are found. Borrows: what is in it is in the cache as well.
 */
#pragma once

#include "object/object.h"

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
