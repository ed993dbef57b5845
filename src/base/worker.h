/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker - threads that may block or hang, so that the loop thread never does
 *
 * A job belongs to who works on it: the loop until worker_submit(), then one thread, then the
 * loop again in done(). Nothing in it is shared meanwhile, so no table has a lock.
 *
 * A thread whose job takes longer than the set-aside time no longer counts: another is started in
 * its place, up to the pool's maximum, so that one dead server stops no other. While others hang
 * and jobs wait that time is shorter, down to a tenth: many dead servers delay the rest by seconds.
 * When all of them hang, jobs wait in their order until one comes back; that is reported, once.
 * Idle pools cause no wake-ups.
 */
#pragma once

#include "base/failure.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct worker_pool;
struct worker_return; /* where finished jobs come back to one loop */

struct worker_job {
	void (*run)(struct worker_job *job); /* on a thread of the pool */
	/* On the loop thread, once, after run returned. May free the job. */
	void (*done)(struct worker_job *job);
	struct worker_job *next; /* worker.c's own */
	/* The two that any thread may read at any time, for views: when the present run began
	 * (monotonic; 0 while queued), and the kernel's thread id for /proc/<tid>/stack (else 0).
	 */
	_Atomic uint64_t started_usec;
	atomic_int thread_id;
};

struct worker_limits {
	unsigned int threads;     /* that run at the same time */
	unsigned int threads_max; /* including those set aside */
	uint64_t set_aside_usec;  /* a job older than this is stuck; less while others are */
};

/**
 * worker_return_new - the way back to the loop: one event descriptor for any number of pools
 * @event:    loop; the source gets the priority @priority
 * @priority: as sd_event_source_set_priority()
 * @ret:      owned by the caller; free after every pool that uses it
 *
 * Return: 0, or -ENOMEM, -EMFILE.
 */
int worker_return_new(sd_event *event, int64_t priority, struct worker_return **ret);

/* Calls done() of every job that has come back and was not reported yet, so whatever done() touches
 * must still be there. Blocks for nothing. Return: NULL. */
struct worker_return *worker_return_free(struct worker_return *to_loop);

/**
 * worker_pool_new - a pool without threads: they start with the first jobs
 * @name:    shown as the threads' name, at most 15 bytes
 * @to_loop: borrowed; must outlive the pool
 * @limits:  copied; threads and threads_max at least 1
 *
 * Loop thread only. Return: 0, or -ENOMEM, -EMFILE.
 */
int worker_pool_new(const char *name, struct worker_return *to_loop,
		    const struct worker_limits *limits, struct worker_pool **ret);

/**
 * worker_pool_free - wait for running jobs and end the threads
 * @pool:       may be NULL
 *
 * Blocks until every running job returned or @set_aside_usec went by; threads still stuck then are
 * left to the end of the process (a thread in an uninterruptible system call cannot be ended).
 * Queued jobs are not run; their done() is called, and they see no run. A job that comes later
 * goes back to the loop without a run. Loop thread only.
 *
 * Return: NULL.
 */
struct worker_pool *worker_pool_free(struct worker_pool *pool);

/**
 * worker_submit - hand a job over; from any thread; never blocks
 * @job: the caller must not touch it until done()
 *
 * Cannot fail: if no thread can be started the job waits for one that exists, and with none at all
 * it is run by the thread that calls (a machine that cannot start a thread has worse troubles than
 * a slow loop).
 */
void worker_submit(struct worker_pool *pool, struct worker_job *job);
/* As worker_submit(); without a pool the job runs here, at once. */
void worker_submit_or_run(struct worker_pool *pool, struct worker_job *job);

/* From a job that runs on a thread of the pool: another one is over, without a run. Its done()
 * comes before that of the job that runs. */
void worker_pool_report(struct worker_pool *pool, struct worker_job *job);

/* How many jobs wait, run and are set aside; any thread. */
struct worker_counts {
	const char *name; /* of the pool, and as long as that is there */
	unsigned int queued, running, set_aside, threads;
	unsigned int threads_max;
	bool all_hang; /* every thread there may be is set aside, and jobs wait */
};

/* On the loop: all_hang became true, or false again. */
typedef void worker_pool_hang_fn(void *userdata, const struct worker_counts *counts);
/* Loop thread only, before the first job. */
void worker_pool_on_hang(struct worker_pool *pool, worker_pool_hang_fn *on_hang, void *userdata);

void worker_pool_count(struct worker_pool *pool, struct worker_counts *ret);
