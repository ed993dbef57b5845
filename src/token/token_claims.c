/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_claims - see token_claims.h
 */
#include "token/token_claims.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/uuid.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SUBJECT_BYTES = 600 };

/* ---- who ---- */

static void add_name(struct cJSON *parent, const char *key, const char *name, const char *uid)
{
	struct cJSON *member = json_add_object(parent, key);

	(void) json_set_string(member, "name", name);
	if (*uid)
		(void) json_set_string(member, "uid", uid);
}

/* A pod's token also says on which node. */
static void add_bound(struct cJSON *parent, const struct claims_context *context,
		      const struct object *bound)
{
	static const struct {
		enum object_kind kind;
		const char *key;
	} rows[] = { { KIND_POD, "pod" }, { KIND_SECRET, "secret" }, { KIND_NODE, "node" } };

	if (!bound)
		return;
	if (bound->kind == KIND_POD)
		add_name(parent, "node", context->node_name, context->node_uid);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].kind == bound->kind)
			add_name(parent, rows[i].key, bound->meta.name, bound->meta.uid);
}

static struct cJSON *make_identity(const struct claims_context *context,
				   const struct token_grant *grant)
{
	const struct object_meta *account = &grant->service_account->meta;
	struct cJSON *tree = json_new_object();

	(void) json_set_string(tree, "namespace", account->name_space);
	add_bound(tree, context, grant->bound);
	add_name(tree, "serviceaccount", account->name, account->uid);
	return tree;
}

static void print_subject(const struct token_grant *grant, char text[SUBJECT_BYTES])
{
	const struct object_meta *account = &grant->service_account->meta;

	(void) snprintf(text, SUBJECT_BYTES, "system:serviceaccount:%s:%s", account->name_space,
			account->name);
}

static struct cJSON *make_audiences(const struct claims_context *context,
				    const struct token_grant *grant)
{
	struct cJSON *list = json_new_array();

	for (size_t i = 0; i < grant->audience_count; i++)
		(void) json_set_string(list, NULL, grant->audiences[i]);
	if (grant->audience_count == 0)
		(void) json_set_string(list, NULL, context->url);
	return list;
}

struct cJSON *claims_make(const struct claims_context *context, const struct token_grant *grant)
{
	struct cJSON *claims;
	char subject[SUBJECT_BYTES], uuid[UUID_BYTES];

	assert(context && grant && grant->service_account);
	if (uuid_make(uuid) < 0)
		return NULL;
	print_subject(grant, subject);
	claims = json_new_object();
	(void) json_set(claims, "aud", make_audiences(context, grant));
	(void) json_set_int(claims, "exp", context->now_seconds + context->seconds);
	(void) json_set_int(claims, "iat", context->now_seconds);
	(void) json_set_string(claims, "iss", context->url);
	(void) json_set_string(claims, "jti", uuid);
	(void) json_set(claims, "kubernetes.io", make_identity(context, grant));
	(void) json_set_int(claims, "nbf", context->now_seconds);
	(void) json_set_string(claims, "sub", subject);
	return claims;
}

/* ---- the same again? ---- */

bool claims_match(const struct cJSON *claims, const struct claims_context *context,
		  const struct token_grant *grant)
{
	cleanup_json struct cJSON *identity = make_identity(context, grant);
	cleanup_json struct cJSON *audiences = make_audiences(context, grant);
	char subject[SUBJECT_BYTES];
	struct claims_times times;

	print_subject(grant, subject);
	return claims_read_times(claims, &times) == 0 &&
	       times.expires - times.issued == context->seconds &&
	       json_text_is(claims, "iss", context->url) && json_text_is(claims, "sub", subject) &&
	       json_equal(json_get(claims, "aud"), audiences) &&
	       json_equal(json_get(claims, "kubernetes.io"), identity);
}

/* ---- when ---- */

/* Anything but always the same. */
static uint64_t jitter_of(const char *text)
{
	return fnv1a_add_text(FNV1A_FIRST, text) % TOKEN_JITTER_USEC;
}

int claims_read_times(const struct cJSON *claims, struct claims_times *ret)
{
	struct claims_times times;
	int64_t life, until_refresh;

	assert(ret);
	if (!json_int64(json_get(claims, "iat"), &times.issued) ||
	    !json_int64(json_get(claims, "exp"), &times.expires) || times.issued < 0 ||
	    times.expires <= times.issued || times.expires > INT64_MAX / 2000000)
		return -EINVAL;
	if (!json_int64(json_get(claims, "nbf"), &times.not_before))
		times.not_before = times.issued;
	life = times.expires - times.issued;
	until_refresh = life - life / 5;
	if (until_refresh > TOKEN_DAY_SECONDS)
		until_refresh = TOKEN_DAY_SECONDS;
	times.refresh_usec = (uint64_t) (times.issued + until_refresh) * USEC_PER_SEC -
			     jitter_of(json_text(claims, "jti"));
	*ret = times;
	return 0;
}
