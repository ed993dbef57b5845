/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - what happened to objects, as v1.Event in the store: the last so many of the last days,
 * equal ones counted
 *
 * They survive a restart, also a kill, and are counted on after it; a power loss may take the last
 * ones, since no write of an event waits for the disk. The same (object, reason, text) is one event
 * with a count, as a cluster's event recorder does it. Events that others write count too: the one
 * that changed longest ago, of all writers, is deleted first, and at the latest when it is too old.
 * The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct events;

struct events_options {
	struct store *store;   /* borrowed; freed after the events' last record */
	const char *node_name; /* borrowed: events say which node tells of them */
	sd_event *event;       /* for the timer of the next that becomes too old */
	int64_t priority;      /* of that timer, as sd_event_source_set_priority() */
	size_t capacity;       /* events kept; at least 1 */
	uint64_t age_usec;     /* after the last change an event is deleted; at least a minute */
};

/* @options: copied. Return: 0; -ENOMEM. */
int events_new(const struct events_options *options, struct events **ret);
/* Before the store goes. The events themselves stay in it. Accepts NULL. Return: NULL. */
struct events *events_free(struct events *events);

/**
 * events_record - something happened to an object
 * @events:   NULL: none is kept, as while draining
 * @about:    only its kind and metadata are copied
 * @type:     "Normal" or "Warning"
 * @reason:   "FailedMount"
 * @text:     copied; a longer one than EVENT_TEXT_BYTES is cut in the middle. Where it ends in
 *            EVENT_ATTEMPT, some words and ")", these make no other event: the newest are kept
 * @now_usec: real time
 *
 * An event that cannot be stored is dropped: events are no record.
 */
void events_record(struct events *events, const struct object *about, const char *type,
		   const char *reason, const char *text, uint64_t now_usec);

#define EVENT_ATTEMPT " (attempt "

/* Of core/v1 events Kubernetes limits no message. */
enum { EVENT_TEXT_BYTES = FAILURE_TEXT_BYTES + 384 };
