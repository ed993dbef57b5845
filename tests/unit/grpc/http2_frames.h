/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http2_frames - frames of HTTP/2 written by hand, right or wrong
 *
 * No library of the code under test has a part in them. Headers are literals without compression.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	FRAME_DATA = 0,
	FRAME_HEADERS = 1,
	FRAME_PRIORITY = 2,
	FRAME_RST_STREAM = 3,
	FRAME_SETTINGS = 4,
	FRAME_PUSH_PROMISE = 5,
	FRAME_PING = 6,
	FRAME_GOAWAY = 7,
	FRAME_WINDOW_UPDATE = 8,
	FRAME_CONTINUATION = 9,
	END_STREAM = 0x1,
	END_HEADERS = 0x4,
};

struct frames {
	uint8_t bytes[256 * 1024];
	size_t length;
};

void frames_add(struct frames *frames, uint8_t type, uint8_t flags, uint32_t stream,
		const void *payload, size_t length);

/* @text: "name: value" lines, each with a line end. On stream 1, whole. */
void frames_headers(struct frames *frames, uint8_t flags, const char *text);

/* A message with its prefix, on stream 1. */
void frames_message(struct frames *frames, uint8_t flags, const void *message, size_t length);

/* What a server begins with: its settings. */
void frames_begin(struct frames *frames);
