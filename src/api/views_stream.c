/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_stream - what happens to volumes, as a list or as a stream of lines: events as they are, or
 * as Kubernetes' watches have it, the rows of the volumes that they are about
 *
 * A stream is a cursor into the agent's ring: a client that does not read holds one line here, and
 * learns how many it missed. It ends when the client leaves or podvold stops.
 */
#include "api/exchange.h"

#include "api/view_table.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A line of the stream, from one event. Return: 1; 0 there is none for it; -ENOMEM. */
typedef int line_fn(struct exchange *exchange, const char *event, char **ret);

struct stream {
	struct exchange *exchange;
	line_fn *make_line;
	struct volume_watch *watch;
	char *line; /* being sent, with its newline; NULL: none */
	size_t length, sent;
};

static void stream_abandon(void *work)
{
	struct stream *stream = work;

	(void) volume_watch_free(stream->watch);
	free(stream->line);
	free(stream);
}

static void on_changed(void *userdata)
{
	struct stream *stream = userdata;

	/* Before the stream began there is no one to wake. */
	if (stream->exchange->pull)
		reply_stream_ready(stream->exchange);
}

/* Return: 1 there is a line; 0 none; -ENOMEM. */
static int next_line(struct stream *stream)
{
	const char *event;
	int r = 0;

	while (r == 0 && (event = volume_watch_next(stream->watch)))
		r = stream->make_line(stream->exchange, event, &stream->line);
	if (r > 0)
		stream->length = strlen(stream->line);
	stream->sent = 0;
	return r;
}

static int line_of_event(struct exchange *exchange, const char *event, char **ret)
{
	if (asprintf(ret, "%s\n", event) >= 0)
		return 1;
	*ret = NULL;
	return -ENOMEM;
}

/* ---- the rows of volumes ---- */

/* What is left of a row that is gone. */
static struct cJSON *gone(const struct cJSON *event)
{
	static const char *const keys[] = { "pod", "podUID", "volume", "uniqueName", "path" };
	struct cJSON *view = json_new_object();
	struct cJSON *item = json_add_object(json_add_array(view, "items"), NULL);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		(void) json_set_string(item, keys[i], json_text(event, keys[i]));
	(void) json_set_string(item, "state", "absent");
	return view;
}

/* {"items": [...]}: the row of the event's volume in its pod; none when it is gone. */
static struct cJSON *row_of(struct exchange *exchange, const struct cJSON *event)
{
	struct cJSON *view = agent_view_volume(exchange->agent, json_text(event, "uniqueName"));
	const char *uid = json_text(event, "podUID");
	struct cJSON *kept = json_new_array();

	JSON_FOREACH (item, json_get(view, "items"))
		if (json_text_is(item, "podUID", uid))
			(void) json_set(kept, NULL, json_copy(item));
	(void) json_set(view, "items", kept);
	return view;
}

/* Its version, by which a client goes on after an interruption, is the event's sequence. */
static struct cJSON *object_of(const struct exchange *exchange, const struct cJSON *view,
			       const struct cJSON *event)
{
	struct cJSON *item = json_copy(json_first(json_get(view, "items"))), *table, *one;
	int64_t sequence = 0;
	char version[24];

	(void) json_int64(json_get(event, "sequence"), &sequence);
	(void) snprintf(version, sizeof(version), "%" PRId64, sequence);
	(void) json_set_string(json_ensure_object(item, "metadata"), "resourceVersion", version);
	if (exchange->form != FORM_TABLE)
		return item;
	one = json_new_object();
	(void) json_set(json_add_array(one, "items"), NULL, item);
	table = view_table(one, &view_volume_columns, realtime_usec());
	json_free(one);
	return table;
}

static int print_line(const char *type, struct cJSON *object, char **ret)
{
	cleanup_json struct cJSON *line = json_new_object();
	cleanup_free char *text = NULL;

	(void) json_set_string(line, "type", type);
	(void) json_set(line, "object", object);
	text = json_print(line);
	if (text && asprintf(ret, "%s\n", text) >= 0)
		return 1;
	*ret = NULL;
	return -ENOMEM;
}

/* A client that fell behind lists again, as 410 says to all clients of Kubernetes. */
static int line_of_lost(char **ret)
{
	struct cJSON *status = json_new_object();

	(void) json_set_string(status, "kind", "Status");
	(void) json_set_string(status, "message", "too old resource version");
	(void) json_set_string(status, "reason", "Expired");
	(void) json_set_int(status, "code", 410);
	return print_line("ERROR", status, ret);
}

static int line_of_row(struct exchange *exchange, const char *text, char **ret)
{
	const struct json_limits limits = { .bytes = 65536, .depth = 4 };
	cleanup_json struct cJSON *event = NULL, *view = NULL;
	const char *type = "MODIFIED";
	struct failure why;

	if (json_parse(text, strlen(text), &limits, &event, NULL) < 0)
		return -ENOMEM;
	if (json_text_is(event, "type", "Lost"))
		return line_of_lost(ret);
	if (*json_text(event, "podUID") == '\0')
		return 0; /* of a device: rows are of pods */
	view = row_of(exchange, event);
	if (json_count(json_get(view, "items")) == 0) {
		json_free(view);
		view = gone(event);
		type = "DELETED";
	}
	if (!view || view_filter(&exchange->path, &view_volume_columns, &view, &why) < 0)
		return -ENOMEM; /* the filter itself was read before the stream began */
	if (json_count(json_get(view, "items")) == 0)
		return 0;
	return print_line(type, object_of(exchange, view, event), ret);
}

/* As much of the lines as there is room for; a line may need several pulls. */
static ssize_t pull(void *work, char *buffer, size_t size)
{
	struct stream *stream = work;
	size_t used = 0;

	while (used < size) {
		size_t piece;
		int r = stream->line ? 1 : next_line(stream);

		if (r < 0)
			return -1;
		if (r == 0)
			break;
		piece = stream->length - stream->sent;
		if (piece > size - used)
			piece = size - used;
		memcpy(buffer + used, stream->line + stream->sent, piece);
		used += piece;
		stream->sent += piece;
		if (stream->sent == stream->length) {
			free(stream->line);
			stream->line = NULL;
		}
	}
	return (ssize_t) used;
}

/* False: refused. */
static bool parse_after(struct exchange *exchange, const char *parameter, uint64_t *ret)
{
	const char *text = api_path_parameter(&exchange->path, parameter);
	char *end;

	*ret = UINT64_MAX;
	if (!text)
		return true;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *ret < UINT64_MAX)
		return true;
	reply_refusal(exchange, API_BAD_REQUEST, "%s: '%s' is not a sequence of an event",
		      parameter, text);
	return false;
}

static void begin_stream(struct exchange *exchange, const char *parameter, line_fn *make_line)
{
	struct stream *stream;
	uint64_t after;

	if (!parse_after(exchange, parameter, &after))
		return;
	if (!exchange_may_wait(exchange))
		return;
	stream = calloc(1, sizeof(*stream));
	if (!stream ||
	    agent_watch_volumes(exchange->agent, after, on_changed, stream, &stream->watch) < 0) {
		free(stream);
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	stream->exchange = exchange;
	stream->make_line = make_line;
	exchange_wait(exchange, stream, stream_abandon);
	reply_stream(exchange, 200, "application/json;stream=watch", pull);
}

static bool is_watch(const struct exchange *exchange)
{
	const char *watch = api_path_parameter(&exchange->path, "watch");

	return watch && strcmp(watch, "false") != 0 && strcmp(watch, "0") != 0;
}

void views_volume_events(struct exchange *exchange)
{
	assert(exchange);
	if (is_watch(exchange))
		begin_stream(exchange, "after", line_of_event);
	else
		views_reply(exchange, 200, agent_view_volume_events(exchange->agent),
			    &view_volume_event_columns);
}

void views_volumes(struct exchange *exchange)
{
	cleanup_json struct cJSON *none = json_new_object();
	struct failure why;

	if (!is_watch(exchange)) {
		views_reply_volumes(exchange, 200, agent_view_volumes(exchange->agent, NULL));
		return;
	}
	(void) json_add_array(none, "items");
	if (none && view_filter(&exchange->path, &view_volume_columns, &none, &why) == -EINVAL)
		reply_refusal(exchange, API_BAD_REQUEST, "%s", why.text);
	else
		begin_stream(exchange, "resourceVersion", line_of_row);
}
