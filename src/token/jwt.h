/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt - JSON Web Tokens in their compact form, RFC 7519 over RFC 7515; pure
 *
 * One algorithm, ES256: a token that names another, "none" among them, is no token here. What it
 * claims is not checked here.
 */
#pragma once

#include "token/signing_key.h"
#include "token/token_source.h"

#include <stddef.h>

enum { JWT_BYTES_MAX = TOKEN_BYTES_MAX };

/**
 * jwt_sign - the text of a token
 * @ret: to be given to secret_text_free()
 *
 * Return: 0; -E2BIG longer than JWT_BYTES_MAX; -ENOMEM; -EIO.
 */
int jwt_sign(const struct signing_key *key, const struct cJSON *claims, char **ret,
	     struct failure *reterr);

/* A token taken apart, not believed yet. */
struct jwt {
	char key_id[KEY_ID_BYTES]; /* "" it names none */
	const char *signed_text;   /* borrowed from the text */
	size_t signed_length;
	unsigned char signature[SIGNATURE_BYTES];
	struct cJSON *claims; /* owned: jwt_done() */
};

/* Return: 0; -EINVAL it is no token of this kind; -ENOMEM. */
int jwt_parse(const char *text, struct jwt *ret, struct failure *reterr);
bool jwt_verify(const struct jwt *jwt, const struct signing_key *key);
void jwt_done(struct jwt *jwt);

/* ---- base64url.c: bytes as text in tokens: RFC 4648, section 5, without padding ---- */

/* Only what an encoder writes is taken: another alphabet, padding, blanks or bits that are
 * left over are refused, so that a token has one spelling. */

/* Characters for so many bytes, the NUL included. */
#define BASE64URL_BYTES(length) (((length) *4 + 2) / 3 + 1)

/* @ret has BASE64URL_BYTES(@length). Return: characters written, without the NUL. */
size_t base64url_encode(const void *bytes, size_t length, char *ret);

/* @ret has room for @length * 3 / 4 bytes. Return: 0 and how many; -EINVAL. */
int base64url_decode(const char *text, size_t length, void *ret, size_t *ret_length);
