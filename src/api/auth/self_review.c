/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_review - who am I and what may I do: SelfSubjectReview, SelfSubjectAccessReview and
 * SelfSubjectRulesReview, as `kubectl auth` asks them
 *
 * Answered by authorize(), which decides every request: an answer here is what a request meets. Of
 * role edit the rules are incomplete, because what an object holds counts as well.
 */
#include "api/auth/service_tokens.h"
#include "api/exchange.h"

#include "base/cleanup.h"

#include <string.h>

#define REVIEW_VERSION "authorization.k8s.io/v1"
#define WHOAMI_VERSION "authentication.k8s.io/v1"

enum { BODY_BYTES_MAX = 65536, BODY_DEPTH_MAX = 16 };

/* NULL: refused. */
static struct cJSON *read_body(struct exchange *exchange, const char *kind)
{
	const struct json_limits limits = { .bytes = BODY_BYTES_MAX, .depth = BODY_DEPTH_MAX };
	struct failure why = { .error = 0 };
	struct cJSON *body = NULL;
	int r;

	if (exchange->content == CONTENT_PROTOBUF)
		r = self_review_parse(exchange->body ?: "", exchange->body_length, &body);
	else
		r = json_parse(exchange->body ?: "", exchange->body_length, &limits, &body, &why);
	if (r < 0) {
		reply_unread(exchange, r == -EINVAL ? -EBADMSG : r,
			     *why.text ? why.text : "the body is not a review");
		return NULL;
	}
	if (json_is_object(body) && strcmp(json_string(json_get(body, "kind"), kind), kind) == 0)
		return body;
	json_free(body);
	reply_refusal(exchange, API_BAD_REQUEST, "the body is not a %s", kind);
	return NULL;
}

/* @body is taken. Return: its status, borrowed. */
static struct cJSON *begin_answer(struct cJSON *body, const char *version, const char *kind)
{
	(void) json_set_string(body, "kind", kind);
	(void) json_set_string(body, "apiVersion", version);
	(void) json_ensure_object(body, "metadata");
	json_remove(body, "status");
	return json_add_object(body, "status");
}

/* ---- what may I do ---- */

void self_review_access(struct exchange *exchange)
{
	static const char kind[] = "SelfSubjectAccessReview";
	cleanup_json struct cJSON *body = read_body(exchange, kind);
	const struct cJSON *spec = json_get(body, "spec");
	const struct cJSON *resource = json_get(spec, "resourceAttributes");
	const struct cJSON *other = json_get(spec, "nonResourceAttributes");
	struct access access = { .verb = json_text(resource ? resource : other, "verb") };
	struct cJSON *status;
	const char *why;
	bool allowed;

	if (!body)
		return;
	if (!resource == !other || *access.verb == '\0') {
		reply_refusal(exchange, API_BAD_REQUEST,
			      "spec: exactly one of resourceAttributes and nonResourceAttributes "
			      "is needed, with a verb");
		return;
	}
	if (resource) {
		access.group = json_text(resource, "group");
		access.resource = json_text(resource, "resource");
		access.subresource = json_text(resource, "subresource");
		access.name_space = json_text(resource, "namespace");
		access.name = json_text(resource, "name");
	} else {
		access.path = json_text(other, "path");
		access.path += *access.path == '/';
	}
	allowed = authorize(exchange->rights, &access, &why);
	status = begin_answer(body, REVIEW_VERSION, kind);
	(void) json_set_bool(status, "allowed", allowed);
	if (!allowed && *why)
		(void) json_set_string(status, "reason", why);
	reply_tree(exchange, 201, TAKE_PTR(body));
}

/* ---- all that I may do ---- */

/* A rule with those verbs that are allowed; none when none is. */
static void add_rule(struct cJSON *rules, unsigned int rights, const struct kind_row *row)
{
	static const char *const verbs[] = { "create", "delete", "deletecollection", "get",
					     "list",   "patch",  "update",           "watch" };
	struct cJSON *rule = json_new_object(), *allowed = json_add_array(rule, "verbs");
	struct access access = { .group = row->group, .resource = row->plural };
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		access.verb = verbs[i];
		if (authorize(rights, &access, &why))
			(void) json_set_string(allowed, NULL, verbs[i]);
	}
	if (json_count(allowed) == 0) {
		json_free(rule);
		return;
	}
	(void) json_set_string(json_add_array(rule, "apiGroups"), NULL, row->group);
	(void) json_set_string(json_add_array(rule, "resources"), NULL, row->plural);
	(void) json_set(rules, NULL, rule);
}

void self_review_rules(struct exchange *exchange)
{
	static const char kind[] = "SelfSubjectRulesReview";
	cleanup_json struct cJSON *body = read_body(exchange, kind);
	struct cJSON *status, *rules, *paths;

	if (!body)
		return;
	status = begin_answer(body, REVIEW_VERSION, kind);
	rules = json_add_array(status, "resourceRules");
	for (int i = 0; i < KIND_COUNT; i++)
		add_rule(rules, exchange->rights, kind_row((enum object_kind) i));
	paths = json_add_object(json_add_array(status, "nonResourceRules"), NULL);
	(void) json_set_string(json_add_array(paths, "verbs"), NULL, "get");
	(void) json_set_string(json_add_array(paths, "nonResourceURLs"), NULL, "/podvol/*");
	(void) json_set_bool(status, "incomplete", exchange->rights != RIGHTS_ALL);
	reply_tree(exchange, 201, TAKE_PTR(body));
}

/* ---- who am I ---- */

void self_review_user(struct exchange *exchange)
{
	static const char kind[] = "SelfSubjectReview";
	cleanup_json struct cJSON *body = read_body(exchange, kind);
	struct cJSON *user, *groups;
	char group[64];

	if (!body)
		return;
	user = json_add_object(begin_answer(body, WHOAMI_VERSION, kind), "userInfo");
	(void) json_set_string(user, "username", exchange->user ? exchange->user : "unknown");
	groups = json_add_array(user, "groups");
	(void) snprintf(group, sizeof(group), "podvol:%s", role_name(exchange->rights));
	(void) json_set_string(groups, NULL, group);
	(void) json_set_string(groups, NULL, "system:authenticated");
	reply_tree(exchange, 201, TAKE_PTR(body));
}
