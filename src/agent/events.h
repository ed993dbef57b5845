/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - what happened to objects, as v1.Event: the last so many, equal ones counted
 *
 * A ring in memory: events explain the present to people, they are no record. The same (object,
 * reason, text) is one entry with a count, as a cluster's event recorder does it. The loop thread
 * only.
 */
#ifndef PODVOL_AGENT_EVENTS_H
#define PODVOL_AGENT_EVENTS_H

#include "object/object.h"

#include <stddef.h>
#include <stdint.h>

struct cJSON;
struct events;

/* Return: 0 or -ENOMEM. @capacity: entries kept; the oldest is forgotten. */
int events_new(size_t capacity, struct events **ret);
/* Accepts NULL. Return: NULL. */
struct events *events_free(struct events *events);

/**
 * events_record - something happened to an object
 * @about:    only its kind and metadata are copied
 * @type:     "Normal" or "Warning"; static
 * @reason:   "FailedMount"; static
 * @text:     copied
 * @now_usec: real time
 *
 * An event that cannot be stored for want of memory is dropped: events are no record.
 */
void events_record(struct events *events, const struct object *about, const char *type,
		   const char *reason, const char *text, uint64_t now_usec);

/* A v1.EventList, oldest first; NULL: no memory. Freed with json_free(). */
struct cJSON *events_view(const struct events *events);

#endif
