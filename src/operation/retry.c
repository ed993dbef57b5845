/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry - what has to be looked at again at a later time; see retry.h
 *
 * A list sorted by time, filled from its end: what fails together has the same delay, so new
 * entries belong near the end.
 */
#include "operation/retry.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <utlist.h>

/* Retries may come a little late: near ones then share a wake-up. */
#define RETRY_ACCURACY_USEC (5 * USEC_PER_MSEC)

struct retry_queue {
	struct retry_entry *entries;
	sd_event_source *timer;
	void (*due)(void *userdata, struct retry_entry *entry);
	void *userdata;
};

/* Neither call can fail for a timer source of a loop that runs. */
static void arm(struct retry_queue *queue)
{
	if (queue->entries)
		(void) sd_event_source_set_time(queue->timer, queue->entries->due_usec);
	(void) sd_event_source_set_enabled(queue->timer,
					   queue->entries ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct retry_queue *queue = userdata;
	uint64_t now_usec = monotonic_usec();
	struct retry_entry *entry;

	while ((entry = queue->entries) && entry->due_usec <= now_usec) {
		DL_DELETE(queue->entries, entry);
		entry->waits = false;
		queue->due(queue->userdata, entry);
	}
	arm(queue);
	return 0;
}

int retry_queue_new(sd_event *event, void (*due)(void *userdata, struct retry_entry *entry),
		    void *userdata, struct retry_queue **ret)
{
	struct retry_queue *queue;
	int r;

	assert(event && due && ret);
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	queue->due = due;
	queue->userdata = userdata;
	r = sd_event_add_time(event, &queue->timer, CLOCK_MONOTONIC, 0, RETRY_ACCURACY_USEC,
			      on_timer, queue);
	if (r < 0) {
		free(queue);
		return r;
	}
	arm(queue);
	*ret = queue;
	return 0;
}

struct retry_queue *retry_queue_free(struct retry_queue *queue)
{
	if (!queue)
		return NULL;
	sd_event_source_disable_unref(queue->timer);
	free(queue);
	return NULL;
}

void retry_add(struct retry_queue *queue, struct retry_entry *entry, uint64_t due_usec)
{
	struct retry_entry *before = NULL;

	assert(queue && entry);
	retry_remove(queue, entry);
	entry->due_usec = due_usec;
	entry->waits = true;

	/* The head's prev is the tail. */
	if (queue->entries && queue->entries->prev->due_usec > due_usec)
		for (before = queue->entries->prev;
		     before != queue->entries && before->prev->due_usec > due_usec;)
			before = before->prev;
	if (before)
		DL_PREPEND_ELEM(queue->entries, before, entry);
	else
		DL_APPEND(queue->entries, entry);
	if (queue->entries == entry)
		arm(queue);
}

void retry_remove(struct retry_queue *queue, struct retry_entry *entry)
{
	bool was_first;

	assert(queue && entry);
	if (!entry->waits)
		return;
	was_first = queue->entries == entry;
	DL_DELETE(queue->entries, entry);
	entry->waits = false;
	if (was_first)
		arm(queue);
}
