/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_stream - what happens to volumes, as a list or as a stream of lines
 *
 * A stream is a cursor into the agent's ring: a client that does not read holds one line here, and
 * is told how many it missed. It ends when the client leaves or podvold stops.
 */
#include "api/exchange.h"

#include "api/view_table.h"
#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct stream {
	struct exchange *exchange;
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

	/* Before the stream began there is nobody to wake. */
	if (stream->exchange->pull)
		reply_stream_ready(stream->exchange);
}

/* Return: 1 there is a line; 0 none; -ENOMEM. */
static int next_line(struct stream *stream)
{
	const char *text = volume_watch_next(stream->watch);
	int length;

	if (!text)
		return 0;
	length = asprintf(&stream->line, "%s\n", text);
	if (length < 0) {
		stream->line = NULL;
		return -ENOMEM;
	}
	stream->length = (size_t) length;
	stream->sent = 0;
	return 1;
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
static bool parse_after(struct exchange *exchange, uint64_t *ret)
{
	const char *text = api_path_parameter(&exchange->path, "after");
	char *end;

	*ret = UINT64_MAX;
	if (!text)
		return true;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *ret < UINT64_MAX)
		return true;
	reply_refusal(exchange, API_BAD_REQUEST, "after: '%s' is not a sequence of an event", text);
	return false;
}

static void begin_stream(struct exchange *exchange)
{
	struct stream *stream;
	uint64_t after;

	if (!parse_after(exchange, &after))
		return;
	if (!exchange->may_wait) {
		reply_refusal(exchange, API_TOO_MANY_REQUESTS,
			      "too many requests wait already: try again later");
		return;
	}
	stream = calloc(1, sizeof(*stream));
	if (!stream ||
	    agent_watch_volumes(exchange->agent, after, on_changed, stream, &stream->watch) < 0) {
		free(stream);
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	stream->exchange = exchange;
	exchange->work = stream;
	exchange->abandon = stream_abandon;
	reply_stream(exchange, 200, "application/json;stream=watch", pull);
}

void views_volume_events(struct exchange *exchange)
{
	const char *watch = api_path_parameter(&exchange->path, "watch");

	assert(exchange);
	if (watch && strcmp(watch, "false") != 0 && strcmp(watch, "0") != 0)
		begin_stream(exchange);
	else
		views_reply(exchange, 200, agent_view_volume_events(exchange->agent),
			    &view_volume_event_columns);
}
