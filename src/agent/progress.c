/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - how far a long walk is, in words
 */
#include "agent/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { EARLY_USEC = 200000 }; /* before that a rate says nothing */

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

void progress_text(const struct operation_view *view, uint64_t now_usec,
		   char ret[PROGRESS_TEXT_BYTES])
{
	const struct ownership_progress *progress = view->progress;
	uint64_t begun_usec = progress ? atomic_load(&progress->begun_usec) : 0;
	char rate[PROGRESS_TEXT_BYTES] = "", most[48] = "";
	uint64_t entries, expected;

	assert(ret);
	*ret = '\0';
	if (view->running && view->waits_for_lane) {
		(void) snprintf(ret, PROGRESS_TEXT_BYTES,
				"waiting: %d other long walks use the same device",
				LANE_STAGES_MAX);
		return;
	}
	if (!view->running || begun_usec == 0)
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
