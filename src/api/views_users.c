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

static void abandon(void *search)
{
	volume_users_search_cancel(search);
}

static void on_users(void *exchange, struct cJSON *tree)
{
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
	struct volume_users_search *search;
	int r;

	assert(exchange);
	if (!exchange_may_wait(exchange))
		return;
	r = agent_search_users(exchange->agent, volume, on_users, exchange, &search);
	if (r < 0)
		refuse(exchange, volume, r);
	else
		exchange_wait(exchange, search, abandon);
}
