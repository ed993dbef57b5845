/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch - a ring of changes with cursors; see watch.h
 */
#include "store/watch.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct store_watch {
	struct change_ring *ring;
	struct store_watch *previous, *next;
	unsigned int kinds;
	uint64_t position; /* sequence number of the next change to look at */
	bool waits;        /* stood at the end: to be woken */
	void (*wake)(void *userdata);
	void *userdata;
};

void ring_init(struct change_ring *ring, uint64_t version)
{
	assert(ring->next == 0 && !ring->watches);
	ring->forgotten_version = ring->newest_version = version;
}

static struct store_change *ring_place(struct change_ring *ring, uint64_t sequence)
{
	return &ring->changes[sequence % STORE_RING_CHANGES];
}

/* What keeping a change costs, roughly: the object before it is counted where it was new. */
static size_t change_bytes(const struct store_change *change)
{
	return change->type == STORE_DELETED || change->touched ? 0 : change->object->json_length;
}

static void ring_forget_first(struct change_ring *ring)
{
	struct store_change *change = ring_place(ring, ring->first);

	ring->forgotten_version = change->resource_version;
	ring->bytes -= change_bytes(change);
	(void) object_unref(change->object);
	(void) object_unref(change->previous);
	ring->first++;
}

void ring_done(struct change_ring *ring)
{
	assert(!ring->watches);
	while (ring->first < ring->next)
		ring_forget_first(ring);
}

void ring_append(struct change_ring *ring, const struct store_change *change)
{
	struct store_change *place;

	assert(change->resource_version > ring->newest_version);
	if (ring->next - ring->first == STORE_RING_CHANGES)
		ring_forget_first(ring);
	ring->bytes += change_bytes(change);
	while (ring->bytes > STORE_RING_BYTES_MAX && ring->first < ring->woken_up_to)
		ring_forget_first(ring);
	place = ring_place(ring, ring->next++);
	*place = *change;
	(void) object_ref(place->object);
	(void) object_ref(place->previous);
	ring->newest_version = change->resource_version;
	if (change->touched)
		ring->fresh_touches |= 1U << change->object->kind;
	else
		ring->fresh_kinds |= 1U << change->object->kind;
}

/* A touch concerns those alone who ask for them. */
static bool is_wanted(const struct store_watch *watch, unsigned int kinds, bool touched)
{
	return (watch->kinds & kinds) && (!touched || watch->kinds & STORE_TOUCHES);
}

void ring_wake(struct change_ring *ring)
{
	unsigned int fresh = ring->fresh_kinds, touches = ring->fresh_touches;
	struct store_watch *watch;

	assert(!ring->waking);
	ring->fresh_kinds = ring->fresh_touches = 0;
	ring->woken_up_to = ring->next;
	for (watch = ring->watches; watch; watch = ring->waking) {
		/* Kept where store_watch_free() of that watch can move it on. */
		ring->waking = watch->next;
		if (!watch->waits)
			continue;
		if (!is_wanted(watch, fresh, false) && !is_wanted(watch, touches, true)) {
			watch->position = ring->next;
			continue;
		}
		watch->waits = false;
		watch->wake(watch->userdata);
	}
}

void ring_trim(struct change_ring *ring)
{
	uint64_t read_up_to = ring->woken_up_to;

	for (const struct store_watch *watch = ring->watches; watch; watch = watch->next)
		if (watch->position < read_up_to)
			read_up_to = watch->position;
	while (ring->first < read_up_to && ring->next - ring->first > STORE_RING_QUIET_CHANGES)
		ring_forget_first(ring);
}

/* The first kept change after @version. */
static uint64_t ring_find(struct change_ring *ring, uint64_t version)
{
	uint64_t low = ring->first, high = ring->next;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (ring_place(ring, middle)->resource_version <= version)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int ring_watch_new(struct change_ring *ring, unsigned int kinds, uint64_t since,
		   void (*wake)(void *userdata), void *userdata, struct store_watch **ret)
{
	struct store_watch *watch;

	assert(wake && ret);
	if (since < ring->forgotten_version || since > ring->newest_version)
		return -ESTALE;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->ring = ring;
	watch->kinds = kinds;
	watch->position = ring_find(ring, since);
	watch->waits = watch->position == ring->next;
	watch->wake = wake;
	watch->userdata = userdata;
	/* In front: a watch made by a wake-up has nothing to be woken for in the same round. */
	watch->next = ring->watches;
	if (watch->next)
		watch->next->previous = watch;
	ring->watches = watch;
	*ret = watch;
	return 0;
}

struct store_watch *store_watch_free(struct store_watch *watch)
{
	if (!watch)
		return NULL;
	if (watch->ring->waking == watch)
		watch->ring->waking = watch->next;
	if (watch->previous)
		watch->previous->next = watch->next;
	else
		watch->ring->watches = watch->next;
	if (watch->next)
		watch->next->previous = watch->previous;
	free(watch);
	return NULL;
}

int store_watch_next(struct store_watch *watch, const struct store_change **ret)
{
	struct change_ring *ring = watch->ring;

	assert(ret);
	if (watch->position < ring->first)
		return -ESTALE;
	while (watch->position < ring->next) {
		const struct store_change *change = ring_place(ring, watch->position++);

		if (is_wanted(watch, 1U << change->object->kind, change->touched)) {
			*ret = change;
			return 1;
		}
	}
	watch->waits = true;
	return 0;
}
