/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_api_client - HTTP/1.1 over a unix socket, as little of it as a benchmark needs
 *
 * Knows the answers of libmicrohttpd: a length, or chunks whose last one ends the stream of bytes.
 */
#include "bench/bench_api.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18, HEAD_BYTES = 8192, TAIL_BYTES = 5 };

static const char last_chunk[] = "0\r\n\r\n";

void api_bench_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void) fputc('\n', stderr);
	exit(1);
}

double client_now_usec(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

int client_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0)
		api_bench_fail("no more sockets");
	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0) {
		(void) close(fd);
		return -1;
	}
	return fd;
}

static void send_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);

		if (n <= 0)
			api_bench_fail("the server does not read");
		bytes += n;
		length -= (size_t) n;
	}
}

/* Head and body in one piece: two would measure when the server wakes up. */
void client_send(int fd, const struct client_request *request)
{
	char *text = NULL;
	int length;

	if (request->body)
		length = asprintf(&text,
				  "%s %s HTTP/1.1\r\nHost: podvol\r\nContent-Type: %s\r\n"
				  "Content-Length: %zu\r\n\r\n%s",
				  request->method, request->path, request->type,
				  strlen(request->body), request->body);
	else
		length = asprintf(&text, "%s %s HTTP/1.1\r\nHost: podvol\r\n\r\n", request->method,
				  request->path);
	if (length < 0)
		api_bench_fail("no memory");
	send_all(fd, text, (size_t) length);
	free(text);
}

static size_t receive(int fd, char *bytes, size_t size)
{
	ssize_t n = recv(fd, bytes, size, 0);

	if (n <= 0)
		api_bench_fail("the server hung up");
	return (size_t) n;
}

/* Return: how many bytes are there; @ret_head of them are the head. */
static size_t receive_head(int fd, char *bytes, size_t *ret_head)
{
	size_t count = 0;
	char *end = NULL;

	while (!end) {
		if (count >= HEAD_BYTES)
			api_bench_fail("the answer's head is too long");
		count += receive(fd, bytes + count, PIECE_BYTES - 1 - count);
		bytes[count] = '\0';
		end = strstr(bytes, "\r\n\r\n");
	}
	if (strncmp(bytes, "HTTP/1.1 2", 10) != 0)
		api_bench_fail("refused: %.800s", bytes);
	*ret_head = (size_t) (end - bytes) + 4;
	return count;
}

static void shift_tail(char tail[TAIL_BYTES], const char *bytes, size_t count)
{
	size_t kept = count < TAIL_BYTES ? TAIL_BYTES - count : 0;

	memmove(tail, tail + TAIL_BYTES - kept, kept);
	memcpy(tail + kept, bytes + count - (TAIL_BYTES - kept), TAIL_BYTES - kept);
}

size_t client_receive(int fd, char **ret_body)
{
	static char bytes[PIECE_BYTES];
	char tail[TAIL_BYTES] = { 0 };
	size_t head, count = receive_head(fd, bytes, &head), body = count - head;
	const char *length = strcasestr(bytes, "\r\nContent-Length:");
	size_t expected = length ? strtoull(length + 17, NULL, 10) : 0;

	if (length && length > bytes + head)
		length = NULL;
	if (ret_body)
		*ret_body = strndup(bytes + head, body);
	shift_tail(tail, bytes + head, body);
	while (length ? body < expected : memcmp(tail, last_chunk, TAIL_BYTES) != 0) {
		count = receive(fd, bytes, sizeof(bytes));
		shift_tail(tail, bytes, count);
		body += count;
	}
	return body;
}

void client_receive_head(int fd)
{
	static char bytes[PIECE_BYTES];
	size_t head;

	(void) receive_head(fd, bytes, &head);
}

bool client_event_is_there(int fd)
{
	static char bytes[PIECE_BYTES];
	size_t count = receive(fd, bytes, sizeof(bytes));

	/* A line ends with its object; the line break is in the same piece as the brace. */
	return memmem(bytes, count, "}\n", 2) != NULL;
}

static cpu_set_t all_processors;

void client_use_one_processor(void)
{
	cpu_set_t one;
	int first = 0;

	if (sched_getaffinity(0, sizeof(all_processors), &all_processors) < 0)
		api_bench_fail("cannot tell the processors");
	while (!CPU_ISSET(first, &all_processors))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		api_bench_fail("cannot use one processor");
}

void client_use_all_processors(void)
{
	(void) sched_setaffinity(0, sizeof(all_processors), &all_processors);
}
