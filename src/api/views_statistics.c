/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_statistics - how full each mounted volume is
 *
 * The agent asks the file systems on threads; the answer here waits for it, and for no volume
 * longer than the agent does.
 */
#include "api/exchange.h"

#include "api/view_table.h"

#include <assert.h>
#include <errno.h>

static void abandon(void *call)
{
	statistics_cancel(call);
}

static void on_statistics(void *exchange, struct cJSON *tree)
{
	views_reply(exchange, 200, tree, &view_statistics_columns);
}

void views_statistics(struct exchange *exchange)
{
	struct statistics_call *call;
	int r;

	assert(exchange);
	if (!exchange_may_wait(exchange))
		return;
	r = agent_statistics(exchange->agent, &(struct statistics_about){ .pod_uid = NULL },
			     on_statistics, exchange, &call);
	if (r == 0)
		exchange_wait(exchange, call, abandon);
	else if (r == -ENOBUFS)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS, REPLY_BUSY);
	else
		reply_bytes(exchange, 500, NULL, NULL, 0);
}
