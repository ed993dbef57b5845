/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - what happened to objects; see events.h
 *
 * Every event of the store has an entry here, in the order of the last change; podvold's have the
 * key by which equal ones are found, are made when the write is queued and go when it fails; all
 * others, and the end of each, come from a watch.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "events/events.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/text.h"
#include "base/timer.h"
#include "events/event_object.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 254, SUFFIX_BYTES = 18 }; /* ".0123456789abcdef" and its end */
enum { EXPIRY_USEC_MIN = 60 * 1000000 };

struct event {
	char *path; /* "namespace/name" in the store */
	char *key;  /* kind, name, uid, reason and text: what makes two events the same; NULL: not
		       podvol's */
	uint64_t count, first_usec, last_usec; /* real time */
	bool is_going; /* its deletion is queued: in no order any more, waiting for the answer */
	struct event *older, *newer; /* order of the last change */
	UT_hash_handle by_path, by_key;
};

struct events {
	struct events_options options;
	struct store_watch *watch;
	struct event *paths, *keys;
	struct event *oldest, *newest;
	size_t count;            /* of those in the order */
	sd_event_source *expiry; /* of the oldest, or earlier; off: nothing is kept */
	uint64_t last_number;
	size_t answers_due; /* writes that will be answered, maybe after events_free() */
	bool is_closed;
};

/* A queued write: what to drop when it fails. */
struct pending {
	struct events *events;
	bool is_delete;
	char path[];
};

/* ---- entries ---- */

static void unlink_event(struct events *events, struct event *event)
{
	if (event->older)
		event->older->newer = event->newer;
	else
		events->oldest = event->newer;
	if (event->newer)
		event->newer->older = event->older;
	else
		events->newest = event->older;
	event->older = event->newer = NULL;
}

/* The newest: forgotten last. */
static void append_event(struct events *events, struct event *event, uint64_t now_usec)
{
	event->last_usec = now_usec;
	event->older = events->newest;
	if (events->newest)
		events->newest->newer = event;
	else
		events->oldest = event;
	events->newest = event;
}

static void move_to_newest(struct events *events, struct event *event, uint64_t now_usec)
{
	unlink_event(events, event);
	append_event(events, event, now_usec);
}

/* Accepts half-built ones. */
static void event_free(struct event *event)
{
	if (!event)
		return;
	free(event->path);
	free(event->key);
	free(event);
}

static void leave_order(struct events *events, struct event *event)
{
	unlink_event(events, event);
	if (event->key)
		HASH_DELETE(by_key, events->keys, event);
	free(event->key);
	event->key = NULL;
	events->count--;
}

static void drop(struct events *events, struct event *event)
{
	if (!event->is_going)
		leave_order(events, event);
	HASH_DELETE(by_path, events->paths, event);
	event_free(event);
}

static void drop_all(struct events *events)
{
	struct event *event, *next;

	HASH_ITER (by_path, events->paths, event, next)
		drop(events, event);
}

static struct event *find_path(const struct events *events, const char *path)
{
	struct event *event;

	HASH_FIND(by_path, events->paths, path, strlen(path), event);
	return event;
}

static struct event *find_key(const struct events *events, const char *key)
{
	struct event *event;

	HASH_FIND(by_key, events->keys, key, strlen(key), event);
	return event;
}

/* ---- writes ---- */

/* That an event could not be written, or was deleted before, is no mishap: the next one
 * is written again. */
static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct pending *pending = userdata;
	struct events *events = pending->events;
	struct event *event = events->is_closed ? NULL : find_path(events, pending->path);

	if (event && (error < 0 || pending->is_delete))
		drop(events, event);
	free(pending);
	events->answers_due--;
	if (events->is_closed && events->answers_due == 0)
		free(events);
}

/* NULL: no memory. */
static struct pending *pending_new(struct events *events, const char *path, bool is_delete)
{
	struct pending *pending = malloc(sizeof(*pending) + strlen(path) + 1);

	if (!pending)
		return NULL;
	pending->events = events;
	pending->is_delete = is_delete;
	memcpy(pending->path, path, strlen(path) + 1);
	events->answers_due++;
	return pending;
}

/* A write that was not even queued fails at once. */
static void end_now(struct pending *pending, int error)
{
	on_written(pending, error, NULL, NULL);
}

static void delete_event(struct events *events, struct event *event)
{
	struct pending *pending = pending_new(events, event->path, true);
	cleanup_free char *name_space = NULL;
	const char *slash = strchr(event->path, '/');
	struct store_key key = { .kind = KIND_EVENT };
	int r;

	if (!pending) {
		drop(events, event);
		return;
	}
	leave_order(events, event);
	event->is_going = true;
	name_space = strndup(event->path, (size_t) (slash - event->path));
	key.name_space = name_space;
	key.name = slash + 1;
	r = name_space ? store_delete(events->options.store, &key, NULL, on_written, pending)
		       : -ENOMEM;
	if (r < 0)
		end_now(pending, r);
}

static void forget_oldest(struct events *events, uint64_t now_usec)
{
	uint64_t age_usec = events->options.age_usec;

	while (events->count > events->options.capacity ||
	       (events->oldest && now_usec >= events->oldest->last_usec + age_usec))
		delete_event(events, events->oldest);
}

/* A wake-up a minute at most. By the monotonic clock: one that jumps makes it late, not busy. */
static int set_expiry(struct events *events)
{
	uint64_t now_usec = realtime_usec(), wait_usec = EXPIRY_USEC_MIN;

	if (!events->oldest)
		return sd_event_source_set_enabled(events->expiry, SD_EVENT_OFF);
	if (events->oldest->last_usec + events->options.age_usec > now_usec + wait_usec)
		wait_usec = events->oldest->last_usec + events->options.age_usec - now_usec;
	timer_set_in(events->expiry, wait_usec);
	return 0;
}

static int on_expiry(sd_event_source *source, uint64_t usec, void *userdata)
{
	forget_oldest(userdata, realtime_usec());
	return set_expiry(userdata);
}

/* ---- entries of new events ---- */

/* Takes both texts, also on failure; @key may be NULL. NULL: no memory. */
static struct event *add_entry(struct events *events, char *path, char *key, uint64_t now_usec)
{
	struct event *event = calloc(1, sizeof(*event));

	if (!event || !path) {
		free(path);
		free(key);
		free(event);
		return NULL;
	}
	event->path = path;
	event->key = key;
	HASH_ADD_KEYPTR(by_path, events->paths, event->path, strlen(event->path), event);
	if (!event->by_path.tbl) {
		free(path);
		free(key);
		free(event);
		return NULL;
	}
	if (key) {
		HASH_ADD_KEYPTR(by_key, events->keys, event->key, strlen(event->key), event);
		/* Then equal ones are not counted in it. */
		if (!event->by_key.tbl) {
			free(key);
			event->key = NULL;
		}
	}
	append_event(events, event, now_usec);
	events->count++;
	return event;
}

/* ---- what others do to them ---- */

static char *path_of(const struct object *object)
{
	return new_text("%s/%s", object->meta.name_space, object->meta.name);
}

/* Without memory the event is in the store and never forgotten: no more is lost. */
static void note_present(struct events *events, const struct object *object)
{
	cleanup_free char *path = path_of(object);
	struct event *event = path ? find_path(events, path) : NULL;

	if (event && !event->is_going)
		move_to_newest(events, event, realtime_usec());
	else if (!event && path)
		(void) add_entry(events, TAKE_PTR(path), NULL, realtime_usec());
}

static void note_gone(struct events *events, const struct object *object)
{
	cleanup_free char *path = path_of(object);
	struct event *event = path ? find_path(events, path) : NULL;

	if (event)
		drop(events, event);
}

static void on_change(void *userdata);

/* ---- what is stored ---- */

struct listing {
	const struct object **objects; /* borrowed from the store */
	size_t count, room;
};

static int list_one(const struct object *object, void *userdata)
{
	struct listing *listing = userdata;

	if (ARRAY_ROOM(listing->objects, listing->count, listing->room, 64) < 0)
		return -ENOMEM;
	listing->objects[listing->count++] = object;
	return 0;
}

static int compare_versions(const void *a, const void *b)
{
	const struct object *const *one = a, *const *other = b;
	uint64_t first = (*one)->meta.resource_version, second = (*other)->meta.resource_version;

	return (first > second) - (first < second);
}

static bool is_own(const struct events *events, const struct cJSON *tree)
{
	return json_text_is(tree, "reportingComponent", "podvold") &&
	       json_text_is(tree, "reportingInstance", events->options.node_name);
}

/* One that podvold recorded before is counted on. Without memory it is as an event of others. */
static void note_stored(struct events *events, const struct object *object)
{
	cleanup_json struct cJSON *tree = object_tree(object);
	cleanup_free char *key = is_own(events, tree) ? event_stored_key(tree) : NULL;
	bool is_first = key && !find_key(events, key);
	uint64_t last_usec = timestamp_parse(json_text(tree, "lastTimestamp"));
	int64_t count;
	char *path = path_of(object);
	struct event *event;

	event = path ? add_entry(events, path, is_first ? TAKE_PTR(key) : NULL,
				 last_usec > 0 ? last_usec : object->meta.creation_usec)
		     : NULL;
	if (!event)
		return;
	event->count =
		json_int64(json_get(tree, "count"), &count) && count > 0 ? (uint64_t) count : 1;
	event->first_usec = timestamp_parse(json_text(tree, "firstTimestamp"));
}

/* At start, and when so many changes came at once that some were missed. The store lists them by
 * name; the oldest is the one that changed longest ago. */
static int list_again(struct events *events)
{
	struct store *store = events->options.store;
	struct listing listing = { .objects = NULL };
	int r;

	events->watch = store_watch_free(events->watch);
	drop_all(events);
	r = store_list(store, KIND_EVENT, NULL, list_one, &listing);
	if (listing.count > 0)
		qsort(listing.objects, listing.count, sizeof(const struct object *),
		      compare_versions);
	for (size_t i = 0; i < listing.count; i++)
		note_stored(events, listing.objects[i]);
	free(listing.objects);
	forget_oldest(events, realtime_usec());
	(void) set_expiry(events);
	return r < 0 ? r
		     : store_watch_new(store, 1U << KIND_EVENT, store_resource_version(store),
				       on_change, events, &events->watch);
}

static void on_change(void *userdata)
{
	struct events *events = userdata;
	const struct store_change *change;
	int r;

	while ((r = store_watch_next(events->watch, &change)) > 0) {
		if (change->type == STORE_DELETED)
			note_gone(events, change->object);
		else
			note_present(events, change->object);
	}
	forget_oldest(events, realtime_usec());
	if (r < 0 && list_again(events) < 0)
		log_message(LOG_WARNING,
			    "out of memory: events of others are not counted any more");
}

int events_new(const struct events_options *options, struct events **ret)
{
	struct events *events = calloc(1, sizeof(*events));
	int r;

	assert(options && options->store && options->node_name && options->event && ret);
	assert(options->capacity > 0 && options->age_usec >= EXPIRY_USEC_MIN);
	if (!events)
		return -ENOMEM;
	events->options = *options;
	r = timer_new(options->event, EXPIRY_USEC_MIN, on_expiry, events, &events->expiry);
	if (r >= 0)
		r = sd_event_source_set_priority(events->expiry, options->priority);
	if (r >= 0)
		r = list_again(events);
	if (r < 0) {
		(void) events_free(events);
		return r;
	}
	*ret = events;
	return 0;
}

struct events *events_free(struct events *events)
{
	if (!events)
		return NULL;
	(void) sd_event_source_disable_unref(events->expiry);
	(void) store_watch_free(events->watch);
	drop_all(events);
	events->is_closed = true;
	if (events->answers_due == 0)
		free(events);
	return NULL;
}

/* ---- recording ---- */

static int queue_write(struct events *events, struct pending *pending, const char *path,
		       const struct event_record *record)
{
	cleanup_object const struct object *object = NULL;
	cleanup_json struct cJSON *tree = event_tree(events->options.node_name, path, record);
	struct store *store = events->options.store;
	struct failure why = { .error = 0 };
	int r = object_propose(tree, &object, &why);

	if (r < 0)
		log_message(LOG_WARNING, "an event is lost: %s", why.text);
	else if (record->count == 1)
		r = store_create(store, object, on_written, pending);
	else
		r = store_update(store, object, NULL, on_written, pending);
	return r;
}

static void write_event(struct events *events, const char *path, const struct event_record *record)
{
	struct pending *pending = pending_new(events, path, false);
	int r;

	if (!pending)
		return;
	r = queue_write(events, pending, path, record);
	if (r < 0)
		end_now(pending, r);
}

/* As kubelet names them: the object's name and the time, so that each is another, also when the
 * clock was set back. A name that would become too long is cut where a name may end. */
static char *new_path(struct events *events, const struct object *about, uint64_t now_usec)
{
	uint64_t number = now_usec * 1000;
	int length = (int) strnlen(about->meta.name, NAME_BYTES - SUFFIX_BYTES);
	char *path;

	while (length > 0 && strchr("-.", about->meta.name[length - 1]))
		length--;
	if (number <= events->last_number)
		number = events->last_number + 1;
	for (;; number++) {
		events->last_number = number;
		if (asprintf(&path, "%s/%.*s.%llx", event_namespace(about), length,
			     about->meta.name, (unsigned long long) number) < 0)
			return NULL;
		if (!find_path(events, path))
			return path;
		free(path);
	}
}

void events_record(struct events *events, const struct object *about, const char *type,
		   const char *reason, const char *text, uint64_t now_usec)
{
	char cut[EVENT_TEXT_BYTES];
	struct event_record record = {
		.about = about, .type = type, .reason = reason, .text = cut, .last_usec = now_usec
	};
	cleanup_free char *key = NULL;
	struct event *event;

	assert(about && type && reason && text);
	if (!events)
		return;
	text_fit(cut, sizeof(cut), text);
	key = event_key(kind_row(about->kind)->name, about->meta.name, about->meta.uid, reason,
			cut);
	if (!key)
		return;
	event = find_key(events, key);
	if (event) {
		move_to_newest(events, event, now_usec);
	} else {
		event = add_entry(events, new_path(events, about, now_usec), TAKE_PTR(key),
				  now_usec);
		if (!event)
			return;
		event->first_usec = now_usec;
	}
	record.first_usec = event->first_usec;
	record.count = ++event->count;
	write_event(events, event->path, &record);
	forget_oldest(events, now_usec);
	if (events->count == 1)
		(void) set_expiry(events);
}
