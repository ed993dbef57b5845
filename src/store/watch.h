/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch - the ring of committed changes and the cursors into it, on the loop thread
 *
 * The ring keeps the last STORE_RING_CHANGES changes, of large objects as many as
 * STORE_RING_BYTES_MAX hold, and never waits for a reader: a cursor that lags further behind gets
 * -ESTALE and has to list again. A cursor that stood at the end and wants none of the new kinds is
 * carried along, so that a quiet watch cannot fall off a busy ring.
 */
#pragma once

#include "store/store.h"

struct change_ring {
	uint64_t first, next;       /* sequence numbers of the kept changes: first .. next - 1 */
	uint64_t woken_up_to;       /* next at the last ring_wake() */
	size_t bytes;               /* of the kept changes */
	uint64_t forgotten_version; /* newest resourceVersion that is no longer kept */
	uint64_t newest_version;
	unsigned int fresh_kinds, fresh_touches; /* kinds appended since the last ring_wake() */
	struct store_watch *watches, *waking;
	struct store_change changes[STORE_RING_CHANGES]; /* resident as far as they were used */
};

/* @ring:    zeros
 * @version: of the store as loaded; watches can begin there */
void ring_init(struct change_ring *ring, uint64_t version);

/* Every watch must be freed before. */
void ring_done(struct change_ring *ring);

/* Takes references of its own. Needs no memory. What no watch was woken for yet is kept in any
 * case.
 */
void ring_append(struct change_ring *ring, const struct store_change *change);

/* Call the watches that stood at the end and now have something to read. A wake-up may make and
 * free watches. */
void ring_wake(struct change_ring *ring);

/* Keeps the last STORE_RING_QUIET_CHANGES, and what a watch has not read yet: what a burst replaced
 * and removed is a fifth of what is held after it. */
void ring_trim(struct change_ring *ring);

/* As store_watch_new(). */
int ring_watch_new(struct change_ring *ring, unsigned int kinds, uint64_t since,
		   void (*wake)(void *userdata), void *userdata, struct store_watch **ret);
