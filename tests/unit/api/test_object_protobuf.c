/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_object_protobuf - objects in protocol buffers, as kubectl sends them and as others may
 */
#include "api/objects/protobuf.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 512 };

static size_t add(unsigned char *to, size_t used, int field, const void *bytes, size_t length)
{
	to[used++] = (unsigned char) (field << 3 | 2);
	assert_true(length < 128);
	to[used++] = (unsigned char) length;
	memcpy(to + used, bytes, length);
	return used + length;
}

/* The envelope around an object of @kind. */
static size_t envelop(const char *kind, const void *object, size_t length, unsigned char *ret)
{
	unsigned char type[64];
	size_t used = add(type, 0, 1, "v1", 2);

	used = add(type, used, 2, kind, strlen(kind));
	memcpy(ret, "k8s", 4);
	used = add(ret, 4, 1, type, used);
	return add(ret, used, 2, object, length);
}

#define OBJECT(text) text, sizeof(text) - 1

static void assert_read(enum object_kind kind, const void *object, size_t length,
			const char *expected)
{
	unsigned char bytes[BYTES];
	cleanup_free char *text = NULL;
	size_t used = envelop(kind_row(kind)->name, object, length, bytes);

	assert_int_equal(object_protobuf_print(kind, bytes, used, &text), 0);
	assert_string_equal(text, expected);
}

/* metadata: name "a", labels x=y, an empty namespace and creationTimestamp */
#define META                                                                                       \
	"\x0a\x11"                                                                                 \
	"\x0a\x01"                                                                                 \
	"a"                                                                                        \
	"\x1a\x00"                                                                                 \
	"\x42\x00"                                                                                 \
	"\x5a\x06\x0a\x01"                                                                         \
	"x\x12\x01"                                                                                \
	"y"                                                                                        \
	"\x38\x00"

#define META_TEXT "\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\"}}"

static void test_kinds(void **state)
{
	assert_read(KIND_CONFIG_MAP,
		    OBJECT(META "\x12\x06\x0a\x01"
				"k\x12\x01"
				"v\x12\x05\x0a\x01"
				"e\x12\x00"
				"\x1a\x07\x0a\x01"
				"b\x12\x02\x00\xff"
				"\x20\x01"),
		    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," META_TEXT
		    ",\"data\":{\"k\":\"v\",\"e\":\"\"},\"binaryData\":{\"b\":\"AP8=\"},"
		    "\"immutable\":true}");
	assert_read(KIND_SECRET,
		    OBJECT(META "\x12\x07\x0a\x01"
				"k\x12\x02"
				"hi\x1a\x06"
				"Opaque"),
		    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\"," META_TEXT
		    ",\"data\":{\"k\":\"aGk=\"},\"type\":\"Opaque\"}");
	assert_read(KIND_NAMESPACE,
		    OBJECT(META "\x12\x00"
				"\x1a\x02\x0a\x00"),
		    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\"," META_TEXT ",\"spec\":{}}");
	assert_read(KIND_SERVICE_ACCOUNT,
		    OBJECT(META "\x1a\x03\x0a\x01"
				"p\x1a\x03\x0a\x01"
				"q\x20\x00"),
		    "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\"," META_TEXT
		    ",\"imagePullSecrets\":[{\"name\":\"p\"},{\"name\":\"q\"}],"
		    "\"automountServiceAccountToken\":false}");
}

static int read_error(const char *kind, const void *object, size_t length)
{
	unsigned char bytes[BYTES];
	char *text = NULL;
	int r = object_protobuf_print(KIND_CONFIG_MAP, bytes, envelop(kind, object, length, bytes),
				      &text);

	assert_null(text);
	return r;
}

/* Nothing is dropped unseen. */
static void test_what_is_refused(void **state)
{
	assert_int_equal(read_error("ConfigMap", OBJECT(META "\x2a\x00")), -EOPNOTSUPP);
	assert_int_equal(read_error("ConfigMap", OBJECT("\x0a\x03\x92\x01\x00")), -EOPNOTSUPP);
	assert_int_equal(read_error("Secret", OBJECT(META)), -EINVAL);
	assert_int_equal(read_error("ConfigMap", OBJECT("\x0a\x05\x0a")), -EINVAL);
	assert_int_equal(read_error("ConfigMap", OBJECT("\x08\x01")), -EINVAL); /* a number */
	assert_int_equal(read_error("ConfigMap", OBJECT("\x12\x04\x0a\x02"
							"a\0")),
			 -EINVAL);
	assert_true(object_protobuf_has(KIND_CONFIG_MAP) && !object_protobuf_has(KIND_POD));
}

/* No beginning is read past its end. */
static void test_every_beginning(void **state)
{
	static const char object[] = META "\x12\x06\x0a\x01"
					  "k\x12\x01"
					  "v";
	unsigned char bytes[BYTES];
	size_t length = envelop("ConfigMap", object, sizeof(object) - 1, bytes);

	for (size_t i = 0; i < length; i++) {
		unsigned char *copy = malloc(i + 1);
		char *text = NULL;

		assert_non_null(copy);
		memcpy(copy, bytes, i);
		if (object_protobuf_print(KIND_CONFIG_MAP, copy, i, &text) == 0)
			free(text);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_every_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
