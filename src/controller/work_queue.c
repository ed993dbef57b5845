/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_queue - items that are due, busy, or wait for another try; see work_queue.h
 *
 * Each item that failed has a timer of its own: the loop keeps timers in a heap, so that a failure
 * costs the same however many items there are.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "controller/work_queue.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { RETRY_DOUBLINGS_MAX = 20 };

struct work_queue {
	struct work_queue_options options;
	struct work_item *items; /* by name */
	struct work_item *due;   /* the one that waits longest first */
	size_t busy;
	bool is_stopped, is_running;
	bool is_freed; /* but for items that are busy */
};

/* ---- items ---- */

static void free_item(struct work_item *item)
{
	const struct work_queue_options *options = &item->queue->options;

	if (options->clear)
		options->clear(item);
	(void) sd_event_source_disable_unref(item->retry);
	free((char *) item->name);
	free(item->said);
	free(item);
}

static void forget(struct work_item *item)
{
	if (item->is_due)
		DL_DELETE(item->queue->due, item);
	HASH_DEL(item->queue->items, item);
	free_item(item);
}

struct work_item *work_queue_find(struct work_queue *queue, const char *name)
{
	struct work_item *item;

	HASH_FIND(hh, queue->items, name, strlen(name), item);
	return item;
}

struct work_item *work_queue_item(struct work_queue *queue, const char *name)
{
	struct work_item *item = work_queue_find(queue, name);

	if (item)
		return item;
	item = calloc(1, queue->options.item_bytes);
	if (!item)
		return NULL;
	item->queue = queue;
	item->name = strdup(name);
	if (item->name)
		HASH_ADD_KEYPTR(hh, queue->items, item->name, strlen(name), item);
	if (!item->hh.tbl) {
		free_item(item);
		return NULL;
	}
	return item;
}

int work_queue_due(struct work_queue *queue, const char *name)
{
	struct work_item *item = work_queue_item(queue, name);

	if (!item)
		return -ENOMEM;
	work_item_due(item);
	return 0;
}

void work_queue_walk(struct work_queue *queue, void (*visit)(struct work_item *item))
{
	for (struct work_item *item = queue->items; item; item = item->hh.next)
		visit(item);
}

void work_queue_all_due(struct work_queue *queue)
{
	for (struct work_item *item = queue->items; item; item = item->hh.next) {
		work_item_succeeded(item);
		work_item_due(item);
	}
}

/* ---- sync ---- */

void work_item_due(struct work_item *item)
{
	if (item->is_due)
		return;
	item->is_due = true;
	DL_APPEND(item->queue->due, item);
}

/* The next one that may be looked at. Those that are busy need no place in the list: their end
 * makes them due. */
static struct work_item *take_due(struct work_queue *queue)
{
	struct work_item *item;

	while ((item = queue->due)) {
		if (queue->options.busy_max && queue->busy >= queue->options.busy_max)
			return NULL;
		DL_DELETE(queue->due, item);
		item->is_due = false;
		if (!item->is_busy)
			return item;
	}
	return NULL;
}

void work_queue_run(struct work_queue *queue)
{
	struct work_item *item;

	if (queue->is_running || queue->is_stopped)
		return;
	queue->is_running = true;
	while ((item = take_due(queue)))
		if (!queue->options.sync(item) && !item->is_busy)
			forget(item);
	queue->is_running = false;
}

void work_item_begin(struct work_item *item)
{
	assert(!item->is_busy);
	item->is_busy = true;
	item->queue->busy++;
}

bool work_item_end(struct work_item *item)
{
	struct work_queue *queue = item->queue;

	assert(item->is_busy);
	item->is_busy = false;
	queue->busy--;
	if (!queue->is_freed) {
		work_item_due(item);
		return true;
	}
	free_item(item);
	if (queue->busy == 0)
		free(queue);
	return false;
}

/* ---- trying again ---- */

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct work_item *item = userdata;
	struct work_queue *queue = item->queue;

	item->retry_usec = 0;
	work_item_due(item);
	work_queue_run(queue);
	return 0;
}

static int make_timer(struct work_item *item)
{
	const struct work_queue_options *options = &item->queue->options;
	int r = sd_event_add_time(options->event, &item->retry, CLOCK_MONOTONIC, UINT64_MAX, 1,
				  on_retry, item);

	return r < 0 ? r : sd_event_source_set_priority(item->retry, options->priority);
}

bool work_item_is_news(struct work_item *item, const char *text)
{
	if (item->said && strcmp(item->said, text) == 0)
		return false;
	free(item->said);
	item->said = strdup(text);
	return true;
}

void work_item_failed(struct work_item *item)
{
	const struct work_queue_options *options = &item->queue->options;
	unsigned int doublings =
		item->failures < RETRY_DOUBLINGS_MAX ? item->failures : RETRY_DOUBLINGS_MAX;
	uint64_t delay = options->retry_first_usec << doublings;

	item->failures++;
	item->retry_usec = 0;
	/* Without memory for a timer it waits for its next change. */
	if (!item->retry && make_timer(item) < 0)
		return;
	if (delay > options->retry_max_usec)
		delay = options->retry_max_usec;
	item->retry_usec = monotonic_usec() + delay;
	timer_set(item->retry, item->retry_usec);
}

bool work_item_backs_off(const struct work_item *item)
{
	return item->retry_usec > monotonic_usec();
}

void work_item_succeeded(struct work_item *item)
{
	item->failures = 0;
	item->retry_usec = 0;
	if (item->retry)
		(void) sd_event_source_set_enabled(item->retry, SD_EVENT_OFF);
}

/* ---- orders and writes ---- */

void work_item_queued(struct work_item *item, int r)
{
	if (r == 0)
		work_item_begin(item);
	else
		work_item_failed(item);
}

void work_item_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct work_item *item = userdata;
	bool is_refused = error < 0 && error != -ESTALE && error != -ENOENT && error != -EEXIST &&
			  error != -ECANCELED;

	if (!work_item_end(item))
		return;
	if (is_refused) {
		log_message(LOG_WARNING, "%s '%s': %s", item->queue->options.what, item->name,
			    why->text);
	}
	/* A kube-apiserver that lacks the object answers so each time, until a watch shows it. */
	if (is_refused || error == -ENOENT)
		work_item_failed(item);
	if (item->queue->options.written && !item->queue->is_stopped)
		item->queue->options.written(item, is_refused ? error : 0, why);
	work_queue_run(item->queue);
}

void work_item_create(struct work_item *item, int r, const struct object *made)
{
	cleanup_object const struct object *taken = made;

	if (r == 0)
		r = store_create(item->queue->options.store, taken, work_item_written, item);
	work_item_queued(item, r);
}

void work_item_update(struct work_item *item, int r, const struct object *old,
		      const struct object *made)
{
	const struct store_precondition seen = { .uid = old->meta.uid,
						 .resource_version = old->meta.resource_version };
	cleanup_object const struct object *taken = made;

	if (r == 0)
		r = store_update(item->queue->options.store, taken, &seen, work_item_written, item);
	work_item_queued(item, r);
}

void work_item_edit(struct work_item *item, const struct object *object,
		    int (*change)(struct cJSON *tree, void *userdata), void *userdata)
{
	const struct object *made = NULL;
	struct failure why = { .error = 0 };
	int r = object_edit(object, change, userdata, &made, &why);

	if (r < 0)
		log_message(LOG_WARNING, "%s '%s': %s", item->queue->options.what, item->name,
			    why.error ? why.text : "out of memory");
	work_item_update(item, r, object, made);
}

void work_item_delete(struct work_item *item, const struct object *object)
{
	const struct store_key key = { object->kind, object->meta.name_space, object->meta.name };
	const struct store_precondition seen = { .uid = object->meta.uid };

	work_item_queued(item, store_delete(item->queue->options.store, &key, &seen,
					    work_item_written, item));
}

/* ---- life ---- */

int work_queue_new(const struct work_queue_options *options, struct work_queue **ret)
{
	struct work_queue *queue = calloc(1, sizeof(*queue));

	assert(options->event && options->sync && options->retry_first_usec > 0);
	assert(options->item_bytes >= sizeof(struct work_item) && ret);
	if (!queue)
		return -ENOMEM;
	queue->options = *options;
	*ret = queue;
	return 0;
}

void work_queue_stop(struct work_queue *queue)
{
	if (queue)
		queue->is_stopped = true;
}

void *work_queue_userdata(const struct work_queue *queue)
{
	return queue->options.userdata;
}

struct work_queue *work_queue_free(struct work_queue *queue)
{
	struct work_item *item, *next;

	if (!queue)
		return NULL;
	queue->is_stopped = queue->is_freed = true;
	queue->due = NULL;
	HASH_ITER (hh, queue->items, item, next) {
		HASH_DEL(queue->items, item);
		item->is_due = false;
		item->retry = sd_event_source_disable_unref(item->retry);
		if (!item->is_busy)
			free_item(item);
	}
	if (queue->busy == 0)
		free(queue);
	return NULL;
}
