/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_slot - at most so many long stages at the same time on one device
 *
 * Two walks over millions of files on one disk take longer together than one after the other, and
 * whatever else wants that disk waits for both. So a long stage (STAGE_LONG) takes a slot by the
 * number of its device, and a job on a base path by that; those that find all taken wait here in
 * their order, holding no thread. The loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { IO_SLOT_STAGES_MAX = 2 }; /* of one number at the same time */

struct io_slots;

/* What waits or runs: a member of who does. Zeroed before its first use. */
struct io_slot_place {
	struct io_slot_place *previous, *next;
	uint64_t io_slot;
	bool waits, runs;
};

/* Return: 0 or -ENOMEM. */
int io_slots_new(struct io_slots **ret);
/* No job may wait or run any more. Accepts NULL. Return: NULL. */
struct io_slots *io_slots_free(struct io_slots *io_slots);

/* True: go ahead, and leave at the end. False: wait until io_slot_release() of another gives this
 * place back. */
bool io_slot_enter(struct io_slots *io_slots, struct io_slot_place *place, uint64_t io_slot);
/* The end of a stage. Return: who may go ahead now, or NULL. */
struct io_slot_place *io_slot_release(struct io_slots *io_slots, struct io_slot_place *place);
/* The one that has waited longest, for any number; NULL: none waits. */
struct io_slot_place *io_slots_first_waiting(const struct io_slots *io_slots);
/* True when it waited, and waits no more: it was not let in. */
bool io_slot_give_up(struct io_slots *io_slots, struct io_slot_place *place);
