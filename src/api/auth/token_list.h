/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_list - named tokens of the TLS listener: a role each, until they expire or are revoked
 *
 * Beside them the names of client certificates that were revoked. Kept as SHA-256 in one file for
 * root alone, written whole or not at all; the text of a token is shown once, when it is made.
 * Reading the list needs no disk; load and store block on it.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

enum {
	NAMED_TOKENS_MAX = 200,
	TOKEN_NAME_BYTES = 64,
	TOKEN_DIGEST_BYTES = 32,
	TOKEN_TEXT_BYTES = 65,
};

struct named_token {
	char name[TOKEN_NAME_BYTES];
	unsigned int rights; /* of its role */
	unsigned char digest[TOKEN_DIGEST_BYTES];
	uint64_t created_usec, expires_usec; /* real time; 0 never */
};

/* Certificates of this name whose time began before are refused. */
struct revoked_certificates {
	char name[TOKEN_NAME_BYTES];
	uint64_t before_usec; /* real time */
};

struct token_list {
	struct named_token tokens[NAMED_TOKENS_MAX];
	size_t count;
	struct revoked_certificates revoked[NAMED_TOKENS_MAX];
	size_t revoked_count;
};

/* @ret is empty when there is no file. Return: 0; -EINVAL the file holds something else; else as
 * secret_file_read(). */
int token_list_load(int directory_fd, struct token_list *ret, struct failure *reterr);
/* Return: 0; -ENOMEM; else as secret_file_write(). */
int token_list_store(int directory_fd, const struct token_list *list, struct failure *reterr);

/**
 * token_list_add - make a token
 * @token:    name, rights and times; its digest is filled in
 * @ret_text: the token itself; to be overwritten after use
 *
 * Return: 0; -EINVAL the name; -EEXIST; -EDQUOT; -EIO no random bytes.
 */
int token_list_add(struct token_list *list, const struct named_token *token,
		   char ret_text[static TOKEN_TEXT_BYTES], struct failure *reterr);
/* Return: 0; -ENOENT. */
int token_list_remove(struct token_list *list, const char *name);

/* Certificates of this name that are there now open nothing from now on; one whose time begins
 * later does. Return: 0; -EINVAL the name; -EDQUOT. */
int token_list_revoke(struct token_list *list, const char *name, uint64_t now_usec,
		      struct failure *reterr);
/* Was a certificate of this name revoked whose time begins at @begins_usec? */
bool token_list_revokes(const struct token_list *list, const char *name, uint64_t begins_usec);

/* Of the token that an Authorization header carries. Return: 0; -ENOENT it carries none; -EIO. */
int token_digest(const char *authorization, unsigned char ret[static TOKEN_DIGEST_BYTES]);
/* Whose token has this digest, expired or not; NULL: none. How long that takes does not depend on
 * the token's characters. */
const struct named_token *token_list_find(const struct token_list *list,
					  const unsigned char *digest);
bool named_token_is_valid(const struct named_token *token, uint64_t now_usec);
/* Is a token of this digest there, and has it not expired? */
bool token_list_holds(const struct token_list *list, const unsigned char *digest,
		      uint64_t now_usec);

/* {"items": [{name, role, created, expires}]}; NULL: no memory. */
struct cJSON *token_list_view(const struct token_list *list);

/* ---- token.c ---- */

/*
 * The bearer token that stands for every right on the TLS listener
 *
 * One line of 16 to 512 printable characters in a file for root alone. Blocks: start-up only, but
 * for the comparison.
 */

enum { TOKEN_LENGTH_LEAST = 16, TOKEN_LENGTH_MOST = 512 };

/**
 * token_load - read the token, or make one of 256 random bits
 * @directory_fd: of secret_directory_open(); there it is called "token"
 * @file:         absolute path of a file that has to be there, instead; "": none
 * @ret:          given to secret_text_free()
 *
 * Return: 0; -EINVAL no token in the file; else as secret_file_read() and secret_file_write().
 */
int token_load(int directory_fd, const char *file, char **ret, struct failure *reterr);

/* Does an Authorization header carry the token? How long that takes does not depend on the
 * characters. @authorization may be NULL. */
bool token_is_given(const char *token, const char *authorization);
