/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lock - set-ups that change a source's files exclude each other, whatever their volumes
 *
 * Operation keys (key.h) know volumes; two volumes may have one directory, or one below the other.
 * A stage says what its source is (struct stage_source in plugins/stage.h), and no stage after it
 * runs while another set-up has the same source, one above it or one below it. Those that wait do
 * so in their order, without a thread. The loop thread only.
 */
#pragma once

#include "plugins/plugin.h"

struct source_locks;

/* Of one set-up: a member of it. Zeroed before its first use. */
struct source_lock {
	struct source_lock *previous, *next;
	struct stage_source source; /* its path copied */
	bool waits, held;
};

/* Return: 0 or -ENOMEM. */
int source_locks_new(struct source_locks **ret);
/* Nothing may wait or be held any more. Accepts NULL. Return: NULL. */
struct source_locks *source_locks_free(struct source_locks *locks);

/**
 * source_lock_take - before the stage that follows the one that named the source
 *
 * Return: 1 go ahead, and release at the end; 0 wait until source_lock_next() hands it out;
 * -ENOMEM.
 */
int source_lock_take(struct source_locks *locks, struct source_lock *lock,
		     const struct stage_source *source);

/* The end of a set-up, or of its wait. Fine when it was never taken. */
void source_lock_release(struct source_locks *locks, struct source_lock *lock);

/* After a release: the first that waits for nothing any more, and holds its lock from here on; NULL
 * when there is none. To be called until then. */
struct source_lock *source_lock_next(struct source_locks *locks);
