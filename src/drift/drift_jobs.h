/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_jobs - what drift_work.c and drift_check.c share: jobs that threads do
 *
 * A job takes copies with it and brings its result back to the loop, where nothing that changed
 * meanwhile is taken for what it was: a mount that has another id by then, or an id that is another
 * mount's (before Linux 6.8 they are used again), is passed over.
 */
#pragma once

#include "drift/drift_internal.h"

struct drift_job {
	struct worker_job job;
	struct drift *drift; /* NULL: the result is no longer wanted */
	struct drift_job *prev, *next;
	int (*work)(struct drift_job *job, struct failure *reterr); /* on a thread */
	void (*finish)(struct drift_job *job);                      /* on the loop */
	int result;
	struct failure failure;
	uint64_t cpu_usec;

	/* Checks: the root directory's mount is the first of the known ones; afterwards only those
	 * of them are left that are not as expected. */
	struct known_mount *known;
	size_t known_count;
	struct table_entries seen;
	bool all, first;

	uint64_t *ids; /* whose identity is asked, or which are to be folded */
	bool begun;    /* a fold: it is a thread's */
	pid_t *pids;   /* the loop's, also while a thread has the job; IDENTITY_DROPPED */
	size_t id_count;

	/* Of one mount. */
	char *unique_name, *pod_uid, *path;
	uint64_t mount_id, attributes;

	struct mount_root *root; /* the agent's; its path and descriptors stay where they are */
	uint64_t root_id;
};

struct drift_jobs {
	struct drift *drift;
	struct drift_job *jobs; /* all that run */
	sd_event_source *timer, *root_timer;
	struct drift_job *check, *identity;
	enum drift_check wanted;
	bool at_once, folding;
	uint64_t wanted_usec, own_usec, check_ended_usec, check_cost_usec;
	uint64_t *ids;
	pid_t *pids;
	size_t id_count, id_capacity;
};

/* In the list of those that run; NULL: no memory. */
struct drift_job *drift_job_new(struct drift *drift,
				int (*work)(struct drift_job *job, struct failure *reterr),
				void (*finish)(struct drift_job *job));
void drift_job_free(struct drift_job *job);
/* False: podvold ends and has no threads any more; the job is freed. */
bool drift_job_submit(struct drift_job *job);
void drift_job_report_failure(const struct drift_job *job);

/* What a job cost, and not how long it took: a busy machine is no reason to look more rarely. */
uint64_t drift_thread_cpu_usec(void);

/* drift_check.c: when the timer of looks has come. */
int drift_on_check_time(sd_event_source *source, uint64_t usec, void *userdata);
