/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http - the transport: libmicrohttpd on the event loop, one exchange per request
 *
 * The library's epoll descriptor is one source of the loop, its time-outs one timer; it has no
 * thread. A request whose answer takes time suspends its connection. A suspended connection is
 * blind, so a source of our own waits for the client to leave; then the work is abandoned. The
 * library aborts when it is stopped with a connection suspended, so api_free() resumes all first.
 *
 * Lifetimes: an exchange lives from the request line to the library's "request completed"; its
 * hang-up source only while suspended, because the descriptor may be another client's afterwards.
 */
#include "api/api.h"

#include "api/exchange.h"
#include "api/peer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

struct request {
	struct exchange exchange; /* first: handlers hold &request->exchange */
	struct api *api;
	struct MHD_Connection *connection;
	struct request *previous, *next; /* in api->requests */
	sd_event_source *hang_up;        /* while suspended */
	int uri_error;                   /* of api_path_parse() */
	struct failure uri_failure;
	size_t body_allocated;
	size_t body_discarded;
	bool seen;      /* the headers were looked at */
	bool too_large; /* the body passed its limit: read on, keep nothing, then 413 */
	bool running;   /* a handler is on the stack */
	bool suspended;
	bool pulling;    /* a stream's pull is on the stack */
	bool pull_again; /* and was told meanwhile that there is more */
	bool left;       /* the client is gone: close without an answer */
};

struct api {
	struct api_options options;
	gid_t group;
	struct MHD_Daemon *daemon;
	sd_event_source *ready, *timer, *again;
	struct worker_return *from_readers;
	struct worker_pool *readers;
	struct request *requests;
	size_t suspended;
	bool stopping;
};

/* How much more than the limit of a body is read and thrown away before we hang up. */
enum { DISCARD_TIMES = 4 };

/* What the library keeps for a stream to a client that knows no chunks (HTTP/1.0). */
enum { STREAM_BLOCK_BYTES = 1024 };

/* Waits may take three of four connections; the last quarter is for those who ask why. */
static bool may_wait(const struct api *api)
{
	return api->suspended < (api->options.connections_max + 3) / 4 * 3;
}

/* ---- driving the library ---- */

/* The library counts time-outs itself and only says when it wants to be run next. */
static void arm_timer(struct api *api)
{
	MHD_UNSIGNED_LONG_LONG msec;

	if (MHD_get_timeout(api->daemon, &msec) != MHD_YES) {
		(void) sd_event_source_set_enabled(api->timer, SD_EVENT_OFF);
		return;
	}
	(void) sd_event_source_set_time(api->timer, monotonic_usec() + msec * USEC_PER_MSEC);
	(void) sd_event_source_set_enabled(api->timer, SD_EVENT_ONESHOT);
}

static unsigned int connection_count(const struct api *api)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(api->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

/* After each run the next time-out may be another one. */
static void run(struct api *api)
{
	unsigned int before = connection_count(api);

	(void) MHD_run(api->daemon);
	/* At its limit the library does not listen; it only begins again at the next run. */
	if (connection_count(api) < before)
		(void) sd_event_source_set_enabled(api->again, SD_EVENT_ONESHOT);
	arm_timer(api);
}

static int on_ready(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	run(userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	run(userdata);
	return 0;
}

static int on_again(sd_event_source *source, void *userdata)
{
	run(userdata);
	return 0;
}

/* ---- suspended requests ---- */

static void resume(struct request *request)
{
	struct api *api = request->api;

	assert(request->suspended && api->suspended > 0);
	request->suspended = false;
	api->suspended--;
	request->hang_up = sd_event_source_disable_unref(request->hang_up);
	MHD_resume_connection(request->connection);
	/* The library takes it up in its next run, which nothing else would cause. */
	(void) sd_event_source_set_enabled(api->again, SD_EVENT_ONESHOT);
}

/* The work is abandoned first: it must not answer a request whose client has gone. */
static int on_hang_up(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct request *request = userdata;

	exchange_abandon(&request->exchange);
	request->left = true;
	resume(request);
	return 0;
}

/* While a handler runs, its caller sends the answer; afterwards the connection must be woken. */
static void on_answered(struct exchange *exchange)
{
	struct request *request = (struct request *) exchange;

	if (!request->running)
		resume(request);
}

/* A stream has bytes again. The library is at work on a connection that is not suspended, and pulls
 * by itself. */
static void on_pull_ready(struct exchange *exchange)
{
	struct request *request = (struct request *) exchange;

	if (request->pulling)
		request->pull_again = true;
	else if (request->suspended)
		resume(request);
}

/* Without the source nobody would notice the client leaving, so then there is no waiting. */
static int suspend(struct request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct api *api = request->api;
	int r;

	if (!info)
		return -EBADF;
	r = sd_event_add_io(api->options.event, &request->hang_up, info->connect_fd, EPOLLRDHUP,
			    on_hang_up, request);
	if (r < 0)
		return r;
	MHD_suspend_connection(request->connection);
	request->suspended = true;
	api->suspended++;
	return 0;
}

/* ---- sending the answer ---- */

/*
 * The library wants bytes of a stream. While there are none the connection is suspended: so it has
 * no time-out then, and a watch may be silent for hours. Bytes that the client does not take are
 * under the library's time-out, so who never reads is closed.
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
		return MHD_CONTENT_READER_END_OF_STREAM;
	}
	if (suspend(request) < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (request->pull_again)
		resume(request);
	return 0;
}

static struct MHD_Response *make_response(struct request *request)
{
	struct exchange *exchange = &request->exchange;
	struct MHD_Response *response;

	if (exchange->pull) {
		exchange->pull_ready = on_pull_ready;
		return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, pull,
							 request, NULL);
	}
	response = MHD_create_response_from_buffer(exchange->reply_length, exchange->reply,
						   MHD_RESPMEM_MUST_FREE);
	if (response)
		exchange->reply = NULL; /* the response's */
	return response;
}

/* The bytes go to the library, which frees them when they are sent. */
static enum MHD_Result send_reply(struct request *request)
{
	struct exchange *exchange = &request->exchange;
	struct MHD_Response *response;
	enum MHD_Result result;

	assert(exchange->status != 0);
	response = make_response(request);
	if (!response)
		return MHD_NO;
	(void) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				       exchange->reply_type);
	(void) MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				       "no-cache, private");
	result = MHD_queue_response(request->connection, (unsigned int) exchange->status, response);
	MHD_destroy_response(response);
	return result;
}

/* ---- reading the request ---- */

static enum api_method parse_method(const char *method)
{
	static const struct {
		const char *name;
		enum api_method method;
	} methods[] = {
		{ MHD_HTTP_METHOD_GET, METHOD_GET },     { MHD_HTTP_METHOD_HEAD, METHOD_GET },
		{ MHD_HTTP_METHOD_POST, METHOD_POST },   { MHD_HTTP_METHOD_PUT, METHOD_PUT },
		{ MHD_HTTP_METHOD_PATCH, METHOD_PATCH }, { MHD_HTTP_METHOD_DELETE, METHOD_DELETE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (strcmp(method, methods[i].name) == 0)
			return methods[i].method;
	return METHOD_OTHER;
}

static const char *header(struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static bool peer_is_allowed(const struct request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info && peer_may_use(info->connect_fd, request->api->group);
}

static bool body_is_too_large(struct request *request)
{
	const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > request->api->options.request_bytes_max;
}

static void refuse_too_large(struct request *request)
{
	reply_refusal(&request->exchange, API_TOO_LARGE,
		      "the request body is longer than %zu bytes",
		      request->api->options.request_bytes_max);
}

/* Refusals that need no body; they come as JSON, whatever form was asked for. */
static void look_at_head(struct request *request)
{
	struct exchange *exchange = &request->exchange;

	if (!peer_is_allowed(request))
		reply_refusal(exchange, API_FORBIDDEN,
			      "only root and members of group " API_GROUP " may use this socket");
	else if (request->uri_error == -ENAMETOOLONG)
		reply_refusal(exchange, API_URI_TOO_LONG, "%s", request->uri_failure.text);
	else if (request->uri_error < 0)
		reply_refusal(exchange, API_BAD_REQUEST, "%s", request->uri_failure.text);
	else if (body_is_too_large(request))
		refuse_too_large(request);
	exchange->accept = header(request, MHD_HTTP_HEADER_ACCEPT);
	exchange->content = api_content_parse(header(request, MHD_HTTP_HEADER_CONTENT_TYPE));
}

/* Grows by doubling; one byte more than the body for its NUL. */
static enum MHD_Result keep_body(struct request *request, const char *data, size_t length)
{
	struct exchange *exchange = &request->exchange;
	size_t limit = request->api->options.request_bytes_max;
	size_t needed = exchange->body_length + length + 1;

	if (request->too_large || exchange->body_length + length > limit) {
		request->too_large = true;
		request->body_discarded += length;
		return request->body_discarded / DISCARD_TIMES > limit ? MHD_NO : MHD_YES;
	}
	if (needed > request->body_allocated) {
		size_t allocated =
			request->body_allocated * 2 > needed ? request->body_allocated * 2 : needed;
		char *grown = realloc(exchange->body, allocated);

		if (!grown)
			return MHD_NO;
		exchange->body = grown;
		request->body_allocated = allocated;
	}
	memcpy(exchange->body + exchange->body_length, data, length);
	exchange->body_length += length;
	exchange->body[exchange->body_length] = '\0';
	return MHD_YES;
}

static enum MHD_Result dispatch(struct request *request)
{
	request->running = true;
	request->exchange.may_wait = may_wait(request->api);
	if (request->too_large)
		refuse_too_large(request);
	else if (request->exchange.body_length > 0 && request->exchange.content == CONTENT_OTHER)
		reply_refusal(&request->exchange, API_UNSUPPORTED_MEDIA_TYPE,
			      "the body of the request was in an unknown format - accepted media "
			      "types include: application/json, application/yaml");
	else
		api_dispatch(&request->exchange);
	request->running = false;

	if (request->exchange.status != 0)
		return send_reply(request);
	if (suspend(request) < 0) {
		exchange_abandon(&request->exchange);
		return MHD_NO;
	}
	return MHD_YES;
}

/* Called for the head, for each piece of the body, at its end, and again after a resume. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *connection,
				  const char *url, const char *method, const char *version,
				  const char *data, size_t *data_length, void **request_slot)
{
	struct request *request = *request_slot;

	if (!request || request->left || request->api->stopping)
		return MHD_NO; /* closes the connection */
	if (!request->seen) {
		request->seen = true;
		request->connection = connection;
		request->exchange.method = parse_method(method);
		request->running = true;
		look_at_head(request);
		request->running = false;
		return request->exchange.status != 0 ? send_reply(request) : MHD_YES;
	}
	if (*data_length > 0) {
		enum MHD_Result result = keep_body(request, data, *data_length);

		*data_length = 0;
		return result;
	}
	return request->exchange.status != 0 ? send_reply(request) : dispatch(request);
}

/* The request line is there: the one place where the path is still as it was sent. */
static void *on_uri(void *userdata, const char *uri, struct MHD_Connection *connection)
{
	struct api *api = userdata;
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->api = api;
	request->exchange.agent = api->options.agent;
	request->exchange.readers = api->readers;
	request->exchange.rights = RIGHT_READ | RIGHT_WRITE | RIGHT_SECRETS;
	request->exchange.answered = on_answered;
	request->uri_error = api_path_parse(uri, &request->exchange.path, &request->uri_failure);
	DL_APPEND2(api->requests, request, previous, next);
	return request;
}

static void on_completed(void *userdata, struct MHD_Connection *connection, void **request_slot,
			 enum MHD_RequestTerminationCode code)
{
	struct request *request = *request_slot;

	if (!request)
		return;
	assert(!request->suspended);
	DL_DELETE2(request->api->requests, request, previous, next);
	exchange_abandon(&request->exchange);
	exchange_done(&request->exchange);
	free(request);
	*request_slot = NULL;
}

/* Of clients that break off, mostly: nothing an operator must mend. */
static void on_library_error(void *userdata, const char *format, va_list arguments)
{
	char text[256];

	(void) vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	log_message(LOG_DEBUG, "api: %s", text);
}

/* ---- start and stop ---- */

static int start_daemon(struct api *api, struct failure *reterr)
{
	const struct api_options *options = &api->options;

	api->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		on_request, api, MHD_OPTION_EXTERNAL_LOGGER, on_library_error, api,
		MHD_OPTION_LISTEN_SOCKET, options->listen_fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int) options->connections_max, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t) API_HEAD_BYTES_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int) API_IDLE_SECONDS, MHD_OPTION_URI_LOG_CALLBACK, on_uri, api,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, api, MHD_OPTION_END);
	if (!api->daemon)
		return failed_plain(reterr, -ENOMEM, "cannot start the HTTP server");
	return 0;
}

static int add_sources(struct api *api, struct failure *reterr)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(api->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	sd_event *event = api->options.event;
	int r;

	if (!info)
		return failed_plain(reterr, -ENOMEM, "the HTTP server has no epoll descriptor");
	r = sd_event_add_io(event, &api->ready, info->epoll_fd, EPOLLIN, on_ready, api);
	if (r >= 0)
		r = sd_event_add_time(event, &api->timer, CLOCK_MONOTONIC, UINT64_MAX, 0, on_timer,
				      api);
	if (r >= 0)
		r = sd_event_source_set_enabled(api->timer, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_defer(event, &api->again, on_again, api);
	if (r >= 0)
		r = sd_event_source_set_enabled(api->again, SD_EVENT_OFF);
	if (r < 0)
		return failed(reterr, r, "cannot put the HTTP server on the event loop");
	/* After the work that answers requests: a burst of clients never holds that up. */
	(void) sd_event_source_set_priority(api->ready, SD_EVENT_PRIORITY_IDLE);
	return 0;
}

/* One body at a time: that is enough to keep the loop free, and bounds the memory. */
static int start_readers(struct api *api, struct failure *reterr)
{
	const struct worker_limits limits = { .threads = 1,
					      .threads_max = 1,
					      .set_aside_usec = 60 * USEC_PER_SEC };
	int r;

	r = worker_return_new(api->options.event, SD_EVENT_PRIORITY_IDLE, &api->from_readers);
	if (r == 0)
		r = worker_pool_new("api-reader", api->from_readers, &limits, &api->readers);
	return r < 0 ? failed(reterr, r, "cannot prepare the reading of requests") : 0;
}

static int check_listen_fd(int fd, struct failure *reterr)
{
	int domain = 0, listening = 0;
	socklen_t bytes = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) < 0 || domain != AF_UNIX ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &bytes) < 0 || !listening)
		return failed_plain(reterr, -EINVAL,
				    "the descriptor that was handed over is no listening unix "
				    "socket");
	return 0;
}

int api_new(const struct api_options *options, struct api **ret, struct failure *reterr)
{
	struct api *api;
	int r;

	assert(options && options->event && options->agent && options->connections_max > 0);
	r = check_listen_fd(options->listen_fd, reterr);
	if (r < 0)
		return r;
	api = calloc(1, sizeof(*api));
	if (!api)
		return failed(reterr, -ENOMEM, "cannot start the HTTP server");
	api->options = *options;
	api->group = peer_group_id();

	r = start_readers(api, reterr);
	if (r == 0)
		r = start_daemon(api, reterr);
	if (r == 0)
		r = add_sources(api, reterr);
	if (r < 0) {
		/* The descriptor stays the caller's: MHD_quiesce_daemon() takes it from the
		 * library.
		 */
		if (api->daemon)
			(void) MHD_quiesce_daemon(api->daemon);
		api->options.listen_fd = -EBADF;
		(void) api_free(api);
		return r;
	}
	*ret = api;
	return 0;
}

struct api *api_free(struct api *api)
{
	struct request *request;

	if (!api)
		return NULL;
	api->stopping = true;
	DL_FOREACH2(api->requests, request, next)
	{
		if (!request->suspended)
			continue;
		exchange_abandon(&request->exchange);
		resume(request);
	}
	api->ready = sd_event_source_disable_unref(api->ready);
	api->timer = sd_event_source_disable_unref(api->timer);
	api->again = sd_event_source_disable_unref(api->again);
	if (api->daemon) {
		/* One run takes the resumed connections out of the suspended list. */
		(void) MHD_run(api->daemon);
		MHD_stop_daemon(api->daemon);
	}
	assert(!api->requests && api->suspended == 0);
	/* What they still read belongs to nobody now and frees itself. */
	api->readers = worker_pool_free(api->readers);
	api->from_readers = worker_return_free(api->from_readers);
	free(api);
	return NULL;
}
