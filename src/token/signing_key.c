/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signing_key - ES256 by GnuTLS; see signing_key.h
 *
 * GnuTLS writes a signature as DER, JOSE as two numbers of 32 bytes: the way between them is here.
 */
#include "token/signing_key.h"

#include "base/cleanup.h"
#include "base/gnutls_begin.h"
#include "base/secret_file.h"
#include "token/jwt.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <string.h>

enum { NUMBER_BYTES = 32, DIGEST_BYTES = 32 };

struct signing_key {
	pthread_mutex_t mutex; /* of the rest, until it is parsed */
	char *pem;             /* NULL: it is parsed */
	bool is_private;
	gnutls_privkey_t private_half; /* NULL: it checks signatures only */
	gnutls_pubkey_t public_half;
	char id[KEY_ID_BYTES];
};

static void free_datum(gnutls_datum_t *datum)
{
	gnutls_free(datum->data);
}

#define cleanup_datum cleanup(free_datum)

static gnutls_datum_t borrow(const void *bytes, size_t length)
{
	return (gnutls_datum_t){ .data = (unsigned char *) (uintptr_t) bytes,
				 .size = (unsigned int) length };
}

/* ---- numbers ---- */

/* What GnuTLS gives: of any length, perhaps with zeros in front. */
static int to_number(const gnutls_datum_t *datum, unsigned char ret[static NUMBER_BYTES])
{
	unsigned int zeros = 0, digits;

	while (zeros < datum->size && datum->data[zeros] == 0)
		zeros++;
	digits = datum->size - zeros;
	if (digits > NUMBER_BYTES)
		return -EIO;
	memset(ret, 0, NUMBER_BYTES);
	memcpy(ret + NUMBER_BYTES - digits, datum->data + zeros, digits);
	return 0;
}

/* What GnuTLS takes: without zeros in front. */
static gnutls_datum_t of_number(const unsigned char *number)
{
	size_t zeros = 0;

	while (zeros < NUMBER_BYTES - 1 && number[zeros] == 0)
		zeros++;
	return borrow(number + zeros, NUMBER_BYTES - zeros);
}

/* ---- birth and death ---- */

struct signing_key *signing_key_free(struct signing_key *key)
{
	if (!key)
		return NULL;
	gnutls_privkey_deinit(key->private_half);
	gnutls_pubkey_deinit(key->public_half);
	(void) secret_text_free(key->pem);
	(void) pthread_mutex_destroy(&key->mutex);
	free(key);
	return NULL;
}

static struct signing_key *new_key(bool is_private)
{
	struct signing_key *key = calloc(1, sizeof(*key));

	if (!key)
		return NULL;
	(void) pthread_mutex_init(&key->mutex, NULL);
	key->is_private = is_private;
	return key;
}

/* The halves, empty; what an earlier try left goes. */
static bool make_halves(struct signing_key *key)
{
	gnutls_privkey_deinit(key->private_half);
	gnutls_pubkey_deinit(key->public_half);
	key->private_half = NULL;
	key->public_half = NULL;
	return gnutls_begin() == 0 &&
	       (!key->is_private || gnutls_privkey_init(&key->private_half) == 0) &&
	       gnutls_pubkey_init(&key->public_half) == 0;
}

/* What GnuTLS reads may have a public half beside the curve, or that of another key. */
static bool is_whole(const struct signing_key *key)
{
	return gnutls_pubkey_verify_params(key->public_half) >= 0 &&
	       (!key->private_half || gnutls_privkey_verify_params(key->private_half) >= 0);
}

/* Of a private half the public one. Its name is as Kubernetes': of the public key as it stands in a
 * certificate. False: it is of another kind or curve, or damaged, or there is no memory. */
static bool complete(struct signing_key *key)
{
	unsigned char digest[DIGEST_BYTES];
	size_t length = sizeof(digest);
	gnutls_ecc_curve_t curve;

	if (key->private_half &&
	    gnutls_pubkey_import_privkey(key->public_half, key->private_half, 0, 0) < 0)
		return false;
	if (gnutls_pubkey_export_ecc_raw2(key->public_half, &curve, NULL, NULL, 0) < 0 ||
	    curve != GNUTLS_ECC_CURVE_SECP256R1 || !is_whole(key) ||
	    gnutls_pubkey_get_key_id(key->public_half, GNUTLS_KEYID_USE_SHA256, digest, &length) <
		    0)
		return false;
	(void) base64url_encode(digest, sizeof(digest), key->id);
	return true;
}

/* No passphrase is asked for. False: it is no key of that half and curve, or there is no memory. */
static bool parse(struct signing_key *key, const char *pem)
{
	const gnutls_datum_t text = borrow(pem, strlen(pem));
	int code = GNUTLS_E_MEMORY_ERROR;

	if (make_halves(key))
		code = key->is_private
			       ? gnutls_privkey_import_x509_raw(key->private_half, &text,
								GNUTLS_X509_FMT_PEM, NULL, 0)
			       : gnutls_pubkey_import(key->public_half, &text, GNUTLS_X509_FMT_PEM);
	return code >= 0 && complete(key);
}

int signing_key_generate(struct signing_key **ret, struct failure *reterr)
{
	struct signing_key *key = new_key(true);

	assert(ret);
	if (!key || !make_halves(key) ||
	    gnutls_privkey_generate(key->private_half, GNUTLS_PK_ECDSA,
				    GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) < 0 ||
	    !complete(key)) {
		(void) signing_key_free(key);
		return failed(reterr, -EIO, "cannot make a key");
	}
	*ret = key;
	return 0;
}

int signing_key_parse(const char *pem, bool is_private, struct signing_key **ret,
		      struct failure *reterr)
{
	struct signing_key *key = new_key(is_private);

	assert(pem && ret);
	if (!key)
		return failed(reterr, -ENOMEM, "cannot take up a key");
	if (!parse(key, pem)) {
		(void) signing_key_free(key);
		return failed_plain(
			reterr, -EINVAL, "it is not a %s of the curve P-256 in PEM%s",
			is_private ? "private key" : "public key",
			is_private ? " that has its public half, uncompressed, beside it" : "");
	}
	*ret = key;
	return 0;
}

int signing_key_keep(const char *pem, bool is_private, struct signing_key **ret,
		     struct failure *reterr)
{
	struct signing_key *key = new_key(is_private);

	assert(pem && ret);
	if (!key || !(key->pem = strdup(pem))) {
		(void) signing_key_free(key);
		return failed(reterr, -ENOMEM, "cannot keep a key");
	}
	*ret = key;
	return 0;
}

/* False: no memory to parse it; it is tried again. */
static bool is_ready(const struct signing_key *shared)
{
	struct signing_key *key = (struct signing_key *) (uintptr_t) shared;
	bool is;

	(void) pthread_mutex_lock(&key->mutex);
	if (key->pem && parse(key, key->pem))
		key->pem = secret_text_free(key->pem);
	is = !key->pem;
	(void) pthread_mutex_unlock(&key->mutex);
	return is;
}

static int export_private(const struct signing_key *key, gnutls_datum_t *ret)
{
	gnutls_x509_privkey_t half;
	int code = gnutls_privkey_export_x509(key->private_half, &half);

	if (code < 0)
		return code;
	code = gnutls_x509_privkey_export2_pkcs8(half, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
						 ret);
	gnutls_x509_privkey_deinit(half);
	return code;
}

char *signing_key_print(const struct signing_key *key, bool is_private)
{
	cleanup_datum gnutls_datum_t pem = { .data = NULL };
	char *text;

	assert(key && (!is_private || key->is_private));
	if (!is_ready(key) ||
	    (is_private ? export_private(key, &pem)
			: gnutls_pubkey_export2(key->public_half, GNUTLS_X509_FMT_PEM, &pem)) < 0)
		return NULL;
	text = strndup((const char *) pem.data, pem.size);
	gnutls_memset(pem.data, 0, pem.size);
	return text;
}

const char *signing_key_id(const struct signing_key *key)
{
	return is_ready(key) ? key->id : "";
}

/* ---- signatures ---- */

int signing_key_sign(const struct signing_key *key, const void *bytes, size_t length,
		     unsigned char ret[static SIGNATURE_BYTES], struct failure *reterr)
{
	cleanup_datum gnutls_datum_t der = { .data = NULL }, r = { .data = NULL },
				     s = { .data = NULL };
	const gnutls_datum_t text = borrow(bytes, length);

	assert(key && bytes && key->is_private);
	if (!is_ready(key) ||
	    gnutls_privkey_sign_data2(key->private_half, GNUTLS_SIGN_ECDSA_SHA256, 0, &text, &der) <
		    0 ||
	    gnutls_decode_rs_value(&der, &r, &s) < 0 || to_number(&r, ret) < 0 ||
	    to_number(&s, ret + NUMBER_BYTES) < 0)
		return failed(reterr, -EIO, "cannot sign a token");
	return 0;
}

bool signing_key_verify(const struct signing_key *key, const void *bytes, size_t length,
			const unsigned char signature[static SIGNATURE_BYTES])
{
	const gnutls_datum_t r = of_number(signature), s = of_number(signature + NUMBER_BYTES);
	const gnutls_datum_t text = borrow(bytes, length);
	cleanup_datum gnutls_datum_t der = { .data = NULL };

	assert(key && bytes);
	return is_ready(key) && gnutls_encode_rs_value(&der, &r, &s) == 0 &&
	       gnutls_pubkey_verify_data2(key->public_half, GNUTLS_SIGN_ECDSA_SHA256, 0, &text,
					  &der) >= 0;
}

/* ---- for others to check ---- */

static bool set_coordinate(struct cJSON *tree, const char *name, const gnutls_datum_t *value)
{
	unsigned char number[NUMBER_BYTES];
	char text[BASE64URL_BYTES(NUMBER_BYTES)];

	if (to_number(value, number) < 0)
		return false;
	(void) base64url_encode(number, sizeof(number), text);
	return json_set_string(tree, name, text) == 0;
}

struct cJSON *signing_key_jwk(const struct signing_key *key)
{
	cleanup_datum gnutls_datum_t x = { .data = NULL }, y = { .data = NULL };
	cleanup_json struct cJSON *tree = NULL;

	assert(key);
	if (!is_ready(key) || gnutls_pubkey_export_ecc_raw2(key->public_half, NULL, &x, &y, 0) < 0)
		return NULL;
	tree = json_new_object();
	(void) json_set_string(tree, "use", "sig");
	(void) json_set_string(tree, "kty", "EC");
	(void) json_set_string(tree, "kid", key->id);
	(void) json_set_string(tree, "crv", "P-256");
	(void) json_set_string(tree, "alg", "ES256");
	if (!set_coordinate(tree, "x", &x) || !set_coordinate(tree, "y", &y))
		return NULL;
	return TAKE_PTR(tree);
}
