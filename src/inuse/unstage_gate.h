/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_gate - nothing is taken from under a mount that some other process still has
 *
 * Asked before each unstage; before a block volume leaves its pod, which detaches the loop device
 * that is its lock; and before a plugin removes a directory with files that are nowhere else (an
 * emptyDir on disk), which the kernel lets go while it is mounted elsewhere. The first question
 * begins a search of other mount namespaces (mount/holders/mount_holders.h) on a worker, one search
 * for all that is asked in a turn; a volume that no process has may go within the next second. One
 * that a process has waits until that process ends, by its pidfd, and is searched again then:
 * nothing looks again and again. Protects also where no holds are posted. The loop thread only; the
 * search alone runs on a worker.
 */
#pragma once

#include "inuse/unstage_force.h"
#include "base/worker.h"
#include "reconcile/reconcile.h"

#include <systemd/sd-event.h>

struct unstage_gate;

/* What holds a volume back. Borrowed until the loop turns. */
struct unstage_view {
	const char *unique_name, *pod_uid; /* pod_uid "" for the device */
	const char *keeps;                 /* "device" or "files": what it does not lose */
	bool searching;
	uint64_t since_usec;           /* monotonic */
	const struct failure *failure; /* who has it, or why that is unknown; NULL while searching
					  the first time */
};

struct unstage_gate_options {
	sd_event *event; /* borrowed */
	int64_t priority;
	struct worker_pool *workers; /* borrowed */
	/* It is worth while to ask for this volume again. On the loop. */
	void (*changed)(void *userdata, const char *unique_name);
	/* A process has it (-EBUSY), or that is unknown; once for each answer, on the loop. */
	void (*held)(void *userdata, const struct unstage_view *view);
	/* For want of memory a question was lost: who asked has to ask again. NULL: not
	 * reported. */
	void (*lost)(void *userdata);
	void *userdata;
};

/* @options is copied. Return: 0 or negative errno. */
int unstage_gate_new(const struct unstage_gate_options *options, struct unstage_gate **ret);
/* The workers must be gone already. Accepts NULL. Return: NULL. */
struct unstage_gate *unstage_gate_free(struct unstage_gate *gate);

/**
 * unstage_gate_passes - may this step of a plan begin
 * @step: any; only those above are ever held back
 *
 * True is said once: a step that is tried again is asked for again. A hook of an observer of steps:
 * @gate is a struct unstage_gate.
 */
bool unstage_gate_passes(void *gate, const struct step *step);
/* After the questions of a turn: begins the search for all of them. */
void unstage_gate_search(struct unstage_gate *gate);

/* Search for this volume at once, past those that @force may pass. @force is taken when 0 is
 * returned. Return: 0; -ENOENT it is not held back; -EBUSY it is being forced already. */
int unstage_gate_force(struct unstage_gate *gate, const char *unique_name, const char *pod_uid,
		       struct unstage_force *force);

/* False: nothing does. */
bool unstage_gate_check(const struct unstage_gate *gate, const char *unique_name,
			const char *pod_uid, struct unstage_view *ret);
/* A hook of an observer of steps: the same in a sentence; @gate is a struct unstage_gate. */
bool unstage_gate_explain(void *gate, const char *unique_name, const char *pod_uid,
			  const char *name, struct failure *ret);
/* All that is held back; a value other than 0 ends the walk and is returned. */
int unstage_gate_walk(const struct unstage_gate *gate,
		      int (*visit)(const struct unstage_view *view, void *userdata),
		      void *userdata);

/* Log that a search could not look at @count processes, 0 is none: the same sentence for every
 * search. */
void unstage_gate_log_hidden(int count);
