/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signing_key - ES256 by libcrypto; see signing_key.h
 *
 * OpenSSL writes a signature as DER, JOSE as two numbers of 32 bytes: the way between them is here.
 */
#include "token/signing_key.h"

#include "base/cleanup.h"
#include "base/secret_file.h"
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
#include <pthread.h>
#include <string.h>

#define CURVE "prime256v1"

enum { COORDINATE_BYTES = 32, POINT_BYTES = 1 + 2 * COORDINATE_BYTES, DIGEST_BYTES = 32 };

struct signing_key {
	pthread_mutex_t mutex; /* of the rest, until it is parsed */
	char *pem;             /* NULL: it is parsed */
	bool is_private;
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

static struct signing_key *new_key(EVP_PKEY *pkey)
{
	struct signing_key *key = calloc(1, sizeof(*key));

	if (!key)
		return NULL;
	key->key = pkey;
	(void) pthread_mutex_init(&key->mutex, NULL);
	return key;
}

static int wrap(EVP_PKEY *pkey, struct signing_key **ret, struct failure *reterr)
{
	struct signing_key *key = new_key(pkey);

	if (!key)
		EVP_PKEY_free(pkey);
	if (!key || name_key(key) < 0) {
		(void) signing_key_free(key);
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

/* NULL: it is no key of that half and curve, or there is no memory. */
static EVP_PKEY *parse(const char *pem, bool is_private)
{
	cleanup_bio BIO *bio = BIO_new_mem_buf(pem, -1);
	EVP_PKEY *pkey = NULL;

	if (bio && is_private)
		pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	else if (bio)
		pkey = PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
	ERR_clear_error();
	if (pkey && is_of_curve(pkey))
		return pkey;
	EVP_PKEY_free(pkey);
	return NULL;
}

int signing_key_parse(const char *pem, bool is_private, struct signing_key **ret,
		      struct failure *reterr)
{
	EVP_PKEY *pkey = parse(pem, is_private);

	assert(pem && ret);
	if (!pkey)
		return failed_plain(reterr, -EINVAL, "it is not a %s key of the curve P-256 in PEM",
				    is_private ? "private" : "public");
	return wrap(pkey, ret, reterr);
}

int signing_key_keep(const char *pem, bool is_private, struct signing_key **ret,
		     struct failure *reterr)
{
	struct signing_key *key = new_key(NULL);

	assert(pem && ret);
	if (!key || !(key->pem = strdup(pem))) {
		(void) signing_key_free(key);
		return failed(reterr, -ENOMEM, "cannot keep a key");
	}
	key->is_private = is_private;
	*ret = key;
	return 0;
}

/* NULL: no memory to parse it; it is tried again. */
static EVP_PKEY *ready(const struct signing_key *shared)
{
	struct signing_key *key = (struct signing_key *) (uintptr_t) shared;
	EVP_PKEY *pkey;

	(void) pthread_mutex_lock(&key->mutex);
	if (key->pem) {
		EVP_PKEY_free(key->key);
		key->key = parse(key->pem, key->is_private);
		if (key->key && name_key(key) == 0)
			key->pem = secret_text_free(key->pem);
	}
	pkey = key->pem ? NULL : key->key;
	(void) pthread_mutex_unlock(&key->mutex);
	return pkey;
}

char *signing_key_print(const struct signing_key *key, bool is_private)
{
	cleanup_bio BIO *bio = BIO_new(is_private ? BIO_s_secmem() : BIO_s_mem());
	EVP_PKEY *pkey = ready(key);
	char *bytes, *text = NULL;
	long length;
	int r = 0;

	assert(key);
	if (pkey && bio && is_private)
		r = PEM_write_bio_PKCS8PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL);
	else if (pkey && bio)
		r = PEM_write_bio_PUBKEY(bio, pkey);
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
	if (!key)
		return NULL;
	EVP_PKEY_free(key->key);
	(void) secret_text_free(key->pem);
	(void) pthread_mutex_destroy(&key->mutex);
	free(key);
	return NULL;
}

const char *signing_key_id(const struct signing_key *key)
{
	return ready(key) ? key->id : "";
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
	EVP_PKEY *pkey = ready(key);
	unsigned char der[2 * SIGNATURE_BYTES];
	size_t der_length = sizeof(der);

	assert(key && bytes);
	if (!pkey || !context || EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, pkey) != 1 ||
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
	EVP_PKEY *pkey = ready(key);
	int der_length = 0;
	unsigned char *der = to_der(signature, &der_length);
	bool good;

	assert(key && bytes);
	good = pkey && context && der &&
	       EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, pkey) == 1 &&
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
	EVP_PKEY *pkey = ready(key);
	size_t length = 0;
	struct cJSON *tree;

	assert(key);
	if (!pkey ||
	    EVP_PKEY_get_octet_string_param(pkey, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point),
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
