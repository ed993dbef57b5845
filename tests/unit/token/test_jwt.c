/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_jwt - keys, base64url and the compact form of tokens; what is not exactly podvold's is no
 * token
 */
#include "token/jwt.h"

#include "base/cleanup.h"
#include "base/secret_file.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- base64url ---- */

/* RFC 4648, section 10, without padding; and the two digits that differ. */
static const struct {
	const char *bytes, *text;
} pairs[] = {
	{ "", "" },
	{ "f", "Zg" },
	{ "fo", "Zm8" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg" },
	{ "fooba", "Zm9vYmE" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xfb\xff\xbf", "-_-_" },
};

static void test_base64url(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		size_t length = strlen(pairs[i].bytes), count = 99;
		char text[BASE64URL_BYTES(6)], bytes[8] = "";

		assert_int_equal(base64url_encode(pairs[i].bytes, length, text),
				 strlen(pairs[i].text));
		assert_string_equal(text, pairs[i].text);
		assert_int_equal(base64url_decode(text, strlen(text), bytes, &count), 0);
		assert_int_equal(count, length);
		assert_memory_equal(bytes, pairs[i].bytes, length);
	}
}

static void test_only_one_spelling(void **state)
{
	static const char *const wrong[] = { "Z",    "Zg==", "Zh",    "Zm9",
					     "Zm9+", "Zm9/", "Zm 9v", "Zm9v\n" };
	char bytes[8];
	size_t count;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(base64url_decode(wrong[i], strlen(wrong[i]), bytes, &count),
				 -EINVAL);
	assert_int_equal(base64url_decode("Zm\0v", 4, bytes, &count), -EINVAL);
}

/* ---- keys ---- */

static struct signing_key *new_key(void)
{
	struct signing_key *key = NULL;

	assert_int_equal(signing_key_generate(&key, NULL), 0);
	return key;
}

static void test_a_key_comes_back_from_its_text(void **state)
{
	struct signing_key *key = new_key(), *again = NULL, *half = NULL;
	char *private = signing_key_print(key, true), *public = signing_key_print(key, false);
	unsigned char signature[SIGNATURE_BYTES];

	assert_int_equal(signing_key_parse(private, true, &again, NULL), 0);
	assert_int_equal(signing_key_parse(public, false, &half, NULL), 0);
	assert_string_equal(signing_key_id(key), signing_key_id(again));
	assert_string_equal(signing_key_id(key), signing_key_id(half));
	assert_int_equal(strlen(signing_key_id(key)), KEY_ID_BYTES - 1);
	assert_int_equal(signing_key_sign(again, "words", 5, signature, NULL), 0);
	assert_true(signing_key_verify(half, "words", 5, signature));
	assert_false(signing_key_verify(half, "wordz", 5, signature));
	signature[SIGNATURE_BYTES - 1] ^= 1;
	assert_false(signing_key_verify(half, "words", 5, signature));
	memset(signature, 0, sizeof(signature));
	assert_false(signing_key_verify(half, "words", 5, signature));
	assert_null(strstr(public, "PRIVATE"));
	(void) secret_text_free(private);
	(void) secret_text_free(public);
	(void) signing_key_free(key);
	(void) signing_key_free(again);
	(void) signing_key_free(half);
}

/* What OpenSSL made: a key, as earlier versions kept it, its name, and two signatures of "words", r
 * of one and s of the other beginning with a zero. */
static const char openssl_key[] =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgo+hL0+ga5UR79+u/\n"
	"+hRBar1DOE61AWhWKOqhh36XmNWhRANCAATKdGN5zQXA0HGIRFmQVDQRNmqg01cb\n"
	"nlefze78fFzrf8uzk8coMS39/ZcEW5o93pmXdTv/IemqJAFk7jxdGxB6\n"
	"-----END PRIVATE KEY-----\n";
static const char openssl_key_id[] = "-wp5IUYwRjSY0pa0wDmafyssQy34CvpSDmM1b7VahbY";
static const char *const openssl_signatures[] = {
	"1QOsBON75gCdGwzecerdJzServbNLTfjPR3ww6TZzKIA2jxTRViiYYp0FMeG67lEJdM60vA-XD64ukYWP2k1Kw",
	"AEifL96DCgl_SbdIn8glzpjpSZtFBpGFldJ0gpGG5Fwbbn--hmXsvK_4Yq5OngaJKxNQMX59YjgAZztivxdQYw",
};

static void test_a_key_of_openssl(void **state)
{
	struct signing_key *key = NULL;

	assert_int_equal(signing_key_parse(openssl_key, true, &key, NULL), 0);
	assert_string_equal(signing_key_id(key), openssl_key_id);
	for (size_t i = 0; i < ARRAY_SIZE(openssl_signatures); i++) {
		const char *text = openssl_signatures[i];
		unsigned char signature[SIGNATURE_BYTES + 2];
		size_t length;

		assert_int_equal(base64url_decode(text, strlen(text), signature, &length), 0);
		assert_int_equal(length, SIGNATURE_BYTES);
		assert_true(signing_key_verify(key, "words", 5, signature));
	}
	(void) signing_key_free(key);
}

/* One in 256 numbers is a byte shorter. */
static void test_short_numbers_in_signatures(void **state)
{
	struct signing_key *key = new_key();
	bool short_r = false, short_s = false;

	for (int i = 0; !short_r || !short_s; i++) {
		unsigned char signature[SIGNATURE_BYTES];

		assert_int_equal(signing_key_sign(key, &i, sizeof(i), signature, NULL), 0);
		assert_true(signing_key_verify(key, &i, sizeof(i), signature));
		short_r = short_r || signature[0] == 0;
		short_s = short_s || signature[SIGNATURE_BYTES / 2] == 0;
	}
	(void) signing_key_free(key);
}

/* A key of another curve: `openssl ecparam -genkey -name secp384r1 | openssl ec -pubout`. */
static const char other_curve[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEWWK85xMovo5q1/jLfj58FyK0wxCRi1xR\n"
	"KKK4rbyy5GbvCzmOj1y3kNOlO3p1PKuSHSQW9NTHqDyIwNejekPNq4xh5DIm/4Mv\n"
	"TAyKJrwLg7hIQJbSTMQhrMkKW31rvhRw\n"
	"-----END PUBLIC KEY-----\n";

static void test_other_keys_are_refused(void **state)
{
	static const char *const wrong[] = { "", "words", other_curve };
	struct signing_key *key = NULL;
	struct failure why;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(signing_key_parse(wrong[i], false, &key, &why), -EINVAL);
		assert_int_equal(signing_key_parse(wrong[i], true, &key, &why), -EINVAL);
		assert_string_equal(why.text,
				    "it is not a private key of the curve P-256 in "
				    "PEM that has its public half, uncompressed, beside it");
	}
}

/* In the number that stands last in both halves. */
static void damage(char *pem)
{
	char *digit = strstr(pem, "\n-----END") - 6;

	*digit = *digit == 'A' ? 'B' : 'A';
}

static void test_a_damaged_key_is_refused(void **state)
{
	struct signing_key *key = NULL;
	char *halves[2];

	assert_int_equal(signing_key_parse(openssl_key, true, &key, NULL), 0);
	for (int i = 0; i < 2; i++)
		halves[i] = signing_key_print(key, i == 1);
	key = signing_key_free(key);
	for (int i = 0; i < 2; i++) {
		damage(halves[i]);
		assert_int_equal(signing_key_parse(halves[i], i == 1, &key, NULL), -EINVAL);
		(void) secret_text_free(halves[i]);
	}
}

static void test_the_public_half_as_json(void **state)
{
	struct signing_key *key = new_key();
	cleanup_json struct cJSON *tree = signing_key_jwk(key);

	assert_string_equal(json_string(json_get(tree, "kid"), ""), signing_key_id(key));
	assert_string_equal(json_string(json_get(tree, "kty"), ""), "EC");
	assert_string_equal(json_string(json_get(tree, "crv"), ""), "P-256");
	assert_string_equal(json_string(json_get(tree, "alg"), ""), "ES256");
	assert_int_equal(strlen(json_string(json_get(tree, "x"), "")), 43);
	assert_int_equal(strlen(json_string(json_get(tree, "y"), "")), 43);
	assert_null(json_get(tree, "d"));
	(void) signing_key_free(key);
}

/* ---- tokens ---- */

static char *sign(const struct signing_key *key, const char *claims)
{
	cleanup_json struct cJSON *tree = tree_of_json(claims);
	char *text = NULL;

	assert_int_equal(jwt_sign(key, tree, &text, NULL), 0);
	return text;
}

static void test_a_token_is_read_and_believed(void **state)
{
	struct signing_key *key = new_key(), *other = new_key();
	char *text = sign(key, "{\"sub\": \"me\"}");
	struct jwt jwt;

	assert_int_equal(jwt_parse(text, &jwt, NULL), 0);
	assert_string_equal(jwt.key_id, signing_key_id(key));
	assert_string_equal(json_string(json_get(jwt.claims, "sub"), ""), "me");
	assert_true(jwt_verify(&jwt, key));
	assert_false(jwt_verify(&jwt, other));
	jwt_done(&jwt);
	(void) secret_text_free(text);
	(void) signing_key_free(key);
	(void) signing_key_free(other);
}

/* Every byte of a token counts. */
static void test_a_changed_token_is_not_believed(void **state)
{
	struct signing_key *key = new_key();
	char *text = sign(key, "{\"sub\": \"me\"}");

	for (size_t i = 0; text[i]; i++) {
		char was = text[i];
		struct jwt jwt;

		text[i] = was == 'A' ? 'B' : 'A';
		if (jwt_parse(text, &jwt, NULL) == 0) {
			assert_true(!jwt_verify(&jwt, key) ||
				    strcmp(jwt.key_id, signing_key_id(key)) != 0);
			jwt_done(&jwt);
		}
		text[i] = was;
	}
	(void) secret_text_free(text);
	(void) signing_key_free(key);
}

static char *token_of(const char *header, const char *claims)
{
	char parts[2][400], signature[BASE64URL_BYTES(SIGNATURE_BYTES)] = "", *text = NULL;

	memset(signature, 'A', sizeof(signature) - 1);
	(void) base64url_encode(header, strlen(header), parts[0]);
	(void) base64url_encode(claims, strlen(claims), parts[1]);
	assert_true(asprintf(&text, "%s.%s.%s", parts[0], parts[1], signature) > 0);
	return text;
}

static void test_other_tokens_are_none(void **state)
{
	static const struct {
		const char *header, *claims;
		int result;
	} cases[] = {
		{ "{\"alg\":\"ES256\"}", "{}", 0 },
		{ "{\"alg\":\"none\"}", "{}", -EINVAL },
		{ "{\"alg\":\"HS256\"}", "{}", -EINVAL },
		{ "{\"alg\":\"es256\"}", "{}", -EINVAL },
		{ "{}", "{}", -EINVAL },
		{ "[]", "{}", -EINVAL },
		{ "{\"alg\":\"ES256\",\"crit\":[\"b64\"]}", "{}", -EINVAL },
		{ "{\"alg\":\"ES256\",\"alg\":\"none\"}", "{}", -EINVAL },
		{ "{\"alg\":\"ES256\"}", "[]", -EINVAL },
		{ "{\"alg\":\"ES256\"}", "{", -EINVAL },
		{ "{\"alg\":\"ES256\"}", "{} {}", -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = token_of(cases[i].header, cases[i].claims);
		struct jwt jwt;

		assert_int_equal(jwt_parse(text, &jwt, NULL), cases[i].result);
		if (cases[i].result == 0)
			jwt_done(&jwt);
		free(text);
	}
}

static void test_what_is_no_token_at_all(void **state)
{
	static const char *const wrong[] = {
		"", ".", "..", "a.b", "e30.e30", "e30.e30.", "e30.e30.e30.e30"
	};
	char *huge = malloc(JWT_BYTES_MAX + 2);
	struct jwt jwt;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(jwt_parse(wrong[i], &jwt, NULL), -EINVAL);
	memset(huge, '.', JWT_BYTES_MAX + 1);
	huge[JWT_BYTES_MAX + 1] = '\0';
	assert_int_equal(jwt_parse(huge, &jwt, NULL), -EINVAL);
	free(huge);
}

static void test_a_token_has_a_length(void **state)
{
	struct signing_key *key = new_key();
	cleanup_json struct cJSON *claims = json_new_object();
	char *long_text = malloc(JWT_BYTES_MAX), *text = NULL;

	memset(long_text, 'a', JWT_BYTES_MAX - 1);
	long_text[JWT_BYTES_MAX - 1] = '\0';
	(void) json_set_string(claims, "sub", long_text);
	assert_int_equal(jwt_sign(key, claims, &text, NULL), -E2BIG);
	free(long_text);
	(void) signing_key_free(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base64url),
		cmocka_unit_test(test_only_one_spelling),
		cmocka_unit_test(test_a_key_comes_back_from_its_text),
		cmocka_unit_test(test_a_key_of_openssl),
		cmocka_unit_test(test_short_numbers_in_signatures),
		cmocka_unit_test(test_other_keys_are_refused),
		cmocka_unit_test(test_a_damaged_key_is_refused),
		cmocka_unit_test(test_the_public_half_as_json),
		cmocka_unit_test(test_a_token_is_read_and_believed),
		cmocka_unit_test(test_a_changed_token_is_not_believed),
		cmocka_unit_test(test_other_tokens_are_none),
		cmocka_unit_test(test_what_is_no_token_at_all),
		cmocka_unit_test(test_a_token_has_a_length),
	};

	return cmocka_run_group_tests_name("jwt", tests, NULL, NULL);
}
