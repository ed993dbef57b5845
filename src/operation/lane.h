/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane - at most so many long stages at the same time on one device
 *
 * Two walks over millions of files on one disk take longer together than one after the other, and
 * whatever else wants that disk waits for both. So a long stage (STAGE_LONG) has a lane, the number
 * of its device, and a job on a base path one of that; those that find it full wait here in their
 * order, holding no thread. The loop thread only.
 */
#ifndef PODVOL_OPERATION_LANE_H
#define PODVOL_OPERATION_LANE_H

#include <stdbool.h>
#include <stdint.h>

enum { LANE_STAGES_MAX = 2 }; /* of one lane at the same time */

struct lanes;

/* What waits or runs in a lane: a member of who does. Zeroed before its first use. */
struct lane_place {
	struct lane_place *previous, *next;
	uint64_t lane;
	bool waits, runs;
};

/* Return: 0 or -ENOMEM. */
int lanes_new(struct lanes **ret);
/* Nobody may wait or run any more. Accepts NULL. Return: NULL. */
struct lanes *lanes_free(struct lanes *lanes);

/* True: go ahead, and leave at the end. False: wait until lane_leave() of another gives this place
 * back. */
bool lane_enter(struct lanes *lanes, struct lane_place *place, uint64_t lane);
/* The end of a stage. Return: who may go ahead now, or NULL. */
struct lane_place *lane_leave(struct lanes *lanes, struct lane_place *place);
/* Who has waited longest, in whatever lane; NULL: nobody waits. */
struct lane_place *lanes_first_waiting(const struct lanes *lanes);
/* True when it waited, and waits no more: it was not let in. */
bool lane_give_up(struct lanes *lanes, struct lane_place *place);

#endif
