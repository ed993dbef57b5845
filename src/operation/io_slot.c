/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_slot - at most so many long stages at the same time on one device; see io_slot.h
 *
 * Two lists and no table: there are as many places as long stages, which are few.
 */
#include "operation/io_slot.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

struct io_slots {
	struct io_slot_place *waiting; /* in the order in which they came */
	struct io_slot_place *running;
};

int io_slots_new(struct io_slots **ret)
{
	assert(ret);
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct io_slots *io_slots_free(struct io_slots *io_slots)
{
	free(io_slots);
	return NULL;
}

static bool has_room(const struct io_slots *io_slots, uint64_t io_slot)
{
	const struct io_slot_place *place;
	unsigned int count = 0;

	DL_FOREACH2(io_slots->running, place, next)
	count += place->io_slot == io_slot;
	return count < IO_SLOT_STAGES_MAX;
}

bool io_slot_enter(struct io_slots *io_slots, struct io_slot_place *place, uint64_t io_slot)
{
	assert(io_slots && place && !place->waits && !place->runs);
	place->io_slot = io_slot;
	if (has_room(io_slots, io_slot)) {
		place->runs = true;
		DL_APPEND2(io_slots->running, place, previous, next);
		return true;
	}
	place->waits = true;
	DL_APPEND2(io_slots->waiting, place, previous, next);
	return false;
}

struct io_slot_place *io_slot_release(struct io_slots *io_slots, struct io_slot_place *place)
{
	struct io_slot_place *first;

	assert(io_slots && place && place->runs);
	DL_DELETE2(io_slots->running, place, previous, next);
	place->runs = false;
	DL_FOREACH2(io_slots->waiting, first, next)
	{
		if (first->io_slot != place->io_slot)
			continue;
		DL_DELETE2(io_slots->waiting, first, previous, next);
		first->waits = false;
		first->runs = true;
		DL_APPEND2(io_slots->running, first, previous, next);
		return first;
	}
	return NULL;
}

struct io_slot_place *io_slots_first_waiting(const struct io_slots *io_slots)
{
	return io_slots->waiting;
}

bool io_slot_give_up(struct io_slots *io_slots, struct io_slot_place *place)
{
	assert(io_slots && place);
	if (!place->waits)
		return false;
	DL_DELETE2(io_slots->waiting, place, previous, next);
	place->waits = false;
	return true;
}
