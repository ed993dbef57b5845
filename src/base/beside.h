/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside - work on a thread of its own while its caller does something else, and waits for it later
 *
 * For what a start has to read: independent things are read at the same time. The work belongs to
 * the thread from beside_start() to beside_wait(), and nothing that it uses may be used meanwhile.
 * Work that may hang for ever is not for this: the wait has no end. Without a thread the work is
 * done in beside_wait(), so that a start never fails for want of one.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct beside {
	pthread_t thread;
	bool has_thread;
	void (*run)(void *userdata); /* NULL: nothing is under way */
	void *userdata;
};

/* @name: shown as the thread's, at most 15 bytes; @beside: must stay where it is until the wait.
 * Blocks for nothing. */
void beside_start(struct beside *beside, const char *name, void (*run)(void *userdata),
		  void *userdata);

/* Blocks until the work is done; again, or of what was never started and is zero: at once. */
void beside_wait(struct beside *beside);
