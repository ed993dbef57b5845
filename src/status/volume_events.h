/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_events - what happened to volumes, as it happens, for programs that follow a node
 *
 * The last VOLUME_EVENTS_KEPT are kept, in memory. The loop thread only.
 */
#pragma once

#include <stdint.h>

struct actual;
struct cJSON;
struct operation_ended;
struct volume_events;
struct volume_watch;

enum { VOLUME_EVENTS_KEPT = 1024 };

/* @actual is borrowed. Return: 0 or -ENOMEM. */
int volume_events_new(const struct actual *actual, struct volume_events **ret);
/* No watch is left. Accepts NULL. Return: NULL. */
struct volume_events *volume_events_free(struct volume_events *events);

/* A hook of an observer of steps, before the tables follow: @events is a struct volume_events. */
void volume_events_note(void *events, const struct operation_ended *ended);

/* Of the newest; 0: none yet. */
uint64_t volume_events_sequence(const struct volume_events *events);
/* {"items": [...]}, oldest first, as docs/api.md has them. The caller's; NULL: no memory. */
struct cJSON *volume_events_view(const struct volume_events *events);

/**
 * volume_events_watch - follow what happens to volumes
 * @after:   begin after this sequence; UINT64_MAX: with what is yet to come
 * @changed: on the loop, whenever there is something again for volume_watch_next()
 *
 * A watch is a cursor: it costs the same whatever is behind it. Return: 0; -ENOMEM.
 */
int volume_events_watch(struct volume_events *events, uint64_t after,
			void (*changed)(void *userdata), void *userdata, struct volume_watch **ret);
/* Accepts NULL. Return: NULL. */
struct volume_watch *volume_watch_free(struct volume_watch *watch);
/* The next event as JSON, borrowed until the loop turns; NULL: none yet. Who fell behind gets
 * {"type": "Lost", "lost": N} first. */
const char *volume_watch_next(struct volume_watch *watch);
