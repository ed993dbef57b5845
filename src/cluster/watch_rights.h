/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_rights - may objects of a kind in a namespace be watched by name?
 *
 * Asks nothing itself: a watch of one object is the question. The loop thread only.
 */
#pragma once

#include "object/kind.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

struct watch_rights;
struct watch_right;
/* changed(): a watch may begin now where there is none; a right is borrowed. */
int watch_rights_new(sd_event *event,
		     void (*changed)(void *userdata, const struct watch_right *right),
		     void *userdata, struct watch_rights **ret);
/* When no right is used any more. Accepts NULL. Return: NULL. */
struct watch_rights *watch_rights_free(struct watch_rights *rights);
/* One for each object. NULL: no memory. */
struct watch_right *watch_right_use(struct watch_rights *rights, enum object_kind kind,
				    const char *name_space);
/* Accepts NULL. Return: NULL. */
struct watch_right *watch_right_unuse(struct watch_right *right);
/* May a watch begin? True for one that tries, too: it says later which of the three it was. */
bool watch_right_begin(struct watch_right *right);
void watch_right_granted(struct watch_right *right);
void watch_right_refused(struct watch_right *right);
void watch_right_given_up(struct watch_right *right); /* there was no answer */
bool watch_right_is_granted(const struct watch_right *right);
