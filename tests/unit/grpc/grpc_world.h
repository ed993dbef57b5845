/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_world - a gRPC server on the test's own event loop, with scripted answers
 *
 * One process, one thread, no waiting: whatever a test waits for comes by the loop.
 */
#pragma once

#include "grpc/grpc.h"

enum server_answer {
	ANSWER_OK,      /* a message of reply_bytes bytes */
	ANSWER_STATUS,  /* status and text, after headers */
	ANSWER_NEVER,   /* keeps the request */
	ANSWER_HANG_UP, /* closes when it has the request */
	ANSWER_AT_ONCE, /* status as trailers-only, before the request was read */
};

struct connection;

struct grpc_world {
	sd_event *event;
	char directory[64];
	char path[512];
	int listen_fd;
	sd_event_source *accepting;
	struct connection *connections;

	enum server_answer answer;
	size_t reply_bytes;
	const char *reply; /* those bytes; NULL: all 'r' */
	const char *status, *text;

	/* What it saw. */
	unsigned int connected, requests, resets, closed;
	unsigned int late; /* frames after its answer */
	uint32_t reset_code;
	size_t request_bytes;
	uint8_t request_sum;
	char headers[1024]; /* of the last request, a line each */
};

/* How a call ended. Must not move. */
struct outcome {
	unsigned int done;
	struct grpc_result result; /* without its reply */
	size_t reply_length;
	uint8_t reply_first, reply_last;
	struct grpc_call *cancel_next; /* cancelled by done() */
};

/* @name: of the socket below the world's directory, with directories before it. */
void grpc_world_begin(struct grpc_world *world, const char *name);
void grpc_world_listen(struct grpc_world *world, int backlog);
void grpc_world_accept(struct grpc_world *world);  /* from now on */
void grpc_world_hang_up(struct grpc_world *world); /* on its newest connection */
void grpc_world_end(struct grpc_world *world);

struct grpc_call *grpc_world_call(struct grpc_world *world, const char *message, size_t length,
				  uint64_t timeout_usec, struct outcome *outcome);

/* Runs the loop until *@number is at least @wanted; fails the test after a minute. */
void grpc_world_until(struct grpc_world *world, const unsigned int *number, unsigned int wanted);

/* How many descriptors and threads this process has. */
unsigned int count_entries(const char *directory);
