/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watches - all watches of one server: how many there may be, and the one timer that they share
 *
 * A watch that nothing happens to costs a cursor and no wake-up. Only those with a time-out or with
 * bookmarks need a clock, and they share it.
 */
#pragma once

#include "object/object.h"

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct watches;

/* One watch's part; embedded in it. */
struct watch_entry {
	struct watch_entry *previous, *next;
	uint64_t deadline_usec; /* monotonic; 0: none */
	bool bookmarks;
	/* Called when its time is over, or another bookmark is due. Must not free any watch. */
	void (*tick)(struct watch_entry *entry, bool over);
};

enum { WATCHES_BOOKMARK_SECONDS = 60 };

/* Return: 0; -ENOMEM or what the loop gave. @most: of watches at a time. */
int watches_new(sd_event *event, size_t most, struct watches **ret);
/* No watch may be left. Accepts NULL. Return: NULL. */
struct watches *watches_free(struct watches *watches);

/* Is there room for one more? */
bool watches_have_room(const struct watches *watches);
void watches_add(struct watches *watches, struct watch_entry *entry);
void watches_remove(struct watches *watches, struct watch_entry *entry);

/**
 * watches_deleted - an object as it was last, with the version at which it went
 * @object:  as the store had it
 * @version: of the change
 *
 * Clients go on from the version of the last event. Made once for all watches of a change.
 *
 * Return: borrowed until the next call; NULL: no memory.
 */
const struct object *watches_deleted(struct watches *watches, const struct object *object,
				     uint64_t version);
