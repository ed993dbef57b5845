/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid_index - stored pods by their uid; see cache.h
 *
 * A sorted array as the cache's: a look-up is a binary search. Pods that an earlier version stored
 * may have one uid, so that several are found. Borrows: what is in it is in the cache as well.
 */
#include "store/cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void uid_index_done(struct uid_index *index)
{
	free(index->pods);
	*index = (struct uid_index){ 0 };
}

int uid_index_reserve(struct uid_index *index, size_t room)
{
	const struct object **pods;

	if (room <= index->room)
		return 0;
	pods = reallocarray(index->pods, room, sizeof(pods[0]));
	if (!pods)
		return -ENOMEM;
	index->pods = pods;
	index->room = room;
	return 0;
}

/* The first place whose uid is not before this one. */
static size_t find(const struct uid_index *index, const char *uid)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(index->pods[middle]->meta.uid, uid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t place_of(const struct uid_index *index, const struct object *pod)
{
	size_t i = find(index, pod->meta.uid);

	while (i < index->count && index->pods[i] != pod)
		i++;
	assert(i < index->count);
	return i;
}

void uid_index_put(struct uid_index *index, const struct object *pod, const struct object *replaced)
{
	size_t i;

	if (replaced) {
		assert(strcmp(replaced->meta.uid, pod->meta.uid) == 0);
		index->pods[place_of(index, replaced)] = pod;
		return;
	}
	assert(index->count < index->room);
	i = find(index, pod->meta.uid);
	memmove(&index->pods[i + 1], &index->pods[i], (index->count - i) * sizeof(index->pods[0]));
	index->pods[i] = pod;
	index->count++;
}

void uid_index_remove(struct uid_index *index, const struct object *pod)
{
	size_t i = place_of(index, pod);

	index->count--;
	memmove(&index->pods[i], &index->pods[i + 1], (index->count - i) * sizeof(index->pods[0]));
}

bool uid_is_taken_by(const struct object *pod, const struct object *other)
{
	return strcmp(pod->meta.uid, other->meta.uid) == 0 &&
	       (strcmp(pod->meta.name, other->meta.name) != 0 ||
		strcmp(pod->meta.name_space, other->meta.name_space) != 0);
}

const struct object *uid_index_other(const struct uid_index *index, const struct object *pod)
{
	const char *uid = pod->meta.uid;

	for (size_t i = find(index, uid);
	     i < index->count && strcmp(index->pods[i]->meta.uid, uid) == 0; i++) {
		if (uid_is_taken_by(pod, index->pods[i]))
			return index->pods[i];
	}
	return NULL;
}
