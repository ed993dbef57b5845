/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call - the connection, the clock and the end of one gRPC call
 *
 * Each call has one descriptor and two sources more: the deadline, and the tries to connect, of
 * which the first comes when the loop turns. Where a look-up may wait a thread connects. done() is
 * called from the loop only, after the descriptor is closed, and whatever it does to other calls is
 * fine.
 */
#include "grpc/grpc.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "grpc/connect.h"
#include "grpc/session.h"

#include <assert.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	READ_BYTES = 16 * 1024, /* of one call in one turn of the loop; 1,820 frames at most */
	RETRY_FIRST_USEC = 1000,
	RETRY_LAST_USEC = 100 * 1000,
	DEADLINE_ACCURACY_USEC = 1000,
};
#define READ_EVENTS ((uint32_t) (EPOLLIN | EPOLLRDHUP | EPOLLET))

struct grpc_call {
	struct grpc_session *session;
	sd_event *event; /* borrowed: it outlives its calls */
	sd_event_source *deadline, *connect, *io;
	struct grpc_connecting *connecting; /* a thread does it */
	int fd;
	uint32_t events; /* that @io waits for */
	char *socket_path;
	const uint8_t *pending; /* the session's; not yet sent */
	size_t pending_length;
	bool was_sent;
	int lost; /* why nothing can be sent any more; what arrived before is still read */
	uint64_t retry_usec;
	uint64_t began_usec, timeout_usec;
	grpc_done_fn *done;
	void *userdata;
};

static unsigned int calls_now; /* the loop thread's */

static struct grpc_call *call_free(struct grpc_call *call)
{
	if (!call)
		return NULL;
	call->deadline = sd_event_source_disable_unref(call->deadline);
	call->connect = sd_event_source_disable_unref(call->connect);
	call->io = sd_event_source_disable_unref(call->io);
	call->connecting = grpc_connector_cancel(call->connecting);
	call->fd = close_keep_errno(call->fd);
	(void) grpc_session_free(call->session);
	free(call->socket_path);
	free(call);
	return NULL;
}
static void cleanup_call(struct grpc_call **call)
{
	(void) call_free(*call);
}

/* The server's own clock may end a call as this one does and name it badly: Go's handlers return a
 * bare "context deadline exceeded", which arrives as Unknown. After the deadline this one decides.
 */
static void apply_deadline(const struct grpc_call *call, struct grpc_result *result)
{
	if (result->took_usec >= call->timeout_usec &&
	    (result->code == GRPC_UNKNOWN || result->code == GRPC_CANCELLED))
		result->code = GRPC_DEADLINE_EXCEEDED;
}

static void finish(struct grpc_call *call, const struct grpc_result *ended)
{
	struct grpc_result result;

	grpc_result_copy(&result, ended);
	result.was_sent = call->was_sent && ended->was_sent;
	result.took_usec = monotonic_usec() - call->began_usec;
	apply_deadline(call, &result);
	call->deadline = sd_event_source_disable_unref(call->deadline);
	call->connect = sd_event_source_disable_unref(call->connect);
	call->io = sd_event_source_disable_unref(call->io);
	call->connecting = grpc_connector_cancel(call->connecting);
	call->fd = close_keep_errno(call->fd);
	calls_now--;
	call->done(call->userdata, &result);
	(void) call_free(call);
}

/* Sends what there is until it would block. Return: 0, -EAGAIN, or why the connection is gone. */
static int flush(struct grpc_call *call)
{
	for (;;) {
		ssize_t sent;

		if (call->pending_length == 0)
			call->pending_length = grpc_session_next(call->session, &call->pending);
		if (call->pending_length == 0)
			return 0;
		sent = send(call->fd, call->pending, call->pending_length,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		call->was_sent = true;
		call->pending += sent;
		call->pending_length -= (size_t) sent;
	}
}

/* Return: 1 there may be more; 0 not now, or never. */
static int receive(struct grpc_call *call)
{
	uint8_t bytes[READ_BYTES];
	ssize_t length = recv(call->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (length > 0) {
		grpc_session_receive(call->session, bytes, (size_t) length);
		explicit_bzero(bytes, (size_t) length);
		return (size_t) length == sizeof(bytes);
	}
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	grpc_session_closed(call->session, length < 0 ? -errno : 0);
	return 0;
}

/* A peer that has more to send than one turn takes waits for its next behind the API's clients.
 * Edge-triggered, as each turn of the loop would else hear of all that are ready; where something
 * was left unread, the call below makes the kernel look again, so that it is an edge, too. */
static void wait_for_more(struct grpc_call *call, bool there_is_more, bool has_to_send)
{
	uint32_t events = READ_EVENTS | (has_to_send ? (uint32_t) EPOLLOUT : 0);

	(void) sd_event_source_set_priority(call->io,
					    there_is_more ? SD_EVENT_PRIORITY_IDLE : GRPC_PRIORITY);
	if (there_is_more || events != call->events)
		(void) sd_event_source_set_io_events(call->io, events);
	call->events = events;
}

/* After anything happened: send, and either wait for more or end it. Behind the server's status
 * only acknowledgements are left to send, of which a closed connection needs none. */
static void go_on(struct grpc_call *call, bool there_is_more)
{
	const struct grpc_result *result;
	int r;

	if (grpc_session_result(call->session, &result) && result->from_server) {
		finish(call, result);
		return;
	}
	r = call->lost < 0 ? 0 : flush(call);
	/* A server that refused and closed may have left its reason in our queue. */
	if (r < 0 && r != -EAGAIN) {
		call->lost = r;
		there_is_more = receive(call) > 0;
	}
	if (call->lost < 0 && !there_is_more)
		grpc_session_closed(call->session, call->lost);
	if (grpc_session_result(call->session, &result))
		finish(call, result);
	else
		wait_for_more(call, there_is_more, r == -EAGAIN);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct grpc_call *call = userdata;

	/* Behind what was read may be the end, of which there is no other edge. */
	go_on(call, receive(call) > 0 || (events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0);
	return 0;
}

static void fail(struct grpc_call *call, enum grpc_code code, const char *text)
{
	const struct grpc_result *result;

	grpc_session_cancel(call->session, code, text);
	if (call->fd >= 0)
		(void) flush(call);
	(void) grpc_session_result(call->session, &result);
	finish(call, result);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct grpc_call *call = userdata;

	fail(call, GRPC_DEADLINE_EXCEEDED,
	     call->fd >= 0      ? "no answer within the time limit"
	     : call->connecting ? "its socket was not even found within the time limit: what its "
				  "path leads through hangs"
				: "the server accepted no connection within the time limit");
	return 0;
}

static int on_connect_again(sd_event_source *source, uint64_t usec, void *userdata);

static int wait_for_room(struct grpc_call *call)
{
	int r;

	call->connect = sd_event_source_disable_unref(call->connect);
	r = sd_event_add_time_relative(call->event, &call->connect, CLOCK_MONOTONIC,
				       call->retry_usec, 1, on_connect_again, call);
	call->retry_usec *= 2;
	if (call->retry_usec > RETRY_LAST_USEC)
		call->retry_usec = RETRY_LAST_USEC;
	return r < 0 ? r : sd_event_source_set_priority(call->connect, GRPC_PRIORITY);
}

static void begin_exchange(struct grpc_call *call, int fd)
{
	int r;

	call->fd = fd;
	call->events = READ_EVENTS;
	r = sd_event_add_io(call->event, &call->io, call->fd, call->events, on_io, call);
	if (r >= 0)
		r = sd_event_source_set_priority(call->io, GRPC_PRIORITY);
	if (r < 0)
		fail(call, GRPC_UNAVAILABLE, "cannot watch the connection");
	else
		go_on(call, false);
}

static void on_connected(void *userdata, int result, const struct failure *why);

/* @result: as grpc_connect_now(). */
static void take_connection(struct grpc_call *call, int result, const struct failure *why)
{
	struct failure failure = *why;

	if (result == -EINPROGRESS) {
		result = grpc_connector_start(call->event, call->socket_path, on_connected, call,
					      &call->connecting, &failure);
		if (result == 0)
			return;
		fail(call, GRPC_UNAVAILABLE, failure.text);
	} else if (result >= 0) {
		begin_exchange(call, result);
	} else if (result != -EAGAIN || wait_for_room(call) < 0) {
		fail(call, GRPC_UNAVAILABLE, failure.text);
	}
}

static void connect_now(struct grpc_call *call)
{
	struct failure failure = { 0 };

	take_connection(call, grpc_connect_now(call->socket_path, &failure), &failure);
}

static int on_connect(sd_event_source *source, void *userdata)
{
	connect_now(userdata);
	return 0;
}

static int on_connect_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	connect_now(userdata);
	return 0;
}

static void on_connected(void *userdata, int result, const struct failure *why)
{
	struct grpc_call *call = userdata;

	call->connecting = NULL;
	take_connection(call, result, why);
}

static int add_sources(struct grpc_call *call)
{
	uint64_t end = call->began_usec + call->timeout_usec;
	int r;

	if (end < call->began_usec)
		end = UINT64_MAX - 1; /* the last is sd-event's word for never */
	r = sd_event_add_time(call->event, &call->deadline, CLOCK_MONOTONIC, end,
			      DEADLINE_ACCURACY_USEC, on_deadline, call);
	if (r >= 0)
		r = sd_event_source_set_priority(call->deadline, GRPC_PRIORITY);
	if (r >= 0)
		r = sd_event_add_defer(call->event, &call->connect, on_connect, call);
	return r < 0 ? r : sd_event_source_set_priority(call->connect, GRPC_PRIORITY);
}

int grpc_call(sd_event *event, const struct grpc_request *request, struct grpc_call **ret,
	      struct failure *reterr)
{
	cleanup(cleanup_call) struct grpc_call *call = NULL;
	int r;

	assert(event && request && request->done && ret);
	assert(request->socket_path && request->socket_path[0] == '/');
	assert(request->method && request->method[0] == '/' && request->timeout_usec > 0);

	if (request->message_length > GRPC_MESSAGE_BYTES_MAX)
		return failed_plain(reterr, -E2BIG, "the request has %zu bytes, more than %d",
				    request->message_length, GRPC_MESSAGE_BYTES_MAX);
	if (calls_now >= GRPC_CALLS_MAX)
		return failed_plain(reterr, -ENOBUFS, "%u calls are under way, and no more may be",
				    calls_now);
	call = calloc(1, sizeof(*call));
	if (!call)
		return failed(reterr, -ENOMEM, "cannot begin a call");
	call->fd = -EBADF;
	call->event = event;
	call->done = request->done;
	call->userdata = request->userdata;
	call->began_usec = monotonic_usec();
	call->timeout_usec = request->timeout_usec;
	call->retry_usec = RETRY_FIRST_USEC;
	call->socket_path = strdup(request->socket_path);
	if (!call->socket_path || grpc_session_new(request, &call->session) < 0)
		return failed(reterr, -ENOMEM, "cannot begin a call");
	r = add_sources(call);
	if (r < 0)
		return failed(reterr, r, "cannot begin a call");
	calls_now++;
	*ret = TAKE_PTR(call);
	return 0;
}

struct grpc_call *grpc_cancel(struct grpc_call *call)
{
	if (!call)
		return NULL;
	if (call->fd >= 0) {
		grpc_session_cancel(call->session, GRPC_CANCELLED, "cancelled");
		(void) flush(call);
	}
	calls_now--;
	return call_free(call);
}
