/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_time - times as views of the node show them; see view_time.h
 */
#include "status/view_time.h"

#include "base/clock.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <stdio.h>
#include <time.h>

/* Tables keep monotonic times; people want the other clock, as it is set now. What is longer ago
 * than 1970 is from then: the clock was set back. */
static uint64_t real_time(uint64_t monotonic_time_usec)
{
	uint64_t real_usec = realtime_usec() + monotonic_time_usec, now_usec = monotonic_usec();

	return real_usec > now_usec ? real_usec - now_usec : 0;
}

void view_print_clock(uint64_t monotonic_time_usec, char text[VIEW_TIME_BYTES])
{
	time_t seconds = (time_t) (real_time(monotonic_time_usec) / USEC_PER_SEC);
	struct tm calendar;

	text[0] = '\0';
	if (gmtime_r(&seconds, &calendar))
		(void) strftime(text, VIEW_TIME_BYTES, "%H:%M:%SZ", &calendar);
}

void view_set_time(struct cJSON *item, const char *key, uint64_t monotonic_time_usec)
{
	char text[TIMESTAMP_BYTES];

	if (monotonic_time_usec == 0)
		return;
	timestamp_print_milli(real_time(monotonic_time_usec), text);
	(void) json_set_string(item, key, text);
}

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
