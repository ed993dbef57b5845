/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_world - the transport on a real socket, and a client in the same thread
 *
 * Bytes are written, the loop turns, bytes are read. Needs -Wl,--wrap=peer_rights.
 */
#include "http_world.h"

#include "api/api.h"
#include "api/auth/peer.h"
#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

enum { TURN_USEC = 5000 };

unsigned int rights_of_peer;
gid_t group_of_peer;
bool others_of_peer;

unsigned int __wrap_peer_rights(int fd, gid_t group, unsigned int group_rights,
				bool others_may_read);

/* Tests run as anybody; test_peer has the rules themselves. */
unsigned int __wrap_peer_rights(int fd, gid_t group, unsigned int group_rights,
				bool others_may_read)
{
	group_of_peer = group;
	others_of_peer = others_may_read;
	return rights_of_peer;
}

int served_set_up(void **state)
{
	struct served *served = calloc(1, sizeof(*served));
	struct api_options options = { .connections_max = CONNECTIONS,
				       .request_bytes_max = BODY_BYTES,
				       .watches_max = CONNECTIONS,
				       .idle_seconds = IDLE_SECONDS,
				       .request_seconds = IDLE_SECONDS };
	struct api_listen_options listen = { .tls_address = "",
					     .plain_address = "",
					     .docker_path = "" };
	struct failure why;

	assert_int_equal(world_set_up((void **) &served->world), 0);
	(void) snprintf(served->path, sizeof(served->path), "%s/sock", served->world->directory);
	options.event = served->world->event;
	options.agent = &served->world->agent;
	listen.socket_path = served->path;
	assert_int_equal(api_listen(&listen, options.listeners, &options.listener_count, &why), 0);
	assert_int_equal(api_new(&options, &served->api, &why), 0);
	rights_of_peer = RIGHTS_ALL;
	*state = served;
	return 0;
}

int served_tear_down(void **state)
{
	struct served *served = *state;

	served->api = api_free(served->api);
	assert_int_equal(world_tear_down((void **) &served->world), 0);
	free(served);
	return 0;
}

int client(const struct served *served)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", served->path);
	assert_int_equal(connect(fd, &address, sizeof(address)), 0);
	return fd;
}

void turn(struct served *served)
{
	assert_true(sd_event_run(served->world->event, TURN_USEC) >= 0);
}

void put(struct served *served, int fd, const char *text)
{
	size_t length = strlen(text), sent = 0;

	for (int i = 0; sent < length && i < TURNS; i++) {
		ssize_t n = send(fd, text + sent, length - sent, MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t) n;
		else if (errno != EAGAIN)
			break; /* it hung up on us: the test looks at the answer */
		else
			turn(served);
	}
}

/* True once the head and as many bytes as it promises are there. */
static bool is_complete(const struct served *served)
{
	const char *end = strstr(served->reply, "\r\n\r\n");
	const char *promise = strcasestr(served->reply, "\r\nContent-Length:");

	if (!end || !promise)
		return false;
	return served->length >= (size_t) (end + 4 - served->reply) +
					 strtoul(promise + strlen("\r\nContent-Length:"), NULL, 10);
}

/* Return: HTTP status; 0 none came. */
int get_reply(struct served *served, int fd)
{
	served->length = 0;
	served->reply[0] = '\0';
	served->closed = false;
	for (int i = 0; i < TURNS && !served->closed && !is_complete(served); i++) {
		ssize_t n = recv(fd, served->reply + served->length,
				 sizeof(served->reply) - served->length - 1, 0);

		if (n > 0)
			served->length += (size_t) n;
		else if (n == 0 || errno != EAGAIN)
			served->closed = true;
		else
			turn(served);
		served->reply[served->length] = '\0';
	}
	return served->length > 12 ? (int) strtol(served->reply + 9, NULL, 10) : 0;
}

int ask(struct served *served, const char *text)
{
	cleanup_close int fd = client(served);

	put(served, fd, text);
	return get_reply(served, fd);
}

void wait_for(struct served *served, const unsigned int *counter, unsigned int value)
{
	for (int i = 0; i < TURNS && *counter < value; i++)
		turn(served);
	assert_int_equal(*counter, value);
}
