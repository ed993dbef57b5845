/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_text - how it is with an operation, in words; see status.h
 */
#include "status/status.h"

#include "base/thread_stack.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { EARLY_USEC = 200000 }; /* before that a rate says nothing */

void slow_text(const struct operation_view *view, char ret[SLOW_TEXT_BYTES])
{
	char stack[THREAD_STACK_BYTES];

	assert(view && ret);
	*ret = '\0';
	if (view->awaits)
		(void) snprintf(ret, SLOW_TEXT_BYTES, "waits for the driver '%s'", view->awaits);
	if (!view->running || view->pace == PACE_USUAL)
		return;
	if (view->tool_pid > 0) {
		(void) snprintf(ret, SLOW_TEXT_BYTES, "process %d runs", view->tool_pid);
		return;
	}
	if (view->waits_for_thread) {
		(void) snprintf(ret, SLOW_TEXT_BYTES,
				"waits for a thread: all of them are at work or hang");
		return;
	}
	thread_stack_read(view->thread_id, stack);
	if (*stack)
		(void) snprintf(ret, SLOW_TEXT_BYTES, "thread %d waits in %s", view->thread_id,
				stack);
	else if (view->thread_id > 0)
		(void) snprintf(ret, SLOW_TEXT_BYTES, "thread %d", view->thread_id);
}

const char *slow_advice(const struct operation_view *view)
{
	assert(view);
	return view->running && view->pace != PACE_USUAL && !view->waits_for_thread
		       ? advice_clause(-ETIMEDOUT)
		       : "";
}

const char *operation_state_name(const struct operation_view *view)
{
	static const char *const paces[] = {
		[PACE_USUAL] = "running",
		[PACE_SLOW] = "slow",
		[PACE_STUCK] = "uncertain, stuck",
	};

	assert(view);
	return view->running ? paces[view->pace] : "waiting for its retry";
}

/* The file system's count of inodes bounds what there is to do: a volume may be a part of it. */
static void print_rate(uint64_t entries, uint64_t expected, uint64_t usec,
		       char ret[PROGRESS_TEXT_BYTES])
{
	double rate = (double) entries * 1e6 / (double) usec;

	if (expected > entries && rate >= 1)
		(void) snprintf(ret, PROGRESS_TEXT_BYTES, ", %.0f a second, %.1f s left at most",
				rate, (double) (expected - entries) / rate);
	else
		(void) snprintf(ret, PROGRESS_TEXT_BYTES, ", %.0f a second", rate);
}

bool progress_runs(const struct operation_view *view)
{
	const struct ownership_progress *progress = view->progress;

	return view->running && progress && atomic_load(&progress->begun_usec) > 0 &&
	       atomic_load(&progress->ended_usec) == 0;
}

void progress_text(const struct operation_view *view, uint64_t now_usec,
		   char ret[PROGRESS_TEXT_BYTES])
{
	const struct ownership_progress *progress = view->progress;
	uint64_t begun_usec = progress ? atomic_load(&progress->begun_usec) : 0;
	char rate[PROGRESS_TEXT_BYTES] = "", most[48] = "";
	uint64_t entries, expected;

	assert(ret);
	*ret = '\0';
	if (view->running && view->waits_for_source) {
		(void) snprintf(ret, PROGRESS_TEXT_BYTES,
				"waiting: another volume on the same files is being set up");
		return;
	}
	if (view->running && view->waits_for_io_slot) {
		(void) snprintf(ret, PROGRESS_TEXT_BYTES,
				"waiting: %d other long walks use the same device",
				IO_SLOT_STAGES_MAX);
		return;
	}
	if (!progress_runs(view))
		return;
	entries = atomic_load(&progress->entries);
	expected = atomic_load(&progress->expected);
	if (now_usec > begun_usec + EARLY_USEC)
		print_rate(entries, expected, now_usec - begun_usec, rate);
	if (expected > 0)
		(void) snprintf(most, sizeof(most), " of at most %" PRIu64, expected);
	(void) snprintf(ret, PROGRESS_TEXT_BYTES, "%" PRIu64 "%s entries%.90s", entries, most,
			rate);
}
