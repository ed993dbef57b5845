/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_class - the loop of every controller; see controller_class.h
 */
#include "controller/controller_class.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void controller_run(void *userdata)
{
	struct controller *controller = userdata;

	for (size_t i = 0; i < CONTROLLER_QUEUES_MAX && controller->queues[i]; i++)
		work_queue_run(controller->queues[i]);
}

static void make_all_due(struct controller *controller)
{
	for (size_t i = 0; i < CONTROLLER_QUEUES_MAX && controller->queues[i]; i++)
		work_queue_all_due(controller->queues[i]);
}

void controller_all_due(void *userdata)
{
	make_all_due(userdata);
	controller_run(userdata);
}

/* ---- watching ---- */

static void begin(void *userdata)
{
	struct controller *controller = userdata;

	make_all_due(controller);
	if (controller->class->begin)
		controller->class->begin(controller);
}

static void act(void *userdata)
{
	struct controller *controller = userdata;

	if (controller->class->act)
		controller->class->act(controller);
	controller_run(controller);
}

static int watch(struct controller *controller, const struct controller_options *options)
{
	const struct controller_class *class = controller->class;
	struct reflector_options reflector = {
		.event = options->event,
		.priority = options->priority,
		.store = options->store,
		.kinds = class->kinds,
		.lists = class->lists,
		.what = class->what,
		.begin = begin,
		.take_change = class->take_change,
		.act = act,
		.userdata = controller,
	};

	if (!class->kinds)
		return 0;
	while (reflector.list_count < CONTROLLER_LISTS_MAX &&
	       class->lists[reflector.list_count].take)
		reflector.list_count++;
	return reflector_new(&reflector, &controller->reflector);
}

/* ---- life ---- */

static int make_queues(struct controller *controller, const struct controller_options *options)
{
	int r = 0;

	for (size_t i = 0; i < CONTROLLER_QUEUES_MAX && controller->class->queues[i].sync && r >= 0;
	     i++) {
		struct work_queue_options queue = controller->class->queues[i];

		queue.event = options->event;
		queue.priority = options->priority;
		queue.store = options->store;
		queue.userdata = controller;
		if (!queue.retry_first_usec) {
			queue.retry_first_usec = USEC_PER_SEC;
			queue.retry_max_usec = 300 * USEC_PER_SEC;
		}
		r = work_queue_new(&queue, &controller->queues[i]);
	}
	return r;
}

int controller_new(const struct controller_class *class, const void *options, void *ret)
{
	const struct controller_options *common = options;
	struct controller *controller = calloc(1, class->bytes);
	int r = 0;

	assert(common->event && common->store && ret);
	if (!controller)
		return -ENOMEM;
	controller->class = class;
	memcpy((char *) controller + class->options_at, options, class->options_bytes);
	if (class->open)
		r = class->open(controller);
	if (r >= 0)
		r = make_queues(controller, common);
	if (r >= 0)
		r = watch(controller, common);
	if (r < 0) {
		(void) controller_free(controller);
		return r;
	}
	memcpy(ret, &controller, sizeof(controller)); /* a pointer to another struct than this */
	act(controller);
	return 0;
}

void *controller_free(void *userdata)
{
	struct controller *controller = userdata;

	if (!controller)
		return NULL;
	controller->reflector = reflector_free(controller->reflector);
	if (controller->class->close)
		controller->class->close(controller);
	if (controller->class->end_item && controller->queues[0])
		work_queue_walk(controller->queues[0], controller->class->end_item);
	for (size_t i = 0; i < CONTROLLER_QUEUES_MAX; i++)
		(void) work_queue_free(controller->queues[i]);
	free(controller);
	return NULL;
}
