/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream - answers whose bytes come over time, as the handlers see them
 *
 * The transport pulls when the client can take bytes, so nothing is queued here: who makes the
 * bytes keeps a cursor. Knows no sockets; see http.c for the pulling.
 */
#include "api/exchange.h"

#include <assert.h>

void reply_stream(struct exchange *exchange, int status, const char *type,
		  ssize_t (*pull)(void *work, char *buffer, size_t size))
{
	assert(exchange && exchange->status == 0 && !exchange->pull);
	assert(type && pull && exchange->work && exchange->abandon);
	exchange->status = status;
	exchange->reply_type = type;
	exchange->pull = pull;
	/* The work goes on: unlike a complete answer, this one leaves it in the exchange. */
	exchange->answered(exchange);
}

void reply_stream_ready(struct exchange *exchange)
{
	assert(exchange && exchange->pull);
	if (exchange->pull_ready)
		exchange->pull_ready(exchange);
}
