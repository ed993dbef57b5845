/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply - what arrived for one call: headers, one message, a status
 */
#include "grpc/reply.h"

#include "base/cleanup.h"
#include "grpc/status.h"
#include "grpc/session.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum {
	PREFIX_BYTES = 5,           /* compressed or not, and the length */
	HEADER_OVERHEAD_BYTES = 32, /* what HTTP/2 counts for each header beside its text */
	FIRST_CAPACITY = 1024,
};

void grpc_reply_init(struct grpc_reply *reply)
{
	/* Most calls use no more of the text than its end. */
	memset(reply, 0, offsetof(struct grpc_reply, result.text));
	reply->result.text[0] = '\0';
}

void grpc_result_copy(struct grpc_result *ret, const struct grpc_result *result)
{
	assert(ret && result);
	memcpy(ret, result, offsetof(struct grpc_result, text) + strlen(result->text) + 1);
}

void grpc_reply_done(struct grpc_reply *reply)
{
	wipe_free(reply->data);
	reply->data = NULL;
}

void grpc_reply_fail(struct grpc_reply *reply, enum grpc_code code, const char *format, ...)
{
	va_list arguments;

	assert(code != GRPC_OK);

	if (reply->over)
		return;
	reply->over = true;
	reply->result.code = code;
	va_start(arguments, format);
	(void) vsnprintf(reply->result.text, sizeof(reply->result.text), format, arguments);
	va_end(arguments);
}

void grpc_reply_block(struct grpc_reply *reply)
{
	reply->http_status = 0;
	reply->has_status = reply->status_twice = reply->other_type = false;
	if (!reply->over)
		reply->result.text[0] = '\0';
}

static bool is(const char *name, size_t length, const char *wanted)
{
	return length == strlen(wanted) && memcmp(name, wanted, length) == 0;
}

/* "application/grpc", alone or with a suffix or parameters. */
static bool is_grpc(const char *type, size_t length)
{
	static const char wanted[] = "application/grpc";
	size_t bare = sizeof(wanted) - 1;

	return length >= bare && memcmp(type, wanted, bare) == 0 &&
	       (length == bare || type[bare] == '+' || type[bare] == ';');
}

static void take_status(struct grpc_reply *reply, const char *value, size_t length)
{
	if (reply->has_status)
		reply->status_twice = true;
	reply->has_status = true;
	if (grpc_code_parse(value, length, &reply->status) < 0)
		grpc_reply_fail(reply, GRPC_UNKNOWN, "the server's grpc-status is not a number");
}

void grpc_reply_header(struct grpc_reply *reply, const char *name, size_t name_length,
		       const char *value, size_t value_length)
{
	assert(name && value);

	if (reply->over)
		return;
	reply->header_bytes += name_length + value_length + HEADER_OVERHEAD_BYTES;
	if (reply->header_bytes > GRPC_HEADER_BYTES_MAX) {
		grpc_reply_fail(reply, GRPC_RESOURCE_EXHAUSTED,
				"the server's headers are larger than %d bytes",
				GRPC_HEADER_BYTES_MAX);
		return;
	}
	if (is(name, name_length, ":status")) {
		for (size_t i = 0; i < value_length && i < 3; i++)
			reply->http_status =
				reply->http_status * 10 + (unsigned int) (value[i] - '0');
	} else if (is(name, name_length, "content-type")) {
		reply->other_type = !is_grpc(value, value_length);
	} else if (is(name, name_length, "grpc-status")) {
		take_status(reply, value, value_length);
	} else if (is(name, name_length, "grpc-message")) {
		grpc_text_decode(value, value_length, reply->result.text);
	}
}

/* The prefix tells what will come, so nothing is collected that would be refused. */
static bool prefix_is_good(struct grpc_reply *reply)
{
	const uint8_t *prefix = reply->data;
	size_t length;

	if (reply->length < PREFIX_BYTES)
		return true;
	length = (size_t) prefix[1] << 24 | (size_t) prefix[2] << 16 | (size_t) prefix[3] << 8 |
		 prefix[4];
	if (prefix[0] != 0)
		grpc_reply_fail(reply, GRPC_INTERNAL,
				"the server sent a compressed message, which was not offered");
	else if (length > GRPC_MESSAGE_BYTES_MAX)
		grpc_reply_fail(reply, GRPC_RESOURCE_EXHAUSTED,
				"the server's message has %zu bytes, more than %d", length,
				GRPC_MESSAGE_BYTES_MAX);
	else if (reply->length > PREFIX_BYTES + length)
		grpc_reply_fail(reply, GRPC_INTERNAL, "the server sent more than one message");
	return !reply->over;
}

static bool make_room(struct grpc_reply *reply, size_t wanted)
{
	size_t capacity = reply->capacity ? reply->capacity : FIRST_CAPACITY;
	uint8_t *data;

	if (wanted <= reply->capacity)
		return true;
	while (capacity < wanted)
		capacity *= 2;
	data = wipe_realloc(reply->data, capacity);
	if (!data) {
		grpc_reply_fail(reply, GRPC_RESOURCE_EXHAUSTED, "out of memory for the reply");
		return false;
	}
	reply->data = data;
	reply->capacity = capacity;
	return true;
}

void grpc_reply_data(struct grpc_reply *reply, const uint8_t *bytes, size_t length)
{
	assert(bytes || length == 0);

	if (!reply->has_headers)
		grpc_reply_fail(reply, GRPC_INTERNAL, "the server sent data before its headers");
	while (length > 0 && !reply->over) {
		/* The prefix alone first: it decides whether there is to be room for the rest. */
		size_t part = reply->length < PREFIX_BYTES ? PREFIX_BYTES - reply->length : length;

		part = part < length ? part : length;
		if (reply->length + part > PREFIX_BYTES + GRPC_MESSAGE_BYTES_MAX)
			part = PREFIX_BYTES + GRPC_MESSAGE_BYTES_MAX + 1 - reply->length;
		if (!make_room(reply, reply->length + part))
			return;
		memcpy(reply->data + reply->length, bytes, part);
		reply->length += part;
		bytes += part;
		length -= part;
		if (!prefix_is_good(reply))
			return;
	}
}

/* A status arrived that says OK: is the one message there, and whole? */
static void take_message(struct grpc_reply *reply)
{
	const uint8_t *prefix = reply->data;
	size_t length;

	if (reply->length < PREFIX_BYTES) {
		grpc_reply_fail(reply, GRPC_INTERNAL, "the server said OK and sent no message");
		return;
	}
	length = (size_t) prefix[1] << 24 | (size_t) prefix[2] << 16 | (size_t) prefix[3] << 8 |
		 prefix[4];
	if (reply->length != PREFIX_BYTES + length) {
		grpc_reply_fail(reply, GRPC_INTERNAL,
				"the server said OK and sent %zu of the %zu bytes of its message",
				reply->length - PREFIX_BYTES, length);
		return;
	}
	reply->over = true;
	reply->result.code = GRPC_OK;
	reply->result.text[0] = '\0';
	reply->result.from_server = true;
	reply->result.reply = reply->data + PREFIX_BYTES;
	reply->result.reply_length = length;
}

static void take_last_block(struct grpc_reply *reply)
{
	bool headers_too = !reply->has_headers; /* trailers-only */

	if (reply->status_twice) {
		grpc_reply_fail(reply, GRPC_INTERNAL, "the server sent grpc-status twice");
	} else if (!reply->has_status && headers_too && reply->http_status != 200) {
		grpc_reply_fail(reply, grpc_code_of_http(reply->http_status),
				"the server answered with HTTP status %u", reply->http_status);
	} else if (!reply->has_status) {
		grpc_reply_fail(reply, GRPC_UNKNOWN, "the server ended without a grpc-status");
	} else if (reply->status == GRPC_OK) {
		take_message(reply);
	} else if (!reply->over) {
		reply->over = true;
		reply->result.code = reply->status;
		reply->result.from_server = true;
	}
}

static void take_first_block(struct grpc_reply *reply)
{
	if (reply->http_status != 200)
		grpc_reply_fail(reply, grpc_code_of_http(reply->http_status),
				"the server answered with HTTP status %u", reply->http_status);
	else if (reply->other_type)
		grpc_reply_fail(reply, GRPC_UNKNOWN, "the server's answer is not gRPC");
	reply->has_headers = true;
}

void grpc_reply_block_end(struct grpc_reply *reply, bool last)
{
	bool informational = reply->http_status >= 100 && reply->http_status < 200;

	if (reply->over)
		return;
	if (last)
		take_last_block(reply);
	else if (!reply->has_headers && !informational)
		take_first_block(reply);
	else if (reply->has_headers)
		grpc_reply_fail(reply, GRPC_INTERNAL, "the server went on after its trailers");
}

void grpc_reply_data_end(struct grpc_reply *reply)
{
	grpc_reply_fail(reply, GRPC_INTERNAL, "the server ended without trailers");
}
