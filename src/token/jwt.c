/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt - three parts of base64url with dots between: header, claims, signature; see jwt.h
 */
#include "token/jwt.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define ALGORITHM "ES256"

enum { JWT_DEPTH_MAX = 8 };

/* ---- signing ---- */

static char *print_header(const struct signing_key *key)
{
	cleanup_json struct cJSON *header = json_new_object();

	(void) json_set_string(header, "alg", ALGORITHM);
	(void) json_set_string(header, "kid", signing_key_id(key));
	return json_print(header);
}

int jwt_sign(const struct signing_key *key, const struct cJSON *claims, char **ret,
	     struct failure *reterr)
{
	cleanup_free char *header = print_header(key), *body = json_print(claims);
	unsigned char signature[SIGNATURE_BYTES];
	size_t length, size;
	char *text;
	int r;

	assert(key && ret);
	if (!header || !body)
		return failed(reterr, -ENOMEM, "cannot make a token");
	size = BASE64URL_BYTES(strlen(header)) + BASE64URL_BYTES(strlen(body)) +
	       BASE64URL_BYTES(sizeof(signature));
	if (size > JWT_BYTES_MAX)
		return failed_plain(reterr, -E2BIG, "a token would be longer than %d bytes",
				    JWT_BYTES_MAX);
	text = malloc(size);
	if (!text)
		return failed(reterr, -ENOMEM, "cannot make a token");
	length = base64url_encode(header, strlen(header), text);
	text[length++] = '.';
	length += base64url_encode(body, strlen(body), text + length);
	r = signing_key_sign(key, text, length, signature, reterr);
	if (r < 0) {
		free(text);
		return r;
	}
	text[length++] = '.';
	(void) base64url_encode(signature, sizeof(signature), text + length);
	explicit_bzero(signature, sizeof(signature));
	*ret = text;
	return 0;
}

/* ---- taking apart ---- */

/* One part as JSON. */
static int parse_part(const char *text, size_t length, struct cJSON **ret)
{
	static const struct json_limits limits = { .bytes = JWT_BYTES_MAX, .depth = JWT_DEPTH_MAX };
	cleanup_free char *bytes = malloc(length + 1);
	size_t count = 0;
	int r;

	if (!bytes)
		return -ENOMEM;
	r = base64url_decode(text, length, bytes, &count);
	if (r == 0)
		r = json_parse(bytes, count, &limits, ret, NULL);
	if (r == 0 && !json_is_object(*ret)) {
		json_free(TAKE_PTR(*ret));
		r = -EINVAL;
	}
	return r;
}

/* "crit" names what a reader must understand; here nothing of it is understood. */
static int read_header(const char *text, size_t length, struct jwt *jwt)
{
	cleanup_json struct cJSON *header = NULL;
	int r = parse_part(text, length, &header);

	if (r < 0)
		return r;
	if (!json_text_is(header, "alg", ALGORITHM) || json_get(header, "crit"))
		return -EINVAL;
	(void) snprintf(jwt->key_id, sizeof(jwt->key_id), "%s", json_text(header, "kid"));
	return 0;
}

static int read_signature(const char *text, struct jwt *jwt)
{
	size_t length = strlen(text), count = 0;

	if (length + 1 != BASE64URL_BYTES(SIGNATURE_BYTES))
		return -EINVAL;
	return base64url_decode(text, length, jwt->signature, &count);
}

int jwt_parse(const char *text, struct jwt *ret, struct failure *reterr)
{
	struct jwt jwt = { .signed_text = text };
	const char *body, *signature;
	int r = -EINVAL;

	assert(text && ret);
	body = strchr(text, '.');
	signature = body ? strchr(body + 1, '.') : NULL;
	if (signature && strnlen(text, JWT_BYTES_MAX + 1) <= JWT_BYTES_MAX) {
		jwt.signed_length = (size_t) (signature - text);
		r = read_header(text, (size_t) (body - text), &jwt);
		if (r == 0)
			r = read_signature(signature + 1, &jwt);
		if (r == 0)
			r = parse_part(body + 1, (size_t) (signature - body - 1), &jwt.claims);
	}
	if (r < 0)
		return failed_plain(reterr, r == -ENOMEM ? r : -EINVAL,
				    "not a token issued by podvold");
	*ret = jwt;
	return 0;
}

bool jwt_verify(const struct jwt *jwt, const struct signing_key *key)
{
	return signing_key_verify(key, jwt->signed_text, jwt->signed_length, jwt->signature);
}

void jwt_done(struct jwt *jwt)
{
	json_free(jwt->claims);
	explicit_bzero(jwt, sizeof(*jwt));
}
