/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directories - orders of the local provisioner as jobs; see volume_directories.h
 */
#include "provision/volume_directories.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "base/log.h"
#include "controller/local/local_capacity.h"
#include "controller/snapshot/local_snapshotter.h"
#include "provision/directory_job.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <utlist.h>

enum {
	THREADS = 4,              /* directories are metadata: more would wait for each other */
	THREADS_MAX = 16,         /* with those that hang */
	SET_ASIDE_USEC = 1000000, /* as for the other pools */
	COPY_THREADS = 8,         /* of four base paths: two keep a disk busy, and more hinder */
};

/* Threads, and who waits for one: of one base path so many at once as have an IO slot of it, so
 * that one which hangs, or is full of large volumes that go, leaves threads to the others. */
struct crew {
	struct worker_pool *pool; /* NULL: podvold stops */
	struct io_slots *io_slots;
	struct base_removals *removals; /* one for each base path where something is to go */
};

struct volume_directories {
	struct volume_directories_options with;
	struct crew makers, copiers;
	struct local_provisioner *provisioner;
	struct local_snapshotter *snapshotter;
	struct local_capacity *capacity; /* NULL: no cluster schedules by it */
	atomic_bool is_stopping;         /* read by the threads that copy */
};

/* Of one base path: removals that wait for a search that begins after they were ordered. */
struct base_removals {
	struct base_removals *previous, *next;
	struct directory_job *due;       /* the search that runs knows nothing of these */
	struct directory_search *search; /* waits for an IO slot, or runs; NULL: none */
};

static struct directory_job *job_of(struct io_slot_place *place)
{
	return place ? (struct directory_job *) ((char *) place -
						 offsetof(struct directory_job, place))
		     : NULL;
}

/* Removals have IO slots of their own: large volumes that go keep none from being made. */
static uint64_t io_slot_of(const struct directory_job *job)
{
	uint64_t io_slot = job->deed == DIRECTORY_REMOVE;

	for (size_t i = 0; i < job->base_count; i++)
		io_slot = fnv1a_add_text(io_slot, job->base_paths[i]);
	return io_slot;
}

/* A search serves what was ordered before this moment. */
static void hand_over(struct directory_job *job)
{
	struct directory_search *search = (struct directory_search *) job;

	if (job->is_search)
		search->served = TAKE_PTR(search->removals->due);
	worker_submit(job->crew->pool, &job->job);
}

static void submit(struct directory_job *job)
{
	if (io_slot_enter(job->crew->io_slots, &job->place, io_slot_of(job)))
		hand_over(job);
}

/* ---- one search for all removals that are due ---- */

static void job_done(struct worker_job *worker_job);

static void cancel(struct directory_job **jobs)
{
	struct directory_job *job, *more;

	DL_FOREACH_SAFE2(*jobs, job, more, next)
	directory_job_end(job);
	*jobs = NULL;
}

/* @search: NULL: each makes its own. */
static void submit_served(struct directory_job *jobs, struct directory_search *search)
{
	struct directory_job *job, *more;

	DL_FOREACH_SAFE2(jobs, job, more, next)
	{
		if (search)
			directory_job_use_search(job, search);
		submit(job);
	}
}

/* It takes an IO slot as removals do, and so waits for those that the one before served: what
 * becomes due meanwhile needs one search, however much it is. */
static void begin_search(struct crew *crew, struct base_removals *removals)
{
	struct directory_search *search;

	if (directory_search_new(removals->due->base_paths[0], &search) < 0) {
		submit_served(TAKE_PTR(removals->due), NULL);
		return;
	}
	search->job.crew = crew;
	search->job.job.done = job_done;
	search->removals = removals;
	removals->search = search;
	submit(&search->job);
}

static void forget_unless_needed(struct crew *crew, struct base_removals *removals)
{
	if (removals->search || removals->due)
		return;
	DL_DELETE2(crew->removals, removals, previous, next);
	free(removals);
}

static void end_search(struct directory_search *search)
{
	struct base_removals *removals = search->removals;
	struct crew *crew = search->job.crew;

	removals->search = NULL;
	if (crew->pool) {
		submit_served(TAKE_PTR(search->served), search);
		if (removals->due)
			begin_search(crew, removals);
	} else {
		cancel(&search->served);
		cancel(&removals->due);
	}
	directory_search_release(search);
	forget_unless_needed(crew, removals);
}

static struct base_removals *removals_of(struct crew *crew, const char *base_path)
{
	struct base_removals *removals;

	DL_FOREACH2(crew->removals, removals, next)
	if (strcmp(removals->search->job.base_paths[0], base_path) == 0)
		return removals;
	removals = calloc(1, sizeof(*removals));
	if (removals)
		DL_APPEND2(crew->removals, removals, previous, next);
	return removals;
}

/* A removal waits for a search first. */
static void take_job(struct directory_job *job)
{
	struct base_removals *removals = NULL;

	if (job->deed == DIRECTORY_REMOVE && job->base_paths[0][0] == '/')
		removals = removals_of(job->crew, job->base_paths[0]);
	if (!removals) {
		submit(job);
		return;
	}
	DL_APPEND2(removals->due, job, previous, next);
	if (!removals->search)
		begin_search(job->crew, removals);
	forget_unless_needed(job->crew, removals);
}

static void end_job(struct directory_job *job)
{
	if (job->is_search) {
		end_search((struct directory_search *) job);
	} else if (job->state == JOB_TOO_LATE && job->crew->pool) {
		directory_job_leave_search(job);
		take_job(job);
	} else {
		directory_job_end(job);
	}
}

static void job_done(struct worker_job *worker_job)
{
	struct directory_job *job = (struct directory_job *) worker_job, *next;
	struct crew *crew = job->crew;

	for (; job; job = crew->pool ? NULL : next) {
		next = job_of(io_slot_release(crew->io_slots, &job->place));
		end_job(job);
		if (next && crew->pool)
			hand_over(next);
	}
}

static int start(void *userdata, const struct directory_order *order, directory_done_fn *done,
		 void *done_userdata)
{
	struct volume_directories *directories = userdata;
	const struct directory_job_options options = { .own = directories->with.own,
						       .copies = directories->with.copies,
						       .host = directories->with.host,
						       .is_stopping = &directories->is_stopping };
	struct directory_job *job;
	int r = directory_job_new(&options, order, done, done_userdata, &job);

	if (r < 0)
		return r;
	job->job.done = job_done;
	job->crew = order->source ? &directories->copiers : &directories->makers;
	take_job(job);
	return 0;
}

static void on_threads_hang(void *userdata, const struct worker_counts *counts)
{
	if (counts->all_hang)
		log_message(LOG_ERR,
			    "all %u threads that make and remove directories of volumes hang: is a "
			    "base path on a server that is gone? %u wait, those of other base "
			    "paths as well",
			    counts->threads_max, counts->queued);
	else
		log_message(LOG_NOTICE, "directories of volumes are made and removed again");
}

static int open_crew(struct crew *crew, const char *name, struct worker_return *to_loop,
		     const struct worker_limits *limits)
{
	int r = io_slots_new(&crew->io_slots);

	return r < 0 ? r : worker_pool_new(name, to_loop, limits, &crew->pool);
}

/* Those that wait for an IO slot end with the pool; those behind a thread that hangs here. */
static void close_crew(struct crew *crew)
{
	struct worker_pool *pool = TAKE_PTR(crew->pool);
	struct base_removals *removals;
	struct io_slot_place *place;

	if (!pool)
		return;
	(void) worker_pool_free(pool);
	while ((place = io_slots_first_waiting(crew->io_slots))) {
		(void) io_slot_give_up(crew->io_slots, place);
		end_job(job_of(place));
	}
	DL_FOREACH2(crew->removals, removals, next)
	{
		cancel(&removals->search->served);
		cancel(&removals->due);
	}
}

int volume_directories_new(const struct volume_directories_options *options,
			   struct volume_directories **ret)
{
	const struct worker_limits limits = { .threads = THREADS,
					      .threads_max = THREADS_MAX,
					      .set_aside_usec = SET_ASIDE_USEC };
	const struct worker_limits copy_limits = { .threads = COPY_THREADS,
						   .threads_max = COPY_THREADS,
						   .set_aside_usec = SET_ASIDE_USEC };
	struct volume_directories *directories = calloc(1, sizeof(*directories));
	const struct local_provisioner_options local = {
		.common = options->common,
		.in_cluster = options->in_cluster,
		.is_wanted = options->is_wanted,
		.start = start,
		.start_userdata = directories,
	};
	int r;

	if (!directories)
		return -ENOMEM;
	directories->with = *options;
	r = open_crew(&directories->makers, "directories", options->to_loop, &limits);
	if (r >= 0)
		worker_pool_on_hang(directories->makers.pool, on_threads_hang, directories);
	if (r >= 0)
		r = open_crew(&directories->copiers, "copies", options->to_loop, &copy_limits);
	if (r >= 0)
		r = local_provisioner_new(&local, &directories->provisioner);
	if (r >= 0)
		r = local_snapshotter_new(&local, &directories->snapshotter);
	if (r >= 0 && options->in_cluster)
		r = local_capacity_new(
			&(struct local_capacity_options){ local, options->uses_capacity },
			&directories->capacity);
	if (r < 0) {
		volume_directories_stop(directories);
		return volume_directories_free(directories), r;
	}
	*ret = directories;
	return 0;
}

struct worker_pool *volume_directories_pool(const struct volume_directories *directories)
{
	return directories ? directories->makers.pool : NULL;
}

struct worker_pool *volume_directories_copy_pool(const struct volume_directories *directories)
{
	return directories ? directories->copiers.pool : NULL;
}

void volume_directories_changed(struct volume_directories *directories, const char *volume)
{
	if (!directories)
		return;
	local_provisioner_resync(directories->provisioner, volume);
	local_snapshotter_resync(directories->snapshotter);
}

void volume_directories_stop(struct volume_directories *directories)
{
	if (!directories)
		return;
	local_provisioner_stop(directories->provisioner);
	local_snapshotter_stop(directories->snapshotter);
	local_capacity_stop(directories->capacity);
	atomic_store(&directories->is_stopping, true);
	close_crew(&directories->makers);
	close_crew(&directories->copiers);
}

struct volume_directories *volume_directories_free(struct volume_directories *directories)
{
	if (!directories)
		return NULL;
	(void) local_provisioner_free(directories->provisioner);
	(void) local_snapshotter_free(directories->snapshotter);
	(void) local_capacity_free(directories->capacity);
	(void) io_slots_free(directories->makers.io_slots);
	(void) io_slots_free(directories->copiers.io_slots);
	free(directories);
	return NULL;
}
