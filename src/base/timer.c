/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer - see timer.h
 */
#include "base/timer.h"

#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

int timer_new(sd_event *event, uint64_t accuracy_usec, sd_event_time_handler_t due, void *userdata,
	      sd_event_source **ret)
{
	sd_event_source *timer = NULL;
	int r;

	assert(due && ret);
	r = sd_event_add_time(event, &timer, CLOCK_MONOTONIC, UINT64_MAX, accuracy_usec, due,
			      userdata);
	if (r >= 0)
		r = sd_event_source_set_enabled(timer, SD_EVENT_OFF);
	if (r < 0) {
		(void) sd_event_source_disable_unref(timer);
		return r;
	}
	*ret = timer;
	return 0;
}

/* @r: of setting its time. */
static void enable(sd_event_source *timer, int r)
{
	if (r >= 0)
		r = sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
	if (r < 0 && r != -ESTALE) /* the loop has ended */
		log_message(LOG_ERR, "cannot set a timer: %s", strerror(-r));
}

void timer_set(sd_event_source *timer, uint64_t at_usec)
{
	enable(timer, sd_event_source_set_time(timer, at_usec));
}

void timer_set_in(sd_event_source *timer, uint64_t delay_usec)
{
	enable(timer, sd_event_source_set_time_relative(timer, delay_usec));
}

bool timer_is_set(sd_event_source *timer)
{
	return sd_event_source_get_enabled(timer, NULL) > 0;
}
