/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt_text - see attempt_text.h
 */
#include "status/attempt_text.h"

#include "base/clock.h"
#include "status/view_time.h"

#include <stdio.h>

void attempt_text(unsigned int attempt, uint64_t failing_usec, uint64_t retry_usec, bool is_kept,
		  char ret[ATTEMPT_TEXT_BYTES])
{
	char first[VIEW_TIME_BYTES] = "", next[VIEW_TIME_BYTES + 8] = "", clock[VIEW_TIME_BYTES];
	uint64_t now_usec = monotonic_usec();

	if (is_kept) {
		view_print_clock(failing_usec, first);
		view_print_clock(retry_usec, clock);
		(void) snprintf(next, sizeof(next), "at %s", clock);
	} else {
		(void) snprintf(first, sizeof(first), "%.1f s",
				(double) (now_usec - failing_usec) / 1e6);
		(void) snprintf(next, sizeof(next), "in %.1f s",
				retry_usec > now_usec ? (double) (retry_usec - now_usec) / 1e6 : 0);
	}
	(void) snprintf(ret, ATTEMPT_TEXT_BYTES, "attempt %u, failing %s %s, next %s", attempt,
			is_kept ? "since" : "for", first,
			retry_usec > 0 ? next : "when its driver is registered");
}
