/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_work - what drift has threads do to mounts: set attributes back, fold stacks, bind the root
 * directory again; and the list of all its jobs
 *
 * Unmounts only what a look has seen and the ledger lists, by its id, from the top.
 */
#include "drift/drift_jobs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"

#include <assert.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

enum {
	ROOT_RETRY_USEC = 1000000,
	TIMER_ACCURACY_USEC = 1000,
};

/* ---- jobs ---- */

void drift_job_free(struct drift_job *job)
{
	if (job->drift)
		DL_DELETE(job->drift->jobs->jobs, job);
	free(job->known);
	table_entries_done(&job->seen);
	free(job->ids);
	free(job->pids);
	free(job->unique_name);
	free(job->pod_uid);
	free(job->path);
	free(job);
}

uint64_t drift_thread_cpu_usec(void)
{
	struct timespec now = { 0 };

	(void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t) now.tv_sec * USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}

static void run_job(struct worker_job *worker_job)
{
	struct drift_job *job = (struct drift_job *) worker_job;
	uint64_t began_usec = drift_thread_cpu_usec();

	job->result = job->work(job, &job->failure);
	job->cpu_usec = drift_thread_cpu_usec() - began_usec;
}

static void job_done(struct worker_job *worker_job)
{
	struct drift_job *job = (struct drift_job *) worker_job;

	if (job->drift)
		job->finish(job);
	drift_job_free(job);
}

struct drift_job *drift_job_new(struct drift *drift,
				int (*work)(struct drift_job *job, struct failure *reterr),
				void (*finish)(struct drift_job *job))
{
	struct drift_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->job.run = run_job;
	job->job.done = job_done;
	job->drift = drift;
	job->work = work;
	job->finish = finish;
	job->result = -ECANCELED; /* a pool that closes runs no job */
	job->root = drift->options.root;
	job->root_id = drift->root_id;
	DL_APPEND(drift->jobs->jobs, job);
	return job;
}

/* While podvold ends there are no threads any more. */
bool drift_job_submit(struct drift_job *job)
{
	struct worker_pool *pool = *job->drift->options.workers;

	if (!pool) {
		drift_job_free(job);
		return false;
	}
	worker_submit(pool, &job->job);
	return true;
}

static struct drift_mount *mount_of(const struct drift_job *job)
{
	return drift_index_find(job->drift, job->unique_name, job->pod_uid);
}

void drift_job_report_failure(const struct drift_job *job)
{
	if (job->result < 0 && job->result != -ECANCELED)
		log_message(LOG_WARNING, "%s", job->failure.text);
}

/* ---- one mount ---- */

static struct drift_job *job_of_mount(struct drift *drift, const struct drift_mount *mount,
				      int (*work)(struct drift_job *job, struct failure *reterr),
				      void (*finish)(struct drift_job *job))
{
	struct drift_job *job = drift_job_new(drift, work, finish);

	if (!job)
		return NULL;
	job->unique_name = strdup(mount->unique_name);
	job->pod_uid = strdup(mount->pod_uid);
	job->path = strdup(mount->path);
	job->mount_id = mount->mount_id;
	if (job->unique_name && job->pod_uid && job->path)
		return job;
	drift_job_free(job);
	return NULL;
}

static int open_place(const struct drift_job *job, struct place *ret, struct failure *reterr)
{
	return place_open(job->root->fd, job->root->path, job->path + strlen(job->root->path) + 1,
			  ret, reterr);
}

static int work_set_back(struct drift_job *job, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	int r = open_place(job, &place, reterr);

	return r < 0 ? r : mount_set_back(&place, job->mount_id, job->attributes, reterr);
}

/* Not set back, it stays an incident: the next remount is looked at again. */
static void set_back_done(struct drift_job *job)
{
	struct drift_mount *mount = mount_of(job);

	drift_job_report_failure(job);
	if (job->result == 0 && mount && mount->kind == DRIFT_REMOUNTED &&
	    mount->mount_id == job->mount_id)
		drift_over(job->drift, mount, true);
}

void drift_request_set_back(struct drift *drift, struct drift_mount *mount)
{
	struct drift_job *job = job_of_mount(drift, mount, work_set_back, set_back_done);

	if (!job)
		return;
	job->attributes = mount->attributes;
	(void) drift_job_submit(job);
}

/* The index of the topmost mount, from @count down; 0: the lowest is on top. On a shared root
 * directory the kernel takes a mount away in all places at once, so that some may be gone. */
static int find_top(const struct drift_job *job, const struct place *place, size_t *count,
		    struct failure *reterr)
{
	struct mount_facts facts;
	int r = place_facts(place, &facts, reterr);

	if (r < 0)
		return r;
	while (--*count > 0 && job->ids[*count] != facts.mount_id)
		;
	if (job->ids[*count] == facts.mount_id)
		return 0;
	return failed_plain(reterr, -ESTALE,
			    "the mounts on '%s' changed: they are left as they are", job->path);
}

/* From the top, and each only if it is what was seen. */
static int work_fold(struct drift_job *job, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	size_t top = job->id_count;
	int r = open_place(job, &place, reterr);

	if (r == 0)
		r = find_top(job, &place, &top, reterr);
	while (r == 0 && top > 0) {
		r = unmount_place(&place, 0, reterr);
		if (r == 0)
			r = find_top(job, &place, &top, reterr);
	}
	return r;
}

/* One after the other, for the reason above: what one has seen on top is there when it unmounts. */
static void begin_fold(struct drift_jobs *jobs)
{
	struct drift_job *job;

	if (jobs->folding)
		return;
	DL_FOREACH (jobs->jobs, job) {
		if (job->work != work_fold || job->begun)
			continue;
		job->begun = true;
		jobs->folding = drift_job_submit(job);
		return;
	}
}

/* The set-up that waited for it finds the one that is left. */
static void fold_done(struct drift_job *job)
{
	struct drift_mount *mount = mount_of(job);

	job->drift->jobs->folding = false;
	begin_fold(job->drift->jobs);
	drift_job_report_failure(job);
	if (!mount || mount->kind != DRIFT_STACKED)
		return;
	if (job->result == 0)
		drift_over(job->drift, mount, true);
	mount->kind = DRIFT_NONE;
	(void) dirty_add(job->drift->options.dirty, mount->unique_name);
}

void drift_request_fold(struct drift *drift, struct drift_mount *mount, const uint64_t *ids,
			size_t count)
{
	struct drift_job *job = job_of_mount(drift, mount, work_fold, fold_done);

	assert(count > 1);
	if (job)
		job->ids = calloc(count, sizeof(*ids));
	if (!job || !job->ids) {
		if (job)
			drift_job_free(job);
		mount->kind = DRIFT_NONE;
		return;
	}
	memcpy(job->ids, ids, count * sizeof(*ids));
	job->id_count = count;
	begin_fold(drift->jobs);
}

/* ---- the root directory ---- */

static int work_root(struct drift_job *job, struct failure *reterr)
{
	struct mount_facts facts;
	int r = mount_root_renew(job->root, reterr);

	if (r == 0)
		r = fd_facts(job->root->fd, &facts, reterr);
	if (r == 0)
		job->root_id = facts.mount_id;
	return r;
}

static int on_root_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	drift_request_root(((struct drift_jobs *) userdata)->drift);
	return 0;
}

static void root_done(struct drift_job *job)
{
	drift_job_report_failure(job);
	if (job->result == 0)
		drift_root_is_back(job->drift, job->root_id);
	else
		timer_set_in(job->drift->jobs->root_timer, ROOT_RETRY_USEC);
}

void drift_request_root(struct drift *drift)
{
	struct drift_job *job;

	if (!*drift->options.heals)
		return; /* nothing begins until podvold is restarted */
	job = drift_job_new(drift, work_root, root_done);
	if (!job)
		timer_set_in(drift->jobs->root_timer, ROOT_RETRY_USEC);
	else
		(void) drift_job_submit(job);
}

/* ---- all jobs ---- */

int drift_jobs_new(struct drift *drift, struct drift_jobs **ret)
{
	struct drift_jobs *jobs = calloc(1, sizeof(*jobs));
	int r;

	if (!jobs)
		return -ENOMEM;
	jobs->drift = drift;
	r = timer_new(drift->options.event, TIMER_ACCURACY_USEC, drift_on_check_time, jobs,
		      &jobs->timer);
	if (r >= 0)
		r = timer_new(drift->options.event, TIMER_ACCURACY_USEC, on_root_time, jobs,
			      &jobs->root_timer);
	if (r < 0) {
		drift_jobs_free(jobs);
		return r;
	}
	*ret = jobs;
	return 0;
}

/* Jobs on threads that are stuck are freed when these come back, if ever. */
struct drift_jobs *drift_jobs_free(struct drift_jobs *jobs)
{
	struct drift_job *job, *next;

	if (!jobs)
		return NULL;
	DL_FOREACH_SAFE (jobs->jobs, job, next) {
		if (job->work == work_fold && !job->begun)
			drift_job_free(job);
		else
			job->drift = NULL;
	}
	sd_event_source_disable_unref(jobs->timer);
	sd_event_source_disable_unref(jobs->root_timer);
	free(jobs->ids);
	free(jobs->pids);
	free(jobs);
	return NULL;
}
