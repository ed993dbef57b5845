/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http2_frames - frames of HTTP/2 written by hand, right or wrong
 */
#include "http2_frames.h"

#include <assert.h>
#include <string.h>

void frames_add(struct frames *frames, uint8_t type, uint8_t flags, uint32_t stream,
		const void *payload, size_t length)
{
	const uint8_t header[9] = {
		(uint8_t) (length >> 16),
		(uint8_t) (length >> 8),
		(uint8_t) length,
		type,
		flags,
		(uint8_t) (stream >> 24),
		(uint8_t) (stream >> 16),
		(uint8_t) (stream >> 8),
		(uint8_t) stream,
	};

	assert(frames->length + sizeof(header) + length <= sizeof(frames->bytes));
	memcpy(frames->bytes + frames->length, header, sizeof(header));
	frames->length += sizeof(header);
	if (length > 0)
		memcpy(frames->bytes + frames->length, payload, length);
	frames->length += length;
}

/* A string of HPACK: its length in seven bits and more, then its bytes. */
static uint8_t *put_string(uint8_t *at, const char *text, size_t length)
{
	if (length < 127) {
		*at++ = (uint8_t) length;
	} else {
		size_t rest = length - 127;

		*at++ = 127;
		for (; rest >= 128; rest >>= 7)
			*at++ = (uint8_t) (0x80 | (rest & 0x7f));
		*at++ = (uint8_t) rest;
	}
	memcpy(at, text, length);
	return at + length;
}

void frames_headers(struct frames *frames, uint8_t flags, const char *text)
{
	static uint8_t block[128 * 1024];
	uint8_t *at = block;

	while (*text) {
		const char *end = strchr(text, '\n'), *value = strstr(text + 1, ": ");

		assert(end && value && value < end);
		assert((size_t) (at - block) + (size_t) (end - text) + 16 < sizeof(block));
		*at++ = 0; /* a literal that is not to be remembered, with a new name */
		at = put_string(at, text, (size_t) (value - text));
		at = put_string(at, value + 2, (size_t) (end - value - 2));
		text = end + 1;
	}
	/* 16 KiB is the largest frame that a client must take. */
	for (const uint8_t *part = block; part == block || part < at; part += 16384) {
		size_t length = (size_t) (at - part) < 16384 ? (size_t) (at - part) : 16384;
		uint8_t last = part + length == at ? END_HEADERS : 0;

		if (part == block)
			frames_add(frames, FRAME_HEADERS, flags | last, 1, part, length);
		else
			frames_add(frames, FRAME_CONTINUATION, last, 1, part, length);
	}
}

void frames_message(struct frames *frames, uint8_t flags, const void *message, size_t length)
{
	uint8_t bytes[16384] = { 0, (uint8_t) (length >> 24), (uint8_t) (length >> 16),
				 (uint8_t) (length >> 8), (uint8_t) length };

	assert(length + 5 <= sizeof(bytes));
	memcpy(bytes + 5, message, length);
	frames_add(frames, FRAME_DATA, flags, 1, bytes, length + 5);
}

void frames_begin(struct frames *frames)
{
	frames->length = 0;
	frames_add(frames, FRAME_SETTINGS, 0, 0, NULL, 0);
}
