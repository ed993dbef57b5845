/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grpc_session - what a server may answer, right and wrong, byte by byte
 *
 * Each answer is fed whole, and again a byte at a time: where a read ends must make no difference.
 */
#include "base/cleanup.h"
#include "grpc/session.h"
#include "http2_frames.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEADERS ":status: 200\ncontent-type: application/grpc\n"

static struct frames frames;

static const struct grpc_request request = {
	.socket_path = "/nowhere",
	.method = "/csi.v1.Identity/Probe",
	.message = (const uint8_t *) "\x0a\x01x",
	.message_length = 3,
	.timeout_usec = 2000000,
};

static void drain(struct grpc_session *session)
{
	const uint8_t *bytes;

	while (grpc_session_next(session, &bytes) > 0)
		;
}

struct wanted {
	enum grpc_code code;
	const char *text; /* a part of it */
	bool from_server, not_sent, closed;
	const char *reply; /* with GRPC_OK */
};

static void check(const struct wanted *wanted, size_t step)
{
	struct grpc_session *session;
	const struct grpc_result *result;

	assert_int_equal(grpc_session_new(&request, &session), 0);
	drain(session);
	assert_false(grpc_session_result(session, &result));
	for (size_t i = 0; i < frames.length; i += step) {
		size_t length = frames.length - i < step ? frames.length - i : step;

		grpc_session_receive(session, frames.bytes + i, length);
		drain(session);
	}
	if (wanted->closed) {
		assert_false(grpc_session_result(session, &result));
		grpc_session_closed(session, 0);
	}
	assert_true(grpc_session_result(session, &result));
	if (result->code != wanted->code || !strstr(result->text, wanted->text))
		fail_msg("%s, '%s' instead of %s, '%s'", grpc_code_name(result->code), result->text,
			 grpc_code_name(wanted->code), wanted->text);
	assert_int_equal(result->from_server, wanted->from_server);
	assert_int_equal(result->was_sent, !wanted->not_sent);
	if (wanted->reply) {
		assert_int_equal(result->reply_length, strlen(wanted->reply));
		assert_memory_equal(result->reply, wanted->reply, strlen(wanted->reply));
	}
	(void) grpc_session_free(session);
}

#define answers(code_, text_, ...)                                                                 \
	do {                                                                                       \
		const struct wanted wanted_ = { .code = code_, .text = text_, ##__VA_ARGS__ };     \
		check(&wanted_, sizeof(frames.bytes));                                             \
		check(&wanted_, 1);                                                                \
	} while (0)

static void begin(void)
{
	frames_begin(&frames);
}

static void test_a_reply(void **state)
{
	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_message(&frames, 0, "hello", 5);
	frames_headers(&frames, END_STREAM, "grpc-status: 0\n");
	answers(GRPC_OK, "", .from_server = true, .reply = "hello");
}

static void test_an_empty_message_is_one(void **state)
{
	begin();
	frames_headers(&frames, 0, ":status: 200\ncontent-type: application/grpc+proto\n");
	frames_message(&frames, 0, "", 0);
	frames_headers(&frames, END_STREAM, "grpc-status: 0\ngrpc-message: \nx-more: y\n");
	answers(GRPC_OK, "", .from_server = true, .reply = "");
}

/* Interim responses, padding of frames by empty ones, settings, pings, windows: all of no
 * consequence. */
static void test_a_chatty_server(void **state)
{
	begin();
	frames_add(&frames, FRAME_PING, 0, 0, "12345678", 8);
	frames_headers(&frames, 0, ":status: 103\n");
	frames_headers(&frames, 0, HEADERS "date: today\n");
	frames_add(&frames, FRAME_DATA, 0, 1, NULL, 0);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\0", 2);
	frames_add(&frames, FRAME_WINDOW_UPDATE, 0, 0, "\0\0\1\0", 4);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\0\5he", 5);
	frames_add(&frames, 0xfa, 0, 1, "unknown", 7);
	frames_add(&frames, FRAME_DATA, 0, 1, "llo", 3);
	frames_headers(&frames, END_STREAM, "grpc-status: 0\n");
	answers(GRPC_OK, "", .from_server = true, .reply = "hello");
}

static void test_errors_of_the_driver(void **state)
{
	begin();
	frames_headers(&frames, END_STREAM,
		       HEADERS "grpc-status: 5\ngrpc-message: no volume %22v1%22\n");
	answers(GRPC_NOT_FOUND, "no volume \"v1\"", .from_server = true);

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_headers(&frames, END_STREAM, "grpc-status: 9\ngrpc-message: staged elsewhere\n");
	answers(GRPC_FAILED_PRECONDITION, "staged elsewhere", .from_server = true);

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_message(&frames, 0, "half", 4);
	frames_headers(&frames, END_STREAM, "grpc-status: 13\n");
	answers(GRPC_INTERNAL, "", .from_server = true);

	begin();
	frames_headers(&frames, END_STREAM, HEADERS "grpc-status: 42\n");
	answers(GRPC_UNKNOWN, "", .from_server = true);

	/* A proxy's status, but the driver's own word is there. */
	begin();
	frames_headers(&frames, END_STREAM, ":status: 503\ngrpc-status: 8\n");
	answers(GRPC_RESOURCE_EXHAUSTED, "", .from_server = true);
}

static void test_no_status(void **state)
{
	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_message(&frames, 0, "hello", 5);
	frames_headers(&frames, END_STREAM, "x-other: 0\n");
	answers(GRPC_UNKNOWN, "without a grpc-status");

	begin();
	frames_headers(&frames, 0, HEADERS "grpc-status: 0\n");
	frames_message(&frames, END_STREAM, "hello", 5);
	answers(GRPC_INTERNAL, "without trailers");

	begin();
	frames_headers(&frames, END_STREAM, HEADERS);
	answers(GRPC_UNKNOWN, "without a grpc-status");

	begin();
	frames_headers(&frames, END_STREAM, HEADERS "grpc-status: \n");
	answers(GRPC_UNKNOWN, "not a number");

	begin();
	frames_headers(&frames, END_STREAM, HEADERS "grpc-status: 0\ngrpc-status: 5\n");
	answers(GRPC_INTERNAL, "twice");
}

static void test_wrong_messages(void **state)
{
	begin();
	frames_headers(&frames, END_STREAM, HEADERS "grpc-status: 0\n");
	answers(GRPC_INTERNAL, "sent no message");

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\0\0", 3);
	frames_headers(&frames, END_STREAM, "grpc-status: 0\n");
	answers(GRPC_INTERNAL, "sent no message");

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\0\0\0\5hell", 9);
	frames_headers(&frames, END_STREAM, "grpc-status: 0\n");
	answers(GRPC_INTERNAL, "4 of the 5 bytes");

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_message(&frames, 0, "one", 3);
	frames_message(&frames, 0, "two", 3);
	frames_headers(&frames, END_STREAM, "grpc-status: 0\n");
	answers(GRPC_INTERNAL, "more than one message");

	begin();
	frames_headers(&frames, 0, HEADERS "grpc-encoding: gzip\n");
	frames_add(&frames, FRAME_DATA, 0, 1, "\1\0\0\0\1x", 6);
	answers(GRPC_INTERNAL, "compressed");

	/* Refused by its prefix: 4 MiB and a byte. */
	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\0\x40\0\1", 5);
	answers(GRPC_RESOURCE_EXHAUSTED, "4194305 bytes");
	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\xff\xff\xff\xff", 5);
	answers(GRPC_RESOURCE_EXHAUSTED, "4294967295 bytes");
}

static void test_wrong_responses(void **state)
{
	begin();
	frames_headers(&frames, END_STREAM, ":status: 404\ncontent-type: text/plain\n");
	answers(GRPC_UNIMPLEMENTED, "HTTP status 404");

	begin();
	frames_headers(&frames, 0, ":status: 503\ncontent-type: text/html\n");
	frames_add(&frames, FRAME_DATA, END_STREAM, 1, "<html>", 6);
	answers(GRPC_UNAVAILABLE, "HTTP status 503");

	begin();
	frames_headers(&frames, 0, ":status: 200\ncontent-type: application/grpcish\n");
	answers(GRPC_UNKNOWN, "not gRPC");

	/* Headers, data, headers, and then more. */
	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_message(&frames, 0, "hello", 5);
	frames_headers(&frames, 0, "grpc-status: 0\n");
	answers(GRPC_INTERNAL, "");
}

static void test_headers_without_end(void **state)
{
	static char text[80 * 1024];
	size_t length = 0;

	/* Many small ones: HTTP/2 counts 32 bytes more for each. */
	for (int i = 0; i < 1900; i++)
		length += (size_t) snprintf(text + length, sizeof(text) - length, "x-%d: y\n", i);
	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_headers(&frames, END_STREAM, text);
	answers(GRPC_RESOURCE_EXHAUSTED, "headers are larger");
	text[length - length / 4] = '\0';
}

static void test_resets(void **state)
{
	begin();
	frames_add(&frames, FRAME_RST_STREAM, 0, 1, "\0\0\0\2", 4);
	answers(GRPC_INTERNAL, "INTERNAL_ERROR");

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_add(&frames, FRAME_RST_STREAM, 0, 1, "\0\0\0\x8", 4);
	answers(GRPC_CANCELLED, "CANCEL");

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_message(&frames, 0, "hello", 5);
	frames_add(&frames, FRAME_RST_STREAM, 0, 1, "\0\0\0\0", 4);
	answers(GRPC_INTERNAL, "NO_ERROR");

	/* The one that promises that nothing was done. */
	begin();
	frames_add(&frames, FRAME_RST_STREAM, 0, 1, "\0\0\0\x7", 4);
	answers(GRPC_UNAVAILABLE, "REFUSED_STREAM", .not_sent = true);

	/* After the end it changes nothing. */
	begin();
	frames_headers(&frames, END_STREAM, HEADERS "grpc-status: 5\n");
	frames_add(&frames, FRAME_RST_STREAM, 0, 1, "\0\0\0\2", 4);
	answers(GRPC_NOT_FOUND, "", .from_server = true);
}

static void test_going_away(void **state)
{
	/* Nothing above stream 0 was looked at. */
	begin();
	frames_add(&frames, FRAME_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
	answers(GRPC_UNAVAILABLE, "", .not_sent = true);

	/* This one is the last that will be answered, and is. */
	begin();
	frames_add(&frames, FRAME_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8);
	frames_headers(&frames, END_STREAM, HEADERS "grpc-status: 10\n");
	answers(GRPC_ABORTED, "", .from_server = true);

	/* Or is not. */
	begin();
	frames_add(&frames, FRAME_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\x0btoo many%0A pings", 25);
	answers(GRPC_UNAVAILABLE, "ENHANCE_YOUR_CALM, too many", .closed = true);
}

static void test_ends_of_connections(void **state)
{
	frames.length = 0;
	answers(GRPC_UNAVAILABLE, "closed the connection", .closed = true);
	begin();
	answers(GRPC_UNAVAILABLE, "closed the connection", .closed = true);
	frames_headers(&frames, 0, HEADERS);
	answers(GRPC_UNAVAILABLE, "closed the connection", .closed = true);
	frames_message(&frames, 0, "hello", 5);
	answers(GRPC_UNAVAILABLE, "closed the connection", .closed = true);
}

static void raw(const char *bytes, size_t length)
{
	memcpy(frames.bytes + frames.length, bytes, length);
	frames.length += length;
}

static void test_what_is_no_http2(void **state)
{
	static const char http1[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
	static const char zeros[64];

	frames.length = 0;
	raw(http1, strlen(http1));
	answers(GRPC_INTERNAL, "");

	frames.length = 0;
	raw(zeros, sizeof(zeros));
	answers(GRPC_INTERNAL, "");

	/* Settings must come first. */
	frames.length = 0;
	frames_headers(&frames, END_STREAM, HEADERS "grpc-status: 0\n");
	answers(GRPC_INTERNAL, "");
}

static void test_frames_that_may_not_be(void **state)
{
	static const struct {
		uint8_t type, flags;
		uint32_t stream;
		const char *payload;
		size_t length;
	} rows[] = {
		{ FRAME_HEADERS, END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff", 6 }, /* no HPACK */
		{ FRAME_HEADERS, END_HEADERS, 0, "\x88", 1 },                     /* on no stream */
		{ FRAME_HEADERS, END_HEADERS, 7, "\x88", 1 }, /* on one that is idle */
		{ FRAME_HEADERS, END_HEADERS, 2, "\x88", 1 }, /* the server's own */
		{ FRAME_DATA, 0, 3, "x", 1 },
		{ FRAME_DATA, 0x8, 1, "\xff", 1 }, /* more padding than frame */
		{ FRAME_CONTINUATION, END_HEADERS, 1, "\x88", 1 },
		{ FRAME_RST_STREAM, 0, 1, "\0\0\0", 3 },
		{ FRAME_RST_STREAM, 0, 0, "\0\0\0\0", 4 },
		{ FRAME_SETTINGS, 0, 0, "12345", 5 },
		{ FRAME_SETTINGS, 0, 0, "\0\4\xff\xff\xff\xff", 6 }, /* window above 2^31-1 */
		{ FRAME_SETTINGS, 0, 0, "\0\5\0\0\0\1", 6 },         /* frame size below 16 KiB */
		{ FRAME_PING, 0, 0, "1234", 4 },
		{ FRAME_GOAWAY, 0, 0, "1234", 4 },
		{ FRAME_WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4 },
		{ FRAME_WINDOW_UPDATE, 0, 0, "\x7f\xff\xff\xff", 4 },
		{ FRAME_PUSH_PROMISE, END_HEADERS, 1, "\0\0\0\2\x88", 5 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		frames_add(&frames, FRAME_SETTINGS, 0x1, 0, NULL, 0); /* it knows the client's */
		frames_add(&frames, rows[i].type, rows[i].flags, rows[i].stream, rows[i].payload,
			   rows[i].length);
		answers(GRPC_INTERNAL, "");
	}
}

static void test_headers_that_may_not_be(void **state)
{
	static const char *const rows[] = {
		"content-type: application/grpc\n", /* no :status */
		":status: abc\ncontent-type: application/grpc\n",
		":status: 200\n:status: 200\n",
		":path: /\n:status: 200\n",
		"content-type: application/grpc\n:status: 200\n", /* pseudo after real */
		":status: 200\nconnection: close\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		frames_headers(&frames, 0, rows[i]);
		answers(GRPC_INTERNAL, "");
	}
}

/* Before the server has heard that we want none it may promise a push: nothing comes of it. */
static void test_a_promise_of_a_push(void **state)
{
	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_message(&frames, 0, "hello", 5);
	frames_add(&frames, FRAME_PUSH_PROMISE, END_HEADERS, 1,
		   "\0\0\0\2\x82\x86\x84\x01\1h\0\x0bgrpc-status\1x", 25);
	frames_headers(&frames, END_STREAM, "grpc-status: 0\n");
	answers(GRPC_OK, "", .from_server = true, .reply = "hello");
}

static void test_data_before_headers(void **state)
{
	begin();
	frames_message(&frames, 0, "hello", 5);
	answers(GRPC_INTERNAL, "");
}

/* A window's worth more than allowed is refused, so no server can fill podvold's memory. */
static void test_more_than_the_window(void **state)
{
	static uint8_t block[16384];

	begin();
	frames_headers(&frames, 0, HEADERS);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\0\x20\0\0", 5);
	for (int i = 0; i < 6; i++)
		frames_add(&frames, FRAME_DATA, 0, 1, block, sizeof(block));
	check(&(struct wanted){ .code = GRPC_UNAVAILABLE, .text = "", .closed = true }, 16384);
}

static void test_cancelled(void **state)
{
	struct grpc_session *session;
	const struct grpc_result *result;
	const uint8_t *bytes;
	size_t length;

	assert_int_equal(grpc_session_new(&request, &session), 0);
	drain(session);
	grpc_session_cancel(session, GRPC_DEADLINE_EXCEEDED, "too late");
	grpc_session_cancel(session, GRPC_CANCELLED, "later still");
	length = grpc_session_next(session, &bytes);
	assert_int_equal(length, 13);
	assert_memory_equal(bytes, "\0\0\4\3\0\0\0\0\1\0\0\0\x8", 13);
	assert_true(grpc_session_result(session, &result));
	assert_int_equal(result->code, GRPC_DEADLINE_EXCEEDED);
	assert_string_equal(result->text, "too late");
	(void) grpc_session_free(session);
}

/* One that was sent keeps what nghttp2 keeps, 27 KiB, its message and room for a text. */
static void test_memory_of_one_that_waits(void **state)
{
	enum { CALLS = 16, BYTES = 32 * 1024 };
	struct grpc_session *sessions[CALLS];
	size_t before = mallinfo2().uordblks, after;

	for (size_t i = 0; i < CALLS; i++) {
		assert_int_equal(grpc_session_new(&request, &sessions[i]), 0);
		drain(sessions[i]);
	}
	after = mallinfo2().uordblks;
	for (size_t i = 0; i < CALLS; i++)
		(void) grpc_session_free(sessions[i]);
	if (after == before) { /* libc's malloc is not what they took it from */
		print_message("an address sanitizer has memory of its own\n");
		skip();
	}
	assert_in_range((after - before) / CALLS, BYTES / 2, BYTES);
}

static void test_timeouts(void **state)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} rows[] = {
		{ 1, "1u" },
		{ 99999999, "99999999u" },
		{ 100000000, "100000m" },
		{ 100000001, "100001m" }, /* never shorter than asked for */
		{ 120000000, "120000m" },
		{ 99999999000, "99999999m" },
		{ 99999999001, "100000S" },
		{ UINT64_MAX, "99999999H" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[GRPC_TIMEOUT_BYTES];

		grpc_timeout_format(rows[i].usec, text);
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reply),
		cmocka_unit_test(test_an_empty_message_is_one),
		cmocka_unit_test(test_a_chatty_server),
		cmocka_unit_test(test_errors_of_the_driver),
		cmocka_unit_test(test_no_status),
		cmocka_unit_test(test_wrong_messages),
		cmocka_unit_test(test_wrong_responses),
		cmocka_unit_test(test_headers_without_end),
		cmocka_unit_test(test_resets),
		cmocka_unit_test(test_going_away),
		cmocka_unit_test(test_ends_of_connections),
		cmocka_unit_test(test_what_is_no_http2),
		cmocka_unit_test(test_frames_that_may_not_be),
		cmocka_unit_test(test_headers_that_may_not_be),
		cmocka_unit_test(test_a_promise_of_a_push),
		cmocka_unit_test(test_data_before_headers),
		cmocka_unit_test(test_more_than_the_window),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_memory_of_one_that_waits),
		cmocka_unit_test(test_timeouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
