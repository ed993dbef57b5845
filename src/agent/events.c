/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - what happened to objects; see events.h
 */
#include "agent/events.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json.h"
#include "object/kind.h"

#include <assert.h>
#include <string.h>
#include <uthash.h>

struct event {
	char *key; /* uid, reason and text: what makes two events the same one */
	size_t key_length;
	const struct kind_row *kind;
	char *name_space, *name, *uid, *text;
	const char *type, *reason;
	uint64_t number, count, first_usec, last_usec;
	struct event *older, *newer; /* order of last_usec */
	UT_hash_handle hh;
};

struct events {
	struct event *by_key;
	struct event *oldest, *newest;
	size_t count, capacity;
	uint64_t last_number;
};

int events_new(size_t capacity, struct events **ret)
{
	struct events *events = calloc(1, sizeof(*events));

	assert(capacity > 0);
	if (!events)
		return -ENOMEM;
	events->capacity = capacity;
	*ret = events;
	return 0;
}

/* Accepts half-built ones. */
static void event_free(struct event *event)
{
	if (!event)
		return;
	free(event->key);
	free(event->name_space);
	free(event->name);
	free(event->uid);
	free(event->text);
	free(event);
}

/* Out of the order of time; it stays in the table. */
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

/* The newest: told last, forgotten last. */
static void append_event(struct events *events, struct event *event)
{
	event->older = events->newest;
	if (events->newest)
		events->newest->newer = event;
	else
		events->oldest = event;
	events->newest = event;
}

/* In order of the last time, so that what keeps happening stays. */
static void forget_oldest(struct events *events)
{
	struct event *event = events->oldest;

	unlink_event(events, event);
	HASH_DEL(events->by_key, event);
	events->count--;
	event_free(event);
}

struct events *events_free(struct events *events)
{
	if (!events)
		return NULL;
	while (events->oldest)
		forget_oldest(events);
	free(events);
	return NULL;
}

/* Copies: the object may be gone long before its event is. */
static struct event *event_new(const struct object *about, const char *reason, const char *text)
{
	struct event *event = calloc(1, sizeof(*event));
	int length;

	if (!event)
		return NULL;
	event->kind = kind_row(about->kind);
	event->reason = reason;
	event->name_space = strdup(about->meta.name_space);
	event->name = strdup(about->meta.name);
	event->uid = strdup(about->meta.uid);
	event->text = strdup(text);
	length = asprintf(&event->key, "%s/%s/%s/%s/%s", event->kind->name, about->meta.name,
			  about->meta.uid, reason, text);
	if (length < 0)
		event->key = NULL;
	if (!event->name_space || !event->name || !event->uid || !event->text || !event->key) {
		event_free(event);
		return NULL;
	}
	event->key_length = (size_t) length;
	return event;
}

/* Without memory the event is lost, never what it was about. */
void events_record(struct events *events, const struct object *about, const char *type,
		   const char *reason, const char *text, uint64_t now_usec)
{
	struct event *event = event_new(about, reason, text), *known;

	if (!event)
		return;
	HASH_FIND(hh, events->by_key, event->key, event->key_length, known);
	if (known) {
		event_free(event);
		unlink_event(events, known);
		event = known;
	} else {
		if (events->count == events->capacity)
			forget_oldest(events);
		event->type = type;
		event->number = ++events->last_number;
		event->first_usec = now_usec;
		HASH_ADD_KEYPTR(hh, events->by_key, event->key, event->key_length, event);
		events->count++;
	}
	event->count++;
	event->last_usec = now_usec;
	append_event(events, event);
}

/* ---- v1.Event ---- */

static void set_time(struct cJSON *parent, const char *key, uint64_t usec)
{
	time_t seconds = (time_t) (usec / USEC_PER_SEC);
	struct tm calendar;
	char text[32];

	if (!gmtime_r(&seconds, &calendar))
		return;
	if (strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &calendar) > 0)
		(void) json_set_string(parent, key, text);
}

/* The number makes the name unique, as kubelet's suffix of the time does. */
static void add_item(struct cJSON *items, const struct event *event)
{
	struct cJSON *item = json_add_object(items, NULL);
	struct cJSON *metadata = json_add_object(item, "metadata");
	struct cJSON *object = json_add_object(item, "involvedObject");
	struct cJSON *source = json_add_object(item, "source");
	const struct kind_row *kind = event->kind;
	char name[512], version[128];

	(void) snprintf(name, sizeof(name), "%s.%llx", event->name,
			(unsigned long long) event->number);
	(void) snprintf(version, sizeof(version), "%s%s%s", kind->group, *kind->group ? "/" : "",
			kind->version);
	(void) json_set_string(metadata, "name", name);
	(void) json_set_string(metadata, "namespace",
			       *event->name_space ? event->name_space : "default");
	set_time(metadata, "creationTimestamp", event->first_usec);
	(void) json_set_string(object, "apiVersion", version);
	(void) json_set_string(object, "kind", kind->name);
	if (*event->name_space)
		(void) json_set_string(object, "namespace", event->name_space);
	(void) json_set_string(object, "name", event->name);
	(void) json_set_string(object, "uid", event->uid);
	(void) json_set_string(source, "component", "podvold");
	(void) json_set_string(item, "type", event->type);
	(void) json_set_string(item, "reason", event->reason);
	(void) json_set_string(item, "message", event->text);
	(void) json_set_int(item, "count", (int64_t) event->count);
	set_time(item, "firstTimestamp", event->first_usec);
	set_time(item, "lastTimestamp", event->last_usec);
}

struct cJSON *events_view(const struct events *events)
{
	struct cJSON *list = json_new_object();
	struct cJSON *items;

	if (!list)
		return NULL;
	(void) json_set_string(list, "kind", "EventList");
	(void) json_set_string(list, "apiVersion", "v1");
	items = json_add_array(list, "items");
	for (const struct event *event = events->oldest; event; event = event->newer)
		add_item(items, event);
	return list;
}
