/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_class - what the controllers have in common: a row of call-backs, and one loop for all
 *
 * A controller watches some kinds, puts what a change concerns into its queues, and has each item
 * looked at on the loop. list and watch, queues, back-off and the order of birth and death are
 * here; which objects concern it and what is next for one of them is the row's. Whatever takes
 * long is a write or a call, whose end comes to the loop again.
 */
#pragma once

#include "controller/controller.h"
#include "controller/work_queue.h"
#include "store/reflector.h"

enum { CONTROLLER_LISTS_MAX = 3, CONTROLLER_QUEUES_MAX = 2 };

/* The first member of every controller. */
struct controller {
	const struct controller_class *class;
	struct reflector *reflector;
	struct work_queue *queues[CONTROLLER_QUEUES_MAX]; /* as those of the class */
};

/* Functions get the controller; what is NULL does nothing. */
struct controller_class {
	size_t bytes;                     /* of the controller */
	size_t options_at, options_bytes; /* where it keeps its copy of the options */
	const char *what;                 /* waits where there is no memory, for people: "claims" */
	unsigned int kinds;               /* set of 1 << enum object_kind; 0: it watches nothing */
	struct reflector_list lists[CONTROLLER_LISTS_MAX]; /* ended by a NULL function */
	/* Ended by a NULL sync(); event, priority, store and userdata are filled in, and 1 s and
	 * 300 s, which are the CSI sidecars', where there is no back-off. */
	struct work_queue_options queues[CONTROLLER_QUEUES_MAX];
	int (*open)(void *controller);   /* before the queues are made */
	void (*begin)(void *controller); /* all items are due, and everything is reported again */
	int (*take_change)(const struct store_change *change, void *controller);
	void (*act)(void *controller);   /* a batch was taken; before the queues run */
	void (*close)(void *controller); /* nothing is watched any more; its queues are there */
	/* Break off the call of an item of the first queue, so that it goes with the queue. */
	void (*end_item)(struct work_item *item);
	size_t call_at; /* for csi_item_end_call(): of the struct csi_call * in such an item */

	/* Of the CSI controllers, see csi_controller.h. */
	void (*driver_changed)(void *controller, const char *driver);
	void (*resync)(void *controller);
	void (*room_changed)(void *controller, const char *driver);
};

#define CONTROLLER_OF(type)                                                                        \
	.bytes = sizeof(struct type), .options_at = offsetof(struct type, options),                \
	.options_bytes = sizeof(((struct type *) NULL)->options)

/**
 * controller_new - make a controller of a class, and have it look at everything
 * @options: of the class; a struct controller_options comes first; copied
 * @ret:     pointer to a pointer to the class's own struct
 *
 * Return: 0 or -ENOMEM, or as sd_event.
 */
int controller_new(const struct controller_class *class, const void *options, void *ret);
/* Have everything that is due looked at. */
void controller_run(void *controller);
/* Something that concerns all items changed: look at all, and no one backs off any more. */
void controller_all_due(void *controller);
/* Calls are broken off, objects stay, and a write under way ends in the store. Accepts NULL.
 * Return: NULL. */
void *controller_free(void *controller);
