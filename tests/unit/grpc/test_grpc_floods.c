/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grpc_floods - a server that sends frames without end, of each kind: its call is cancelled
 *
 * case 479, by counts: how many frames are taken, not how long they take.
 */
#include "base/cleanup.h"
#include "grpc/session.h"
#include "http2_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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
	enum grpc_code code; /* GRPC_OK: any error */
	const char *text;
};

/* How many of these frames it takes to end a call; HTTP/2 itself forbids none of them. */
static size_t flood(const uint8_t *bytes, size_t length, const struct wanted *wanted)
{
	struct grpc_session *session;
	const struct grpc_result *result;
	size_t count = 0;

	assert_int_equal(grpc_session_new(&request, &session), 0);
	drain(session);
	grpc_session_receive(session, frames.bytes, frames.length);
	drain(session);
	while (!grpc_session_result(session, &result) && count < 2 * GRPC_BYTES_MAX / length) {
		grpc_session_receive(session, bytes, length);
		drain(session);
		count++;
	}
	assert_true(grpc_session_result(session, &result));
	if ((wanted->code != GRPC_OK && result->code != wanted->code) || result->code == GRPC_OK ||
	    !strstr(result->text, wanted->text))
		fail_msg("%s, '%s' instead of %s, '%s'", grpc_code_name(result->code), result->text,
			 grpc_code_name(wanted->code), wanted->text);
	assert_false(result->from_server);
	assert_true(result->was_sent);
	(void) grpc_session_free(session);
	return count;
}

/* case 479: frames that carry nothing end the call after a number of them, whatever their kind. */
static void test_floods_of_small_frames(void **state)
{
	static const struct {
		uint8_t type, flags;
		uint32_t stream;
		const char *payload;
		size_t length;
	} rows[] = {
		{ FRAME_DATA, 0, 1, NULL, 0 },
		{ FRAME_DATA, 0x8, 1, "\0", 1 }, /* padded, and empty */
		{ FRAME_DATA, 0, 1, "x", 1 },    /* of a message of 4 MiB */
		{ FRAME_SETTINGS, 0, 0, NULL, 0 },
		{ FRAME_SETTINGS, 0, 0, "\0\3\0\0\0\1", 6 },
		{ FRAME_PING, 0, 0, "12345678", 8 },
		{ FRAME_PING, 0x1, 0, "12345678", 8 }, /* acknowledges what was not sent */
		{ FRAME_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4 },
		{ FRAME_WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4 },
		{ FRAME_PRIORITY, 0, 1, "\0\0\0\0\1", 5 },
		{ FRAME_PRIORITY, 0, 9, "\0\0\0\0\1", 5 },
		{ FRAME_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8 },
		{ 0xfa, 0, 0, NULL, 0 },
		{ 0xfa, 0, 1, "x", 1 },
	};
	const struct wanted wanted = { .code = GRPC_RESOURCE_EXHAUSTED, .text = "call cancelled" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		static struct frames one;
		size_t count;

		frames_begin(&frames);
		frames_headers(&frames, 0, HEADERS);
		frames_add(&frames, FRAME_DATA, 0, 1, "\0\0\x40\0\0", 5);
		one.length = 0;
		frames_add(&one, rows[i].type, rows[i].flags, rows[i].stream, rows[i].payload,
			   rows[i].length);
		count = flood(one.bytes, one.length, &wanted);
		assert_in_range(count, GRPC_PARTS_MAX / 2, GRPC_PARTS_MAX); /* case 479 */
	}
}

/* Many that arrive at once are acknowledged later than one by one: nghttp2's limit comes first. */
static void test_a_flood_in_one_read(void **state)
{
	static const uint8_t types[] = { FRAME_PING, FRAME_SETTINGS };
	const struct wanted wanted = { .code = GRPC_RESOURCE_EXHAUSTED, .text = "call cancelled" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		static struct frames many;

		many.length = 0;
		for (size_t j = 0; j <= GRPC_PARTS_MAX; j++)
			frames_add(&many, types[i], 0, 0, "12345678",
				   types[i] == FRAME_PING ? 8 : 0);
		frames_begin(&frames);
		assert_int_equal(flood(many.bytes, many.length, &wanted), 1);
	}
}

/* A block of headers without end: empty CONTINUATION frames, indexed fields of a byte each, and
 * those of a push that comes before the server has heard that none is wanted. */
static void test_headers_in_endless_frames(void **state)
{
	static const uint8_t continuation[9] = { 0, 0, 0, FRAME_CONTINUATION, 0, 0, 0, 0, 1 };
	static struct frames fields;
	static uint8_t block[8192];
	const struct wanted any = { .text = "" };
	const struct wanted too_large = { .code = GRPC_RESOURCE_EXHAUSTED,
					  .text = "headers are larger" };

	/* Newer libraries have a limit of their own. */
	frames_begin(&frames);
	frames_add(&frames, FRAME_HEADERS, 0, 1, "\x88", 1);
	assert_in_range(flood(continuation, sizeof(continuation), &any), 1, GRPC_PARTS_MAX);

	memset(block, 0x90, sizeof(block)); /* accept-encoding: gzip, deflate */
	fields.length = 0;
	frames_add(&fields, FRAME_CONTINUATION, 0, 1, block, sizeof(block));
	assert_in_range(flood(fields.bytes, fields.length, &too_large), 1, 1);

	frames_begin(&frames);
	frames_add(&frames, FRAME_PUSH_PROMISE, 0, 1, "\0\0\0\2\x82\x86\x84", 7);
	/* Decoded for nothing, by nghttp2 alone: its limit, or that of bytes. */
	assert_in_range(flood(fields.bytes, fields.length, &any), 1, 1024);
}

/* The first reset of the call ends it, and one of another stream ends the connection. */
static void test_a_flood_of_resets(void **state)
{
	static const struct {
		uint8_t stream;
		enum grpc_code code;
		const char *text;
	} rows[] = { { 1, GRPC_CANCELLED, "CANCEL" }, { 3, GRPC_INTERNAL, "" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		static struct frames one;
		const struct wanted wanted = { .code = rows[i].code, .text = rows[i].text };

		one.length = 0;
		frames_add(&one, FRAME_RST_STREAM, 0, rows[i].stream, "\0\0\0\x8", 4);
		frames_begin(&frames);
		assert_int_equal(flood(one.bytes, one.length, &wanted), 1);
	}
}

/* Large frames of no consequence: their bytes are counted. */
static void test_a_flood_of_bytes(void **state)
{
	static uint8_t block[16384];
	static struct frames one;
	const struct wanted wanted = { .code = GRPC_RESOURCE_EXHAUSTED, .text = "call cancelled" };

	one.length = 0;
	frames_add(&one, 0xfa, 0, 0, block, sizeof(block));
	frames_begin(&frames);
	assert_in_range(flood(one.bytes, one.length, &wanted), 500, 512);
}

/* What a driver may do in a long call: pings, and a message in small frames. */
static void test_within_the_budget(void **state)
{
	enum { BYTES = 2000 };
	struct grpc_session *session;
	const struct grpc_result *result;

	frames_begin(&frames);
	frames_headers(&frames, 0, HEADERS);
	frames_add(&frames, FRAME_DATA, 0, 1, "\0\0\0\x07\xd0", 5);
	for (int i = 0; i < BYTES; i++) {
		frames_add(&frames, FRAME_DATA, 0, 1, "m", 1);
		if (i % 4 == 0)
			frames_add(&frames, FRAME_PING, 0, 0, "12345678", 8);
	}
	frames_headers(&frames, END_STREAM, "grpc-status: 0\n");
	assert_int_equal(grpc_session_new(&request, &session), 0);
	drain(session);
	grpc_session_receive(session, frames.bytes, frames.length);
	assert_true(grpc_session_result(session, &result));
	assert_string_equal(result->text, "");
	assert_int_equal(result->code, GRPC_OK);
	assert_int_equal(result->reply_length, BYTES);
	(void) grpc_session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floods_of_small_frames),
		cmocka_unit_test(test_a_flood_in_one_read),
		cmocka_unit_test(test_headers_in_endless_frames),
		cmocka_unit_test(test_a_flood_of_resets),
		cmocka_unit_test(test_a_flood_of_bytes),
		cmocka_unit_test(test_within_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
