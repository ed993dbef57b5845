/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status - which gRPC code an answer of HTTP/2 amounts to, and a server's words made fit to print
 */
#include "grpc/status.h"

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/log.h"

#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const code_names[] = {
	[GRPC_OK] = "OK",
	[GRPC_CANCELLED] = "Canceled",
	[GRPC_UNKNOWN] = "Unknown",
	[GRPC_INVALID_ARGUMENT] = "InvalidArgument",
	[GRPC_DEADLINE_EXCEEDED] = "DeadlineExceeded",
	[GRPC_NOT_FOUND] = "NotFound",
	[GRPC_ALREADY_EXISTS] = "AlreadyExists",
	[GRPC_PERMISSION_DENIED] = "PermissionDenied",
	[GRPC_RESOURCE_EXHAUSTED] = "ResourceExhausted",
	[GRPC_FAILED_PRECONDITION] = "FailedPrecondition",
	[GRPC_ABORTED] = "Aborted",
	[GRPC_OUT_OF_RANGE] = "OutOfRange",
	[GRPC_UNIMPLEMENTED] = "Unimplemented",
	[GRPC_INTERNAL] = "Internal",
	[GRPC_UNAVAILABLE] = "Unavailable",
	[GRPC_DATA_LOSS] = "DataLoss",
	[GRPC_UNAUTHENTICATED] = "Unauthenticated",
};
static_assert(ARRAY_SIZE(code_names) == GRPC_CODE_COUNT, "name every code");

const char *grpc_code_name(enum grpc_code code)
{
	return code < GRPC_CODE_COUNT ? code_names[code] : code_names[GRPC_UNKNOWN];
}

enum grpc_code grpc_code_of_http(unsigned int http_status)
{
	switch (http_status) {
	case 400:
		return GRPC_INTERNAL;
	case 401:
		return GRPC_UNAUTHENTICATED;
	case 403:
		return GRPC_PERMISSION_DENIED;
	case 404:
		return GRPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return GRPC_UNAVAILABLE;
	default:
		return GRPC_UNKNOWN;
	}
}

enum grpc_code grpc_code_of_reset(uint32_t http2_error)
{
	switch (http2_error) {
	case NGHTTP2_NO_ERROR:
	case NGHTTP2_PROTOCOL_ERROR:
	case NGHTTP2_INTERNAL_ERROR:
	case NGHTTP2_FLOW_CONTROL_ERROR:
	case NGHTTP2_SETTINGS_TIMEOUT:
	case NGHTTP2_FRAME_SIZE_ERROR:
	case NGHTTP2_COMPRESSION_ERROR:
	case NGHTTP2_CONNECT_ERROR:
		return GRPC_INTERNAL;
	case NGHTTP2_REFUSED_STREAM:
		return GRPC_UNAVAILABLE;
	case NGHTTP2_CANCEL:
		return GRPC_CANCELLED;
	case NGHTTP2_ENHANCE_YOUR_CALM:
		return GRPC_RESOURCE_EXHAUSTED;
	case NGHTTP2_INADEQUATE_SECURITY:
		return GRPC_PERMISSION_DENIED;
	default:
		return GRPC_UNKNOWN;
	}
}

int grpc_code_parse(const char *value, size_t length, enum grpc_code *ret)
{
	unsigned int number = 0;

	assert(value && ret);

	if (length == 0 || length > 4)
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		if (value[i] < '0' || value[i] > '9')
			return -EINVAL;
		number = number * 10 + (unsigned int) (value[i] - '0');
	}
	*ret = number < GRPC_CODE_COUNT ? (enum grpc_code) number : GRPC_UNKNOWN;
	return 0;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* The next byte of the decoded text; moves @at. */
static unsigned char decoded_byte(const char *value, size_t length, size_t *at)
{
	if (value[*at] == '%' && length - *at > 2) {
		int high = hex_digit(value[*at + 1]), low = hex_digit(value[*at + 2]);

		if (high >= 0 && low >= 0) {
			*at += 3;
			return (unsigned char) (high << 4 | low);
		}
	}
	return (unsigned char) value[(*at)++];
}

size_t grpc_utf8_length(const unsigned char *text, size_t length)
{
	static const struct {
		unsigned char first, last; /* of the leading byte */
		unsigned char second_from; /* narrower where overlong forms, */
		unsigned char second_to;   /* surrogates or too large numbers would fit */
		unsigned char length;
	} forms[] = {
		{ 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	assert(text && length > 0);

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (text[0] < forms[i].first || text[0] > forms[i].last)
			continue;
		if (forms[i].length > length)
			return 0;
		if (forms[i].length > 1 &&
		    (text[1] < forms[i].second_from || text[1] > forms[i].second_to))
			return 0;
		for (size_t j = 2; j < forms[i].length; j++) {
			if (text[j] < 0x80 || text[j] > 0xbf)
				return 0;
		}
		return forms[i].length;
	}
	return 0;
}

/* The same for what may be shown: no control characters, those of Latin-1 (C1) neither. */
static size_t shown_length(const unsigned char *text, size_t length)
{
	size_t bytes = grpc_utf8_length(text, length);
	bool control = bytes == 1 ? text[0] < 0x20 || text[0] == 0x7f
				  : bytes == 2 && text[0] == 0xc2 && text[1] < 0xa0;

	return control ? 0 : bytes;
}

/* Decodes in place of a copy with room for @length bytes and one more: it only becomes shorter. */
static void show(const char *value, size_t length, unsigned char *text)
{
	size_t decoded = 0, at = 0, written = 0;

	while (at < length)
		text[decoded++] = decoded_byte(value, length, &at);
	for (size_t i = 0; i < decoded;) {
		size_t bytes = shown_length(text + i, decoded - i);
		bool blank = text[i] == '\n' || text[i] == '\r' || text[i] == '\t';

		if (bytes)
			memmove(text + written, text + i, bytes);
		else
			text[written] = blank ? ' ' : '?';
		written += bytes ? bytes : 1;
		i += bytes ? bytes : 1;
	}
	text[written] = '\0';
}

void grpc_text_decode(const char *value, size_t length, char ret[GRPC_STATUS_TEXT_BYTES])
{
	cleanup_free unsigned char *text = malloc(length + 1);

	assert((value || length == 0) && ret);
	if (!text) {
		(void) snprintf(ret, GRPC_STATUS_TEXT_BYTES, "out of memory for its message");
		return;
	}
	show(value, length, text);
	text_fit(ret, GRPC_STATUS_TEXT_BYTES, (const char *) text);
	if (strlen((const char *) text) >= GRPC_STATUS_TEXT_BYTES)
		log_whole(LOG_NOTICE, "the whole message of a failed call", (const char *) text);
}
