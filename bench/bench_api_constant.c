/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_api_constant - the least that the HTTP library can do for the same bytes
 *
 * No parsing, no rights, no store: a buffer that was there before. One instance with epoll and no
 * thread, driven by one loop, as in the daemon.
 */
#include "bench/bench_api.h"

#include "base/cleanup.h"

#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BODY_BYTES_MAX = 1 << 27, STREAMS_MAX = 4096, BACKLOG = 1024, STREAM_BLOCK_BYTES = 4096 };

struct stream {
	struct MHD_Connection *connection;
	size_t event_bytes, left;
	unsigned int seen; /* changes */
	bool suspended;
};

static char *body; /* '}' and a line break at its end */
static struct stream streams[STREAMS_MAX];
static size_t stream_count;
static unsigned int changes;
static bool run_again; /* the library takes up what was resumed in its next run */

/* The answers of a measurement are all of one size. */
static struct MHD_Response *response_of(size_t bytes)
{
	static struct MHD_Response *response;
	static size_t response_bytes;

	if (bytes > BODY_BYTES_MAX)
		api_bench_fail("%zu bytes are too many", bytes);
	if (response && response_bytes == bytes)
		return response;
	if (response)
		MHD_destroy_response(response);
	response_bytes = bytes;
	response = MHD_create_response_from_buffer(bytes, body + BODY_BYTES_MAX - bytes,
						   MHD_RESPMEM_PERSISTENT);
	return response;
}

static ssize_t pull(void *userdata, uint64_t position, char *buffer, size_t size)
{
	struct stream *stream = userdata;
	size_t take;

	if (stream->left == 0 && stream->seen == changes) {
		stream->suspended = true;
		MHD_suspend_connection(stream->connection);
		return 0;
	}
	if (stream->left == 0) {
		stream->seen = changes;
		stream->left = stream->event_bytes;
	}
	take = stream->left < size ? stream->left : size;
	memcpy(buffer, body + BODY_BYTES_MAX - stream->left, take);
	stream->left -= take;
	return (ssize_t) take;
}

static enum MHD_Result begin_stream(struct MHD_Connection *connection, size_t bytes)
{
	struct stream *stream = &streams[stream_count++];
	struct MHD_Response *response;
	enum MHD_Result result;

	if (stream_count == STREAMS_MAX)
		api_bench_fail("too many streams");
	stream->connection = connection;
	stream->event_bytes = bytes;
	stream->seen = changes;
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, pull,
						     stream, NULL);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static void report_change(void)
{
	changes++;
	run_again = true;
	for (size_t i = 0; i < stream_count; i++) {
		if (!streams[i].suspended)
			continue;
		streams[i].suspended = false;
		MHD_resume_connection(streams[i].connection);
	}
}

static enum MHD_Result http_on_request(void *userdata, struct MHD_Connection *connection,
				       const char *url, const char *method, const char *version,
				       const char *data, size_t *data_length, void **slot)
{
	static int seen;

	if (!*slot || *data_length > 0) {
		*slot = &seen;
		*data_length = 0;
		return MHD_YES;
	}
	if (strncmp(url, "/watch/", 7) == 0)
		return begin_stream(connection, strtoull(url + 7, NULL, 10));
	if (strcmp(url, "/change") == 0)
		report_change();
	return MHD_queue_response(connection, MHD_HTTP_OK,
				  response_of(strtoull(url + 1, NULL, 10)));
}

/* A stream whose client left must not be woken. */
static void on_completed(void *userdata, struct MHD_Connection *connection, void **slot,
			 enum MHD_RequestTerminationCode code)
{
	for (size_t i = 0; i < stream_count; i++)
		if (streams[i].connection == connection)
			streams[i].suspended = false;
}

static void serve(int fd)
{
	struct MHD_Daemon *daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_on_request, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, STREAMS_MAX,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
	const union MHD_DaemonInfo *info =
		daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	struct pollfd ready = { .fd = info ? info->epoll_fd : -1, .events = POLLIN };

	if (!info)
		api_bench_fail("libmicrohttpd does not start");
	for (;;) {
		MHD_UNSIGNED_LONG_LONG msec;
		int wait = MHD_get_timeout(daemon, &msec) == MHD_YES ? (int) msec : -1;

		(void) poll(&ready, 1, run_again ? 0 : wait);
		run_again = false;
		(void) MHD_run(daemon);
	}
}

pid_t constant_server_start(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	pid_t child;

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		api_bench_fail("cannot listen on '%s'", path);
	child = fork();
	if (child == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		body = malloc(BODY_BYTES_MAX);
		if (!body)
			api_bench_fail("no memory");
		memset(body, 'x', BODY_BYTES_MAX);
		memcpy(body + BODY_BYTES_MAX - 2, "}\n", 2);
		serve(fd);
	}
	(void) close(fd);
	return child;
}
