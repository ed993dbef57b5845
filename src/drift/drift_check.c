/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_check - compares mounts that others may have changed, and finds new foreign ones
 *
 * Checks are rare: not sooner than COST_FACTOR times what the last one took, and those that are not
 * urgent wait until podvold's own mounting is over.
 */
#include "drift/drift_jobs.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <string.h>

enum {
	SETTLE_USEC = 10000,         /* between a change and its check */
	SETTLE_ALTERED_USEC = 60000, /* the same when events explain the change */
	OWN_QUIET_USEC = 60000,
	OWN_PATIENCE_USEC = 500000,
	COST_FACTOR = 40,      /* a fortieth of one processor */
	IDENTITIES_MAX = 1024, /* in one job */
	IDENTITY_DROPPED = -1, /* in place of a pid */
};

/* ---- checks ---- */

/* The loop is not to walk over thousands that are as they were. */
static void keep_changed(struct drift_job *job)
{
	size_t kept = 1;

	for (size_t i = 1; i < job->known_count; i++)
		if (job->known[i].fate != MOUNT_SAME)
			job->known[kept++] = job->known[i];
	job->known_count = kept;
}

static int run_mount_check(struct drift_job *job, struct failure *reterr)
{
	int r = job->all ? mount_compare_all(job->known, job->known_count, job->root->path,
					     job->root_id, &job->seen, reterr)
			 : mount_look_at_known(job->known, job->known_count, reterr);

	keep_changed(job);
	return r;
}

static bool is_seen(const struct table_entries *seen, uint64_t mount_id)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->items[i]->entry.mount_id == mount_id)
			return true;
	return false;
}

/* Covers that no list has any more; each cost a walk over the list, and there are few. */
static void note_covers(struct drift *drift, const struct table_entries *seen)
{
	struct drift_mount *mount, *next;

	if (drift->root_cover_id != 0 && !is_seen(seen, drift->root_cover_id))
		drift_uncovered(drift, drift->root_cover_id);
	if (drift->covered == 0)
		return;
	HASH_ITER (hh, drift->mounts, mount, next)
		if (mount->cover_id != 0 && !is_seen(seen, mount->cover_id))
			drift_uncovered(drift, mount->cover_id);
}

static void note_fate(struct drift *drift, const struct known_mount *known)
{
	const struct drift_culprit unknown = { 0 };
	struct drift_mount *mount = drift_index_by_id(drift, known->mount_id);

	/* podvold unmounted it meanwhile; before Linux 6.8 its id may be reused by now. */
	if (!mount || drift->known[mount->known_at].place != known->place)
		return;
	if (known->fate == MOUNT_GONE)
		drift_lost(drift, mount, DRIFT_UNMOUNTED, &unknown);
	else if (known->fate == MOUNT_MOVED)
		drift_lost(drift, mount, DRIFT_MOVED, &unknown);
	else if (known->fate == MOUNT_THERE)
		drift_note_attributes(drift, mount, known->attributes);
}

/* Steps waited for this one. @seen: NULL when it failed. */
static void first_check_done(struct drift *drift, const struct table_entries *seen)
{
	const struct actual_volume *volume = actual_first(drift->options.actual);

	if (seen)
		drift_note_first(drift, seen);
	drift->checked = true;
	/* It may have gone after it was seen, and before its id was known here. */
	if (drift->saw_detached)
		drift_request_check(drift, CHECK_ALL, true);
	for (; volume; volume = volume->hh.next)
		(void) dirty_add(drift->options.dirty, volume->unique_name);
	drift->options.checked(drift->options.userdata);
}

static void schedule(struct drift_jobs *jobs);

static void apply_check(struct drift_job *job)
{
	const struct drift_culprit unknown = { 0 };
	struct drift *drift = job->drift;

	drift_job_report_failure(job);
	if (job->result == 0) {
		if (job->known[0].fate == MOUNT_GONE && job->known[0].mount_id == drift->root_id)
			drift_root_is_lost(drift, &unknown);
		for (size_t i = 1; i < job->known_count; i++)
			note_fate(drift, &job->known[i]);
	}
	if (job->result == 0 && job->all && !job->first) {
		for (size_t i = 0; i < job->seen.count; i++)
			drift_note_other(drift, &job->seen.items[i]->entry, 0);
		note_covers(drift, &job->seen);
	}
	if (job->first)
		first_check_done(drift, job->result == 0 ? &job->seen : NULL);
}

static void mount_check_done(struct drift_job *job)
{
	struct drift_jobs *jobs = job->drift->jobs;
	uint64_t began_usec = drift_thread_cpu_usec();

	jobs->check = NULL;
	jobs->check_ended_usec = monotonic_usec();
	jobs->check_cost_usec = job->cpu_usec;
	job->drift->checks++;
	apply_check(job);
	jobs->check_cost_usec += drift_thread_cpu_usec() - began_usec;
	schedule(jobs);
}

static int copy_known(struct drift_job *job)
{
	const struct drift *drift = job->drift;

	job->known = calloc((size_t) drift->known_count + 1, sizeof(*job->known));
	if (!job->known)
		return -ENOMEM;
	job->known[0] = (struct known_mount){
		.mount_id = drift->root_id,
		.place = mount_place_sum(job->root->path),
	};
	if (drift->known_count > 0)
		memcpy(job->known + 1, drift->known, drift->known_count * sizeof(*job->known));
	job->known_count = (size_t) drift->known_count + 1;
	return 0;
}

static void begin_mount_check(struct drift_jobs *jobs)
{
	struct drift_job *job = drift_job_new(jobs->drift, run_mount_check, mount_check_done);

	if (jobs->drift->watch)
		mount_watch_rearm_table(jobs->drift->watch);
	if (!job) { /* the next change tries again */
		jobs->drift->checked = true;
		return;
	}
	job->all = jobs->wanted == CHECK_ALL;
	job->first = !jobs->drift->checked;
	jobs->wanted = CHECK_NONE;
	jobs->at_once = false;
	jobs->wanted_usec = 0;
	if (copy_known(job) < 0) {
		jobs->drift->checked = true;
		drift_job_free(job);
		return;
	}
	jobs->check = job;
	if (!drift_job_submit(job))
		jobs->check = NULL;
}

/* ---- when to check ---- */

static uint64_t due_usec(const struct drift_jobs *jobs)
{
	uint64_t settle = jobs->wanted == CHECK_ALL ? SETTLE_USEC : SETTLE_ALTERED_USEC;
	uint64_t due = jobs->wanted_usec + (jobs->at_once ? 0 : settle);
	uint64_t affordable = jobs->check_ended_usec + COST_FACTOR * jobs->check_cost_usec;
	uint64_t own_over = jobs->own_usec + OWN_QUIET_USEC;
	uint64_t patience_over = jobs->wanted_usec + OWN_PATIENCE_USEC;

	if (!jobs->at_once && due < own_over)
		due = own_over < patience_over ? own_over : patience_over;
	return due < affordable ? affordable : due;
}

int drift_on_check_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	schedule(userdata);
	return 0;
}

static void schedule(struct drift_jobs *jobs)
{
	uint64_t due = due_usec(jobs);

	if (jobs->wanted == CHECK_NONE || jobs->check)
		return;
	if (due <= monotonic_usec()) {
		begin_mount_check(jobs);
		return;
	}
	if (sd_event_source_set_time(jobs->timer, due) < 0 ||
	    sd_event_source_set_enabled(jobs->timer, SD_EVENT_ONESHOT) < 0)
		begin_mount_check(jobs);
}

void drift_request_check(struct drift *drift, enum drift_check check, bool at_once)
{
	struct drift_jobs *jobs = drift->jobs;

	if (jobs->wanted == CHECK_NONE)
		jobs->wanted_usec = monotonic_usec();
	if (check > jobs->wanted)
		jobs->wanted = check;
	jobs->at_once = jobs->at_once || at_once;
	schedule(jobs);
}

void drift_own_work(struct drift *drift)
{
	drift->jobs->own_usec = monotonic_usec();
}

/* ---- which mounts are these? ---- */

static int work_identity(struct drift_job *job, struct failure *reterr)
{
	return mount_compare_ids(job->ids, job->id_count, &job->seen, reterr);
}

static void identity_done(struct drift_job *job)
{
	size_t at = 0;

	job->drift->jobs->identity = NULL;
	drift_job_report_failure(job);
	/* Those that are gone are left out; the order is the same. */
	for (size_t i = 0; i < job->seen.count; i++) {
		const struct mount_entry *entry = &job->seen.items[i]->entry;

		while (at < job->id_count && job->ids[at] != entry->mount_id)
			at++;
		if (at < job->id_count && job->pids[at] != IDENTITY_DROPPED)
			drift_note_other(job->drift, entry, job->pids[at]);
	}
	drift_begin_identity(job->drift);
}

void drift_begin_identity(struct drift *drift)
{
	struct drift_jobs *jobs = drift->jobs;
	struct drift_job *job;

	if (jobs->identity || jobs->id_count == 0)
		return;
	job = drift_job_new(drift, work_identity, identity_done);
	if (!job)
		return;
	job->ids = TAKE_PTR(jobs->ids);
	job->pids = TAKE_PTR(jobs->pids);
	job->id_count = jobs->id_count;
	jobs->id_count = jobs->id_capacity = 0;
	jobs->identity = job;
	if (!drift_job_submit(job))
		jobs->identity = NULL;
}

static int grow_ids(struct drift_jobs *jobs)
{
	size_t capacity = jobs->id_capacity > 0 ? 2 * jobs->id_capacity : 64;
	uint64_t *ids = reallocarray(jobs->ids, capacity, sizeof(*ids));
	pid_t *pids;

	if (!ids)
		return -ENOMEM;
	jobs->ids = ids;
	pids = reallocarray(jobs->pids, capacity, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	jobs->pids = pids;
	jobs->id_capacity = capacity;
	return 0;
}

/* More than a few at once is a storm: then all mounts are checked afterwards. */
void drift_request_identity(struct drift *drift, uint64_t mount_id, pid_t pid)
{
	struct drift_jobs *jobs = drift->jobs;

	if (jobs->id_count == IDENTITIES_MAX ||
	    (jobs->id_count == jobs->id_capacity && grow_ids(jobs) < 0)) {
		drift_request_check(drift, CHECK_ALL, false);
		return;
	}
	jobs->ids[jobs->id_count] = mount_id;
	jobs->pids[jobs->id_count++] = pid;
}

/* Its place in a list of ids, or @count. */
static size_t find_id(const uint64_t *ids, size_t count, uint64_t mount_id)
{
	size_t at = 0;

	while (at < count && ids[at] != mount_id)
		at++;
	return at;
}

/* The thread may have seen it before it went; of its job the loop touches the pids alone. */
void drift_drop_identity(struct drift *drift, uint64_t mount_id)
{
	struct drift_jobs *jobs = drift->jobs;
	struct drift_job *job = jobs->identity;
	size_t at = find_id(jobs->ids, jobs->id_count, mount_id), behind;

	if (at < jobs->id_count) {
		behind = --jobs->id_count - at;
		memmove(jobs->ids + at, jobs->ids + at + 1, behind * sizeof(*jobs->ids));
		memmove(jobs->pids + at, jobs->pids + at + 1, behind * sizeof(*jobs->pids));
	}
	at = job ? find_id(job->ids, job->id_count, mount_id) : 0;
	if (job && at < job->id_count)
		job->pids[at] = IDENTITY_DROPPED;
}
