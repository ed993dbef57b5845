/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_watch - a collection's changes as they happen: one line of JSON each
 *
 * A watch is a cursor into the store's ring. Nothing is queued for a client that does not read; one
 * that lags behind further than the ring reaches gets an ERROR event with 410 and lists again. An
 * object that begins or ceases to match the selectors is ADDED or DELETED. Without a
 * resourceVersion, and from "0", everything that is there comes first as ADDED.
 */
#include "api/objects/objects.h"

#include "agent.h"
#include "api/objects/watches.h"
#include "base/array.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum event_part { PART_NONE, PART_HEAD, PART_OBJECT, PART_END };

struct watch {
	struct watch_entry entry; /* first: ticks come with it */
	struct watches *watches;
	struct exchange *exchange;
	struct store *store;
	const struct kind_row *row;
	enum api_form form;
	char *name_space; /* NULL: all */
	struct selector_match *selector_match;
	struct store_watch *cursor;
	/* What was there at the beginning; own references, given up as they are sent. */
	const struct object **initial;
	size_t initial_count, initial_allocated, initial_next;
	uint64_t initial_version;
	bool initial_end; /* is sent as a bookmark */
	bool bookmark_due, over, has_header;
	/* What is being sent: a head, the bytes of @object or @made of it, "}\n"; or @made, "\n".
	 */
	enum event_part part;
	const struct object *object; /* own reference */
	char *made;                  /* owned */
	const char *piece;
	size_t piece_length;
};

#define EVENT_TYPE(NAME)                                                                           \
	{                                                                                          \
		NAME, "{\"type\":\"" NAME "\",\"object\":"                                         \
	}

static const struct event_type {
	const char *name, *head;
} added = EVENT_TYPE("ADDED"), modified = EVENT_TYPE("MODIFIED"), deleted = EVENT_TYPE("DELETED");

static void watch_free(void *work)
{
	struct watch *watch = work;

	watches_remove(watch->watches, &watch->entry);
	(void) store_watch_free(watch->cursor);
	(void) selector_match_free(watch->selector_match);
	for (size_t i = watch->initial_next; i < watch->initial_count; i++)
		(void) object_unref(watch->initial[i]);
	free(watch->initial);
	(void) object_unref(watch->object);
	free(watch->made);
	free(watch->name_space);
	free(watch);
}

static void on_change(void *userdata)
{
	struct watch *watch = userdata;

	reply_stream_ready(watch->exchange);
}

static void on_tick(struct watch_entry *entry, bool over)
{
	struct watch *watch = (struct watch *) entry;

	watch->over |= over;
	watch->bookmark_due |= !over;
	reply_stream_ready(watch->exchange);
}

/* ---- events ---- */

static int send_tree(struct watch *watch, const char *type, struct cJSON *object)
{
	cleanup_json struct cJSON *event = json_new_object();

	(void) json_set_string(event, "type", type);
	(void) json_set(event, "object", object);
	watch->made = json_print(event);
	if (!watch->made)
		return -ENOMEM;
	watch->part = PART_OBJECT;
	watch->piece = watch->made;
	watch->piece_length = strlen(watch->made);
	return 1;
}

/* The columns' names come once: kubectl prints them as they come. */
static int send_row(struct watch *watch, const char *type, const struct object *object)
{
	struct cJSON *table = table_of_objects(watch->exchange->agent, watch->row->kind, &object, 1,
					       realtime_usec());
	char version[24];

	(void) snprintf(version, sizeof(version), "%" PRIu64, object->meta.resource_version);
	(void) json_set_string(json_ensure_object(table, "metadata"), "resourceVersion", version);
	if (watch->has_header)
		(void) json_set(table, "columnDefinitions", json_new_array());
	watch->has_header = true;
	return send_tree(watch, type, table);
}

static int send_object(struct watch *watch, const struct event_type *type,
		       const struct object *object)
{
	if (watch->form == FORM_TABLE)
		return send_row(watch, type->name, object);
	if (print_object(watch->exchange->agent, object, &watch->made) < 0)
		return -ENOMEM;
	watch->object = object_ref(object);
	watch->part = PART_HEAD;
	watch->piece = type->head;
	watch->piece_length = strlen(type->head);
	return 1;
}

/* An object of which only the version means something. */
static int send_bookmark(struct watch *watch, uint64_t version, bool ends_initial)
{
	struct cJSON *object = json_new_object(), *metadata;
	char text[API_VERSION_BYTES];

	(void) json_set_string(object, "kind",
			       watch->form == FORM_TABLE ? "Table" : watch->row->name);
	(void) json_set_string(object, "apiVersion",
			       watch->form == FORM_TABLE ? "meta.k8s.io/v1"
							 : kind_api_version(watch->row, text));
	metadata = json_add_object(object, "metadata");
	(void) snprintf(text, sizeof(text), "%" PRIu64, version);
	(void) json_set_string(metadata, "resourceVersion", text);
	if (ends_initial)
		(void) json_set_string(json_add_object(metadata, "annotations"),
				       "k8s.io/initial-events-end", "true");
	if (watch->form == FORM_TABLE)
		(void) json_add_array(object, "rows");
	return send_tree(watch, "BOOKMARK", object);
}

static int send_gone(struct watch *watch)
{
	struct cJSON *status = json_new_object();

	(void) json_set_string(status, "kind", "Status");
	(void) json_set_string(status, "apiVersion", "v1");
	(void) json_add_object(status, "metadata");
	(void) json_set_string(status, "status", "Failure");
	(void) json_set_string(status, "message",
			       "too old resource version: the changes that this watch has not read "
			       "are not kept any more, list again");
	(void) json_set_string(status, "reason", "Expired");
	(void) json_set_int(status, "code", 410);
	watch->over = true;
	return send_tree(watch, "ERROR", status);
}

static bool matches(const struct watch *watch, const struct object *object)
{
	return (!watch->name_space || strcmp(object->meta.name_space, watch->name_space) == 0) &&
	       selector_match_matches(watch->selector_match, object);
}

/* Return: 1 an event is to be sent; 0 this change is none for this watch; -ENOMEM. */
static int send_change(struct watch *watch, const struct store_change *change)
{
	bool is = change->type != STORE_DELETED && matches(watch, change->object);
	bool was = change->type != STORE_ADDED && matches(watch, change->previous);
	const struct object *last;

	if (is)
		return send_object(watch, was ? &modified : &added, change->object);
	if (!was)
		return 0;
	last = watches_deleted(watch->watches, change->previous, change->resource_version);
	return last ? send_object(watch, &deleted, last) : -ENOMEM;
}

static int send_initial(struct watch *watch)
{
	const struct object *object = watch->initial[watch->initial_next++];
	int r = send_object(watch, &added, object);

	(void) object_unref(object);
	return r;
}

/* Return: 1 there is something to send; 0 not now; negative: the end. */
static int next_event(struct watch *watch)
{
	const struct store_change *change;
	int r;

	if (watch->over)
		return -ECANCELED;
	if (watch->initial_next < watch->initial_count)
		return send_initial(watch);
	if (watch->initial_end) {
		watch->initial_end = false;
		return send_bookmark(watch, watch->initial_version, true);
	}
	while ((r = store_watch_next(watch->cursor, &change)) > 0) {
		r = send_change(watch, change);
		if (r != 0)
			return r;
	}
	if (r < 0)
		return send_gone(watch);
	if (!watch->bookmark_due)
		return 0;
	/* At the end of the ring: every change up to this version was sent. */
	watch->bookmark_due = false;
	return send_bookmark(watch, store_resource_version(watch->store), false);
}

/* What follows in the event that is being sent. False: it is complete. */
static bool next_part(struct watch *watch)
{
	switch (watch->part) {
	case PART_HEAD:
		watch->part = PART_OBJECT;
		watch->piece = watch->made ?: watch->object->json;
		watch->piece_length =
			watch->made ? strlen(watch->made) : watch->object->json_length;
		return true;
	case PART_OBJECT:
		watch->part = PART_END;
		watch->piece = watch->object ? "}\n" : "\n";
		watch->piece_length = strlen(watch->piece);
		watch->object = object_unref(watch->object);
		free(watch->made);
		watch->made = NULL;
		return true;
	case PART_END:
		watch->part = PART_NONE;
		return false;
	case PART_NONE:
		return false;
	}
	return false;
}

static ssize_t watch_pull(void *work, char *buffer, size_t size)
{
	struct watch *watch = work;
	size_t used = 0;
	int r;

	while (used < size) {
		size_t take = watch->piece_length < size - used ? watch->piece_length : size - used;

		if (take > 0) {
			memcpy(buffer + used, watch->piece, take);
			watch->piece += take;
			watch->piece_length -= take;
			used += take;
			continue;
		}
		if (next_part(watch))
			continue;
		r = next_event(watch);
		if (r == 0)
			break;
		if (r < 0) {
			watch->over = true;
			return used > 0 ? (ssize_t) used : -1;
		}
	}
	return (ssize_t) used;
}

/* ---- the request ---- */

struct watch_options {
	uint64_t version, timeout_seconds;
	bool initial, initial_end;
};

static int read_timeout(struct exchange *exchange, uint64_t *ret)
{
	const char *text = api_path_parameter(&exchange->path, "timeoutSeconds");

	*ret = 0;
	if (!text || *text == '\0')
		return 0;
	if (text[strspn(text, "0123456789")] != '\0' || strlen(text) > 9) {
		reply_refusal(exchange, API_BAD_REQUEST,
			      "timeoutSeconds: '%.64s' is not a number of seconds", text);
		return -EBADMSG;
	}
	*ret = strtoull(text, NULL, 10);
	return 0;
}

/* sendInitialEvents asks to learn when the beginning is over, so it wants to be meant. */
static int read_initial(struct exchange *exchange, struct watch_options *options)
{
	const char *send = api_path_parameter(&exchange->path, "sendInitialEvents");
	const char *match = api_path_parameter(&exchange->path, "resourceVersionMatch");
	bool has_match = match && *match;

	if (!send || *send == '\0') {
		options->initial = options->version == 0;
		if (!has_match)
			return 0;
		refuse_options(exchange, "ListOptions",
			       "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
			       "for watch unless sendInitialEvents is provided");
		return -EINVAL;
	}
	if (!has_match || strcmp(match, "NotOlderThan") != 0) {
		refuse_options(
			exchange, "ListOptions",
			"resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
			"resourceVersionMatch to NotOlderThan");
		return -EINVAL;
	}
	options->initial = query_flag(exchange, "sendInitialEvents");
	options->initial_end = options->initial && query_flag(exchange, "allowWatchBookmarks");
	return 0;
}

static int read_options(struct exchange *exchange, struct watch_options *options)
{
	int r = query_version(exchange, &options->version);

	if (r == 0)
		r = read_timeout(exchange, &options->timeout_seconds);
	return r < 0 ? r : read_initial(exchange, options);
}

static int collect_initial(const struct object *object, void *userdata)
{
	struct watch *watch = userdata;

	if (!selector_match_matches(watch->selector_match, object))
		return 0;
	if (ARRAY_ROOM(watch->initial, watch->initial_count, watch->initial_allocated, 64) < 0)
		return -ENOMEM;
	watch->initial[watch->initial_count++] = object_ref(object);
	return 0;
}

/* The cursor begins where the snapshot was taken: nothing is missed, nothing comes twice. */
static int begin(struct watch *watch, const struct watch_options *options)
{
	uint64_t now = store_resource_version(watch->store);
	uint64_t since = options->initial || options->version == 0 ? now : options->version;

	watch->initial_version = now;
	watch->initial_end = options->initial_end;
	if (options->initial && options->version > now)
		return -ESTALE;
	if (options->initial && store_list_after(watch->store, watch->name_space,
						 &(struct store_key){ watch->row->kind, "", "" },
						 selector_match_bits(watch->selector_match),
						 collect_initial, watch) < 0)
		return -ENOMEM;
	return store_watch_new(watch->store, 1U << watch->row->kind | STORE_TOUCHES, since,
			       on_change, watch, &watch->cursor);
}

static struct watch *watch_new(struct exchange *exchange, const struct target *target,
			       const struct watch_options *options)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->watches = exchange->watches;
	watch->exchange = exchange;
	watch->store = agent_store(exchange->agent);
	watch->row = target->row;
	watch->form = exchange->form;
	watch->entry.tick = on_tick;
	watch->entry.bookmarks = query_flag(exchange, "allowWatchBookmarks");
	if (options->timeout_seconds > 0)
		watch->entry.deadline_usec =
			monotonic_usec() + options->timeout_seconds * USEC_PER_SEC;
	watches_add(watch->watches, &watch->entry);
	if (target->name_space && !(watch->name_space = strdup(target->name_space))) {
		watch_free(watch);
		return NULL;
	}
	return watch;
}

static bool refuse_now(struct exchange *exchange)
{
	const struct reply_details soon = { .retry_seconds = 1 };

	if (exchange->form == FORM_YAML)
		reply_refusal(exchange, API_NOT_ACCEPTABLE,
			      "a watch comes as application/json, one event a line");
	else if (!exchange->watches || !exchange->may_wait || !watches_have_room(exchange->watches))
		reply_refusal_about(exchange, API_TOO_MANY_REQUESTS, &soon,
				    "there are too many watches: end some, or raise watches-max "
				    "and connections-max");
	else
		return false;
	return true;
}

/* A phase that is shown and not stored has no change before and after. Replies when it is refused.
 */
static int check_fields(struct exchange *exchange, const struct watch *watch)
{
	if (watch->row->kind != KIND_POD || !agent_shows_phases(exchange->agent) ||
	    !selector_match_has_field(watch->selector_match, "status.phase"))
		return 0;
	refuse_options(
		exchange, "ListOptions",
		"fieldSelector: Forbidden: a watch cannot select by status.phase: select in a "
		"list, or watch all");
	return -EINVAL;
}

void objects_watch(struct exchange *exchange, const struct target *target)
{
	struct watch_options options = { 0 };
	struct watch *watch;
	int r;

	if (refuse_now(exchange) || read_options(exchange, &options) < 0)
		return;
	watch = watch_new(exchange, target, &options);
	if (!watch) {
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	r = target_selector_match(exchange, target, &watch->selector_match);
	if (r == 0)
		r = check_fields(exchange, watch);
	if (r == 0)
		r = begin(watch, &options);
	if (r < 0) {
		watch_free(watch);
		if (r == -ESTALE)
			refuse_expired(exchange,
				       "too old resource version: %" PRIu64 " (%" PRIu64 ")",
				       options.version,
				       store_oldest_version(agent_store(exchange->agent)));
		else if (exchange->status == 0)
			reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	exchange_wait(exchange, watch, watch_free);
	reply_stream(exchange, 200, api_form_type(FORM_JSON), watch_pull);
}
