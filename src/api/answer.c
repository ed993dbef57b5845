/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer - replies that are sent at once, later, or as a stream
 *
 * A request without a reply yet suspends its connection. A suspended connection notices no hang-up,
 * so an event source of its own waits for the client to leave, from the first time on to the end of
 * the request: a watch is suspended between any two events. Then the work is abandoned. On a
 * unix socket a half-closed connection differs from a closed one; on TCP it does not, so there a
 * client that shuts down its side has left.
 */
#include "api/request.h"

#include "api/http/listen.h"
#include "base/secret_file.h"

#include <assert.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	STREAM_BLOCK_BYTES = 1024, /* kept for a client that knows no chunks (HTTP/1.0) */
	/* Of a stream of known length, pulled and sent at once: what a socket takes
	 * (net.core.wmem_default), so that a list waits for its client half as often. */
	KNOWN_BLOCK_BYTES = 208 * 1024,
};

/* ---- suspended requests ---- */

void answer_resume(struct request *request)
{
	assert(request->suspended);
	request->suspended = false;
	MHD_resume_connection(request->library);
	/* The library takes it up in its next run, which nothing else would cause. */
	listener_run_again(request->connection->listener);
}

/* The work is abandoned first: it must not reply to a client that left. */
static int on_hang_up(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct request *request = userdata;

	request->hang_up = sd_event_source_disable_unref(request->hang_up);
	if (!request->suspended)
		return 0; /* the library is at work, and sees it */
	exchange_abandon(&request->exchange);
	request->left = true;
	answer_resume(request);
	return 0;
}

static void count_as_waiting(struct request *request)
{
	if (!request->waits)
		request->connection->listener->waiting++;
	request->waits = true;
}

/* Without the source nothing would notice the client leaving, so then there is no waiting. */
int answer_suspend(struct request *request)
{
	struct connection *connection = request->connection;
	uint32_t leaving = listener_is_unix(connection->listener->kind) ? EPOLLHUP : EPOLLRDHUP;
	int r = 0;

	if (!request->hang_up)
		r = sd_event_add_io(request->api->options.event, &request->hang_up,
				    connection->deadline.fd, leaving, on_hang_up, request);
	if (r < 0)
		return r;
	MHD_suspend_connection(request->library);
	request->suspended = true;
	count_as_waiting(request);
	connection_enter(request->connection, DEADLINE_NONE);
	return 0;
}

/* While a handler runs, its caller sends the reply; afterwards the connection must be woken. */
void answer_is_there(struct exchange *exchange)
{
	struct request *request = (struct request *) exchange;

	if (!request->running)
		answer_resume(request);
}

/* ---- streams ---- */

/* A stream has bytes again. The library is at work on a connection that is not suspended, and pulls
 * by itself. */
static void on_pull_ready(struct exchange *exchange)
{
	struct request *request = (struct request *) exchange;

	if (request->pulling)
		request->pull_again = true;
	else if (request->suspended)
		answer_resume(request);
}

/*
 * The library wants bytes of a stream. While there are none the connection is suspended: so it has
 * no time-out then, and a watch may be silent for hours. Bytes that the client does not take are
 * under the library's time-out, so a client that never reads is closed.
 */
static ssize_t pull(void *userdata, uint64_t position, char *buffer, size_t size)
{
	struct request *request = userdata;
	struct exchange *exchange = &request->exchange;
	ssize_t n = -1;

	if (request->left)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (exchange->work && !request->api->stopping) {
		request->pulling = true;
		request->pull_again = false;
		n = exchange->pull(exchange->work, buffer, size);
		request->pulling = false;
	}
	assert(n <= (ssize_t) size);
	if (n > 0)
		return n;
	if (n < 0) {
		exchange_abandon(exchange);
		return exchange->reply_length ? MHD_CONTENT_READER_END_WITH_ERROR
					      : MHD_CONTENT_READER_END_OF_STREAM;
	}
	if (answer_suspend(request) < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (request->pull_again)
		answer_resume(request);
	return 0;
}

/* ---- sending ---- */

/* Chunks are as small as the library's memory for a connection: of a known length there are none.
 */
static struct MHD_Response *make_stream(struct request *request)
{
	size_t length = request->exchange.reply_length;

	request->exchange.pull_ready = on_pull_ready;
	count_as_waiting(request);
	connection_enter(request->connection, DEADLINE_NONE);
	return MHD_create_response_from_callback(length ? length : MHD_SIZE_UNKNOWN,
						 length ? KNOWN_BLOCK_BYTES : STREAM_BLOCK_BYTES,
						 pull, request, NULL);
}

static void free_secret(void *text)
{
	(void) secret_text_free(text);
}

/* The bytes go to the library, which frees them when they are sent. */
static struct MHD_Response *make_whole(struct request *request)
{
	struct exchange *exchange = &request->exchange;
	struct MHD_Response *response =
		exchange->is_secret
			? MHD_create_response_from_buffer_with_free_callback(
				  exchange->reply_length, exchange->reply, free_secret)
			: MHD_create_response_from_buffer(exchange->reply_length, exchange->reply,
							  MHD_RESPMEM_MUST_FREE);

	if (!response)
		return NULL;
	exchange->reply = NULL; /* the response's */
	request->reply_bytes = exchange->reply_length;
	request->api->reply_bytes += request->reply_bytes;
	connection_enter(request->connection, DEADLINE_ANSWER);
	return response;
}

/* RFC 7234: 299, no agent, the text in quotes. */
static void add_warnings(const struct exchange *exchange, struct MHD_Response *response)
{
	char *at = exchange->warnings;

	while (at && *at) {
		char header[640] = "299 - \"";
		size_t length = strcspn(at, "\n"), used = strlen(header);

		for (size_t i = 0; i < length && used + 4 < sizeof(header); i++) {
			if (at[i] == '"' || at[i] == '\\')
				header[used++] = '\\';
			header[used++] = at[i];
		}
		header[used++] = '"';
		header[used] = '\0';
		(void) MHD_add_response_header(response, MHD_HTTP_HEADER_WARNING, header);
		at += length + (at[length] == '\n');
	}
}

static void add_headers(struct request *request, struct MHD_Response *response)
{
	const struct exchange *exchange = &request->exchange;
	char seconds[12];

	(void) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				       exchange->reply_type);
	(void) MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				       "no-cache, private");
	add_warnings(exchange, response);
	/* Clients of Kubernetes try again by themselves when they get a time. */
	(void) snprintf(seconds, sizeof(seconds), "%u",
			exchange->retry_seconds ? exchange->retry_seconds : 1);
	if (exchange->status == MHD_HTTP_TOO_MANY_REQUESTS)
		(void) MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
	if (exchange->status == MHD_HTTP_UNAUTHORIZED)
		(void) MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
					       "Bearer realm=\"podvol\"");
}

enum MHD_Result answer_send(struct request *request)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	assert(request->exchange.status != 0 && request->connection);
	audit_answer(request);
	response = request->exchange.pull ? make_stream(request) : make_whole(request);
	if (!response)
		return MHD_NO;
	add_headers(request, response);
	result = MHD_queue_response(request->library, (unsigned int) request->exchange.status,
				    response);
	MHD_destroy_response(response);
	return result;
}

void answer_done(struct request *request)
{
	assert(!request->suspended);
	request->hang_up = sd_event_source_disable_unref(request->hang_up);
	request->api->reply_bytes -= request->reply_bytes;
	if (request->waits)
		request->connection->listener->waiting--;
}
