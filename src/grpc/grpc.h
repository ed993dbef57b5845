/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc - one unary call over a unix socket, on the event loop
 *
 * Bytes go in, bytes and a status come out. Each call has a connection of its own, as kubelet's
 * have: a driver that restarts breaks no later call. No thread, no retry, no cache. HTTP/2 is
 * nghttp2's; what a peer may do wrong (malformed frames, two replies, no status, too much) becomes
 * a status, never more. A peer that sends without end is read at the priority of clients, 16 KiB a
 * turn of the loop, until its call's budget of frames and bytes is spent.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* As gRPC numbers them. */
enum grpc_code {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_ALREADY_EXISTS = 6,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_ABORTED = 10,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
	GRPC_DATA_LOSS = 15,
	GRPC_UNAUTHENTICATED = 16,
	GRPC_CODE_COUNT
};

/* "DeadlineExceeded", as Go's gRPC prints it and kubelet's metrics have it; "Code(42)" is
 * "Unknown". */
const char *grpc_code_name(enum grpc_code code);

enum {
	GRPC_MESSAGE_BYTES_MAX = 4 * 1024 * 1024, /* each way; grpc-go's own limit */
	GRPC_STATUS_TEXT_BYTES = 4096,            /* a longer grpc-message is cut in the middle */
	GRPC_HEADER_BYTES_MAX = 64 * 1024,        /* of one reply, all of them */
	GRPC_PARTS_MAX = 4096,                    /* frames and header fields of one connection */
	GRPC_BYTES_MAX = 8 * 1024 * 1024,         /* of one connection, whatever they are */
	GRPC_CALLS_MAX = 1024,                    /* of one daemon at a time */
};

/* Of calls on the loop: a server waits for requests and has answered, so both come before whatever
 * begins more calls, such as ended operations (PRIORITY_RESULTS in agent/parts.h). */
enum { GRPC_PRIORITY = -25 };

struct grpc_result {
	enum grpc_code code;
	bool from_server; /* a grpc-status arrived; else the code is what we made of an error */
	/* false: no server acted on it, for not one byte was sent, or the server said so (GOAWAY,
	 * REFUSED_STREAM). */
	bool was_sent;
	const uint8_t *reply; /* with GRPC_OK; borrowed for the call of done() */
	size_t reply_length;
	uint64_t took_usec;
	/* The server's grpc-message, percent-decoded, unprintable bytes replaced; or our own words.
	 */
	char text[GRPC_STATUS_TEXT_BYTES];
};

/* Once, on the loop, never before grpc_call() returned. */
typedef void grpc_done_fn(void *userdata, const struct grpc_result *result);

/* Copies the text up to its NUL only: most are empty, and the pages of the rest stay untouched. */
void grpc_result_copy(struct grpc_result *ret, const struct grpc_result *result);

/* What a call is. Strings and bytes are copied. */
struct grpc_request {
	const char *socket_path; /* absolute; may be longer than 107 bytes */
	const char *method;      /* "/csi.v1.Node/NodeStageVolume" */
	const uint8_t *message;
	size_t message_length;
	uint64_t timeout_usec; /* from now; also sent to the server; not 0 */
	grpc_done_fn *done;
	void *userdata;
};

struct grpc_call;

/**
 * grpc_call - begin one
 * @ret: for grpc_cancel(), until done was called
 *
 * A socket that no server listens on is no error here: done() gets GRPC_UNAVAILABLE. The
 * bytes of the request are overwritten before they are freed, for there may be secrets in
 * them.
 *
 * Return: 0; -E2BIG the message is too large; -ENOBUFS too many calls; -ENOMEM.
 */
int grpc_call(sd_event *event, const struct grpc_request *request, struct grpc_call **ret,
	      struct failure *reterr);

/* The caller left: done is not called any more; the server gets RST_STREAM where that does
 * not block. Accepts NULL. Return: NULL. */
struct grpc_call *grpc_cancel(struct grpc_call *call);
