/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector - what a controller knows of the store: all objects there are, then each change
 *
 * The ListAndWatch of Kubernetes' client library. A controller that fell off the ring of changes is
 * given everything again; one for which there was no memory is given it again after a second, so
 * that none misses a change. What was deleted in between is in no list: begin() is where a
 * controller forgets what it derived, or makes due all that it stands for. The loop thread only.
 */
#pragma once

#include "store/store.h"

struct reflector;

struct reflector_list {
	enum object_kind kind;
	/* Return: 0; -ENOMEM ends the list, which is begun again later. */
	int (*take)(const struct object *object, void *userdata);
};

struct reflector_options {
	sd_event *event;
	int64_t priority;
	struct store *store;                /* borrowed */
	unsigned int kinds;                 /* set of 1 << enum object_kind that is watched */
	const struct reflector_list *lists; /* in this order; borrowed */
	size_t list_count;
	const char *what; /* waits where there is no memory, for people: "claims" */
	/* Everything is delivered again from here on; NULL: nothing to do. */
	void (*begin)(void *userdata);
	/* Return: 0; -ENOMEM is logged: that object waits for its next change. */
	int (*take_change)(const struct store_change *change, void *userdata);
	/* A batch of changes, or everything again, was taken: act. Not before reflector_new()
	 * returned. */
	void (*act)(void *userdata);
	void *userdata;
};

/* Lists at once. @options: copied. Return: 0; -ENOMEM. */
int reflector_new(const struct reflector_options *options, struct reflector **ret);
/* Not from inside its functions. Accepts NULL. Return: NULL. */
struct reflector *reflector_free(struct reflector *reflector);
/* Take the changes that are there now, without waiting for the loop; act() is not called. */
void reflector_catch_up(struct reflector *reflector);
/* Deliver everything again; act() is not called. */
void reflector_list_again(struct reflector *reflector);
/* Some list could not be delivered to its end, and waits for another try. */
bool reflector_is_behind(const struct reflector *reflector);
