/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership_crew - several threads walk one volume for its group (fsGroup)
 *
 * The caller's thread walks alone until the tree turns out not to be small. Then others join, and
 * whoever meets a directory while few are on offer offers it instead of going down. Nobody waits
 * for a part but the first thread, before the root: it changes last of all. Descriptors are bounded
 * by the offers and the depth that each thread keeps open, memory by the depth.
 */
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "mount/ownership.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/vfs.h>

enum {
	CREW_MAX =
		4, /* with the caller; more gain nothing on the file systems that were measured */
	OFFERS_MAX = 2 * CREW_MAX,
	ALONE_ENTRIES = 2000,  /* starting a thread costs as much as some hundred of them */
	PROGRESS_ENTRIES = 64, /* between two notes of how far it is */
	SLOW_USEC = 30 * USEC_PER_SEC,
};

struct crew {
	const struct ownership *ownership;
	const atomic_bool *cancel; /* may be NULL */
	pthread_t members[CREW_MAX];
	unsigned int member_count; /* without the caller */
	bool has_tried_to_grow;    /* the caller's thread only */
	uint64_t begun_usec;
	bool has_said_slow;

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
	struct crew *crew = userdata;
	bool taken = false;

	if (atomic_load_explicit(&crew->wanted_offers, memory_order_relaxed) == 0)
		return false;
	(void) pthread_mutex_lock(&crew->lock);
	if (crew->member_count > 0 && crew->offer_count < OFFERS_MAX && crew->error == 0) {
		crew->offers[crew->offer_count++] = directory_fd;
		atomic_store_explicit(&crew->wanted_offers, OFFERS_MAX - crew->offer_count,
				      memory_order_relaxed);
		(void) pthread_cond_signal(&crew->changed);
		taken = true;
	}
	(void) pthread_mutex_unlock(&crew->lock);
	return taken;
}

/* Under the lock. The newest first: it is the one whose entries are still cached. */
static int take_offer(struct crew *crew)
{
	int fd = crew->offers[--crew->offer_count];

	atomic_store_explicit(&crew->wanted_offers, OFFERS_MAX - crew->offer_count,
			      memory_order_relaxed);
	return fd;
}

/* ---- walking ---- */

static void note_progress(struct crew *crew, const struct ownership_counts *now,
			  struct ownership_counts *noted)
{
	struct ownership_progress *progress = crew->ownership->progress;

	if (progress) {
		(void) atomic_fetch_add_explicit(&progress->entries, now->entries - noted->entries,
						 memory_order_relaxed);
		(void) atomic_fetch_add_explicit(&progress->changed, now->changed - noted->changed,
						 memory_order_relaxed);
	}
	*noted = *now;
}

static bool is_wanted(const struct crew *crew)
{
	return !(crew->cancel && atomic_load_explicit(crew->cancel, memory_order_relaxed)) &&
	       !atomic_load_explicit(&crew->is_stopping, memory_order_relaxed);
}

static void grow(struct crew *crew);

/* The first thread does what is needed once for all of them. */
static void look_after_crew(struct crew *crew, const struct ownership_counts *counts)
{
	if (!crew->has_tried_to_grow && counts->entries >= ALONE_ENTRIES)
		grow(crew);
	if (crew->has_said_slow || monotonic_usec() - crew->begun_usec <= SLOW_USEC)
		return;
	crew->has_said_slow = true;
	log_message(LOG_WARNING,
		    "changing the group of a volume to %u takes long: %" PRIu64
		    " entries by the first of %u threads so far; fsGroupChangePolicy "
		    "OnRootMismatch would skip this the next time",
		    crew->ownership->gid, counts->entries, crew->member_count + 1);
}

/* One part; of the first thread the whole tree but what others take. */
static int walk_part(struct crew *crew, struct ownership_walk *walk, bool is_first,
		     struct ownership_counts *counts)
{
	struct ownership_counts noted = { 0 };
	int result;

	while ((result = ownership_step(walk, counts)) > 0) {
		if (!is_wanted(crew)) {
			result = -ECANCELED;
			break;
		}
		if (counts->entries - noted.entries < PROGRESS_ENTRIES)
			continue;
		note_progress(crew, counts, &noted);
		if (is_first)
			look_after_crew(crew, counts);
	}
	note_progress(crew, counts, &noted);
	return result;
}

/* Under the lock: a part is done. The first error counts; those that it causes do not. */
static void add_part(struct crew *crew, const struct ownership_counts *counts, int result)
{
	crew->counts.entries += counts->entries;
	crew->counts.changed += counts->changed;
	crew->counts.ignored += counts->ignored;
	if (result >= 0)
		return;
	if (crew->error == 0)
		crew->error = result;
	atomic_store(&crew->is_stopping, true);
}

static int walk_offered(struct crew *crew, int directory_fd, struct ownership_counts *counts)
{
	struct ownership_walk *walk = NULL;
	int result = ownership_walk_new(directory_fd, crew->ownership, &walk);

	if (result < 0)
		return result;
	ownership_walk_offer(walk, offer, crew);
	result = walk_part(crew, walk, false, counts);
	(void) ownership_walk_free(walk);
	return result;
}

/* Under the lock, which is given up meanwhile. */
static void work_on_offer(struct crew *crew)
{
	struct ownership_counts counts = { 0 };
	int fd = take_offer(crew);
	int result = 0;

	crew->busy++;
	(void) pthread_mutex_unlock(&crew->lock);
	if (is_wanted(crew))
		result = walk_offered(crew, fd, &counts);
	(void) close(fd);
	(void) pthread_mutex_lock(&crew->lock);
	crew->busy--;
	add_part(crew, &counts, result);
	if (crew->busy == 0 && crew->offer_count == 0)
		(void) pthread_cond_broadcast(&crew->changed);
}

static void *member_main(void *userdata)
{
	struct crew *crew = userdata;

	(void) pthread_setname_np(pthread_self(), "ownership");
	(void) pthread_mutex_lock(&crew->lock);
	while (!crew->is_over) {
		if (crew->offer_count > 0)
			work_on_offer(crew);
		else
			(void) pthread_cond_wait(&crew->changed, &crew->lock);
	}
	(void) pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* The first thread came to the root: it helps with what is left, then waits for the others. */
static int wait_for_parts(void *userdata)
{
	struct crew *crew = userdata;
	int error;

	(void) pthread_mutex_lock(&crew->lock);
	crew->busy--;
	while (crew->busy > 0 || crew->offer_count > 0) {
		if (crew->offer_count > 0)
			work_on_offer(crew);
		else
			(void) pthread_cond_wait(&crew->changed, &crew->lock);
	}
	crew->busy++;
	error = crew->error;
	(void) pthread_mutex_unlock(&crew->lock);
	if (error == 0 && !is_wanted(crew))
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
static void grow(struct crew *crew)
{
	unsigned int size = crew_size();
	sigset_t all, old;

	crew->has_tried_to_grow = true;
	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &old);
	(void) pthread_mutex_lock(&crew->lock);
	while (crew->member_count + 1 < size &&
	       pthread_create(&crew->members[crew->member_count], NULL, member_main, crew) == 0)
		crew->member_count++;
	if (crew->member_count > 0)
		atomic_store(&crew->wanted_offers, OFFERS_MAX);
	(void) pthread_mutex_unlock(&crew->lock);
	(void) pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The first thread's part is added before: its error is the cause of what the others then say. */
static void dismiss(struct crew *crew, const struct ownership_counts *counts, int result)
{
	(void) pthread_mutex_lock(&crew->lock);
	add_part(crew, counts, result);
	crew->is_over = true;
	atomic_store(&crew->is_stopping, true);
	(void) pthread_cond_broadcast(&crew->changed);
	(void) pthread_mutex_unlock(&crew->lock);
	for (unsigned int i = 0; i < crew->member_count; i++)
		(void) pthread_join(crew->members[i], NULL);
	while (crew->offer_count > 0) /* of a walk that was broken off */
		(void) close(take_offer(crew));
	(void) pthread_cond_destroy(&crew->changed);
	(void) pthread_mutex_destroy(&crew->lock);
}

static int walk_with_crew(struct ownership_walk *walk, struct crew *crew)
{
	struct ownership_counts counts = { 0 };
	int result;

	(void) pthread_mutex_init(&crew->lock, NULL);
	(void) pthread_cond_init(&crew->changed, NULL);
	crew->busy = 1;
	ownership_walk_offer(walk, offer, crew);
	ownership_walk_root_last(walk, wait_for_parts, crew);
	result = walk_part(crew, walk, true, &counts);
	dismiss(crew, &counts, result);
	return crew->error;
}

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

int ownership_apply(int root_fd, const struct ownership *ownership, const atomic_bool *cancel,
		    struct ownership_counts *ret, struct failure *reterr)
{
	struct crew crew = { .ownership = ownership,
			     .cancel = cancel,
			     .begun_usec = monotonic_usec() };
	struct ownership_walk *walk = NULL;
	int result;

	assert(root_fd >= 0 && ownership);
	if (ret)
		*ret = crew.counts;
	if (ownership->on_root_mismatch && ownership_root_matches(root_fd, ownership))
		return 0;

	result = ownership_walk_new(root_fd, ownership, &walk);
	if (result < 0)
		return failed(reterr, result, "cannot read the volume to change its group");
	begin_progress(ownership->progress, root_fd);
	result = walk_with_crew(walk, &crew);
	(void) ownership_walk_free(walk);
	if (crew.counts.ignored > OWNERSHIP_REFUSALS_LOGGED)
		log_message(LOG_WARNING, "%" PRIu64 " entries of a volume kept owner or mode",
			    crew.counts.ignored);
	if (ret)
		*ret = crew.counts;
	if (result == -ECANCELED)
		return failed_plain(reterr, result,
				    "changing the group was given up after %" PRIu64 " entries",
				    crew.counts.entries);
	return result < 0 ? failed(reterr, result, "cannot change the group of the whole volume")
			  : 1;
}
