/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_tokens - see file_tokens.h
 */
#include "plugins/file_tokens.h"

#include "base/secret_file.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>

enum { PRIVATE_MODE = 0600 };

void file_tokens_rights(const struct object *pod, mode_t default_mode, struct payload_file *ret)
{
	assert(pod->kind == KIND_POD && ret);
	ret->has_owner = pod_fs_user(pod->pod, &ret->owner);
	ret->mode = ret->has_owner || pod->pod->has_fs_group ? PRIVATE_MODE : default_mode;
}

static int issue(const struct file_tokens *tokens, const struct cJSON *item,
		 struct issued_token *ret, struct failure *reterr)
{
	char *current = tokens->current(tokens->userdata, json_text(item, "path"));
	struct token_order want = {
		.pod = tokens->pod,
		.service_account = tokens->service_account,
		.audience = json_text(item, "audience"),
		.seconds = TOKEN_SECONDS_DEFAULT,
		.current = current,
	};
	int r;

	(void) json_int64(json_get(item, "expirationSeconds"), &want.seconds);
	r = tokens->source->issue(tokens->source->userdata, &want, ret, reterr);
	(void) secret_text_free(current);
	return r;
}

int file_tokens_add(struct file_tokens *tokens, const struct cJSON *item, mode_t default_mode,
		    struct payload *payload, struct failure *reterr)
{
	struct payload_file file = { .path = (char *) json_text(item, "path") };
	struct issued_token token = { .text = NULL };
	int r;

	assert(tokens && tokens->pod && payload);
	if (!tokens->source)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "service account tokens are not issued here");
	if (!tokens->service_account)
		return failed_plain(reterr, -ENOENT, "serviceaccount \"%s\" not found",
				    tokens->pod->pod->service_account_name);
	r = issue(tokens, item, &token, reterr);
	if (r < 0)
		return r;
	file_tokens_rights(tokens->pod, default_mode, &file);
	file.data = token.text;
	file.length = strlen(token.text);
	r = payload_add(payload, &file, reterr);
	if (r == 0 && (tokens->renew_usec == 0 || token.refresh_usec < tokens->renew_usec))
		tokens->renew_usec = token.refresh_usec;
	issued_token_done(&token);
	return r;
}
