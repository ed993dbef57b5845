/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer - a wait of the event loop by the monotonic clock: not set at first, due once each time it
 * is set
 *
 * An event source like any other: its owner gives it a priority and frees it by
 * sd_event_source_disable_unref().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* @accuracy_usec: how much later it may be due, so that wake-ups can be shared; 0: 250 ms. Return:
 * 0, or a negative errno of sd_event_add_time(). */
int timer_new(sd_event *event, uint64_t accuracy_usec, sd_event_time_handler_t due, void *userdata,
	      sd_event_source **ret);

/* In place of an earlier time. What cannot be set for want of memory is logged, and never due. */
void timer_set(sd_event_source *timer, uint64_t at_usec);
void timer_set_in(sd_event_source *timer, uint64_t delay_usec);
bool timer_is_set(sd_event_source *timer);
