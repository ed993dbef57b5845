/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session - one call as bytes of HTTP/2: those to send, those that came
 *
 * No I/O and no clock, so tests feed it whatever a peer might send. The owner of the connection
 * asks for bytes to send after each event, until there are none.
 */
#pragma once

#include "grpc/grpc.h"

#include <stddef.h>

struct grpc_session;

/* Copies method and message. Return: 0 or -ENOMEM. */
int grpc_session_new(const struct grpc_request *request, struct grpc_session **ret);
struct grpc_session *grpc_session_free(struct grpc_session *session); /* accepts NULL */

/* What is to be sent next; borrowed until the next time. Return: how many bytes;
 * 0 nothing for now. */
size_t grpc_session_next(struct grpc_session *session, const uint8_t **ret);

void grpc_session_receive(struct grpc_session *session, const uint8_t *bytes, size_t length);
/* The peer closed the connection, or it broke: @error is 0 or a negative errno. */
void grpc_session_closed(struct grpc_session *session, int error);

/* It ends with this code, unless it was over; the next bytes tell the server. */
void grpc_session_cancel(struct grpc_session *session, enum grpc_code code, const char *text);

/* Is it over? @ret: borrowed while the session lives; its times are not set, and was_sent is false
 * only when the server said that it looked at nothing. */
bool grpc_session_result(const struct grpc_session *session, const struct grpc_result **ret);

/* grpc-timeout of a time: at most eight digits and a unit, rounded up. */
enum { GRPC_TIMEOUT_BYTES = 10 };
void grpc_timeout_format(uint64_t timeout_usec, char ret[GRPC_TIMEOUT_BYTES]);

/* ---- wipe.c: memory that is overwritten before it goes back ---- */

/* Requests and replies carry secrets. Each piece knows its size by a word in front of it. A piece
 * from here goes back here and nowhere else. */

void *wipe_malloc(size_t size);
void *wipe_realloc(void *memory, size_t size);
void wipe_free(void *memory); /* accepts NULL */
