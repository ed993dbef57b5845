/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt_text - which attempt failed, for how long they have, and when the next one comes: the one
 * sentence of journal, events and waits
 *
 * Reads the clocks and nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ATTEMPT_TEXT_BYTES = 96 };
/**
 * attempt_text - which attempt failed, for how long they have, when the next one comes
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
