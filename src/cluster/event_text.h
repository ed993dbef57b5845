/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_text - an event of the store as the server wants it, in events.k8s.io/v1 or v1
 *
 * Pure: sends nothing, and knows no event but the one that it is given.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cJSON;

enum { EVENT_NOTE_BYTES = 1024 }; /* that a server takes */

/* How often; 1 where it does not say. */
int64_t event_count(const struct cJSON *event);
/* A v1.Event of the store as the server wants it to be made, and what a merge patch changes when it
 * happened again; @is_core: in v1, else in events.k8s.io/v1. NULL: no memory. Freed with free(). */
char *event_text(const struct cJSON *event, bool is_core);
char *event_series_text(const struct cJSON *event, bool is_core);
