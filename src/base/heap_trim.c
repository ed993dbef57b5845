/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_trim - see heap_trim.h
 */
#include "base/heap_trim.h"
#include "base/timer.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

struct heap_trim {
	sd_event_source *timer;
	uint64_t quiet_usec;
	void (*release)(void *userdata);
	void *userdata;
	size_t changes; /* since the timer was set, or since the last trim */
};

static void set_timer(struct heap_trim *trim)
{
	trim->changes = 0;
	timer_set_in(trim->timer, trim->quiet_usec);
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct heap_trim *trim = userdata;

	if (trim->changes >= HEAP_TRIM_BURST) {
		set_timer(trim);
		return 0;
	}
	trim->release(trim->userdata);
	(void) malloc_trim(0);
	return 0;
}

int heap_trim_new(sd_event *event, uint64_t quiet_usec, void (*release)(void *userdata),
		  void *userdata, struct heap_trim **ret)
{
	struct heap_trim *trim = calloc(1, sizeof(*trim));
	int r;

	assert(event && release && ret);
	if (!trim)
		return -ENOMEM;
	trim->quiet_usec = quiet_usec;
	trim->release = release;
	trim->userdata = userdata;
	r = timer_new(event, 1, on_time, trim, &trim->timer);
	if (r < 0) {
		(void) heap_trim_free(trim);
		return r;
	}
	*ret = trim;
	return 0;
}

struct heap_trim *heap_trim_free(struct heap_trim *trim)
{
	if (!trim)
		return NULL;
	(void) sd_event_source_disable_unref(trim->timer);
	free(trim);
	return NULL;
}

void heap_trim_note(struct heap_trim *trim, size_t changes)
{
	if (!trim)
		return;
	trim->changes += changes;
	if (trim->changes >= HEAP_TRIM_BURST && !timer_is_set(trim->timer))
		set_timer(trim);
}
