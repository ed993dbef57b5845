/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_events - see fake_events.h
 */
#include "fake_events.h"

#include "events/events.h"

#include <assert.h>
#include <stdio.h>

struct fake_events fake_events;

void __wrap_events_record(struct events *events, const struct object *about, const char *type,
			  const char *reason, const char *text, uint64_t now_usec);

void __wrap_events_record(struct events *events, const struct object *about, const char *type,
			  const char *reason, const char *text, uint64_t now_usec)
{
	struct fake_event *event = &fake_events.list[fake_events.count++];

	assert(fake_events.count <= FAKE_EVENTS_MAX);
	(void) snprintf(event->about, sizeof(event->about), "%s", about->meta.name);
	(void) snprintf(event->type, sizeof(event->type), "%s", type);
	(void) snprintf(event->reason, sizeof(event->reason), "%s", reason);
	(void) snprintf(event->text, sizeof(event->text), "%s", text);
}
