/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named_tokens - GET, POST /podvol/v1/tokens, DELETE /podvol/v1/tokens/NAME and
 * /podvol/v1/certificates/NAME
 *
 * A changed list is written to the disk on a thread and counts once it is there. One change at a
 * time: the next one would begin with a list that is about to be replaced.
 */
#include "api/auth/authorize.h"
#include "api/auth/credentials.h"
#include "api/exchange.h"
#include "api/view_table.h"
#include "base/clock.h"

#include <string.h>
#include <unistd.h>

enum { TOKEN_BODY_BYTES_MAX = 4096, TOKEN_BODY_DEPTH_MAX = 4, TOKEN_SECONDS_MAX = 315360000 };

struct token_change {
	struct worker_job job;     /* first */
	struct exchange *exchange; /* NULL: the client left; the change is made all the same */
	struct api_credentials *credentials; /* the loop's alone */
	int directory_fd;
	struct token_list list;     /* as it will be */
	struct named_token created; /* name "": one is revoked */
	char revoked[TOKEN_NAME_BYTES];
	char text[TOKEN_TEXT_BYTES];
	int result;
	struct failure why;
};

static void change_free(struct token_change *change)
{
	explicit_bzero(change->text, sizeof(change->text));
	(void) close(change->directory_fd);
	free(change);
}

static void change_abandon(void *work)
{
	((struct token_change *) work)->exchange = NULL;
}

static void write_list(struct worker_job *job)
{
	struct token_change *change = (struct token_change *) job;

	change->result = token_list_store(change->directory_fd, &change->list, &change->why);
}

static void reply_created(const struct token_change *change)
{
	struct cJSON *tree = json_new_object();

	change->exchange->is_secret = true;
	(void) json_set_string(tree, "name", change->created.name);
	(void) json_set_string(tree, "role", role_name(change->created.rights));
	(void) json_set_string(tree, "token", change->text);
	reply_tree(change->exchange, 201, tree);
}

static void list_written(struct worker_job *job)
{
	static const struct reply_details nothing = { .row = NULL };
	struct token_change *change = (struct token_change *) job;
	struct exchange *exchange = change->exchange;

	credentials_tokens_changed(change->credentials, change->result == 0 ? &change->list : NULL);
	if (exchange && change->result < 0)
		reply_refusal(exchange, API_INTERNAL_ERROR, "%s",
			      *change->why.text ? change->why.text : "podvold is shutting down");
	else if (exchange && *change->created.name)
		reply_created(change);
	else if (exchange)
		reply_success(exchange, 200, &nothing, "revoked");
	change_free(change);
}

/* NULL: refused. */
static struct token_change *begin(struct exchange *exchange)
{
	struct token_change *change = NULL;
	int r;

	if (!exchange->credentials) {
		reply_refusal(exchange, API_NOT_FOUND, REPLY_NO_TLS);
		return NULL;
	}
	change = exchange_new_work(exchange, sizeof(*change));
	if (!change)
		return NULL;
	change->exchange = exchange;
	change->credentials = exchange->credentials;
	change->result = -ECANCELED;
	change->job.run = write_list;
	change->job.done = list_written;
	r = credentials_tokens_begin(exchange->credentials, &change->list, &change->directory_fd);
	if (r == 0)
		return change;
	if (r == -EBUSY)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS,
			      "another change of the tokens is being written: try again");
	else
		reply_refusal(exchange, API_INTERNAL_ERROR, "cannot open the state directory");
	free(change);
	return NULL;
}

static void refuse(struct token_change *change, enum api_refusal refusal, const char *text)
{
	credentials_tokens_changed(change->credentials, NULL);
	reply_refusal(change->exchange, refusal, "%s", text);
	change_free(change);
}

static void submit(struct token_change *change)
{
	exchange_wait(change->exchange, change, change_abandon);
	worker_submit_or_run(change->exchange->readers, &change->job);
}

/* Replies and returns false when the body is bad. */
static bool read_token(struct exchange *exchange, struct named_token *ret)
{
	const struct json_limits limits = { .bytes = TOKEN_BODY_BYTES_MAX,
					    .depth = TOKEN_BODY_DEPTH_MAX };
	cleanup_json struct cJSON *body = NULL;
	struct failure why = { .error = 0 };
	const char *role;
	int64_t seconds = 0;
	int r = json_parse(exchange->body ?: "", exchange->body_length, &limits, &body, &why);

	if (r < 0) {
		reply_unread(exchange, r, why.text);
		return false;
	}
	role = json_string(json_get(body, "role"), "view");
	ret->rights = role_rights(role);
	ret->created_usec = realtime_usec();
	if (ret->rights == 0)
		reply_refusal(exchange, API_INVALID, "role: '%.64s' is not %s", role, role_names);
	else if (json_get(body, "seconds") && (!json_int64(json_get(body, "seconds"), &seconds) ||
					       seconds < 1 || seconds > TOKEN_SECONDS_MAX))
		reply_refusal(exchange, API_INVALID, "seconds: not from 1 to %d",
			      TOKEN_SECONDS_MAX);
	else if (strlen(json_text(body, "name")) >= sizeof(ret->name))
		reply_refusal(exchange, API_INVALID, "name: longer than %d characters",
			      TOKEN_NAME_BYTES - 1);
	else
		(void) snprintf(ret->name, sizeof(ret->name), "%s", json_text(body, "name"));
	if (seconds > 0)
		ret->expires_usec = ret->created_usec + (uint64_t) seconds * USEC_PER_SEC;
	return exchange->status == 0;
}

void named_tokens_post(struct exchange *exchange)
{
	struct named_token token = { .rights = 0 };
	struct failure why = { .error = 0 };
	struct token_change *change;
	int r;

	exchange->is_secret = true;
	if (!read_token(exchange, &token))
		return;
	(void) snprintf(exchange->record.object, sizeof(exchange->record.object), "%s", token.name);
	change = begin(exchange);
	if (!change)
		return;
	change->created = token;
	r = token_list_add(&change->list, &token, change->text, &why);
	if (r < 0)
		refuse(change,
		       r == -EEXIST   ? API_ALREADY_EXISTS
		       : r == -EINVAL ? API_INVALID
				      : API_CONFLICT,
		       why.text);
	else
		submit(change);
}

void named_tokens_delete(struct exchange *exchange)
{
	struct token_change *change = begin(exchange);

	if (!change)
		return;
	if (token_list_remove(&change->list, exchange->path.segments[3]) < 0)
		refuse(change, API_NOT_FOUND, "token not found");
	else
		submit(change);
}

void named_tokens_revoke_certificates(struct exchange *exchange)
{
	struct token_change *change = begin(exchange);
	struct failure why = { .error = 0 };

	if (!change)
		return;
	if (token_list_revoke(&change->list, exchange->path.segments[3], realtime_usec(), &why) < 0)
		refuse(change, API_INVALID, why.text);
	else
		submit(change);
}

void named_tokens_get(struct exchange *exchange)
{
	if (!exchange->credentials)
		reply_refusal(exchange, API_NOT_FOUND, REPLY_NO_TLS);
	else
		views_reply(exchange, 200,
			    token_list_view(credentials_tokens(exchange->credentials)),
			    &view_token_columns);
}
