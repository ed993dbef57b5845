/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signing_key - a key that signs tokens: ES256, an elliptic curve over P-256 with SHA-256
 *
 * By GnuTLS, which is loaded anyway: libcrypto would be 4 MiB of an idle node. Of the JOSE
 * libraries in Debian 12 none was taken: libcjose and libjose bring a second JSON library,
 * libjwt 1.10 knows no key sets, liboauth2 is a client; and all of them call libcrypto for what is
 * below. ES256 and not RS256: a signature costs a fifth of the time, and whatever reads tokens of
 * Kubernetes knows it.
 *
 * A key never changes; any thread may use one at any time. One that was kept as text is parsed when
 * it is first used.
 */
#pragma once

#include "base/failure.h"
#include "object/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	SIGNATURE_BYTES = 64, /* r and s, as in RFC 7518 */
	KEY_ID_BYTES = 44,    /* base64url of a SHA-256 */
};

struct signing_key;

/* Return: 0; -ENOMEM; -EIO GnuTLS has none. */
int signing_key_generate(struct signing_key **ret, struct failure *reterr);

/**
 * signing_key_parse - a key in PEM: "PRIVATE KEY" or, to check signatures only, "PUBLIC KEY"
 *
 * A private one has its public half beside it, as OpenSSL and GnuTLS write it by default.
 *
 * Return: 0; -EINVAL it is no such key, one of another kind, or damaged; -ENOMEM.
 */
int signing_key_parse(const char *pem, bool is_private, struct signing_key **ret,
		      struct failure *reterr);
/* The same for text that this program printed and that is intact: parsed when first used. Return: 0
 * or -ENOMEM. */
int signing_key_keep(const char *pem, bool is_private, struct signing_key **ret,
		     struct failure *reterr);
/* To be given to secret_text_free(). NULL: no memory. */
char *signing_key_print(const struct signing_key *key, bool is_private);

/* Accepts NULL. Return: NULL. */
struct signing_key *signing_key_free(struct signing_key *key);

/* Of its public half, the same at every start: what "kid" says, as Kubernetes makes it. "": no
 * memory to parse it. */
const char *signing_key_id(const struct signing_key *key);

/* Return: 0; -EIO. */
int signing_key_sign(const struct signing_key *key, const void *bytes, size_t length,
		     unsigned char ret[static SIGNATURE_BYTES], struct failure *reterr);
bool signing_key_verify(const struct signing_key *key, const void *bytes, size_t length,
			const unsigned char signature[static SIGNATURE_BYTES]);

/* The public half as a JSON Web Key. NULL: no memory. */
struct cJSON *signing_key_jwk(const struct signing_key *key);
