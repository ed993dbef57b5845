/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream - answers whose bytes come over time, through the transport on a real socket
 *
 * GET /stream is answered by a stream of this file; all other paths by the real handlers.
 */
#include "api/api.h"
#include "base/cleanup.h"
#include "http_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

/* What the next pulls find. */
struct script {
	struct exchange *exchange;
	const char *pending;
	size_t endless;     /* so many bytes of 'x' */
	size_t length;      /* of all, as the head says; 0: not known */
	bool ended;         /* nothing more will come */
	bool ready_in_pull; /* says that there is more while it says that there is nothing */
	unsigned int pulls, abandoned, begun;
};

static struct script script;

void __wrap_api_dispatch(struct exchange *exchange);
void __real_api_dispatch(struct exchange *exchange);

static ssize_t pull(void *work, char *buffer, size_t size)
{
	struct script *from = work;
	size_t n;

	from->pulls++;
	assert_int_equal(from->abandoned, 0);
	if (from->pending && *from->pending) {
		n = strlen(from->pending) < size ? strlen(from->pending) : size;
		memcpy(buffer, from->pending, n);
		from->pending += n;
		return (ssize_t) n;
	}
	if (from->endless > 0) {
		n = from->endless < size ? from->endless : size;
		memset(buffer, 'x', n);
		from->endless -= n;
		return (ssize_t) n;
	}
	if (from->ready_in_pull) {
		from->ready_in_pull = false;
		from->pending = "late\n";
		reply_stream_ready(from->exchange);
	}
	return from->ended ? -1 : 0;
}

static void abandon(void *work)
{
	((struct script *) work)->abandoned++;
}

void __wrap_api_dispatch(struct exchange *exchange)
{
	if (!api_path_matches(&exchange->path, "stream")) {
		__real_api_dispatch(exchange);
		return;
	}
	script.exchange = exchange;
	script.begun++;
	exchange->work = &script;
	exchange->abandon = abandon;
	exchange->reply_length = script.length;
	reply_stream(exchange, 200, "application/json;stream=watch", pull);
}

static int set_up(void **state)
{
	script = (struct script){ .exchange = NULL };
	return served_set_up(state);
}

#define STREAM "GET /stream HTTP/1.1\r\n" HOST "\r\n"

/* What came so far; a stream has no end to wait for. */
static const char *read_some(struct served *served, int fd, const char *until)
{
	served->length = 0;
	served->reply[0] = '\0';
	for (int i = 0; i < TURNS && !strstr(served->reply, until); i++) {
		ssize_t n = recv(fd, served->reply + served->length,
				 sizeof(served->reply) - served->length - 1, 0);

		if (n > 0)
			served->length += (size_t) n;
		else if (n == 0)
			break;
		else
			turn(served);
		served->reply[served->length] = '\0';
	}
	return served->reply;
}

static void test_bytes_come_over_time(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);
	const char *reply;

	put(served, fd, STREAM);
	/* The head does not wait for the first bytes. */
	reply = read_some(served, fd, "\r\n\r\n");
	assert_non_null(strstr(reply, "HTTP/1.1 200"));
	assert_non_null(strstr(reply, "Content-Type: application/json;stream=watch\r\n"));
	assert_non_null(strstr(reply, "Transfer-Encoding: chunked\r\n"));
	assert_int_equal(script.pulls, 1);

	script.pending = "one\n";
	reply_stream_ready(script.exchange);
	reply_stream_ready(script.exchange);
	assert_non_null(strstr(read_some(served, fd, "one\n\r\n"), "4\r\none\n\r\n"));
	script.pending = "two\n";
	reply_stream_ready(script.exchange);
	assert_non_null(strstr(read_some(served, fd, "two\n\r\n"), "4\r\ntwo\n\r\n"));

	assert_int_equal(script.abandoned, 0);
	script.ended = true;
	reply_stream_ready(script.exchange);
	assert_string_equal(read_some(served, fd, "0\r\n\r\n"), "0\r\n\r\n");
	assert_int_equal(script.abandoned, 1);
	/* The connection goes on. */
	put(served, fd, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
	assert_int_equal(get_reply(served, fd), 200);
	assert_int_equal(script.abandoned, 1);
}

/* Nothing is pulled while there is nothing. */
static void test_silence_costs_nothing(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	put(served, fd, STREAM);
	(void) read_some(served, fd, "\r\n\r\n");
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
	assert_int_equal(script.pulls, 1);
}

static void test_ready_while_pulling_is_not_lost(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	script.ready_in_pull = true;
	put(served, fd, STREAM);
	assert_non_null(strstr(read_some(served, fd, "late"), "5\r\nlate\n\r\n"));
}

static void test_client_leaves(void **state)
{
	struct served *served = *state;
	int fd = client(served);

	put(served, fd, STREAM);
	(void) read_some(served, fd, "\r\n\r\n");
	assert_int_equal(close(fd), 0);
	wait_for(served, &script.abandoned, 1);
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
	assert_int_equal(script.abandoned, 1);
}

/* What is not read is not pulled: the bytes stay where they are made. */
static void test_client_does_not_read(void **state)
{
	struct served *served = *state;
	const size_t much = (size_t) 64 << 20;
	int fd = client(served);
	size_t left;

	script.endless = much;
	put(served, fd, STREAM);
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
	left = script.endless;
	assert_in_range(left, much - ((size_t) 8 << 20), much - 1);
	reply_stream_ready(script.exchange);
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
	assert_int_equal(script.endless, left);

	assert_int_equal(close(fd), 0);
	wait_for(served, &script.abandoned, 1);
}

/* In few pieces, whatever the library's memory for a connection. */
static void test_known_length(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	script.endless = script.length = 300000;
	put(served, fd, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
	for (size_t read = 0; read < script.length; read += served->length) {
		const char *reply = read_some(served, fd, "x");

		if (read == 0)
			assert_non_null(strstr(reply, "Content-Length: 300000\r\n"));
		assert_null(strstr(reply, "chunked"));
		assert_true(served->length > 0);
	}
	wait_for(served, &script.abandoned, 1);
	assert_in_range(script.pulls, 1, 3);
	put(served, fd, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
	assert_int_equal(get_reply(served, fd), 200);
}

/* The client sees that bytes are missing: the connection ends before them. */
static void test_known_length_cut_short(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	script.length = 100;
	script.pending = "one\n";
	script.ended = true;
	put(served, fd, STREAM);
	(void) get_reply(served, fd);
	assert_non_null(strstr(served->reply, "Content-Length: 100\r\n"));
	assert_true(served->closed);
	assert_int_equal(script.abandoned, 1);
}

static void test_known_length_client_leaves(void **state)
{
	struct served *served = *state;
	int fd = client(served);

	script.endless = script.length = (size_t) 64 << 20;
	put(served, fd, STREAM);
	(void) read_some(served, fd, "x");
	assert_int_equal(close(fd), 0);
	wait_for(served, &script.abandoned, 1);
	assert_true(script.endless > (size_t) 32 << 20);
}

/* Chunks are of HTTP/1.1: an older client gets the bytes, and their end with the connection's. */
static void test_old_client(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	script.pending = "one\n";
	put(served, fd, "GET /stream HTTP/1.0\r\n\r\n");
	(void) read_some(served, fd, "\r\n\r\none\n");
	assert_null(strstr(served->reply, "chunked"));
	script.ended = true;
	reply_stream_ready(script.exchange);
	(void) get_reply(served, fd);
	assert_true(served->closed);
	assert_int_equal(script.abandoned, 1);
}

static void test_head_alone(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	put(served, fd, "HEAD /stream HTTP/1.1\r\n" HOST "\r\n");
	(void) read_some(served, fd, "\r\n\r\n");
	wait_for(served, &script.abandoned, 1);
	assert_int_equal(script.pulls, 0);
}

static void test_stop_with_streams_open(void **state)
{
	struct served *served = *state;
	cleanup_close int silent = client(served);

	put(served, silent, STREAM);
	(void) read_some(served, silent, "\r\n\r\n");
	served->api = api_free(served->api);
	assert_int_equal(script.abandoned, 1);
	/* A watch that ends when the daemon stops ends in order. */
	assert_string_equal(read_some(served, silent, "0\r\n\r\n"), "0\r\n\r\n");
}

static void test_stop_with_a_full_socket(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	script.endless = (size_t) 64 << 20;
	put(served, fd, STREAM);
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
	served->api = api_free(served->api);
	assert_int_equal(script.abandoned, 1);
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, set_up, served_tear_down)
	const struct CMUnitTest tests[] = {
		SERVED(test_bytes_come_over_time),
		SERVED(test_silence_costs_nothing),
		SERVED(test_ready_while_pulling_is_not_lost),
		SERVED(test_client_leaves),
		SERVED(test_client_does_not_read),
		SERVED(test_known_length),
		SERVED(test_known_length_cut_short),
		SERVED(test_known_length_client_leaves),
		SERVED(test_old_client),
		SERVED(test_head_alone),
		SERVED(test_stop_with_streams_open),
		SERVED(test_stop_with_a_full_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
