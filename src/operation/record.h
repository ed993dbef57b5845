/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - what an operation is made of; for operation.c, operation_view.c and hang_timer.c alone
 *
 * Of one that runs only what is atomic may be read, and what belongs to the loop.
 */
#pragma once

#include "operation/attempt.h"
#include "operation/key.h"
#include "operation/operation.h"
#include "operation/retry.h"

struct operation {
	struct attempt attempt;
	struct operations *operations; /* NULL: they have gone, this one was stuck on a thread */
	struct key_record *record;
	struct retry_entry retry, patience;
	struct operation *next_over;
	enum step_kind kind;
	const char *name;
	char *unique_name, *pod_uid;   /* pod_uid "" for the whole volume */
	char *device_mount_path;       /* of a stage */
	const struct object *pod, *pv; /* references */
	uint64_t requested_usec;       /* of a publish: when its mount was first wanted */
	uint64_t begun_usec;
	uint64_t failed_usec;
	uint64_t alive_usec;    /* the last sign of life: the limit of its time counts from here */
	uint64_t reported_usec; /* since when the stage runs that was reported last */
	const struct failure *last_failure; /* kept; of the attempt before, then of this one */
	const char *failed_at;              /* a stage or CSI call of the last attempt; or NULL */
	char awaits[64];                    /* the driver that a failed one waits for */
	bool announced;                     /* options.retry was called for it */
	bool is_stuck;                      /* past its time, and still running */
	bool renewed;                       /* what it is made from changed meanwhile */
	bool in_callback;                   /* its strings are lent to a callback */
	bool superseded;                    /* freed when that callback returns */
};

struct later;

struct operations {
	struct operations_options options;
	struct key_table *keys;
	struct io_slots *io_slots;
	struct source_locks *source_locks;
	struct retry_queue *failed, *later, *running;
	struct later *later_by_name;
	struct operation *over, **last_over;
	sd_event_source *over_source;
};

/* ---- operation_view.c ---- */

struct operation_view operation_view_of(struct operation *operation);

/* ---- hang_timer.c ---- */

/* It runs; once it takes long options.slow is called. */
void hang_timer_start(struct operation *operation);
void hang_timer_stop(struct operation *operation);
/* A retry_queue's: one of the operations that run takes long. */
void hang_timer_on_due(void *userdata, struct retry_entry *entry);
