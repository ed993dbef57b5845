/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_users - GET /podvol/v1/volumes/VOLUME/users: search now for who uses a volume
 *
 * Answers when the search ended; one that a client leaves ends early. Any client that may read may
 * ask, as it may read the users of a volume that is busy.
 */
#include "agent.h"
#include "api/exchange.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct question {
	struct exchange *exchange;
	struct volume_users_search *ask;
};

static void question_abandon(void *work)
{
	struct question *question = work;

	volume_users_search_cancel(question->ask);
	free(question);
}

static void on_users(void *userdata, struct cJSON *tree)
{
	struct question *question = userdata;
	struct exchange *exchange = question->exchange;

	free(question);
	reply_tree(exchange, 200, tree);
}

static void refuse(struct exchange *exchange, const char *volume, int error)
{
	if (error == -ENOENT)
		reply_refusal(exchange, API_NOT_FOUND, "volume \"%s\" not found", volume);
	else if (error == -EBUSY)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS,
			      "another search for users runs: try again later");
	else
		reply_bytes(exchange, 500, NULL, NULL, 0);
}

void views_volume_users(struct exchange *exchange)
{
	const char *volume = exchange->path.segments[3];
	struct question *question;
	int r;

	assert(exchange);
	if (!exchange_may_wait(exchange))
		return;
	question = exchange_new_work(exchange, sizeof(*question));
	if (!question)
		return;
	question->exchange = exchange;
	r = agent_search_users(exchange->agent, volume, on_users, question, &question->ask);
	if (r < 0) {
		free(question);
		refuse(exchange, volume, r);
		return;
	}
	exchange_wait(exchange, question, question_abandon);
}
