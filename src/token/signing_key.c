/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signing_key - ES256 by libcrypto; see signing_key.h
 *
 * OpenSSL writes a signature as DER, JOSE as two numbers of 32 bytes: the way between them is here.
 */
#include "token/signing_key.h"

#include "base/cleanup.h"
#include "token/jwt.h"

#include <assert.h>
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#define CURVE "prime256v1"

enum { COORDINATE_BYTES = 32, POINT_BYTES = 1 + 2 * COORDINATE_BYTES, DIGEST_BYTES = 32 };

struct signing_key {
	EVP_PKEY *key;
	char id[KEY_ID_BYTES];
};

static void free_bio(BIO **bio)
{
	(void) BIO_free(*bio);
}

static void free_signature(ECDSA_SIG **signature)
{
	ECDSA_SIG_free(*signature);
}

static void free_context(EVP_MD_CTX **context)
{
	EVP_MD_CTX_free(*context);
}

#define cleanup_bio       cleanup(free_bio)
#define cleanup_signature cleanup(free_signature)
#define cleanup_context   cleanup(free_context)

/* ---- birth and death ---- */

/* As Kubernetes: of the public key as it stands in a certificate. */
static int name_key(struct signing_key *key)
{
	unsigned char digest[DIGEST_BYTES], *der = NULL;
	int length = i2d_PUBKEY(key->key, &der);
	int r = length > 0 && EVP_Digest(der, (size_t) length, digest, NULL, EVP_sha256(), NULL);

	OPENSSL_free(der);
	if (r != 1)
		return -ENOMEM;
	(void) base64url_encode(digest, sizeof(digest), key->id);
	return 0;
}

static int wrap(EVP_PKEY *pkey, struct signing_key **ret, struct failure *reterr)
{
	struct signing_key *key = calloc(1, sizeof(*key));

	if (!key || name_key(memcpy(key, &(struct signing_key){ .key = pkey }, sizeof(*key))) < 0) {
		EVP_PKEY_free(pkey);
		free(key);
		return failed(reterr, -ENOMEM, "cannot take up a key");
	}
	*ret = key;
	return 0;
}

int signing_key_generate(struct signing_key **ret, struct failure *reterr)
{
	EVP_PKEY *pkey = EVP_EC_gen(CURVE);

	assert(ret);
	if (!pkey) {
		ERR_clear_error();
		return failed(reterr, -EIO, "cannot make a key");
	}
	return wrap(pkey, ret, reterr);
}

static bool is_of_curve(const EVP_PKEY *pkey)
{
	char name[32] = "";

	return EVP_PKEY_is_a(pkey, "EC") &&
	       EVP_PKEY_get_group_name(pkey, name, sizeof(name), NULL) == 1 &&
	       strcmp(name, CURVE) == 0;
}

/* No passphrase is asked for. */
static int no_passphrase(char *buffer, int size, int writing, void *userdata)
{
	return -1;
}

int signing_key_parse(const char *pem, bool is_private, struct signing_key **ret,
		      struct failure *reterr)
{
	cleanup_bio BIO *bio = BIO_new_mem_buf(pem, -1);
	EVP_PKEY *pkey = NULL;

	assert(pem && ret);
	if (bio && is_private)
		pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	else if (bio)
		pkey = PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
	ERR_clear_error();
	if (!pkey || !is_of_curve(pkey)) {
		EVP_PKEY_free(pkey);
		return failed_plain(reterr, -EINVAL, "it is not a %s key of the curve P-256 in PEM",
				    is_private ? "private" : "public");
	}
	return wrap(pkey, ret, reterr);
}

char *signing_key_print(const struct signing_key *key, bool is_private)
{
	cleanup_bio BIO *bio = BIO_new(is_private ? BIO_s_secmem() : BIO_s_mem());
	char *bytes, *text = NULL;
	long length;
	int r = 0;

	assert(key);
	if (bio && is_private)
		r = PEM_write_bio_PKCS8PrivateKey(bio, key->key, NULL, NULL, 0, NULL, NULL);
	else if (bio)
		r = PEM_write_bio_PUBKEY(bio, key->key);
	ERR_clear_error();
	if (r != 1)
		return NULL;
	length = BIO_get_mem_data(bio, &bytes);
	text = strndup(bytes, (size_t) length);
	OPENSSL_cleanse(bytes, (size_t) length);
	return text;
}

struct signing_key *signing_key_free(struct signing_key *key)
{
	if (key)
		EVP_PKEY_free(key->key);
	free(key);
	return NULL;
}

const char *signing_key_id(const struct signing_key *key)
{
	return key->id;
}

/* ---- signatures ---- */

static int to_numbers(const unsigned char *der, size_t length,
		      unsigned char ret[static SIGNATURE_BYTES])
{
	cleanup_signature ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long) length);

	if (!signature || BN_bn2binpad(ECDSA_SIG_get0_r(signature), ret, COORDINATE_BYTES) < 0 ||
	    BN_bn2binpad(ECDSA_SIG_get0_s(signature), ret + COORDINATE_BYTES, COORDINATE_BYTES) < 0)
		return -EIO;
	return 0;
}

int signing_key_sign(const struct signing_key *key, const void *bytes, size_t length,
		     unsigned char ret[static SIGNATURE_BYTES], struct failure *reterr)
{
	cleanup_context EVP_MD_CTX *context = EVP_MD_CTX_new();
	unsigned char der[2 * SIGNATURE_BYTES];
	size_t der_length = sizeof(der);

	assert(key && bytes);
	if (!context || EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key->key) != 1 ||
	    EVP_DigestSign(context, der, &der_length, bytes, length) != 1 ||
	    to_numbers(der, der_length, ret) < 0) {
		ERR_clear_error();
		return failed(reterr, -EIO, "cannot sign a token");
	}
	return 0;
}

/* DER of the two numbers; to be freed. NULL: no memory. */
static unsigned char *to_der(const unsigned char *numbers, int *ret_length)
{
	cleanup_signature ECDSA_SIG *signature = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(numbers, COORDINATE_BYTES, NULL);
	BIGNUM *s = BN_bin2bn(numbers + COORDINATE_BYTES, COORDINATE_BYTES, NULL);
	unsigned char *der = NULL;

	if (!signature || !r || !s || ECDSA_SIG_set0(signature, r, s) != 1) {
		BN_free(r);
		BN_free(s);
		return NULL;
	}
	*ret_length = i2d_ECDSA_SIG(signature, &der);
	return *ret_length > 0 ? der : NULL;
}

bool signing_key_verify(const struct signing_key *key, const void *bytes, size_t length,
			const unsigned char signature[static SIGNATURE_BYTES])
{
	cleanup_context EVP_MD_CTX *context = EVP_MD_CTX_new();
	int der_length = 0;
	unsigned char *der = to_der(signature, &der_length);
	bool good;

	assert(key && bytes);
	good = context && der &&
	       EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key->key) == 1 &&
	       EVP_DigestVerify(context, der, (size_t) der_length, bytes, length) == 1;
	OPENSSL_free(der);
	ERR_clear_error();
	return good;
}

/* ---- for others to check ---- */

struct cJSON *signing_key_jwk(const struct signing_key *key)
{
	unsigned char point[POINT_BYTES];
	char x[BASE64URL_BYTES(COORDINATE_BYTES)], y[BASE64URL_BYTES(COORDINATE_BYTES)];
	size_t length = 0;
	struct cJSON *tree;

	assert(key);
	if (EVP_PKEY_get_octet_string_param(key->key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point),
					    &length) != 1 ||
	    length != sizeof(point) || point[0] != POINT_CONVERSION_UNCOMPRESSED) {
		ERR_clear_error();
		return NULL;
	}
	(void) base64url_encode(point + 1, COORDINATE_BYTES, x);
	(void) base64url_encode(point + 1 + COORDINATE_BYTES, COORDINATE_BYTES, y);
	tree = json_new_object();
	(void) json_set_string(tree, "use", "sig");
	(void) json_set_string(tree, "kty", "EC");
	(void) json_set_string(tree, "kid", key->id);
	(void) json_set_string(tree, "crv", "P-256");
	(void) json_set_string(tree, "alg", "ES256");
	(void) json_set_string(tree, "x", x);
	(void) json_set_string(tree, "y", y);
	return tree;
}
