/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lock - set-ups that change a source's files exclude each other; see source_lock.h
 *
 * Two lists and no table: there are as many entries as set-ups that run and have a group to give.
 */
#include "operation/source_lock.h"

#include "base/path.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct source_locks {
	struct source_lock *waiting; /* in the order in which they came */
	struct source_lock *held;
};

int source_locks_new(struct source_locks **ret)
{
	assert(ret);
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct source_locks *source_locks_free(struct source_locks *locks)
{
	free(locks);
	return NULL;
}

/* One directory may have two paths (a link of a mount, a rename); its number is the same. */
static bool overlap(const struct stage_source *a, const struct stage_source *b)
{
	return a->device == b->device &&
	       (a->inode == b->inode || path_is_at_or_below(a->path, b->path) ||
		path_is_at_or_below(b->path, a->path));
}

static bool overlaps_any(const struct source_lock *list, const struct source_lock *end,
			 const struct source_lock *lock)
{
	for (; list && list != end; list = list->next)
		if (overlap(&list->source, &lock->source))
			return true;
	return false;
}

int source_lock_take(struct source_locks *locks, struct source_lock *lock,
		     const struct stage_source *source)
{
	assert(locks && lock && !lock->waits && !lock->held && source && source->path);
	lock->source = *source;
	lock->source.path = strdup(source->path);
	if (!lock->source.path)
		return -ENOMEM;
	/* Behind those that wait, too: a large source must not be passed over for ever. */
	if (overlaps_any(locks->held, NULL, lock) || overlaps_any(locks->waiting, NULL, lock)) {
		lock->waits = true;
		DL_APPEND2(locks->waiting, lock, previous, next);
		return 0;
	}
	lock->held = true;
	DL_APPEND2(locks->held, lock, previous, next);
	return 1;
}

void source_lock_release(struct source_locks *locks, struct source_lock *lock)
{
	assert(lock && (locks || (!lock->waits && !lock->held)));
	if (lock->waits)
		DL_DELETE2(locks->waiting, lock, previous, next);
	if (lock->held)
		DL_DELETE2(locks->held, lock, previous, next);
	free((char *) lock->source.path);
	*lock = (struct source_lock){ .waits = false };
}

struct source_lock *source_lock_next(struct source_locks *locks)
{
	struct source_lock *lock;

	assert(locks);
	for (lock = locks->waiting; lock; lock = lock->next) {
		if (overlaps_any(locks->held, NULL, lock) ||
		    overlaps_any(locks->waiting, lock, lock))
			continue;
		DL_DELETE2(locks->waiting, lock, previous, next);
		lock->waits = false;
		lock->held = true;
		DL_APPEND2(locks->held, lock, previous, next);
		return lock;
	}
	return NULL;
}
