/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane - at most so many long stages at the same time on one device; see lane.h
 *
 * Two lists and no table: there are as many places as long stages, which are few.
 */
#include "operation/lane.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

struct lanes {
	struct lane_place *waiting; /* in the order in which they came */
	struct lane_place *running;
};

int lanes_new(struct lanes **ret)
{
	assert(ret);
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct lanes *lanes_free(struct lanes *lanes)
{
	free(lanes);
	return NULL;
}

static bool has_room(const struct lanes *lanes, uint64_t lane)
{
	const struct lane_place *place;
	unsigned int count = 0;

	DL_FOREACH2(lanes->running, place, next)
	count += place->lane == lane;
	return count < LANE_STAGES_MAX;
}

bool lane_enter(struct lanes *lanes, struct lane_place *place, uint64_t lane)
{
	assert(lanes && place && !place->waits && !place->runs);
	place->lane = lane;
	if (has_room(lanes, lane)) {
		place->runs = true;
		DL_APPEND2(lanes->running, place, previous, next);
		return true;
	}
	place->waits = true;
	DL_APPEND2(lanes->waiting, place, previous, next);
	return false;
}

struct lane_place *lane_leave(struct lanes *lanes, struct lane_place *place)
{
	struct lane_place *first;

	assert(lanes && place && place->runs);
	DL_DELETE2(lanes->running, place, previous, next);
	place->runs = false;
	DL_FOREACH2(lanes->waiting, first, next)
	{
		if (first->lane != place->lane)
			continue;
		DL_DELETE2(lanes->waiting, first, previous, next);
		first->waits = false;
		first->runs = true;
		DL_APPEND2(lanes->running, first, previous, next);
		return first;
	}
	return NULL;
}

struct lane_place *lanes_first_waiting(const struct lanes *lanes)
{
	return lanes->waiting;
}

bool lane_give_up(struct lanes *lanes, struct lane_place *place)
{
	assert(lanes && place);
	if (!place->waits)
		return false;
	DL_DELETE2(lanes->waiting, place, previous, next);
	place->waits = false;
	return true;
}
