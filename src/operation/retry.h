/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry - what has to be looked at again at a later time: one timer for any number of entries
 *
 * Entries live in what they are about, so that waiting for a retry never needs memory. Nothing is
 * armed while nothing waits. The loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct retry_entry {
	uint64_t due_usec; /* monotonic */
	bool waits;        /* in the queue */
	struct retry_entry *prev, *next;
};

struct retry_queue;

/**
 * retry_queue_new - an empty queue
 * @event: loop
 * @due:   on the loop, once for each entry whose time has come; the entry is out of the queue then
 *         and may be freed or added again
 *
 * Return: 0 or -ENOMEM.
 */
int retry_queue_new(sd_event *event, void (*due)(void *userdata, struct retry_entry *entry),
		    void *userdata, struct retry_queue **ret);
/* Entries are left to their owners. Return: NULL. */
struct retry_queue *retry_queue_free(struct retry_queue *queue);

/* An entry that waits already is moved. */
void retry_add(struct retry_queue *queue, struct retry_entry *entry, uint64_t due_usec);
/* An entry that does not wait is fine. */
void retry_remove(struct retry_queue *queue, struct retry_entry *entry);
