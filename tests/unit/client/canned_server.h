/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canned_server - a server of canned answers on a unix socket, for tests of the client library
 */
#pragma once

#include "client/podvol.h"

#include <pthread.h>

enum { REQUEST_BYTES = 65536 };

/* Answers every request with the same bytes and keeps the last request. */
struct server {
	char directory[32], path[64];
	int listen_fd;
	pthread_t thread;
	const char *answer; /* ANSWER(); or bytes as they are; "" hangs up */
	char request[REQUEST_BYTES];
};

/* Status line and body; the server puts the head before it. */
#define ANSWER(status, body) status "|" body

/* A server in *state, for cmocka's set-up and tear-down. */
int server_set_up(void **state);
int server_tear_down(void **state);

/* A handle for its socket. */
struct podvol *connected(const struct server *server);
