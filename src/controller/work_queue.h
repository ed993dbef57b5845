/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_queue - what a controller still has to look at: Kubernetes' work queue on the event loop
 *
 * An item stands for one object and has its name as key. Any number of changes make one look. While
 * an order, a call or a write of an item is under way it is busy, and not looked at before its
 * end. What failed is looked at again after a while that doubles. The decisions are the
 * controller's: it looks at the stored objects, never at what changed, so that a start goes on
 * where a kill left it.
 */
#pragma once

#include "base/failure.h"
#include "base/hash_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct cJSON;
struct object;
struct store;
struct work_queue;

/* The first member of a controller's own items. */
struct work_item {
	struct work_queue *queue;
	const char *name;
	unsigned int failures; /* in a row */
	/* The queue's own. */
	bool is_due, is_busy;
	char *said;                    /* the last event about it */
	struct work_item *prev, *next; /* in the list of due ones */
	sd_event_source *retry;        /* NULL: it never failed */
	uint64_t retry_usec;           /* monotonic; 0: when something changes */
	UT_hash_handle hh;
};

struct work_queue_options {
	sd_event *event; /* borrowed */
	int64_t priority;
	struct store *store; /* of its writes; borrowed; NULL: it makes none */
	size_t item_bytes;   /* of a controller's item; zeroes at first */
	size_t busy_max;     /* at once; the rest stays due; 0 without end */
	uint64_t retry_first_usec, retry_max_usec;
	const char *what; /* an item is, for people: "volume"; of work_item_written() */
	/* Decide from the stored objects what is next, and begin it. Return: false: there is
	 * nothing the item stands for any more. */
	bool (*sync)(struct work_item *item);
	/* A write of an item ended, and was refused when @error is negative; NULL: not asked. What
	 * others did to the object meanwhile is no refusal. */
	void (*written)(struct work_item *item, int error, const struct failure *why);
	/* Free what the controller has put into an item; NULL: nothing. */
	void (*clear)(struct work_item *item);
	void *userdata;
};

/* @options: copied. Return: 0 or -ENOMEM. */
int work_queue_new(const struct work_queue_options *options, struct work_queue **ret);
/* An item that is busy is freed by its end, and the queue's memory with the last of them. Accepts
 * NULL. Return: NULL. */
struct work_queue *work_queue_free(struct work_queue *queue);
/* Nothing is looked at any more. */
void work_queue_stop(struct work_queue *queue);
void *work_queue_userdata(const struct work_queue *queue);

/* The item of this name, made when there is none; NULL: out of memory. */
struct work_item *work_queue_item(struct work_queue *queue, const char *name);
/* It is due, made when there is none. Return: 0 or -ENOMEM. */
int work_queue_due(struct work_queue *queue, const char *name);
/* NULL: there is none. */
struct work_item *work_queue_find(struct work_queue *queue, const char *name);
/* @visit may make items due, and nothing else. */
void work_queue_walk(struct work_queue *queue, void (*visit)(struct work_item *item));
/* Something that concerns all of them changed: all are due, and none backs off any more. */
void work_queue_all_due(struct work_queue *queue);

/* To be looked at in the next run. */
void work_item_due(struct work_item *item);
/* Look at all that are due, and at those that these make due; nothing while it runs already. */
void work_queue_run(struct work_queue *queue);

/* Something of it is under way: from sync(), or after its end, before the next run. */
void work_item_begin(struct work_item *item);
/* That is over: it is due again. The caller runs the queue when it has taken the answer. Return:
 * false: the queue was freed, and now the item is. */
bool work_item_end(struct work_item *item);

/* @r: what queueing an order or a write returned: 0 and it began, else it failed. */
void work_item_queued(struct work_item *item, int r);
/* A store_done_fn whose userdata is an item: the end of a write that began. What others did to the
 * object meanwhile is no failure: the next look sees it. */
void work_item_written(void *userdata, int error, const struct object *result,
		       const struct failure *why);

/* Was the last event about it another one, or none? Then it is @text from now on: people hear
 * each thing once. */
bool work_item_is_news(struct work_item *item, const char *text);

/* Writes of the item's object, of which work_item_written() gets the end; one that does not begin
 * has failed. @made: taken; @r: of making it. Nothing but what was seen is overwritten or deleted.
 */
void work_item_create(struct work_item *item, int r, const struct object *made);
void work_item_update(struct work_item *item, int r, const struct object *old,
		      const struct object *made);
void work_item_edit(struct work_item *item, const struct object *object,
		    int (*change)(struct cJSON *tree, void *userdata), void *userdata);
void work_item_delete(struct work_item *item, const struct object *object);

/* It failed: it is due again after a while. sync() asks work_item_backs_off() before it begins
 * again, because changes make it due earlier. */
void work_item_failed(struct work_item *item);
bool work_item_backs_off(const struct work_item *item);
void work_item_succeeded(struct work_item *item);
