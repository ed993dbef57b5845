/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_events - what happened to volumes, as it happens: a ring of lines, and cursors into it
 *
 * For programs that follow a node; v1.Events explain it to people. Each event is printed once and
 * kept as text, so that a hundred watchers cost no more than their cursors. Nothing is on disk: who
 * connects after a restart lists the volumes.
 */
#include "status/volume_events.h"

#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/timestamp.h"
#include "operation/operation.h"
#include "status/view_time.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

struct volume_events {
	const struct actual *actual;     /* borrowed */
	char *lines[VOLUME_EVENTS_KEPT]; /* of sequence s at s % VOLUME_EVENTS_KEPT; NULL: none */
	uint64_t last;                   /* sequence; 0: nothing happened yet */
	struct volume_watch *watches;
};

struct volume_watch {
	struct volume_events *events;
	uint64_t next; /* sequence */
	void (*changed)(void *userdata);
	void *userdata;
	char lost[64]; /* the line that says so */
	struct volume_watch *previous, *following;
};

/* ---- the ring ---- */

int volume_events_new(const struct actual *actual, struct volume_events **ret)
{
	struct volume_events *events = calloc(1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	events->actual = actual;
	*ret = events;
	return 0;
}

struct volume_events *volume_events_free(struct volume_events *events)
{
	if (!events)
		return NULL;
	assert(!events->watches);
	for (size_t i = 0; i < VOLUME_EVENTS_KEPT; i++)
		free(events->lines[i]);
	free(events);
	return NULL;
}

/* The oldest sequence that is still there. */
static uint64_t oldest(const struct volume_events *events)
{
	return events->last < VOLUME_EVENTS_KEPT ? 1 : events->last - VOLUME_EVENTS_KEPT + 1;
}

static const char *line_of(const struct volume_events *events, uint64_t sequence)
{
	return events->lines[sequence % VOLUME_EVENTS_KEPT];
}

/* Takes @tree. */
static void add(struct volume_events *events, struct cJSON *tree)
{
	struct volume_watch *watch, *following;
	char **place, *line;

	(void) json_set_int(tree, "sequence", (int64_t) events->last + 1);
	line = tree ? json_print(tree) : NULL;
	json_free(tree);
	if (!line) {
		log_message(LOG_WARNING, "out of memory: watchers miss what happened to a volume");
		return;
	}
	place = &events->lines[++events->last % VOLUME_EVENTS_KEPT];
	free(*place);
	*place = line;
	/* Reported only by who may end its watch in answer. */
	DL_FOREACH_SAFE2(events->watches, watch, following, following)
	watch->changed(watch->userdata);
}

/* ---- what happened ---- */

/* NULL: a step of the device alone that ended well, which a pod's owner need not know. */
static const char *type_of(const struct step_result *result, const struct actual_pod *pod)
{
	if (result->error == -ECANCELED)
		return NULL;
	if (result->error < 0)
		return "Failed";
	if (result->kind == STEP_PUBLISH)
		return pod && pod->state == MOUNT_DONE ? "Remounted" : "Mounted";
	return result->kind == STEP_UNPUBLISH ? "Unmounted" : NULL;
}

static void describe_failure(struct cJSON *tree, const struct operation_ended *ended)
{
	(void) json_set_string(tree, "error", ended->report->failure.text);
	(void) json_set_int(tree, "attempt", ended->attempt);
	view_set_time(tree, "nextRetry", ended->retry_usec);
}

void volume_events_note(void *userdata, const struct operation_ended *ended)
{
	struct volume_events *events = userdata;
	const struct step_result *result = &ended->result;
	const struct actual_volume *volume = actual_find(events->actual, result->unique_name);
	const struct actual_pod *pod =
		volume && result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;
	const char *type = type_of(result, pod);
	struct cJSON *tree;
	char time[TIMESTAMP_BYTES];

	assert(events);
	if (!type)
		return;
	tree = json_new_object();
	timestamp_print_milli(realtime_usec(), time);
	(void) json_set_string(tree, "type", type);
	(void) json_set_string(tree, "time", time);
	(void) json_set_string(tree, "pod", pod ? pod->pod_key : "");
	(void) json_set_string(tree, "podUID", result->pod_uid ? result->pod_uid : "");
	(void) json_set_string(tree, "volume", pod ? pod->outer_name : "");
	(void) json_set_string(tree, "uniqueName", result->unique_name);
	(void) json_set_string(tree, "path", pod ? pod->path : "");
	(void) json_set_string(tree, "step", ended->name);
	if (result->error < 0)
		describe_failure(tree, ended);
	else if (result->took_usec > 0)
		(void) json_set_int(tree, "tookMicroseconds", (int64_t) result->took_usec);
	add(events, tree);
}

/* ---- those who follow ---- */

uint64_t volume_events_sequence(const struct volume_events *events)
{
	return events->last;
}

struct cJSON *volume_events_view(const struct volume_events *events)
{
	const struct json_limits limits = { .bytes = 65536, .depth = 4 };
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	for (uint64_t sequence = oldest(events); sequence <= events->last; sequence++) {
		const char *line = line_of(events, sequence);
		struct cJSON *tree = NULL;

		(void) json_parse(line, strlen(line), &limits, &tree, NULL);
		(void) json_set(items, NULL, tree);
	}
	return list;
}

int volume_events_watch(struct volume_events *events, uint64_t after,
			void (*changed)(void *userdata), void *userdata, struct volume_watch **ret)
{
	struct volume_watch *watch = calloc(1, sizeof(*watch));

	assert(events && changed);
	if (!watch)
		return -ENOMEM;
	/* Sequences from before a restart lie ahead of what is there: all of it is news. */
	if (after == UINT64_MAX)
		watch->next = events->last + 1;
	else
		watch->next = after > events->last ? 1 : after + 1;
	watch->events = events;
	watch->changed = changed;
	watch->userdata = userdata;
	DL_APPEND2(events->watches, watch, previous, following);
	*ret = watch;
	return 0;
}

struct volume_watch *volume_watch_free(struct volume_watch *watch)
{
	if (!watch)
		return NULL;
	DL_DELETE2(watch->events->watches, watch, previous, following);
	free(watch);
	return NULL;
}

const char *volume_watch_next(struct volume_watch *watch)
{
	const struct volume_events *events = watch->events;
	uint64_t first = oldest(events);

	assert(watch->next > 0);
	if (watch->next < first) {
		(void) snprintf(watch->lost, sizeof(watch->lost),
				"{\"type\":\"Lost\",\"lost\":%" PRIu64 "}", first - watch->next);
		watch->next = first;
		return watch->lost;
	}
	if (watch->next > events->last)
		return NULL;
	return line_of(events, watch->next++);
}
