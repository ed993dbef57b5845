/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership_crew - several threads walk one volume for its group (fsGroup)
 *
 * The caller's thread walks alone until the tree turns out not to be small. Then others join, and
 * a thread that meets a directory while few are on offer offers it instead of going down. Only the
 * first thread waits for a part, before the root: it changes last of all. Descriptors are bounded
 * by the offers and the depth that each thread keeps open, memory by the depth.
 */
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "mount/ownership/ownership.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/vfs.h>

enum {
	CREW_MAX =
		4, /* with the caller; more gain nothing on the file systems that were measured */
	OFFERS_MAX = 2 * CREW_MAX,
	ALONE_ENTRIES = 2000,  /* a tree with more is large: worth threads, and an IO slot */
	PROGRESS_ENTRIES = 64, /* between two notes of how far it is */
	SLOW_USEC = 30 * USEC_PER_SEC,
};

struct ownership_job {
	struct ownership ownership;
	int root_fd;
	struct ownership_walk *walk;          /* the first thread's */
	struct ownership_counts first_counts; /* the same */
	uint64_t begun_usec;
	bool has_said_slow;

	const atomic_bool *cancel; /* may be NULL */
	pthread_t members[CREW_MAX];
	unsigned int member_count; /* without the first thread */

	atomic_bool is_stopping;   /* an error, a cancellation */
	atomic_uint wanted_offers; /* a hint, read without the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int offers[OFFERS_MAX];
	unsigned int offer_count;
	unsigned int busy; /* threads that walk */
	bool is_over;
	int error;
	struct ownership_counts counts; /* of parts that are done */
};

/* ---- offering ---- */

static bool offer(void *userdata, int directory_fd)
{
	struct ownership_job *job = userdata;
	bool taken = false;

	if (atomic_load_explicit(&job->wanted_offers, memory_order_relaxed) == 0)
		return false;
	(void) pthread_mutex_lock(&job->lock);
	if (job->member_count > 0 && job->offer_count < OFFERS_MAX && job->error == 0) {
		job->offers[job->offer_count++] = directory_fd;
		atomic_store_explicit(&job->wanted_offers, OFFERS_MAX - job->offer_count,
				      memory_order_relaxed);
		(void) pthread_cond_signal(&job->changed);
		taken = true;
	}
	(void) pthread_mutex_unlock(&job->lock);
	return taken;
}

/* Under the lock. The newest first: it is the one whose entries are still cached. */
static int take_offer(struct ownership_job *job)
{
	int fd = job->offers[--job->offer_count];

	atomic_store_explicit(&job->wanted_offers, OFFERS_MAX - job->offer_count,
			      memory_order_relaxed);
	return fd;
}

/* ---- walking ---- */

static void note_progress(struct ownership_job *job, const struct ownership_counts *now,
			  struct ownership_counts *noted)
{
	struct ownership_progress *progress = job->ownership.progress;

	if (progress) {
		(void) atomic_fetch_add_explicit(&progress->entries, now->entries - noted->entries,
						 memory_order_relaxed);
		(void) atomic_fetch_add_explicit(&progress->changed, now->changed - noted->changed,
						 memory_order_relaxed);
	}
	*noted = *now;
}

static bool is_wanted(const struct ownership_job *job)
{
	return !(job->cancel && atomic_load_explicit(job->cancel, memory_order_relaxed)) &&
	       !atomic_load_explicit(&job->is_stopping, memory_order_relaxed);
}

static void log_slow(struct ownership_job *job, const struct ownership_counts *counts)
{
	if (job->has_said_slow || monotonic_usec() - job->begun_usec <= SLOW_USEC)
		return;
	job->has_said_slow = true;
	log_message(LOG_WARNING,
		    "changing the group of a volume to %u takes long: %" PRIu64
		    " entries by the first of %u threads so far; fsGroupChangePolicy "
		    "OnRootMismatch would skip this the next time",
		    job->ownership.gid, counts->entries, job->member_count + 1);
}

/* One part, of the first thread the whole tree but what others take. Return: 1 when @entries_max
 * were passed before the end, 0, or an error. */
static int walk_part(struct ownership_job *job, struct ownership_walk *walk, uint64_t entries_max,
		     struct ownership_counts *counts)
{
	struct ownership_counts noted = *counts;
	int result;

	while ((result = ownership_step(walk, counts)) > 0) {
		if (!is_wanted(job)) {
			result = -ECANCELED;
			break;
		}
		if (counts->entries >= entries_max)
			break;
		if (counts->entries - noted.entries < PROGRESS_ENTRIES)
			continue;
		note_progress(job, counts, &noted);
		if (walk == job->walk)
			log_slow(job, counts);
	}
	note_progress(job, counts, &noted);
	return result;
}

/* Under the lock: a part is done. The first error counts; those that it causes do not. */
static void add_part(struct ownership_job *job, const struct ownership_counts *counts, int result)
{
	job->counts.entries += counts->entries;
	job->counts.changed += counts->changed;
	job->counts.ignored += counts->ignored;
	if (result >= 0)
		return;
	if (job->error == 0)
		job->error = result;
	atomic_store(&job->is_stopping, true);
}

static int walk_offered(struct ownership_job *job, int directory_fd,
			struct ownership_counts *counts)
{
	struct ownership_walk *walk = NULL;
	int result = ownership_walk_new(directory_fd, &job->ownership, &walk);

	if (result < 0)
		return result;
	ownership_walk_offer(walk, offer, job);
	result = walk_part(job, walk, UINT64_MAX, counts);
	(void) ownership_walk_free(walk);
	return result;
}

/* Under the lock, which is given up meanwhile. */
static void work_on_offer(struct ownership_job *job)
{
	struct ownership_counts counts = { 0 };
	int fd = take_offer(job);
	int result = 0;

	job->busy++;
	(void) pthread_mutex_unlock(&job->lock);
	if (is_wanted(job))
		result = walk_offered(job, fd, &counts);
	(void) close(fd);
	(void) pthread_mutex_lock(&job->lock);
	job->busy--;
	add_part(job, &counts, result);
	if (job->busy == 0 && job->offer_count == 0)
		(void) pthread_cond_broadcast(&job->changed);
}

static void *member_main(void *userdata)
{
	struct ownership_job *job = userdata;

	(void) pthread_setname_np(pthread_self(), "ownership");
	(void) pthread_mutex_lock(&job->lock);
	while (!job->is_over) {
		if (job->offer_count > 0)
			work_on_offer(job);
		else
			(void) pthread_cond_wait(&job->changed, &job->lock);
	}
	(void) pthread_mutex_unlock(&job->lock);
	return NULL;
}

/* The first thread came to the root: it helps with what is left, then waits for the others. */
static int wait_for_parts(void *userdata)
{
	struct ownership_job *job = userdata;
	int error;

	(void) pthread_mutex_lock(&job->lock);
	job->busy--;
	while (job->busy > 0 || job->offer_count > 0) {
		if (job->offer_count > 0)
			work_on_offer(job);
		else
			(void) pthread_cond_wait(&job->changed, &job->lock);
	}
	job->busy++;
	error = job->error;
	(void) pthread_mutex_unlock(&job->lock);
	if (error == 0 && !is_wanted(job))
		return -ECANCELED;
	return error;
}

/* ---- the crew ---- */

static unsigned int crew_size(void)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

	return count < CREW_MAX ? (unsigned int) count : CREW_MAX;
}

/* Fewer than wanted, or none, is no error: the walk only takes longer. */
static void start_members(struct ownership_job *job)
{
	unsigned int size = crew_size();
	sigset_t all, old;

	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &old);
	(void) pthread_mutex_lock(&job->lock);
	while (job->member_count + 1 < size &&
	       pthread_create(&job->members[job->member_count], NULL, member_main, job) == 0)
		job->member_count++;
	if (job->member_count > 0)
		atomic_store(&job->wanted_offers, OFFERS_MAX);
	(void) pthread_mutex_unlock(&job->lock);
	(void) pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The first thread's part is added before: its error is the cause of what the others then say. */
static void dismiss_members(struct ownership_job *job, int result)
{
	(void) pthread_mutex_lock(&job->lock);
	add_part(job, &job->first_counts, result);
	job->is_over = true;
	atomic_store(&job->is_stopping, true);
	(void) pthread_cond_broadcast(&job->changed);
	(void) pthread_mutex_unlock(&job->lock);
	for (unsigned int i = 0; i < job->member_count; i++)
		(void) pthread_join(job->members[i], NULL);
	while (job->offer_count > 0) /* of a walk that was broken off */
		(void) close(take_offer(job));
}

/* ---- the job ---- */

/* A file system counts its inodes; one that does not says 0. */
static uint64_t count_expected(int root_fd)
{
	struct statfs status;

	if (fstatfs(root_fd, &status) < 0 || status.f_files < status.f_ffree)
		return 0;
	return status.f_files - status.f_ffree;
}

static void begin_progress(struct ownership_progress *progress, int root_fd)
{
	if (!progress)
		return;
	atomic_store(&progress->expected, count_expected(root_fd));
	atomic_store(&progress->begun_usec, monotonic_usec());
}

struct ownership_job *ownership_job_free(struct ownership_job *job)
{
	if (!job)
		return NULL;
	(void) ownership_walk_free(job->walk);
	(void) close_keep_errno(job->root_fd);
	(void) pthread_cond_destroy(&job->changed);
	(void) pthread_mutex_destroy(&job->lock);
	free(job);
	return NULL;
}

static int job_new(int root_fd, const struct ownership *ownership, struct ownership_job **ret)
{
	struct ownership_job *job = calloc(1, sizeof(*job));
	int result;

	if (!job)
		return -ENOMEM;
	job->ownership = *ownership;
	job->begun_usec = monotonic_usec();
	job->busy = 1;
	(void) pthread_mutex_init(&job->lock, NULL);
	(void) pthread_cond_init(&job->changed, NULL);
	job->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
	result = job->root_fd < 0 ? -errno
				  : ownership_walk_new(job->root_fd, &job->ownership, &job->walk);
	if (result < 0) {
		(void) ownership_job_free(job);
		return result;
	}
	ownership_walk_offer(job->walk, offer, job);
	ownership_walk_root_last(job->walk, wait_for_parts, job);
	begin_progress(ownership->progress, job->root_fd);
	*ret = job;
	return 0;
}

/* Both parts end here. Return: 1, or the first error. */
static int job_over(struct ownership_job *job, int result, struct failure *reterr)
{
	const struct ownership_counts *counts = &job->counts;

	dismiss_members(job, result);
	if (job->ownership.progress)
		atomic_store(&job->ownership.progress->ended_usec, monotonic_usec());
	if (counts->ignored > OWNERSHIP_REFUSALS_LOGGED)
		log_message(LOG_WARNING, "%" PRIu64 " entries of a volume kept owner or mode",
			    counts->ignored);
	if (job->error == 0)
		return 1;
	if (job->error == -ECANCELED)
		return failed_plain(reterr, -ECANCELED,
				    "changing the group was cancelled after %" PRIu64 " entries",
				    counts->entries);
	return failed(reterr, job->error, "cannot change the group of the whole volume");
}

int ownership_begin(int root_fd, const struct ownership *ownership, const atomic_bool *cancel,
		    struct ownership_job **ret, struct failure *reterr)
{
	struct ownership_job *job = NULL;
	int result;

	assert(root_fd >= 0 && ownership && ret);
	*ret = NULL;
	if (ownership->on_root_mismatch && ownership_root_matches(root_fd, ownership))
		return 1;
	result = job_new(root_fd, ownership, &job);
	if (result < 0)
		return failed(reterr, result, "cannot read the volume to change its group");
	job->cancel = cancel;
	result = walk_part(job, job->walk, ALONE_ENTRIES, &job->first_counts);
	*ret = job;
	return result > 0 ? 0 : job_over(job, result, reterr);
}

int ownership_finish(struct ownership_job *job, const atomic_bool *cancel, struct failure *reterr)
{
	assert(job && job->walk);
	job->cancel = cancel;
	start_members(job);
	return job_over(job, walk_part(job, job->walk, UINT64_MAX, &job->first_counts), reterr);
}

int ownership_apply(int root_fd, const struct ownership *ownership, const atomic_bool *cancel,
		    struct ownership_counts *ret, struct failure *reterr)
{
	struct ownership_job *job = NULL;
	int result = ownership_begin(root_fd, ownership, cancel, &job, reterr);

	if (ret)
		*ret = (struct ownership_counts){ 0 };
	if (!job) /* skipped by policy, or it could not begin */
		return result > 0 ? 0 : result;
	if (result == 0)
		result = ownership_finish(job, cancel, reterr);
	if (ret)
		*ret = job->counts;
	(void) ownership_job_free(job);
	return result;
}
