/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_token_review - POST tokenreviews: whose token is this, and is it still valid
 *
 * A token that expired, or whose account, pod or secret is gone or was made again, is not valid:
 * reported in the status, not as an error, as in Kubernetes. The reply repeats the request without
 * the token.
 */
#include "api/auth/service_tokens.h"

#include "agent.h"
#include "base/cleanup.h"
#include "store/store.h"
#include "token/token_issuer.h"

#include <errno.h>
#include <string.h>

/* Of the objects that a token names. */
static bool is_there(struct store *store, enum object_kind kind, const char *name_space,
		     const struct cJSON *named)
{
	const struct object *object = store_get(store, kind, name_space, json_text(named, "name"));

	return object && json_text_is(named, "uid", object->meta.uid);
}

static int check_objects(struct store *store, const struct cJSON *identity, struct failure *reterr)
{
	static const struct {
		const char *key, *what;
		enum object_kind kind;
	} rows[] = {
		{ "serviceaccount", "service account", KIND_SERVICE_ACCOUNT },
		{ "pod", "pod", KIND_POD },
		{ "secret", "secret", KIND_SECRET },
	};
	const char *name_space = json_text(identity, "namespace");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct cJSON *named = json_get(identity, rows[i].key);

		if (named && !is_there(store, rows[i].kind, name_space, named))
			return failed_plain(reterr, -ENOENT,
					    "the %s of the token is gone or was recreated",
					    rows[i].what);
	}
	return 0;
}

/* The requested audiences that the token has; without any the issuer's own. */
static struct cJSON *common_audiences(const struct cJSON *asked, const struct cJSON *audiences,
				      const char *own)
{
	struct cJSON *common = json_new_array();

	JSON_FOREACH (item, asked)
		if (json_has_string(audiences, json_string(item, "")))
			(void) json_set_string(common, NULL, json_string(item, ""));
	if (json_count(asked) == 0 && json_has_string(audiences, own))
		(void) json_set_string(common, NULL, own);
	return common;
}

/* ---- the reply ---- */

static void add_extra(struct cJSON *extra, const char *key, const char *prefix,
		      const struct cJSON *value)
{
	char name[96], text[300];

	if (!value)
		return;
	(void) snprintf(name, sizeof(name), "authentication.kubernetes.io/%s", key);
	(void) snprintf(text, sizeof(text), "%s%s", prefix, json_string(value, ""));
	(void) json_set_string(json_add_array(extra, name), NULL, text);
}

static void add_user(struct cJSON *status, const struct cJSON *claims)
{
	const struct cJSON *identity = json_get(claims, "kubernetes.io");
	struct cJSON *user = json_add_object(status, "user"), *groups, *extra;
	char group[300];

	(void) json_set_string(user, "username", json_text(claims, "sub"));
	(void) json_set_string(user, "uid", json_text_at(identity, "serviceaccount.uid"));
	groups = json_add_array(user, "groups");
	(void) json_set_string(groups, NULL, "system:serviceaccounts");
	(void) snprintf(group, sizeof(group), "system:serviceaccounts:%s",
			json_text(identity, "namespace"));
	(void) json_set_string(groups, NULL, group);
	(void) json_set_string(groups, NULL, "system:authenticated");
	extra = json_add_object(user, "extra");
	add_extra(extra, "credential-id", "JTI=", json_get(claims, "jti"));
	add_extra(extra, "node-name", "", json_get_path(identity, "node.name"));
	add_extra(extra, "node-uid", "", json_get_path(identity, "node.uid"));
	add_extra(extra, "pod-name", "", json_get_path(identity, "pod.name"));
	add_extra(extra, "pod-uid", "", json_get_path(identity, "pod.uid"));
}

static void fill_status(struct exchange *exchange, struct token_issuer *issuer,
			const struct cJSON *spec, struct cJSON *status)
{
	cleanup_json struct cJSON *claims = NULL, *audiences = NULL;
	struct failure why = { .error = 0 };
	int r = token_issuer_review(issuer, json_text(spec, "token"), &claims, &why);

	if (r == 0)
		r = check_objects(agent_store(exchange->agent), json_get(claims, "kubernetes.io"),
				  &why);
	audiences = common_audiences(json_get(spec, "audiences"), json_get(claims, "aud"),
				     token_issuer_url(issuer));
	if (r == 0 && json_count(audiences) == 0)
		r = failed_plain(&why, -EINVAL, "the token is for other audiences");
	if (r < 0) {
		(void) json_set_string(status, "error", why.text);
		return;
	}
	(void) json_set_bool(status, "authenticated", true);
	add_user(status, claims);
	(void) json_set(status, "audiences", TAKE_PTR(audiences));
}

void service_tokens_review(struct exchange *exchange)
{
	struct token_issuer *issuer = service_tokens_issuer(exchange);
	cleanup_json struct cJSON *body =
		issuer ? service_tokens_body(exchange, "TokenReview") : NULL;
	const struct cJSON *spec = json_get(body, "spec");
	struct cJSON *tree;

	if (!body)
		return;
	if (*json_text(spec, "token") == '\0') {
		reply_refusal(exchange, API_BAD_REQUEST, "spec.token: Required value");
		return;
	}
	exchange->is_secret = true;
	tree = json_new_object();
	(void) json_set_string(tree, "kind", "TokenReview");
	(void) json_set_string(tree, "apiVersion", AUTHENTICATION_VERSION);
	(void) json_add_object(tree, "metadata");
	(void) json_add_object(tree, "spec");
	fill_status(exchange, issuer, spec, json_add_object(tree, "status"));
	reply_tree(exchange, 201, tree);
}
