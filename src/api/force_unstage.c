/* SPDX-License-Identifier: Apache-2.0 */
/*
 * force_unstage - POST /podvol/v1/volumes/VOLUME/force: go past holders outside of
 * containers
 *
 * Answers when the search of this call ended. The unstage itself comes after that and is seen in
 * the operations. Who is passed is decided by mount/holders/mount_force.h, who may ask by
 * authorize.c.
 */
#include "agent.h"
#include "api/exchange.h"

#include <assert.h>
#include <errno.h>

static void abandon(void *call)
{
	unstage_call_cancel(call);
}

static void on_forced(void *exchange, int error, const char *text)
{
	static const struct reply_details nothing = { .row = NULL };

	if (error == 0)
		reply_success(exchange, 200, &nothing, text);
	else
		reply_refusal(exchange,
			      error == -EBUSY       ? API_CONFLICT
			      : error == -ECANCELED ? API_SERVICE_UNAVAILABLE
						    : API_INTERNAL_ERROR,
			      "%s", text);
}

static void refuse(struct exchange *exchange, const char *volume, int error)
{
	if (error == -ENOENT)
		reply_refusal(exchange, API_NOT_FOUND,
			      "no unstage of volume '%.512s' is held back: nothing to force",
			      volume);
	else if (error == -EBUSY)
		reply_refusal(exchange, API_CONFLICT,
			      "the unstage of volume '%.512s' is being forced already", volume);
	else
		reply_bytes(exchange, 500, NULL, NULL, 0);
}

void force_unstage_post(struct exchange *exchange)
{
	const struct unstage_call_request request = {
		.volume = exchange->path.segments[3],
		.by = exchange->peer ? exchange->peer : "a client",
		.done = on_forced,
		.userdata = exchange,
	};
	struct unstage_call *call;
	int r;

	assert(exchange);
	if (!exchange_may_wait(exchange))
		return;
	r = agent_force_unstage(exchange->agent, &request, &call);
	if (r < 0)
		refuse(exchange, request.volume, r);
	else
		exchange_wait(exchange, call, abandon);
}
