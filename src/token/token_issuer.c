/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_issuer - signs, believes and publishes; see token_issuer.h
 *
 * Only who renews the key changes the ring, one at a time, and the new ring is on the disk before
 * it is used. So the file is written without the mutex that signers take.
 */
#include "token/token_issuer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/secret_file.h"
#include "object/object.h"
#include "object/timestamp.h"
#include "token/jwt.h"
#include "token/key_ring.h"
#include "token/token_claims.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#define KEY_SET_PATH "/openid/v1/jwks"

enum { URL_BYTES_MAX = 512, UID_BYTES = 64 };

struct token_issuer {
	pthread_mutex_t mutex;    /* of the ring and the node's uid */
	pthread_mutex_t renewing; /* of who changes the ring */
	struct key_ring ring;
	int state_fd;
	char *url, *node_name;
	char node_uid[UID_BYTES];
	int64_t longest_seconds, key_seconds;
	struct token_source source;
};

/* ---- signing ---- */

/* Under the mutex. */
static struct claims_context context_of(const struct token_issuer *issuer, int64_t seconds)
{
	return (struct claims_context){
		.url = issuer->url,
		.node_name = issuer->node_name,
		.node_uid = issuer->node_uid,
		.now_seconds = (int64_t) (realtime_usec() / USEC_PER_SEC),
		.seconds = seconds < issuer->longest_seconds ? seconds : issuer->longest_seconds,
	};
}

static int check_grant(const struct token_grant *grant, struct failure *reterr)
{
	if (grant->seconds < TOKEN_SECONDS_LEAST)
		return failed_plain(reterr, -EINVAL,
				    "a token lives for %d seconds at least, not for %lld",
				    TOKEN_SECONDS_LEAST, (long long) grant->seconds);
	if (grant->audience_count > TOKEN_AUDIENCES_MAX)
		return failed_plain(reterr, -E2BIG, "a token has at most %d audiences",
				    TOKEN_AUDIENCES_MAX);
	return 0;
}

static int fill_times(const struct cJSON *claims, struct issued_token *token)
{
	struct claims_times times;

	if (claims_read_times(claims, &times) < 0)
		return -ENOMEM;
	token->expires_usec = (uint64_t) times.expires * USEC_PER_SEC;
	token->refresh_usec = times.refresh_usec;
	return 0;
}

int token_issuer_issue(struct token_issuer *issuer, const struct token_grant *grant,
		       struct issued_token *ret, struct failure *reterr)
{
	cleanup_json struct cJSON *claims = NULL;
	struct issued_token token = { .text = NULL };
	struct claims_context context;
	int r = check_grant(grant, reterr);

	assert(issuer && ret);
	if (r < 0)
		return r;
	(void) pthread_mutex_lock(&issuer->mutex);
	context = context_of(issuer, grant->seconds);
	claims = claims_make(&context, grant);
	if (!claims || fill_times(claims, &token) < 0)
		r = failed(reterr, -ENOMEM, "cannot make a token");
	else
		r = jwt_sign(issuer->ring.keys[0].key, claims, &token.text, reterr);
	(void) pthread_mutex_unlock(&issuer->mutex);
	if (r == 0)
		*ret = token;
	return r;
}

/* ---- believing ---- */

/* By any key that is still published. Under the mutex. */
static bool is_signed(const struct token_issuer *issuer, const struct jwt *jwt)
{
	uint64_t now = realtime_usec();

	for (size_t i = 0; i < issuer->ring.count; i++) {
		const struct ring_key *key = &issuer->ring.keys[i];

		if ((key->published_until_usec == 0 || key->published_until_usec > now) &&
		    strcmp(jwt->key_id, signing_key_id(key->key)) == 0)
			return jwt_verify(jwt, key->key);
	}
	return false;
}

/* Clocks of one node do not differ: no leeway. */
static int check_times(const struct cJSON *claims, struct failure *reterr)
{
	int64_t now = (int64_t) (realtime_usec() / USEC_PER_SEC);
	struct claims_times times;

	if (claims_read_times(claims, &times) < 0)
		return failed_plain(reterr, -EINVAL, "the token does not say how long it lives");
	if (now >= times.expires)
		return failed_plain(reterr, -EKEYEXPIRED, "service account token has expired");
	if (now < times.not_before)
		return failed_plain(reterr, -EAGAIN, "service account token is not valid yet");
	return 0;
}

int token_issuer_review(struct token_issuer *issuer, const char *text, struct cJSON **ret,
			struct failure *reterr)
{
	struct jwt jwt;
	int r;

	assert(issuer && text && ret);
	r = jwt_parse(text, &jwt, reterr);
	if (r < 0)
		return r;
	(void) pthread_mutex_lock(&issuer->mutex);
	if (!is_signed(issuer, &jwt) || !json_text_is(jwt.claims, "iss", issuer->url))
		r = failed_plain(reterr, -EINVAL, "the token was not signed by this issuer");
	(void) pthread_mutex_unlock(&issuer->mutex);
	if (r == 0)
		r = check_times(jwt.claims, reterr);
	if (r == 0)
		*ret = TAKE_PTR(jwt.claims);
	jwt_done(&jwt);
	return r;
}

/* ---- for plugins ---- */

/* A token that is there, good, not due, and says what a new one would say. */
static bool is_still_good(struct token_issuer *issuer, const struct token_grant *grant,
			  const char *text, struct issued_token *ret)
{
	cleanup_json struct cJSON *claims = NULL;
	struct claims_context context;
	bool same;

	if (token_issuer_review(issuer, text, &claims, NULL) < 0)
		return false;
	(void) pthread_mutex_lock(&issuer->mutex);
	context = context_of(issuer, grant->seconds);
	same = claims_match(claims, &context, grant);
	(void) pthread_mutex_unlock(&issuer->mutex);
	return same && fill_times(claims, ret) == 0 && realtime_usec() < ret->refresh_usec;
}

/* A key that is too old is replaced when a token is next wanted. That it cannot be is no reason
 * to go without one. */
static void renew_when_old(struct token_issuer *issuer)
{
	struct failure why = { .error = 0 };
	uint64_t created;

	if (issuer->key_seconds == 0)
		return;
	(void) pthread_mutex_lock(&issuer->mutex);
	created = issuer->ring.keys[0].created_usec;
	(void) pthread_mutex_unlock(&issuer->mutex);
	if (realtime_usec() < created + (uint64_t) issuer->key_seconds * USEC_PER_SEC)
		return;
	if (token_issuer_renew_key(issuer, &why) < 0)
		log_message(LOG_WARNING, "the key that signs tokens is old and stays: %s",
			    why.text);
}

static int issue(void *userdata, const struct token_order *want, struct issued_token *ret,
		 struct failure *reterr)
{
	struct token_issuer *issuer = userdata;
	const struct token_grant grant = {
		.service_account = want->service_account,
		.bound = want->pod,
		.audiences = &want->audience,
		.audience_count = *want->audience ? 1 : 0,
		.seconds = want->seconds,
	};
	struct issued_token kept = { .text = NULL };

	assert(want->service_account && want->pod);
	renew_when_old(issuer);
	if (!want->current || !is_still_good(issuer, &grant, want->current, &kept))
		return token_issuer_issue(issuer, &grant, ret, reterr);
	kept.text = strdup(want->current);
	if (!kept.text)
		return failed(reterr, -ENOMEM, "cannot keep a token");
	*ret = kept;
	return 0;
}

const struct token_source *token_issuer_source(struct token_issuer *issuer)
{
	return &issuer->source;
}

void token_issuer_set_node_uid(struct token_issuer *issuer, const char *uid)
{
	(void) pthread_mutex_lock(&issuer->mutex);
	(void) snprintf(issuer->node_uid, sizeof(issuer->node_uid), "%s", uid);
	(void) pthread_mutex_unlock(&issuer->mutex);
}

void token_issuer_object_changed(struct token_issuer *issuer, const struct object *object)
{
	if (issuer && object->kind == KIND_NODE &&
	    strcmp(object->meta.name, issuer->node_name) == 0)
		token_issuer_set_node_uid(issuer, object->meta.uid);
}

/* ---- for others to believe ---- */

const char *token_issuer_url(const struct token_issuer *issuer)
{
	return issuer->url;
}

struct cJSON *token_issuer_key_set(struct token_issuer *issuer)
{
	struct cJSON *tree = json_new_object(), *keys = json_add_array(tree, "keys");
	uint64_t now = realtime_usec();
	bool complete = true;

	(void) pthread_mutex_lock(&issuer->mutex);
	for (size_t i = 0; i < issuer->ring.count && complete; i++) {
		const struct ring_key *key = &issuer->ring.keys[i];

		if (key->published_until_usec == 0 || key->published_until_usec > now)
			complete = json_set(keys, NULL, signing_key_jwk(key->key)) == 0;
	}
	(void) pthread_mutex_unlock(&issuer->mutex);
	if (complete)
		return tree;
	json_free(tree);
	return NULL;
}

struct cJSON *token_issuer_configuration(struct token_issuer *issuer)
{
	struct cJSON *tree = json_new_object();
	char text[URL_BYTES_MAX + sizeof(KEY_SET_PATH)];

	(void) json_set_string(tree, "issuer", issuer->url);
	(void) snprintf(text, sizeof(text), "%s" KEY_SET_PATH, issuer->url);
	(void) json_set_string(tree, "jwks_uri", text);
	(void) json_set_string(json_add_array(tree, "response_types_supported"), NULL, "id_token");
	(void) json_set_string(json_add_array(tree, "subject_types_supported"), NULL, "public");
	(void) json_set_string(json_add_array(tree, "id_token_signing_alg_values_supported"), NULL,
			       "ES256");
	return tree;
}

static void add_view(struct cJSON *items, const struct ring_key *key)
{
	struct cJSON *item = json_add_object(items, NULL);
	char text[TIMESTAMP_BYTES];

	(void) json_set_string(item, "id", signing_key_id(key->key));
	timestamp_print(key->created_usec, text);
	(void) json_set_string(item, "created", text);
	(void) json_set_bool(item, "signs", key->published_until_usec == 0);
	if (key->published_until_usec == 0)
		return;
	timestamp_print(key->published_until_usec, text);
	(void) json_set_string(item, "publishedUntil", text);
}

struct cJSON *token_issuer_view(struct token_issuer *issuer)
{
	struct cJSON *tree = json_new_object(), *items = json_add_array(tree, "items");
	uint64_t now = realtime_usec();

	(void) pthread_mutex_lock(&issuer->mutex);
	for (size_t i = 0; i < issuer->ring.count; i++) {
		const struct ring_key *key = &issuer->ring.keys[i];

		if (key->published_until_usec == 0 || key->published_until_usec > now)
			add_view(items, key);
	}
	(void) pthread_mutex_unlock(&issuer->mutex);
	return tree;
}

/* ---- a new key ---- */

int token_issuer_renew_key(struct token_issuer *issuer, struct failure *reterr)
{
	struct key_ring fresh = { .count = 0 }, old = { .count = 0 };
	int r;

	assert(issuer);
	(void) pthread_mutex_lock(&issuer->renewing);
	r = key_ring_renew(issuer->state_fd, &issuer->ring, issuer->longest_seconds, &fresh,
			   reterr);
	if (r == 0) {
		(void) pthread_mutex_lock(&issuer->mutex);
		old = issuer->ring;
		issuer->ring = fresh;
		(void) pthread_mutex_unlock(&issuer->mutex);
		log_message(LOG_NOTICE, "tokens are signed with the new key %s",
			    signing_key_id(fresh.keys[0].key));
	}
	(void) pthread_mutex_unlock(&issuer->renewing);
	key_ring_done(&old);
	return r;
}

/* ---- birth and death ---- */

int token_issuer_check_url(const char *url, struct failure *reterr)
{
	static const char scheme[] = "https://";
	bool is_good = strncmp(url, scheme, strlen(scheme)) == 0 && url[strlen(scheme)] != '\0' &&
		       strlen(url) <= URL_BYTES_MAX && url[strlen(url) - 1] != '/';

	for (const char *at = url; *at; at++)
		is_good = is_good && *at > ' ' && *at < 0x7f && !strchr("?#\"\\<>", *at);
	if (is_good)
		return 0;
	return failed_plain(reterr, -EINVAL,
			    "'%.128s' cannot issue tokens: an issuer is a URL with https, without "
			    "query, fragment and slash at its end",
			    url);
}

int token_issuer_new(const struct token_issuer_options *options, struct token_issuer **ret,
		     struct failure *reterr)
{
	struct token_issuer *issuer;
	int r = token_issuer_check_url(options->url, reterr);

	assert(options->state_dir && options->node_name && ret);
	assert(options->longest_seconds >= TOKEN_SECONDS_LEAST);
	if (r < 0)
		return r;
	issuer = calloc(1, sizeof(*issuer));
	if (!issuer)
		return failed(reterr, -ENOMEM, "cannot issue tokens");
	(void) pthread_mutex_init(&issuer->mutex, NULL);
	(void) pthread_mutex_init(&issuer->renewing, NULL);
	issuer->source = (struct token_source){ issue, issuer };
	issuer->longest_seconds = options->longest_seconds;
	issuer->key_seconds = options->key_seconds;
	issuer->url = strdup(options->url);
	issuer->node_name = strdup(options->node_name);
	issuer->state_fd = secret_directory_open(options->state_dir, reterr);
	r = issuer->state_fd;
	if (r >= 0 && (!issuer->url || !issuer->node_name))
		r = failed(reterr, -ENOMEM, "cannot issue tokens");
	if (r >= 0)
		r = key_ring_load(issuer->state_fd, issuer->longest_seconds, &issuer->ring, reterr);
	if (r < 0) {
		(void) token_issuer_free(issuer);
		return r;
	}
	*ret = issuer;
	return 0;
}

struct token_issuer *token_issuer_free(struct token_issuer *issuer)
{
	if (!issuer)
		return NULL;
	key_ring_done(&issuer->ring);
	(void) close_keep_errno(issuer->state_fd);
	(void) pthread_mutex_destroy(&issuer->mutex);
	(void) pthread_mutex_destroy(&issuer->renewing);
	free(issuer->url);
	free(issuer->node_name);
	free(issuer);
	return NULL;
}
