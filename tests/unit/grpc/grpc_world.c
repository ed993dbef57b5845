/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_world - a gRPC server on the test's own event loop, with scripted answers
 */
#include "grpc_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <nghttp2/nghttp2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>

struct connection {
	struct grpc_world *world;
	struct connection *next, **slot;
	sd_event_source *io;
	int fd;
	nghttp2_session *http2;
	size_t sent; /* of the reply */
	bool hang_up, answered;
};

static void connection_end(struct connection *connection)
{
	connection->world->closed++;
	*connection->slot = connection->next;
	if (connection->next)
		connection->next->slot = connection->slot;
	(void) sd_event_source_disable_unref(connection->io);
	(void) close(connection->fd);
	nghttp2_session_del(connection->http2);
	free(connection);
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *) name, (uint8_t *) value, strlen(name), strlen(value), 0 };
}

static ssize_t on_reply(nghttp2_session *http2, int32_t stream_id, uint8_t *buffer, size_t size,
			uint32_t *flags, nghttp2_data_source *source, void *userdata)
{
	struct connection *connection = userdata;
	struct grpc_world *world = connection->world;
	size_t whole = world->reply_bytes + 5, written = 0;
	const nghttp2_nv trailers[] = { header("grpc-status", "0") };

	for (; written < size && connection->sent < whole; written++, connection->sent++) {
		size_t at = connection->sent;

		if (at < 5)
			buffer[written] =
				at == 0 ? 0 : (uint8_t) (world->reply_bytes >> 8 * (4 - at));
		else
			buffer[written] = world->reply ? (uint8_t) world->reply[at - 5] : 'r';
	}
	if (connection->sent == whole) {
		*flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		assert_int_equal(nghttp2_submit_trailer(http2, stream_id, trailers, 1), 0);
	}
	return (ssize_t) written;
}

static void answer(struct connection *connection, int32_t stream_id)
{
	struct grpc_world *world = connection->world;
	const nghttp2_nv headers[] = { header(":status", "200"),
				       header("content-type", "application/grpc"),
				       header("grpc-status", world->status ? world->status : "0"),
				       header("grpc-message", world->text ? world->text : "") };
	const nghttp2_data_provider provider = { .read_callback = on_reply };

	if (world->answer == ANSWER_OK) {
		assert_int_equal(nghttp2_submit_response(connection->http2, stream_id, headers, 2,
							 &provider),
				 0);
	} else if (world->answer == ANSWER_AT_ONCE) {
		assert_int_equal(
			nghttp2_submit_response(connection->http2, stream_id, headers, 4, NULL), 0);
	} else if (world->answer == ANSWER_STATUS) {
		assert_int_equal(nghttp2_submit_headers(connection->http2, 0, stream_id, NULL,
							headers, 2, NULL),
				 0);
		assert_int_equal(nghttp2_submit_headers(connection->http2, NGHTTP2_FLAG_END_STREAM,
							stream_id, NULL, headers + 2, 2, NULL),
				 0);
	}
	connection->hang_up = world->answer == ANSWER_HANG_UP;
	connection->answered = true;
}

static int on_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *userdata)
{
	struct connection *connection = userdata;
	struct grpc_world *world = connection->world;

	world->late += connection->answered;
	if (frame->hd.type == NGHTTP2_RST_STREAM) {
		world->resets++;
		world->reset_code = frame->rst_stream.error_code;
	}
	if (frame->hd.type == NGHTTP2_HEADERS && world->answer == ANSWER_AT_ONCE)
		answer(connection, frame->hd.stream_id);
	if (frame->hd.stream_id != 0 && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
		world->requests++;
		if (world->answer != ANSWER_AT_ONCE)
			answer(connection, frame->hd.stream_id);
	}
	return 0;
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
		     void *userdata)
{
	struct grpc_world *world = ((struct connection *) userdata)->world;
	size_t used = strlen(world->headers);

	(void) snprintf(world->headers + used, sizeof(world->headers) - used, "%s: %s\n", name,
			value);
	return 0;
}

static int on_begin_headers(nghttp2_session *http2, const nghttp2_frame *frame, void *userdata)
{
	((struct connection *) userdata)->world->headers[0] = '\0';
	return 0;
}

static int on_data(nghttp2_session *http2, uint8_t flags, int32_t stream_id, const uint8_t *bytes,
		   size_t length, void *userdata)
{
	struct grpc_world *world = ((struct connection *) userdata)->world;

	world->request_bytes += length;
	for (size_t i = 0; i < length; i++)
		world->request_sum = (uint8_t) (world->request_sum + bytes[i]);
	return 0;
}

static ssize_t on_send(nghttp2_session *http2, const uint8_t *bytes, size_t length, int flags,
		       void *userdata)
{
	ssize_t sent = send(((struct connection *) userdata)->fd, bytes, length,
			    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0)
		return errno == EAGAIN ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
	return sent;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct connection *connection = userdata;
	static uint8_t bytes[65536];
	ssize_t length = events & EPOLLIN ? recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) : -1;

	if (length == 0 || (length < 0 && events & EPOLLIN && errno != EAGAIN) ||
	    (length > 0 &&
	     nghttp2_session_mem_recv(connection->http2, bytes, (size_t) length) < 0) ||
	    connection->hang_up || nghttp2_session_send(connection->http2) != 0) {
		connection_end(connection);
		return 0;
	}
	(void) sd_event_source_set_io_events(
		connection->io,
		EPOLLIN |
			(nghttp2_session_want_write(connection->http2) ? (uint32_t) EPOLLOUT : 0));
	return 0;
}

static void make_http2(struct connection *connection)
{
	nghttp2_session_callbacks *callbacks;

	assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_send_callback(callbacks, on_send);
	assert_int_equal(nghttp2_session_server_new(&connection->http2, callbacks, connection), 0);
	nghttp2_session_callbacks_del(callbacks);
	assert_int_equal(nghttp2_submit_settings(connection->http2, 0, NULL, 0), 0);
}

static int on_accept(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct grpc_world *world = userdata;
	struct connection *connection = calloc(1, sizeof(*connection));

	assert_non_null(connection);
	connection->world = world;
	connection->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(connection->fd >= 0);
	connection->slot = &world->connections;
	connection->next = world->connections;
	if (connection->next)
		connection->next->slot = &connection->next;
	world->connections = connection;
	make_http2(connection);
	assert_true(sd_event_add_io(world->event, &connection->io, connection->fd,
				    EPOLLIN | EPOLLOUT, on_io, connection) >= 0);
	world->connected++;
	return 0;
}

void grpc_world_begin(struct grpc_world *world, const char *name)
{
	*world = (struct grpc_world){ .listen_fd = -EBADF, .directory = "/tmp/podvol-grpc.XXXXXX" };
	assert_non_null(mkdtemp(world->directory));
	(void) snprintf(world->path, sizeof(world->path), "%s/%s", world->directory, name);
	assert_int_equal(sd_event_new(&world->event), 0);
}

void grpc_world_listen(struct grpc_world *world, int backlog)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_close int directory_fd = -EBADF;
	char *slash = world->path + strlen(world->directory);

	/* Made step by step, so that a path may be longer than an address. */
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		assert_true(mkdir(world->path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	slash = strrchr(world->path, '/');
	*slash = '\0';
	directory_fd = open(world->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	assert_true(directory_fd >= 0);
	(void) snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
			directory_fd, slash + 1);
	world->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(world->listen_fd >= 0);
	assert_int_equal(bind(world->listen_fd, &address, sizeof(address)), 0);
	assert_int_equal(listen(world->listen_fd, backlog), 0);
}

void grpc_world_accept(struct grpc_world *world)
{
	assert_true(sd_event_add_io(world->event, &world->accepting, world->listen_fd, EPOLLIN,
				    on_accept, world) >= 0);
}

void grpc_world_hang_up(struct grpc_world *world)
{
	connection_end(world->connections);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *level)
{
	return remove(path);
}

void grpc_world_end(struct grpc_world *world)
{
	while (world->connections)
		connection_end(world->connections);
	(void) sd_event_source_disable_unref(world->accepting);
	(void) close_keep_errno(world->listen_fd);
	(void) sd_event_unref(world->event);
	assert_int_equal(nftw(world->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void on_done(void *userdata, const struct grpc_result *result)
{
	struct outcome *outcome = userdata;

	outcome->done++;
	outcome->result = *result;
	outcome->result.reply = NULL;
	outcome->reply_length = result->reply_length;
	if (result->reply_length > 0) {
		outcome->reply_first = result->reply[0];
		outcome->reply_last = result->reply[result->reply_length - 1];
	}
	outcome->cancel_next = grpc_cancel(outcome->cancel_next);
}

struct grpc_call *grpc_world_call(struct grpc_world *world, const char *message, size_t length,
				  uint64_t timeout_usec, struct outcome *outcome)
{
	const struct grpc_request request = {
		.socket_path = world->path,
		.method = "/csi.v1.Identity/Probe",
		.message = (const uint8_t *) message,
		.message_length = length,
		.timeout_usec = timeout_usec,
		.done = on_done,
		.userdata = outcome,
	};
	struct failure failure = { 0 };
	struct grpc_call *call;

	if (grpc_call(world->event, &request, &call, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_int_equal(outcome->done, 0);
	return call;
}

void grpc_world_until(struct grpc_world *world, const unsigned int *number, unsigned int wanted)
{
	uint64_t end = monotonic_usec() + 60 * USEC_PER_SEC;

	while (*number < wanted) {
		assert_true(sd_event_run(world->event, USEC_PER_SEC) >= 0);
		if (monotonic_usec() > end)
			fail_msg("%u of %u after a minute", *number, wanted);
	}
}

unsigned int count_entries(const char *directory)
{
	cleanup_closedir DIR *entries = opendir(directory);
	unsigned int count = 0;

	assert_non_null(entries);
	while (readdir(entries))
		count++;
	return count;
}
