/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_text - how it is with an operation, in words: its pace, what it waits for, how far it
 * is
 *
 * Reads what is counted anyhow, and the stack of a thread that takes long. The loop thread only.
 */
#pragma once

#include "operation/operation.h"

enum { SLOW_TEXT_BYTES = 256 };
/* "thread 3658 waits in request_wait_answer < fuse_do_getattr": of one that takes long, else "". */
void slow_text(const struct operation_view *view, char ret[SLOW_TEXT_BYTES]);
/* "running", "slow", "uncertain, stuck", "waiting for its retry". */
const char *operation_state_name(const struct operation_view *view);

enum { PROGRESS_TEXT_BYTES = 160 };
/* Is a walk under way, or begun and waiting for its device? */
bool progress_runs(const struct operation_view *view);
/* "120000 of at most 200041 entries, 410000 a second, 0.2 s left at most"; "" while no long walk is
 * under way. */
void progress_text(const struct operation_view *view, uint64_t now_usec,
		   char ret[PROGRESS_TEXT_BYTES]);
