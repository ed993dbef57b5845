/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_keys - the keys behind service accounts' tokens: published, listed, renewed
 *
 * A new key is written to the disk, so that is done on a thread.
 */
#include "api/auth/service_tokens.h"

#include "api/view_table.h"
#include "token/token_issuer.h"

#include <errno.h>
#include <string.h>

static void reply_public(struct exchange *exchange, const char *type, struct cJSON *tree)
{
	char *text = tree ? json_print(tree) : NULL;

	json_free(tree);
	reply_bytes(exchange, 200, type, text, text ? strlen(text) : 0);
}

void service_keys_configuration(struct exchange *exchange)
{
	struct token_issuer *issuer = service_tokens_issuer(exchange);

	if (issuer)
		reply_public(exchange, "application/json", token_issuer_configuration(issuer));
}

void service_keys_set(struct exchange *exchange)
{
	struct token_issuer *issuer = service_tokens_issuer(exchange);

	if (issuer)
		reply_public(exchange, "application/jwk-set+json", token_issuer_key_set(issuer));
}

void service_keys_get(struct exchange *exchange)
{
	struct token_issuer *issuer = service_tokens_issuer(exchange);

	if (issuer)
		views_reply(exchange, 200, token_issuer_view(issuer), &view_token_key_columns);
}

/* ---- a new key ---- */

struct renewal {
	struct worker_job job;     /* first */
	struct exchange *exchange; /* NULL: the client left; the key is renewed all the same */
	struct token_issuer *issuer;
	int result;
	struct failure why;
};

static void renewal_abandon(void *work)
{
	struct renewal *renewal = work;

	renewal->exchange = NULL;
}

static void renew(struct worker_job *job)
{
	struct renewal *renewal = (struct renewal *) job;

	renewal->result = token_issuer_renew_key(renewal->issuer, &renewal->why);
}

static void renewed(struct worker_job *job)
{
	struct renewal *renewal = (struct renewal *) job;
	struct exchange *exchange = renewal->exchange;

	if (exchange && renewal->result == -EDQUOT)
		reply_refusal(exchange, API_CONFLICT, "%s", renewal->why.text);
	else if (exchange && renewal->result < 0)
		reply_refusal(exchange, API_INTERNAL_ERROR, "%s",
			      *renewal->why.text ? renewal->why.text : "podvold is shutting down");
	else if (exchange)
		views_reply(exchange, 201, token_issuer_view(renewal->issuer),
			    &view_token_key_columns);
	free(renewal);
}

void service_keys_renew(struct exchange *exchange)
{
	struct token_issuer *issuer;
	struct renewal *renewal;

	issuer = service_tokens_issuer(exchange);
	if (!issuer)
		return;
	renewal = exchange_new_work(exchange, sizeof(*renewal));
	if (!renewal)
		return;
	renewal->job.run = renew;
	renewal->job.done = renewed;
	renewal->exchange = exchange;
	renewal->issuer = issuer;
	renewal->result = -ECANCELED;
	exchange_wait(exchange, renewal, renewal_abandon);
	worker_submit_or_run(exchange->readers, &renewal->job);
}
