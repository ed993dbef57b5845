/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_time - times as views of the node show them
 */
#pragma once

#include <stdint.h>
#include <stdbool.h>

struct cJSON;

enum { VIEW_TIME_BYTES = 40 };
/* "22:37:41Z": of a monotonic time, by the real clock as it is set now. */
void view_print_clock(uint64_t monotonic_time_usec, char text[VIEW_TIME_BYTES]);
/* As timestamp_print_milli(), of a monotonic time as a member; 0 stays absent. */
void view_set_time(struct cJSON *item, const char *key, uint64_t monotonic_time_usec);

enum { ATTEMPT_TEXT_BYTES = 96 };
/**
 * attempt_text - which attempt failed, for how long they have, when the next one comes: the one
 * sentence of journal, events and waits
 * @failing_usec: monotonic: when the first failed
 * @retry_usec:   monotonic; 0: once its driver is registered
 * @is_kept:      for a text that is read later: times instead of spans
 *
 * "attempt 3, failing for 1.5 s, next in 2.0 s"; "attempt 3, failing since 22:37:30Z, next at
 * 22:37:34Z".
 */
void attempt_text(unsigned int attempt, uint64_t failing_usec, uint64_t retry_usec, bool is_kept,
		  char ret[ATTEMPT_TEXT_BYTES]);

/* A look-up has no attempts: what changes its result has it made again. */
#define LOOK_UP_NEXT "next when its objects change"
