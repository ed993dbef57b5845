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
#include <stdlib.h>

/* One question that waits for the agent. */
struct question {
	struct exchange *exchange;
	struct statistics_call *call;
};

static void question_abandon(void *work)
{
	struct question *question = work;

	statistics_cancel(question->call);
	free(question);
}

static void on_statistics(void *userdata, struct cJSON *tree)
{
	struct question *question = userdata;
	struct exchange *exchange = question->exchange;

	free(question);
	views_reply(exchange, 200, tree, &view_statistics_columns);
}

void views_statistics(struct exchange *exchange)
{
	struct question *question;
	int r = -ENOMEM;

	assert(exchange);
	if (!exchange_may_wait(exchange))
		return;
	question = calloc(1, sizeof(*question));
	if (question)
		r = agent_statistics(exchange->agent, &(struct statistics_about){ .pod_uid = NULL },
				     on_statistics, question, &question->call);
	if (r < 0) {
		free(question);
		if (r == -ENOBUFS)
			reply_refusal(exchange, API_TOO_MANY_REQUESTS, REPLY_BUSY);
		else
			reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	question->exchange = exchange;
	exchange_wait(exchange, question, question_abandon);
}
