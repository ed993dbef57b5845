/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply - what arrived for one call: headers, one message, a status
 *
 * Fed by the session, in the order of arrival. Whatever breaks gRPC's rules ends it with a code and
 * a sentence of this box; from then on it takes nothing more. No I/O, no HTTP/2 frames.
 */
#pragma once

#include "grpc/grpc.h"

struct grpc_reply {
	/* The block of headers that is arriving, or arrived last. */
	unsigned int http_status;
	bool has_status, status_twice, other_type;
	enum grpc_code status;

	bool has_headers; /* a response that is not only informational (1xx) */
	size_t header_bytes;

	uint8_t *data; /* session.h; the five bytes before the message, then the message */
	size_t length, capacity;

	bool over;
	struct grpc_result result; /* once over; reply points into data. Its text before that is
				    * the block's. */
};

void grpc_reply_init(struct grpc_reply *reply);
void grpc_reply_done(struct grpc_reply *reply);

/* A block of headers begins; one of its headers; it is complete, and @last: the stream with it. */
void grpc_reply_block(struct grpc_reply *reply);
void grpc_reply_header(struct grpc_reply *reply, const char *name, size_t name_length,
		       const char *value, size_t value_length);
void grpc_reply_block_end(struct grpc_reply *reply, bool last);

void grpc_reply_data(struct grpc_reply *reply, const uint8_t *bytes, size_t length);
/* The stream ended after data, without trailers. */
void grpc_reply_data_end(struct grpc_reply *reply);

/* It ends with this code, unless it was over before. */
void grpc_reply_fail(struct grpc_reply *reply, enum grpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
