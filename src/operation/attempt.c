/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt - one list of stages being run, from thread to thread, until it is over; see attempt.h
 *
 * Neighbouring stages of one place run in one go. The owner of the attempt calls stage_over() after
 * each stage; that is where failures, early ends and cancellation are judged.
 */
#include "operation/attempt.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { FIRST, LIST, LAST };
static_assert(LAST + 1 == STAGE_LISTS, "one name for each");

/* How many stages the lists before @list have, all of them before STAGE_LISTS. */
static size_t count_before(const struct attempt *attempt, unsigned int list)
{
	size_t count = 0;

	for (unsigned int i = 0; i < list; i++)
		count += attempt->counts[i];
	return count;
}

/* The list of the stage at @at, counted over all of them. */
static unsigned int list_of(const struct attempt *attempt, size_t at)
{
	unsigned int list = FIRST;

	while (list < LAST && at >= count_before(attempt, list + 1))
		list++;
	return list;
}

static const struct stage *stage_at(const struct attempt *attempt, size_t at)
{
	unsigned int list = list_of(attempt, at);

	return &attempt->stages[list][at - count_before(attempt, list)];
}

static size_t load_at(const struct attempt *attempt)
{
	return atomic_load_explicit(&attempt->at, memory_order_relaxed);
}

/* ---- the report: of full size only from the first stage to the last ---- */

struct failure *attempt_failure(struct attempt *attempt)
{
	struct stage_report *whole;

	assert(attempt && attempt->report);
	if (attempt->report == attempt->brief) {
		whole = stage_report_whole(attempt->brief);
		if (!whole)
			return NULL;
		attempt->report = whole;
	}
	return &attempt->report->failure;
}

static void shorten_report(struct attempt *attempt)
{
	struct stage_report *whole = attempt->report;

	if (!attempt->brief || whole == attempt->brief ||
	    !stage_report_shorten(whole, attempt->brief))
		return;
	attempt->report = attempt->brief;
	free(whole);
}

void attempt_report_free(struct attempt *attempt)
{
	assert(attempt);
	if (attempt->report != attempt->brief)
		free(attempt->report);
	free(attempt->brief);
	attempt->report = attempt->brief = NULL;
}

/* ---- stages ---- */

static void set_over(struct attempt *attempt, int result)
{
	attempt->result = result;
	attempt->is_over = true;
	/* Closes descriptors, which may keep a mount busy, before anybody hears of the end. */
	stage_list_done(&attempt->first);
	stage_list_done(&attempt->list);
	stage_list_done(&attempt->last);
	if (result == 0)
		shorten_report(attempt);
}

static void set_failed(struct attempt *attempt, const struct stage *stage, int error)
{
	struct stage_report *report = attempt->report;

	if (report->failure.error == 0)
		(void) failed(&report->failure, error, "'%s' failed", stage->name);
	/* What was broken off half way may be there, whatever the stage made of it. */
	if (error == -ECANCELED && attempt->touched && report->error_class == ERROR_FINAL)
		report->error_class = ERROR_UNCERTAIN;
	set_over(attempt, error);
}

static void note_began(struct attempt *attempt, const char *name, uint64_t now_usec)
{
	if (attempt->time_count < STAGE_TIMES_KEPT)
		attempt->times[attempt->time_count] =
			(struct stage_time){ .name = name, .began_usec = now_usec };
	attempt->time_count++;
}

static void note_ended(struct attempt *attempt)
{
	struct stage_time *time;

	assert(attempt->time_count > 0);
	if (attempt->time_count > STAGE_TIMES_KEPT)
		return;
	time = &attempt->times[attempt->time_count - 1];
	time->took_usec = monotonic_usec() - time->began_usec;
}

/* A stage ended with @result; returns true when that was the last one. */
static bool stage_over(struct attempt *attempt, int result)
{
	size_t at = load_at(attempt), next = at + 1;
	const struct stage *stage = stage_at(attempt, at);

	note_ended(attempt);
	/* A stage that answers with nonsense has failed: what it did is unknown. */
	if (result > STAGE_LIST_DONE) {
		attempt->report->error_class = ERROR_UNCERTAIN;
		result = failed_plain(&attempt->report->failure, -EPROTO,
				      "'%s' answered %d, which is not a valid result", stage->name,
				      result);
	}
	if (result < 0) {
		set_failed(attempt, stage, result);
		return true;
	}
	if (result == STAGE_LIST_DONE)
		next = count_before(attempt, list_of(attempt, at) + 1);
	if (next == count_before(attempt, STAGE_LISTS)) {
		set_over(attempt, 0);
		return true;
	}
	atomic_store_explicit(&attempt->at, next, memory_order_relaxed);
	return false;
}

static struct attempt *attempt_of_source(struct source_lock *lock)
{
	return (struct attempt *) ((char *) lock - offsetof(struct attempt, source_lock));
}

/* What the list is about is done before the last one begins: it would be in doubt for nothing. At a
 * stop that one's owner may be gone. */
static bool is_to_end_before(const struct attempt *attempt, size_t at)
{
	return atomic_load(&attempt->cancelled) &&
	       (atomic_load(&attempt->stopped) || list_of(attempt, at) != LAST);
}

/* The next stage, or NULL when a cancellation, or a lack of memory, ended the attempt before it. */
static const struct stage *begin_stage(struct attempt *attempt)
{
	size_t at = load_at(attempt);
	const struct stage *stage;
	struct failure *failure;
	uint64_t now_usec = monotonic_usec();

	assert(!attempt->is_over && at < count_before(attempt, STAGE_LISTS));
	stage = stage_at(attempt, at);
	failure = attempt_failure(attempt);
	if (!failure || is_to_end_before(attempt, at)) {
		attempt->report->error_class = attempt->touched ? ERROR_UNCERTAIN : ERROR_TRANSIENT;
		set_over(attempt,
			 failed_plain(failure, failure ? -ECANCELED : -ENOMEM,
				      "cancelled before '%s': %s", stage->name,
				      atomic_load(&attempt->stopped) ? "podvold is shutting down"
								     : "no longer wanted"));
		return NULL;
	}
	attempt->touched = list_of(attempt, at) != FIRST;
	failure->error = 0;
	attempt->report->failed_at = NULL;
	atomic_store_explicit(&attempt->since_usec, now_usec, memory_order_relaxed);
	note_began(attempt, stage->name, now_usec);
	return stage;
}

static enum stage_place next_place(const struct attempt *attempt)
{
	return stage_at(attempt, load_at(attempt))->place;
}

/* What the stages of the present list share. */
static void *list_data(const struct attempt *attempt)
{
	const struct stage_list *const lists[] = { &attempt->first, &attempt->list,
						   &attempt->last };

	return lists[list_of(attempt, load_at(attempt))]->data;
}

/* The next stage may be left half done: that is noted on the loop. */
static bool is_note_due(const struct attempt *attempt)
{
	return attempt->note && attempt->report->unfinished != UNFINISHED_NOTHING;
}

/* A stage named its source: what follows waits for its turn, which the loop keeps. */
static bool is_source_due(const struct attempt *attempt)
{
	return attempt->report->source.path && !attempt->source_lock.held;
}

/* On a thread of a pool: every stage that belongs there. The loop keeps slots, sources and ledger,
 * so what has to do with them goes on there. */
static void attempt_run(struct worker_job *job)
{
	struct attempt *attempt = (struct attempt *) job;

	attempt->was_run = true;
	do {
		const struct stage *stage = begin_stage(attempt);

		if (!stage || stage_over(attempt, stage->run(list_data(attempt), attempt->report)))
			return;
	} while (next_place(attempt) == attempt->place && !is_note_due(attempt) &&
		 !is_source_due(attempt));
}

static bool go_on(struct attempt *attempt);

/* What waited behind it goes on. */
static void leave_source(struct attempt *attempt)
{
	struct source_locks *locks = attempt->pools.source_locks;
	struct source_lock *next;

	if (!attempt->source_lock.held && !attempt->source_lock.waits)
		return;
	source_lock_release(locks, &attempt->source_lock);
	while ((next = source_lock_next(locks)))
		worker_submit(attempt->pools.workers, &attempt_of_source(next)->job);
}

static void end(struct attempt *attempt)
{
	leave_source(attempt);
	attempt->ended(attempt);
}

/* Once for each start() that returned 0, later and on the loop. */
static void loop_stage_finished(void *token, int result)
{
	struct attempt *attempt = token;

	assert(attempt->place == STAGE_LOOP && !attempt->is_over);
	assert(!attempt->is_starting); /* plugin.h: start() returns first */
	if (stage_over(attempt, result) || go_on(attempt))
		end(attempt);
}

/* A failed start() will not call back: it is the end of the stage. */
static void start_loop_stage(struct attempt *attempt)
{
	const struct stage *stage = begin_stage(attempt);
	int r;

	if (!stage)
		return;
	attempt->is_starting = true;
	r = stage->start(list_data(attempt), attempt->report, loop_stage_finished, attempt);
	attempt->is_starting = false;
	if (r < 0) {
		note_ended(attempt);
		set_failed(attempt, stage, r);
	}
}

/* Returns false when it could not be written: then the next stage must not begin. */
static bool note_unfinished(struct attempt *attempt)
{
	enum unfinished unfinished = attempt->report->unfinished;
	int r;

	attempt->report->unfinished = UNFINISHED_NOTHING;
	r = attempt->note(attempt, unfinished, &attempt->report->failure);
	if (r == 0)
		return true;
	attempt->report->error_class = attempt->touched ? ERROR_UNCERTAIN : ERROR_TRANSIENT;
	set_failed(attempt, stage_at(attempt, load_at(attempt)), r);
	return false;
}

/* Return: 1 go on; 0 wait; a negative errno. */
static int take_source(struct attempt *attempt)
{
	int r;

	assert(next_place(attempt) == STAGE_WORKER && attempt->pools.source_locks);
	r = source_lock_take(attempt->pools.source_locks, &attempt->source_lock,
			     &attempt->report->source);
	if (r < 0)
		set_failed(attempt, stage_at(attempt, load_at(attempt)), r);
	return r;
}

/* On the loop: the next stage, wherever it runs. Returns true when the attempt is over instead.
 * Once a thread has it nothing but what is atomic may be read. */
static bool go_on(struct attempt *attempt)
{
	bool waits = false;

	if (is_note_due(attempt) && !note_unfinished(attempt))
		return true;
	if (is_source_due(attempt)) {
		int r = take_source(attempt);

		if (r < 0)
			return true;
		waits = r == 0;
	}
	attempt->place = next_place(attempt);
	if (attempt->place == STAGE_LOOP) {
		start_loop_stage(attempt);
		return attempt->is_over;
	}
	attempt->on_thread = true;
	attempt->was_run = false;
	atomic_store_explicit(&attempt->since_usec, monotonic_usec(), memory_order_relaxed);
	if (waits)
		return false;
	if (attempt->place == STAGE_WORKER)
		worker_submit(attempt->pools.workers, &attempt->job);
	else if (io_slot_enter(attempt->pools.io_slots, &attempt->io_slot,
			       attempt->report->io_slot))
		worker_submit(attempt->pools.walkers, &attempt->job);
	return false;
}

static struct attempt *attempt_of_io_slot(struct io_slot_place *place)
{
	return (struct attempt *) ((char *) place - offsetof(struct attempt, io_slot));
}

/* A long stage is over: the next that waits for an IO slot takes it. */
static void leave_io_slot(struct attempt *attempt)
{
	struct io_slot_place *next = io_slot_release(attempt->pools.io_slots, &attempt->io_slot);

	if (next)
		worker_submit(attempt->pools.walkers, &attempt_of_io_slot(next)->job);
}

/* The pool closed before this job's turn came. */
static void set_not_run(struct attempt *attempt)
{
	attempt->report->error_class = attempt->touched ? ERROR_UNCERTAIN : ERROR_TRANSIENT;
	set_over(attempt, failed_plain(attempt_failure(attempt), -ECANCELED,
				       "cancelled before '%s': podvold is shutting down",
				       stage_at(attempt, load_at(attempt))->name));
}

static void attempt_done(struct worker_job *job)
{
	struct attempt *attempt = (struct attempt *) job;

	attempt->on_thread = false;
	if (attempt->io_slot.runs)
		leave_io_slot(attempt);
	if (!attempt->is_over && !attempt->was_run)
		set_not_run(attempt);
	if (attempt->is_over || go_on(attempt))
		end(attempt);
}

bool attempt_start(struct attempt *attempt)
{
	assert(attempt && attempt->ended && !attempt->is_over);
	assert(attempt->pools.workers);
	attempt->job.run = attempt_run;
	attempt->job.done = attempt_done;
	attempt->stages[FIRST] = attempt->first.stages;
	attempt->stages[LIST] = attempt->list.stages;
	attempt->stages[LAST] = attempt->last.stages;
	attempt->counts[FIRST] = attempt->first.count;
	attempt->counts[LIST] = attempt->list.count;
	attempt->counts[LAST] = attempt->last.count;
	attempt->report->cancelled = &attempt->cancelled;
	attempt->report->progress = &attempt->progress;
	attempt->report->tool_pid = &attempt->tool_pid;
	if (count_before(attempt, STAGE_LISTS) > 0)
		return !go_on(attempt);
	set_over(attempt, 0);
	return false;
}

void attempt_cancel(struct attempt *attempt)
{
	assert(attempt);
	if (!attempt->is_cancellable)
		return;
	atomic_store(&attempt->cancelled, true);
	/* What waits for a slot or a source waits no longer: on the thread it sees at once that it
	 * is over. */
	if (attempt->source_lock.waits) {
		leave_source(attempt);
		worker_submit(attempt->pools.workers, &attempt->job);
	} else if (attempt->pools.io_slots &&
		   io_slot_give_up(attempt->pools.io_slots, &attempt->io_slot)) {
		worker_submit(attempt->pools.walkers, &attempt->job);
	}
}

void attempt_stop(struct attempt *attempt)
{
	assert(attempt);
	atomic_store(&attempt->stopped, true);
	attempt_cancel(attempt);
}

bool attempt_give_up(struct attempt *attempt)
{
	assert(attempt);
	atomic_store(&attempt->stopped, true);
	/* Whatever it hangs in: nothing that comes after is begun. */
	atomic_store(&attempt->cancelled, true);
	if (attempt->source_lock.waits) { /* there is no pool any more for those behind it */
		source_lock_release(attempt->pools.source_locks, &attempt->source_lock);
		return true;
	}
	return attempt->pools.io_slots &&
	       io_slot_give_up(attempt->pools.io_slots, &attempt->io_slot);
}

size_t attempt_times(const struct attempt *attempt)
{
	assert(attempt && attempt->is_over);
	return attempt->time_count < STAGE_TIMES_KEPT ? attempt->time_count : STAGE_TIMES_KEPT;
}

const char *attempt_stage_name(struct attempt *attempt)
{
	assert(attempt);
	if (count_before(attempt, STAGE_LISTS) == 0)
		return "";
	return stage_at(attempt, load_at(attempt))->name;
}
