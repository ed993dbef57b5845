/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_events - podvold's events go to the server, when nothing else has to
 *
 * What podvold records in the store is sent as events.k8s.io/v1, or as v1 where a node may write
 * only that (older servers; a 403 says so): made once, then its series or count is patched, at once
 * when it happens a second time, later at most every EVENT_SERIES_SECONDS. One request at a time,
 * so many a second, so many of one object: what is beyond is dropped and counted, for events are no
 * record, and the store has them all. Those of other programs stay here, and so do those of a
 * process before. Nothing waits for this.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"
#include "cluster/event_text.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timer.h"
#include "object/json/json.h"
#include "store/reflector.h"

#include <utlist.h>

enum {
	EVENT_PAUSE_MSEC = 100, /* between two */
	EVENT_SERIES_SECONDS = 300,
	EVENT_RETRY_FIRST_SECONDS = 5,
	EVENT_RETRY_MAX_SECONDS = 300,
	PRIORITY_LAST = 50,
};

enum how { BY_COUNT, BY_POST, BY_PATCH };

struct item {
	UT_hash_handle hh; /* by key: "namespace/name" */
	struct item *prev, *next;
	const struct object *event;      /* the newest */
	char *about;                     /* uid of its object */
	uint64_t sent_usec, series_usec; /* monotonic; 0: not yet */
	uint64_t due_usec;
	enum how how;
	bool is_waiting, is_gone;
	bool was_refused; /* in one API, so the other is tried */
	char *key;
};

struct server_events {
	struct cluster *cluster;
	struct reflector *reflector;
	sd_event_source *timer;
	struct request *request;
	struct item *sending; /* by the request */
	bool posts;           /* it makes the event */
	bool is_core;         /* of v1, by the last 403 */
	struct item *items, *waiting;
	uint64_t next_usec; /* not before */
	unsigned int retry_seconds;
	uint64_t sent, dropped;
	char refused[FAILURE_TEXT_BYTES]; /* the last one that was */
};

/* ---- items ---- */

static void stop_waiting(struct server_events *events, struct item *item)
{
	if (item->is_waiting)
		DL_DELETE(events->waiting, item);
	item->is_waiting = false;
}

static void item_free(struct item *item)
{
	(void) object_unref(item->event);
	free(item->about);
	free(item->key);
	free(item);
}

static void forget(struct server_events *events, struct item *item)
{
	stop_waiting(events, item);
	HASH_DEL(events->items, item);
	item_free(item);
}

/* When the next one may be sent. */
static void plan(struct server_events *events)
{
	const struct item *item;
	uint64_t due_usec = UINT64_MAX;

	if (events->request || !events->waiting)
		return;
	DL_FOREACH (events->waiting, item)
		if (item->due_usec < due_usec)
			due_usec = item->due_usec;
	if (due_usec < events->next_usec)
		due_usec = events->next_usec;
	timer_set(events->timer, due_usec);
}

static void wait_until(struct server_events *events, struct item *item, uint64_t due_usec)
{
	item->due_usec = due_usec;
	if (!item->is_waiting)
		DL_APPEND(events->waiting, item);
	item->is_waiting = true;
}

/* ---- what is recorded ---- */

static bool is_own(const struct cJSON *event)
{
	return json_text_is(event, "reportingComponent", "podvold");
}

/* NULL: no memory. */
static struct item *item_new(struct server_events *events, const struct cJSON *tree, char *key)
{
	const struct cJSON *about = json_get(tree, "involvedObject");
	struct item *item = calloc(1, sizeof(*item));

	if (!item) {
		free(key);
		return NULL;
	}
	item->key = key;
	item->about = strdup(json_text(about, "uid"));
	if (item->about) {
		HASH_ADD_KEYPTR(hh, events->items, item->key, strlen(item->key), item);
		if (item->hh.tbl)
			return item;
	}
	item_free(item);
	return NULL;
}

/* Takes @key. NULL: it is not one to be sent. */
static struct item *find_or_make(struct server_events *events, const struct object *event,
				 char *key)
{
	cleanup_json struct cJSON *tree = NULL;
	struct item *item;

	HASH_FIND_STR(events->items, key, item);
	if (!item) {
		tree = object_tree(event);
		if (is_own(tree) && HASH_COUNT(events->items) < SERVER_EVENTS_MAX)
			return item_new(events, tree, key);
		events->dropped += is_own(tree);
	}
	free(key);
	return item;
}

static void take_event(struct server_events *events, struct item *item, const struct object *event)
{
	(void) object_unref(item->event);
	item->event = object_ref(event);
	item->is_gone = false;
	wait_until(events, item,
		   item->series_usec ? item->series_usec + EVENT_SERIES_SECONDS * USEC_PER_SEC
				     : monotonic_usec());
	plan(events);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct server_events *events = userdata;
	const struct object_meta *meta = &change->object->meta;
	struct item *item = NULL;
	char *key;

	if (asprintf(&key, "%s/%s", meta->name_space, meta->name) < 0)
		return -ENOMEM;
	if (change->type != STORE_DELETED) {
		item = find_or_make(events, change->object, key);
		if (item)
			take_event(events, item, change->object);
		return 0;
	}
	HASH_FIND_STR(events->items, key, item);
	free(key);
	if (item && item == events->sending)
		item->is_gone = true;
	else if (item)
		forget(events, item);
	return 0;
}

static void act(void *userdata)
{
}

/* ---- what comes back ---- */

/* Not now: the server is away, busy, or does not know us yet. */
static bool is_passing(const struct http_answer *answer)
{
	return answer->error != 0 || answer->status == 401 || answer->status == 429 ||
	       answer->status >= 500;
}

static void try_again(struct server_events *events, struct item *item)
{
	events->next_usec = monotonic_usec() + events->retry_seconds * USEC_PER_SEC;
	events->retry_seconds *= 2;
	if (events->retry_seconds > EVENT_RETRY_MAX_SECONDS)
		events->retry_seconds = EVENT_RETRY_MAX_SECONDS;
	wait_until(events, item, 0);
}

static void note_sent(struct server_events *events, struct item *item)
{
	item->sent_usec = monotonic_usec();
	if (!events->posts)
		item->series_usec = item->sent_usec;
	item->how = BY_COUNT;
	item->was_refused = false;
	events->sent++;
	events->retry_seconds = EVENT_RETRY_FIRST_SECONDS;
}

/* It went there, or is there already: from a process before. */
static void take_answer(struct server_events *events, struct item *item,
			const struct http_answer *answer)
{
	struct failure why = { 0 };

	if (is_passing(answer)) {
		try_again(events, item);
	} else if (answer->status == 409 && events->posts && item->how != BY_POST) {
		item->how = BY_PATCH;
		wait_until(events, item, 0);
	} else if (answer->status == 404 && !events->posts && item->how != BY_PATCH) {
		item->how = BY_POST; /* it has become too old there */
		wait_until(events, item, 0);
	} else if (answer->status == 403 && !item->was_refused) {
		item->was_refused = true;
		events->is_core = !events->is_core;
		wait_until(events, item, 0);
	} else if (answer->status < 300) {
		note_sent(events, item);
	} else {
		item->how = BY_COUNT;
		item->was_refused = false;
		events->dropped++;
		(void) contact_explain("event", answer, &why);
		(void) snprintf(events->refused, sizeof(events->refused), "%s", why.text);
	}
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct server_events *events = userdata;
	struct item *item = events->sending;

	events->request = NULL;
	events->sending = NULL;
	events->next_usec = monotonic_usec() + EVENT_PAUSE_MSEC * USEC_PER_MSEC;
	contact_note(events->cluster, answer);
	if (item->is_gone)
		forget(events, item);
	else
		take_answer(events, item, answer);
	plan(events);
}

/* ---- sending ---- */

/* Has much been said of this object of late? */
static bool is_beyond_share(const struct server_events *events, const struct item *item)
{
	uint64_t now_usec = monotonic_usec();
	unsigned int count = 0;
	const struct item *other;

	if (item->sent_usec > 0)
		return false;
	for (other = events->items; other; other = other->hh.next)
		count += other->sent_usec > 0 &&
			 now_usec < other->sent_usec + EVENT_SERIES_SECONDS * USEC_PER_SEC &&
			 strcmp(other->about, item->about) == 0;
	return count >= SERVER_EVENTS_OF_OBJECT_MAX;
}

static int send(struct server_events *events, const struct item *item)
{
	cleanup_json struct cJSON *tree = object_tree(item->event);
	const struct object_meta *meta = &item->event->meta;
	cleanup_free char *body = NULL;
	char path[CLUSTER_PATH_BYTES];
	struct http_request request = { .path = path, .done = on_answer, .userdata = events };
	struct kind_row row = *kind_row(KIND_EVENT);

	if (!tree)
		return -ENOMEM;
	events->posts = item->how == BY_POST || (item->how == BY_COUNT && event_count(tree) < 2);
	body = events->posts ? event_text(tree, events->is_core)
			     : event_series_text(tree, events->is_core);
	if (!events->is_core)
		row.group = "events.k8s.io";
	if (!body ||
	    !cluster_path(&row, meta->name_space, events->posts ? NULL : meta->name, "", path))
		return -EINVAL;
	request.method = events->posts ? "POST" : "PATCH";
	request.content_type = events->posts ? "application/json" : "application/merge-patch+json";
	request.body = body;
	return requests_send(events->cluster->requests, &request, &events->request);
}

static struct item *first_due(const struct server_events *events)
{
	uint64_t now_usec = monotonic_usec();
	struct item *item;

	DL_FOREACH (events->waiting, item)
		if (item->due_usec <= now_usec)
			return item;
	return NULL;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server_events *events = userdata;
	struct item *item = first_due(events);

	if (item && !events->request) {
		stop_waiting(events, item);
		if (!pods_are_verified(events->cluster->pods))
			try_again(events, item); /* it could be another cluster */
		else if (is_beyond_share(events, item) || send(events, item) < 0)
			events->dropped++;
		else
			events->sending = item;
	}
	plan(events);
	return 0;
}

/* ---- life ---- */

int server_events_new(struct cluster *cluster)
{
	struct server_events *events = calloc(1, sizeof(*events));
	int r;

	if (!events)
		return -ENOMEM;
	events->cluster = cluster;
	events->retry_seconds = EVENT_RETRY_FIRST_SECONDS;
	cluster->events = events;
	r = timer_new(cluster->options.event, 10000, on_timer, events, &events->timer);
	if (r >= 0)
		r = sd_event_source_set_priority(events->timer, PRIORITY_LAST);
	return r < 0 ? r
		     : reflector_new(&(struct reflector_options){ .event = cluster->options.event,
								  .priority = PRIORITY_LAST,
								  .store = cluster->options.store,
								  .kinds = 1U << KIND_EVENT,
								  .what = "events",
								  .take_change = take_change,
								  .act = act,
								  .userdata = events },
				     &events->reflector);
}

struct server_events *server_events_free(struct server_events *events)
{
	if (!events)
		return NULL;
	(void) reflector_free(events->reflector);
	(void) request_cancel(events->request);
	while (events->items)
		forget(events, events->items);
	(void) sd_event_source_disable_unref(events->timer);
	free(events);
	return NULL;
}

void server_events_view(const struct cluster *cluster, struct cJSON *view)
{
	const struct server_events *events = cluster->events;
	const struct item *item;
	int waiting;

	DL_COUNT(events->waiting, item, waiting);
	(void) json_set_int(view, "eventsSent", (int64_t) events->sent);
	(void) json_set_int(view, "eventsWaiting", waiting);
	(void) json_set_int(view, "eventsDropped", (int64_t) events->dropped);
	if (*events->refused)
		(void) json_set_string(view, "lastRefusedEvent", events->refused);
}
