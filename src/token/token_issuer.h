/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_issuer - tokens of service accounts, signed on this node
 *
 * What a kube-apiserver does for TokenRequest, TokenReview and the discovery of its keys: the same
 * claims, the same words, so that what believes tokens of a cluster can believe these. A token
 * may be bound to a Pod or a Secret; whether that is there is asked by the caller, who knows a
 * store.
 *
 * Any thread: one mutex inside, under which nothing blocks.
 */
#pragma once

#include "object/json/json.h"
#include "token/token_source.h"

#include <stddef.h>

struct token_issuer;

enum { TOKEN_AUDIENCES_MAX = 32 }; /* of one token */

struct token_issuer_options {
	const char *state_dir; /* for key_ring.h's file */
	const char *url;       /* who issues: "https://example.com" */
	const char *node_name;
	int64_t longest_seconds; /* lives that are asked for and longer are cut to this */
	int64_t key_seconds;     /* age at which a key is replaced by itself; 0 never */
};

/**
 * token_issuer_new - read the keys, or make the first
 * @options: strings are copied
 *
 * Blocks on the disk (start-up only). Return: 0; -EINVAL the URL is none with https, or the file
 * holds no keys; else as key_ring_load().
 */
int token_issuer_new(const struct token_issuer_options *options, struct token_issuer **ret,
		     struct failure *reterr);
/* The same of a URL alone. Return: 0; -EINVAL. */
int token_issuer_check_url(const char *url, struct failure *reterr);
/* Its source must not be used any more. Accepts NULL. Return: NULL. */
struct token_issuer *token_issuer_free(struct token_issuer *issuer);

/* For plugins; lives as long as the issuer. */
const struct token_source *token_issuer_source(struct token_issuer *issuer);

/* The Node of this node got its uid; tokens name it from now on. */
void token_issuer_set_node_uid(struct token_issuer *issuer, const char *uid);

/* The same of any object that was written: its own Node may be deleted and made again. Accepts NULL
 * as @issuer. */
void token_issuer_object_changed(struct token_issuer *issuer, const struct object *object);

/* What a token is to say. Borrowed for the call. */
struct token_grant {
	const struct object *service_account;
	const struct object *bound; /* a Pod or Secret of its namespace, or a Node; NULL: none */
	const char *const *audiences;
	size_t audience_count; /* 0: the issuer's own */
	int64_t seconds;
};

/**
 * token_issuer_issue - sign a token [does not block: some 50 microseconds]
 *
 * Return: 0; -EINVAL a life that is too short; -E2BIG too many or too long audiences; -ENOMEM;
 * -EIO.
 */
int token_issuer_issue(struct token_issuer *issuer, const struct token_grant *grant,
		       struct issued_token *ret, struct failure *reterr);

/**
 * token_issuer_review - is this one of our tokens, and valid now
 * @ret: its claims; freed with json_free()
 *
 * Whether what it names is still there is the caller's to ask. Return: 0; -EINVAL it is none;
 * -EKEYEXPIRED its time is over; -EAGAIN it has not begun; -ENOMEM.
 */
int token_issuer_review(struct token_issuer *issuer, const char *text, struct cJSON **ret,
			struct failure *reterr);

/* Who issues, and so the audience of tokens that name none. */
const char *token_issuer_url(const struct token_issuer *issuer);

/* ---- for others to believe: trees of the caller; NULL: no memory ---- */

/* A JSON Web Key Set: every key whose tokens may live. */
struct cJSON *token_issuer_key_set(struct token_issuer *issuer);
/* OpenID provider metadata, as a kube-apiserver tells it. */
struct cJSON *token_issuer_configuration(struct token_issuer *issuer);
/* {"items": [{"id", "created", "signs", "publishedUntil"}]}, the one that signs first. */
struct cJSON *token_issuer_view(struct token_issuer *issuer);

/**
 * token_issuer_renew_key - sign with a new key from now on [worker: blocks on the disk]
 *
 * Return: 0; else as key_ring_renew(), and nothing changed.
 */
int token_issuer_renew_key(struct token_issuer *issuer, struct failure *reterr);
