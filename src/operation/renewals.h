/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renewals - volumes that are to be set up again at a time of the day: tokens in them expire
 *
 * One timer at the earliest time, none while nothing is due ever. The times are those of the real
 * clock, and when it is set all volumes are due at once: a token may have expired, or be one
 * of tomorrow. What is due is reported and forgotten; the set-up that follows says when it is due
 * next. The loop thread only.
 */
#pragma once

#include "operation/operation.h"

#include <stdint.h>
#include <systemd/sd-event.h>

struct renewals;

struct renewals_options {
	sd_event *event; /* borrowed */
	int64_t priority;
	void (*due)(void *userdata, const char *unique_name, const char *pod_uid);
	void *userdata;
};

/* Return: 0; -ENOMEM; -EMFILE. */
int renewals_new(const struct renewals_options *options, struct renewals **ret);
/* Accepts NULL. Return: NULL. */
struct renewals *renewals_free(struct renewals *renewals);

/**
 * renewals_set - when a volume is due
 * @renewals: NULL: no times are kept
 * @due_usec: real time; 0: never
 *
 * Return: 0; -ENOMEM: it is due as it was before.
 */
int renewals_set(struct renewals *renewals, const char *unique_name, const char *pod_uid,
		 uint64_t due_usec);

/* Hooks of an observer of steps: a set-up said when its volume is due again; an unmount, or a
 * volume that is forgotten, ends that. @renewals is a struct renewals or NULL. */
void renewals_step_ended(void *renewals, const struct operation_ended *ended);
void renewals_forget(void *renewals, const char *unique_name, const char *pod_uid);
