/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canned_server - see canned_server.h
 */
#include "canned_server.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

static size_t body_length(const char *request)
{
	const char *promise = strcasestr(request, "\r\nContent-Length:");

	return promise ? strtoul(promise + strlen("\r\nContent-Length:"), NULL, 10) : 0;
}

static bool read_request(struct server *server, int fd)
{
	size_t length = 0;

	for (;;) {
		ssize_t n = recv(fd, server->request + length, REQUEST_BYTES - 1 - length, 0);
		const char *end;

		if (n <= 0)
			return false;
		length += (size_t) n;
		server->request[length] = '\0';
		end = strstr(server->request, "\r\n\r\n");
		if (end &&
		    length >= (size_t) (end + 4 - server->request) + body_length(server->request))
			return true;
	}
}

static void send_answer(int fd, const char *answer)
{
	const char *body = strchr(answer, '|');
	char text[4096];

	if (body)
		(void) snprintf(text, sizeof(text),
				"HTTP/1.1 %.*s\r\nContent-Length: %zu\r\n\r\n%s",
				(int) (body - answer), answer, strlen(body + 1), body + 1);
	else
		(void) snprintf(text, sizeof(text), "%s", answer);
	(void) send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void *serve(void *userdata)
{
	struct server *server = userdata;

	for (;;) {
		cleanup_close int fd = accept(server->listen_fd, NULL, NULL);

		if (fd < 0)
			return NULL;
		while (read_request(server, fd)) {
			if (*server->answer == '\0')
				break;
			send_answer(fd, server->answer);
		}
	}
}

int server_set_up(void **state)
{
	struct server *server = calloc(1, sizeof(*server));
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void) snprintf(server->directory, sizeof(server->directory), "/tmp/podvol-client-XXXXXX");
	assert_non_null(mkdtemp(server->directory));
	(void) snprintf(server->path, sizeof(server->path), "%s/sock", server->directory);
	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", server->path);
	server->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->listen_fd, &address, sizeof(address)), 0);
	assert_int_equal(listen(server->listen_fd, 8), 0);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
	*state = server;
	return 0;
}

int server_tear_down(void **state)
{
	struct server *server = *state;

	(void) shutdown(server->listen_fd, SHUT_RDWR);
	assert_int_equal(pthread_join(server->thread, NULL), 0);
	(void) close(server->listen_fd);
	(void) unlink(server->path);
	assert_int_equal(rmdir(server->directory), 0);
	free(server);
	return 0;
}

struct podvol *connected(const struct server *server)
{
	struct podvol *podvol = NULL;

	assert_int_equal(podvol_connect(server->path, &podvol), 0);
	assert_non_null(podvol);
	assert_string_equal(podvol_socket(podvol), server->path);
	return podvol;
}
