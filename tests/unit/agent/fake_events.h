/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_events - what was recorded as an event, for tests of its sources; they wrap events_record()
 */
#pragma once

#include <stddef.h>

enum { FAKE_EVENTS_MAX = 16 };

struct fake_event {
	char about[64], type[16], reason[64], text[240];
};

/* In the order in which they were recorded; a test begins by clearing them. */
extern struct fake_events {
	struct fake_event list[FAKE_EVENTS_MAX];
	size_t count;
} fake_events;
