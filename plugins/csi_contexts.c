/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_contexts - what a driver gets beside the volume: contexts, pod info, tokens, secrets
 *
 * On a worker: a token may have to be signed elsewhere, and a secret is up to a megabyte of JSON.
 */
#include "plugins/csi_message.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/timestamp.h"
#include "token/token_source.h"

#include <assert.h>
#include <string.h>

#define TOKENS_KEY "csi.storage.k8s.io/serviceAccount.tokens"

void csi_contexts_done(struct csi_contexts *contexts)
{
	assert(contexts);
	csi_map_done(&contexts->publish);
	csi_map_done(&contexts->volume);
	csi_map_done(&contexts->secrets);
	csi_map_done(&contexts->expand_secrets);
}

static int add_pod_info(struct csi_map *map, const struct csi_volume *volume)
{
	const struct object_meta *meta = &volume->pod->meta;
	const struct {
		const char *key, *value;
	} rows[] = {
		{ "csi.storage.k8s.io/pod.name", meta->name },
		{ "csi.storage.k8s.io/pod.namespace", meta->name_space },
		{ "csi.storage.k8s.io/pod.uid", meta->uid },
		{ "csi.storage.k8s.io/serviceAccount.name",
		  volume->pod->pod->service_account_name },
		{ "csi.storage.k8s.io/ephemeral", volume->is_ephemeral ? "true" : "false" },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && r == 0; i++)
		r = csi_map_set(map, rows[i].key, rows[i].value);
	return r;
}

/* ---- tokens ---- */

static int add_token(struct cJSON *tokens, const struct csi_volume *volume,
		     const struct csi_token_request *request, struct failure *reterr)
{
	const struct token_source *source = volume->host->tokens;
	const struct token_order want = {
		.pod = volume->pod,
		.service_account = volume->account,
		.audience = request->audience,
		.seconds = request->expiration_seconds ?: TOKEN_SECONDS_DEFAULT,
	};
	struct issued_token token = { .text = NULL };
	char expires[TIMESTAMP_BYTES];
	struct cJSON *item;
	int r = source->issue(source->userdata, &want, &token, reterr);

	if (r < 0)
		return r;
	timestamp_print(token.expires_usec, expires);
	item = json_add_object(tokens, request->audience);
	(void) json_set_string(item, "token", token.text);
	(void) json_set_string(item, "expirationTimestamp", expires);
	issued_token_done(&token);
	return 0;
}

static int check_tokens(const struct csi_volume *volume, struct failure *reterr)
{
	if (!volume->host->tokens)
		return failed_plain(
			reterr, -EOPNOTSUPP,
			"driver '%s' requires service account tokens, and none are issued here",
			volume->driver);
	if (!volume->account)
		return failed_plain(reterr, -ENOKEY, "serviceaccount '%s/%s' not found",
				    volume->pod->meta.name_space,
				    volume->pod->pod->service_account_name);
	return 0;
}

/* Their text is overwritten in the tree's print and in the map; the tree itself is freed at once.
 */
static int add_tokens(struct csi_map *map, const struct csi_volume *volume, struct failure *reterr)
{
	const struct csi_driver_spec *driver = csi_volume_driver(volume);
	cleanup_json struct cJSON *tokens = json_new_object();
	char *text;
	int r = check_tokens(volume, reterr);

	for (size_t i = 0; i < driver->token_request_count && r == 0; i++)
		r = add_token(tokens, volume, &driver->token_requests[i], reterr);
	if (r < 0)
		return r;
	text = json_print(tokens);
	r = text ? csi_map_set(map, TOKENS_KEY, text) : -ENOMEM;
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	return r;
}

/* ---- all ---- */

static int add_pod(struct csi_contexts *contexts, const struct csi_volume *volume,
		   struct failure *reterr)
{
	const struct csi_driver_spec *driver = csi_volume_driver(volume);
	int r = 0;

	if (!volume->pod_uid || !volume->pod || !driver)
		return 0;
	if (driver->pod_info_on_mount)
		r = add_pod_info(&contexts->volume, volume);
	if (r == 0 && driver->token_request_count > 0 && !volume->block)
		r = add_tokens(driver->tokens_in_secrets ? &contexts->secrets : &contexts->volume,
			       volume, reterr);
	return r;
}

int csi_contexts_gather(struct csi_contexts *contexts, const struct csi_volume *volume,
			bool secrets, struct failure *reterr)
{
	int r = 0;

	assert(contexts && volume && volume->source);
	csi_contexts_done(contexts);
	if (volume->attachment)
		r = csi_map_add_labels(&contexts->publish,
				       &volume->attachment->volume_attachment->metadata);
	if (r == 0)
		r = csi_map_add_labels(&contexts->volume, &volume->source->attributes);
	if (r == 0)
		r = add_pod(contexts, volume, reterr);
	if (r == 0 && secrets && volume->secret)
		r = csi_map_add_secret(&contexts->secrets, volume->secret, reterr);
	if (r == 0 && volume->expand_secret)
		r = csi_map_add_secret(&contexts->expand_secrets, volume->expand_secret, reterr);
	return r == -ENOMEM ? failed(reterr, r, "cannot prepare volume '%s'", volume->name) : r;
}
