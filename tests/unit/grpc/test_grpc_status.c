/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grpc_status - codes by number, by HTTP status and by reset, and texts made fit to print
 */
#include "base/cleanup.h"
#include "grpc/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* As Kubernetes' metrics have them: Go's spelling. */
static void test_names(void **state)
{
	assert_string_equal(grpc_code_name(GRPC_OK), "OK");
	assert_string_equal(grpc_code_name(GRPC_CANCELLED), "Canceled");
	assert_string_equal(grpc_code_name(GRPC_DEADLINE_EXCEEDED), "DeadlineExceeded");
	assert_string_equal(grpc_code_name(GRPC_UNAUTHENTICATED), "Unauthenticated");
	assert_string_equal(grpc_code_name((enum grpc_code) 42), "Unknown");
}

static void test_numbers(void **state)
{
	enum grpc_code code;

	assert_int_equal(grpc_code_parse("0", 1, &code), 0);
	assert_int_equal(code, GRPC_OK);
	assert_int_equal(grpc_code_parse("16", 2, &code), 0);
	assert_int_equal(code, GRPC_UNAUTHENTICATED);
	assert_int_equal(grpc_code_parse("17", 2, &code), 0);
	assert_int_equal(code, GRPC_UNKNOWN);
	assert_int_equal(grpc_code_parse("9999", 4, &code), 0);
	assert_int_equal(code, GRPC_UNKNOWN);
	assert_int_equal(grpc_code_parse("", 0, &code), -EINVAL);
	assert_int_equal(grpc_code_parse("-1", 2, &code), -EINVAL);
	assert_int_equal(grpc_code_parse("1x", 2, &code), -EINVAL);
	assert_int_equal(grpc_code_parse("00000", 5, &code), -EINVAL);
}

static void test_http_statuses(void **state)
{
	static const struct {
		unsigned int http;
		enum grpc_code code;
	} rows[] = {
		{ 400, GRPC_INTERNAL },
		{ 401, GRPC_UNAUTHENTICATED },
		{ 403, GRPC_PERMISSION_DENIED },
		{ 404, GRPC_UNIMPLEMENTED },
		{ 429, GRPC_UNAVAILABLE },
		{ 500, GRPC_UNKNOWN },
		{ 502, GRPC_UNAVAILABLE },
		{ 503, GRPC_UNAVAILABLE },
		{ 504, GRPC_UNAVAILABLE },
		{ 301, GRPC_UNKNOWN },
		{ 0, GRPC_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(grpc_code_of_http(rows[i].http), rows[i].code);
}

static void test_resets(void **state)
{
	static const enum grpc_code codes[] = {
		GRPC_INTERNAL,           /* NO_ERROR, where there should have been a status */
		GRPC_INTERNAL,           /* PROTOCOL_ERROR */
		GRPC_INTERNAL,           /* INTERNAL_ERROR */
		GRPC_INTERNAL,           /* FLOW_CONTROL_ERROR */
		GRPC_INTERNAL,           /* SETTINGS_TIMEOUT */
		GRPC_UNKNOWN,            /* STREAM_CLOSED: in no table */
		GRPC_INTERNAL,           /* FRAME_SIZE_ERROR */
		GRPC_UNAVAILABLE,        /* REFUSED_STREAM */
		GRPC_CANCELLED,          /* CANCEL */
		GRPC_INTERNAL,           /* COMPRESSION_ERROR */
		GRPC_INTERNAL,           /* CONNECT_ERROR */
		GRPC_RESOURCE_EXHAUSTED, /* ENHANCE_YOUR_CALM */
		GRPC_PERMISSION_DENIED,  /* INADEQUATE_SECURITY */
		GRPC_UNKNOWN,
	};

	for (uint32_t error = 0; error < ARRAY_SIZE(codes); error++)
		assert_int_equal(grpc_code_of_reset(error), codes[error]);
}

static void test_texts(void **state)
{
	static const struct {
		const char *sent, *shown;
	} rows[] = {
		{ "", "" },
		{ "plain words", "plain words" },
		{ "volume %22a%22 is 100%25 full", "volume \"a\" is 100% full" },
		{ "Gr%C3%B6%C3%9fe", "Größe" },
		{ "Größe", "Größe" },
		{ "%E2%82%AC %f0%9f%92%be", "€ 💾" },
		/* No two digits: as it is. */
		{ "50% of %2", "50% of %2" },
		{ "%", "%" },
		{ "%%41", "%A" },
		{ "%gg%4", "%gg%4" },
		/* One line, and nothing that moves a cursor. */
		{ "first%0Asecond%0D%0A%09third", "first second   third" },
		{ "%1B[31mred%07%00%7F", "?[31mred???" },
		{ "c1 %C2%9B control", "c1 ?? control" },
		/* No UTF-8: overlong, surrogate, too large, cut, alone. */
		{ "%C0%80", "??" },
		{ "%E0%80%80", "???" },
		{ "%ED%A0%80", "???" },
		{ "%F4%90%80%80", "????" },
		{ "%E2%82", "??" },
		{ "%80x%FF", "?x?" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[GRPC_STATUS_TEXT_BYTES];

		grpc_text_decode(rows[i].sent, strlen(rows[i].sent), text);
		assert_string_equal(text, rows[i].shown);
	}
}

/* What is too long loses its middle, between whole characters. */
static void test_long_texts(void **state)
{
	char sent[GRPC_STATUS_TEXT_BYTES * 2], text[GRPC_STATUS_TEXT_BYTES];

	memset(sent, 'x', sizeof(sent));
	memcpy(sent + sizeof(sent) - 9, "the cause", 9);
	grpc_text_decode(sent, sizeof(sent), text);
	assert_in_range(strlen(text), GRPC_STATUS_TEXT_BYTES - 64, GRPC_STATUS_TEXT_BYTES - 1);
	assert_non_null(strstr(text, "xx [... "));
	assert_string_equal(text + strlen(text) - 11, "xxthe cause");
	for (size_t first = 0; first < 4; first++) {
		memset(sent, 'x', sizeof(sent));
		for (size_t i = first; i + 4 <= sizeof(sent); i += 4)
			memcpy(sent + i, "💾", 4);
		grpc_text_decode(sent, sizeof(sent), text);
		assert_in_range(strlen(text), GRPC_STATUS_TEXT_BYTES - 64,
				GRPC_STATUS_TEXT_BYTES - 1);
		assert_null(strchr(text, '?'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),         cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_http_statuses), cmocka_unit_test(test_resets),
		cmocka_unit_test(test_texts),         cmocka_unit_test(test_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
