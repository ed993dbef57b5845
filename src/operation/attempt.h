/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt - one list of stages being run, from thread to thread, until it is over
 *
 * Belongs to the loop until attempt_start(), then to the thread that runs the present stage, then
 * to the loop again. Only what is atomic may be read meanwhile. Knows neither keys nor back-off:
 * see operation.h.
 */
#pragma once

#include "base/worker.h"
#include "operation/io_slot.h"
#include "operation/source_lock.h"
#include "plugins/plugin.h"

struct attempt_pools {
	struct worker_pool *workers;
	/* For STAGE_LONG alone; NULL where no list has one. */
	struct worker_pool *walkers;
	struct io_slots *io_slots;
	/* NULL where no stage names its source. */
	struct source_locks *source_locks;
};

enum {
	STAGE_TIMES_KEPT = 32, /* of one attempt, the first ones */
	STAGE_LISTS = 3,
};

struct stage_time {
	const char *name;    /* static */
	uint64_t began_usec; /* monotonic */
	uint64_t took_usec;  /* without the way to the next one, and waits there */
};

struct attempt {
	struct worker_job job;
	struct attempt_pools pools;
	struct io_slot_place io_slot;
	struct source_lock source_lock; /* until the end of the attempt */
	/* What comes before the list, the list, and what comes after it; freed by the thread that
	 * ran the last stage. Nothing of the first has to do with what the list is about: see
	 * touched. */
	struct stage_list first, list, last;
	const struct stage *stages[STAGE_LISTS]; /* constants, so that their names outlive them */
	size_t counts[STAGE_LISTS];
	atomic_size_t at; /* over all lists: the present stage, or the last one that began */
	_Atomic uint64_t since_usec;
	atomic_bool cancelled, stopped; /* stopped: podvold is why */
	enum stage_place place;         /* where it is now */
	bool is_cancellable;            /* attempt_cancel() ends it between two stages */
	bool touched; /* a stage of the list began: the kernel or a driver may have been reached */
	bool was_run; /* by the pool it was given to; false when that closed */
	bool is_starting; /* inside a loop stage's start() */
	bool on_thread;   /* loop thread only: handed to a pool and not back yet */
	bool is_over;
	struct stage_time times[STAGE_TIMES_KEPT]; /* of those that began */
	size_t time_count;
	int result;                         /* once over: 0 or negative errno */
	struct ownership_progress progress; /* atomic */
	atomic_int tool_pid;                /* of a mkfs or fsck that runs; else 0 */
	struct stage_report *report;        /* empty at the start */
	/* NULL: @report is borrowed. Else @report is this one before the first stage, and after
	 * the last one where no text is left; attempt_report_free(). */
	struct stage_report *brief;
	/* A stage set report.unfinished: on the loop, before the next one begins, which it does
	 * only when this returns 0. NULL: no such notes are kept. */
	int (*note)(struct attempt *attempt, enum unfinished unfinished, struct failure *reterr);
	void (*ended)(struct attempt *attempt); /* on the loop, never from attempt_start() */
};

/**
 * attempt_start - run the stages
 * @attempt: zeroed but for job.*, and with pools, first, list, last, is_cancellable and ended set
 *
 * Return: true when it runs; false when it is over already (no stages, or the first one could not
 * start): then ended() is not called and result says how.
 */
bool attempt_start(struct attempt *attempt);

/* Where to write why it fails; for its present owner. NULL: no memory for a text. */
struct failure *attempt_failure(struct attempt *attempt);

/* Of an attempt with a brief one. */
void attempt_report_free(struct attempt *attempt);

/* No longer wanted: a cancellable one ends soon with -ECANCELED. */
void attempt_cancel(struct attempt *attempt);

/* The same, because podvold is shutting down. */
void attempt_stop(struct attempt *attempt);

/* Its owner goes while it waits for an IO slot or a source, or hangs on a thread: set-up or
 * teardown, no further stage of it begins. Return: true when it waited, and so is on no thread. */
bool attempt_give_up(struct attempt *attempt);

/* How many of times are filled. Once it is over. */
size_t attempt_times(const struct attempt *attempt);

/* What is being done, for views; "" before the first stage. Loop thread, at any time. */
const char *attempt_stage_name(struct attempt *attempt);
