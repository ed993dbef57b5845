/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_http - whole connections through the real transport: request lines, headers, bodies, chunks
 *
 * The first byte of the input says in pieces of how many bytes the rest is sent. What arrives at
 * the handlers keeps the promises of exchange.h, and whatever was begun for a client has ended when
 * the client is gone. The handlers are this file's: one answers at once, one later, one streams,
 * one never answers.
 *
 * Link with -Wl,--wrap=api_dispatch,--wrap=docker_volume_start,--wrap=peer_rights
 */
#include "fuzz.h"

#include "api/api.h"
#include "api/exchange.h"
#include "api/http/listen.h"
#include "base/cleanup.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { BODY_BYTES = 4096, TURNS = 40, PIECES = 64, STREAM_PULLS = 3 };

void __wrap_api_dispatch(struct exchange *exchange);
int __wrap_docker_volume_start(struct agent *agent, struct failure *reterr);
unsigned int __wrap_peer_rights(int fd, gid_t group, unsigned int group_rights,
				bool others_may_read);

static sd_event *event;
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static unsigned int begun, ended;

/* ---- handlers ---- */

/* Work that goes on for a client. */
struct work {
	struct exchange *exchange; /* NULL: abandoned */
	unsigned int pulls;
};

static struct work *later; /* answers in the next turn */

static void abandon(void *userdata)
{
	struct work *work = userdata;

	HOLDS(work->exchange);
	if (later == work)
		later = NULL;
	ended++;
	free(work);
}

static ssize_t pull(void *userdata, char *buffer, size_t size)
{
	struct work *work = userdata;

	HOLDS(size > 0);
	if (++work->pulls > STREAM_PULLS)
		return -1;
	buffer[0] = '\n';
	return 1;
}

static void begin_work(struct exchange *exchange)
{
	struct work *work = calloc(1, sizeof(*work));

	HOLDS(work);
	begun++;
	work->exchange = exchange;
	exchange->work = work;
	exchange->abandon = abandon;
}

static void answer_later(void)
{
	struct work *work = later;
	struct exchange *exchange = work->exchange;

	later = NULL;
	ended++;
	free(work);
	reply_refusal(exchange, API_TIMEOUT, "later");
}

static void check_exchange(const struct exchange *exchange)
{
	HOLDS(exchange->status == 0 && exchange->rights != 0);
	HOLDS(exchange->body_length <= BODY_BYTES);
	HOLDS(exchange->body ? exchange->body[exchange->body_length] == '\0'
			     : exchange->body_length == 0);
	HOLDS(exchange->path.segment_count <= API_SEGMENTS_MAX);
	HOLDS(exchange->content <= CONTENT_OTHER);
}

/* There is no store to look for pods of mounts in. */
int __wrap_docker_volume_start(struct agent *agent, struct failure *reterr)
{
	return 0;
}

unsigned int __wrap_peer_rights(int fd, gid_t group, unsigned int group_rights,
				bool others_may_read)
{
	return RIGHT_READ | RIGHT_WRITE;
}

void __wrap_api_dispatch(struct exchange *exchange)
{
	check_exchange(exchange);
	if (api_path_matches(&exchange->path, "stream")) {
		begin_work(exchange);
		reply_stream(exchange, 200, "text/plain", pull);
	} else if (api_path_matches(&exchange->path, "later") && !later) {
		begin_work(exchange);
		later = exchange->work;
	} else if (api_path_matches(&exchange->path, "never")) {
		begin_work(exchange);
	} else {
		reply_bytes(exchange, 200, "text/plain",
			    strdup(exchange->body ? exchange->body : ""),
			    exchange->body ? strlen(exchange->body) : 0);
	}
}

/* ---- the client ---- */

/* A socket without a name in the file system, made once for all inputs. */
static void start(void)
{
	struct api_options options = { .connections_max = 4,
				       .request_bytes_max = BODY_BYTES,
				       .idle_seconds = 60,
				       .request_seconds = 60,
				       .listener_count = 1 };
	static int agent; /* handlers that would use one are not reached */
	struct api *api;
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	HOLDS(sd_event_new(&event) >= 0);
	HOLDS(bind(fd, &address, sizeof(sa_family_t)) == 0);
	HOLDS(listen(fd, 4) == 0);
	HOLDS(getsockname(fd, &address, &bytes) == 0);
	options.event = event;
	options.agent = (struct agent *) &agent;
	options.listeners[0] = (struct api_listener){ .kind = API_UNIX, .fd = fd };
	HOLDS(api_new(&options, &api, NULL) == 0);
}

/* True once the server hung up. */
static bool turn(int fd)
{
	char bytes[4096];
	ssize_t n;

	HOLDS(sd_event_run(event, 0) >= 0);
	if (later)
		answer_later();
	n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t piece, left = size > 0 ? size - 1 : 0;
	bool closed = false;

	if (size == 0)
		return 0;
	if (!event)
		start();
	HOLDS(connect(fd, &address, sizeof(sa_family_t) + 6) == 0);
	piece = data[0] > 0 ? data[0] : left;
	if (left / PIECES > piece)
		piece = left / PIECES;
	for (data++; left > 0 && !closed; closed = turn(fd)) {
		ssize_t n =
			send(fd, data, piece < left ? piece : left, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			break;
		data += n > 0 ? n : 0;
		left -= n > 0 ? (size_t) n : 0;
	}
	(void) shutdown(fd, SHUT_WR);
	for (int i = 0; i < TURNS && !closed; i++)
		closed = turn(fd);
	(void) shutdown(fd, SHUT_RDWR);
	fd = close_keep_errno(fd);
	for (int i = 0; i < TURNS && begun != ended; i++) {
		HOLDS(sd_event_run(event, 0) >= 0);
		if (later)
			answer_later();
	}
	HOLDS(begun == ended);
	return 0;
}
