/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_token_request_body - protocol buffers as kubectl 1.32 sends them, and as others may
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/auth/service_tokens.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

/* The bytes of an envelope around @spec. */
static size_t envelop(const void *spec, size_t length, unsigned char *ret)
{
	static const char head[] = "k8s\0\x0a\x28\x0a\x18"
				   "authentication.k8s.io/v1\x12\x0c"
				   "TokenRequest";
	unsigned char *at = ret;

	memcpy(at, head, sizeof(head) - 1);
	at += sizeof(head) - 1;
	*at++ = 0x12; /* raw */
	*at++ = (unsigned char) (length + 4);
	*at++ = 0x0a; /* metadata: empty */
	*at++ = 0;
	*at++ = 0x12; /* spec */
	*at++ = (unsigned char) length;
	memcpy(at, spec, length);
	at += length;
	memcpy(at, "\x1a\x00\x22\x00", 4); /* contentEncoding, contentType */
	return (size_t) (at + 4 - ret);
}

static void expect(const void *spec, size_t length, const char *wanted)
{
	unsigned char bytes[256];
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *text = NULL;

	assert_int_equal(token_request_parse(bytes, envelop(spec, length, bytes), &tree), 0);
	text = json_print(json_get(tree, "spec"));
	assert_string_equal(text, wanted);
	assert_string_equal(json_string(json_get(tree, "kind"), ""), "TokenRequest");
	assert_string_equal(json_string(json_get(tree, "apiVersion"), ""),
			    "authentication.k8s.io/v1");
}

#define SPEC(text) text, sizeof(text) - 1

static const char full[] = "\x0a\x01"
			   "a\x0a\x01"
			   "b"
			   "\x1a\x11\x0a\x03"
			   "Pod\x12\x02"
			   "v1\x1a\x03"
			   "web\x22\x01"
			   "u"
			   "\x20\xb0\x09";

static void test_all_that_kubectl_sends(void **state)
{
	expect(SPEC(full),
	       "{\"audiences\":[\"a\",\"b\"],\"boundObjectRef\":{\"kind\":\"Pod\","
	       "\"apiVersion\":\"v1\",\"name\":\"web\",\"uid\":\"u\"},\"expirationSeconds\":1200}");
	expect(SPEC(""), "{}");
}

/* Fields that come later to Kubernetes: of each type of the wire. */
static void test_unknown_fields(void **state)
{
	expect(SPEC("\x78\x01"
		    "\x7a\x02xx"
		    "\x7d\x01\x02\x03\x04"
		    "\x79\x01\x02\x03\x04\x05\x06\x07\x08"
		    "\x20\xd8\x04"),
	       "{\"expirationSeconds\":600}");
}

/* A truncated message is refused, unless it ends where one of its fields does; none is read past
 * its end: each is a block of memory of exactly its length. */
static void test_every_beginning(void **state)
{
	unsigned char bytes[256];
	const size_t length = envelop(full, sizeof(full) - 1, bytes);
	const size_t type_ends = sizeof("k8s\0\x0a\x28") - 1 + 0x28;

	for (size_t i = 1; i < length; i++) {
		bool at_a_field =
			i == sizeof("k8s") || i == type_ends || i == length - 4 || i == length - 2;
		unsigned char *copy = memcpy(malloc(i), bytes, i);
		cleanup_json struct cJSON *tree = NULL;

		assert_int_equal(token_request_parse(copy, i, &tree), at_a_field ? 0 : -EINVAL);
		assert_int_equal(tree != NULL, at_a_field);
		free(copy);
	}
}

static void test_what_is_none(void **state)
{
	static const struct {
		const char *spec;
		size_t length;
	} wrong[] = {
		{ SPEC("\x0a\x05"
		       "a") }, /* a string past the end */
		{ SPEC("\x0a\x02"
		       "a\0") },                                                  /* a NUL within */
		{ SPEC("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") }, /* no number */
		{ SPEC("\x22\x01x") },        /* a number as a string */
		{ SPEC("\x0b") },             /* a group, which no client sends */
		{ SPEC("\x1a\x02\x0a\x09") }, /* the same below */
	};
	unsigned char bytes[256];
	struct cJSON *tree = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(token_request_parse(bytes,
						     envelop(wrong[i].spec, wrong[i].length, bytes),
						     &tree),
				 -EINVAL);
	assert_int_equal(token_request_parse("", 0, &tree), -EINVAL);
	assert_int_equal(token_request_parse("{}", 2, &tree), -EINVAL);
	assert_int_equal(token_request_parse("k8s\0\x08\x01", 6, &tree), -EINVAL);
	assert_null(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_that_kubectl_sends),
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_every_beginning),
		cmocka_unit_test(test_what_is_none),
	};

	return cmocka_run_group_tests_name("token_request_body", tests, NULL, NULL);
}
