/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grpc_wipe - no block of memory goes back with a secret in it
 *
 * free() is the test's here, nghttp2's too: it looks through every block before it is given back.
 */
#include "base/cleanup.h"
#include "grpc/session.h"

#include <malloc.h>
#include <nghttp2/nghttp2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SECRET "geheim-geheim-geheim"

static unsigned int looked_at, found;

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
	if (memory) {
		looked_at++;
		found += memmem(memory, malloc_usable_size(memory), SECRET, strlen(SECRET)) != NULL;
	}
	__real_free(memory);
}

static void *http2_malloc(size_t size, void *userdata)
{
	return malloc(size);
}

static void *http2_calloc(size_t count, size_t size, void *userdata)
{
	return calloc(count, size);
}

static void http2_free(void *memory, void *userdata)
{
	free(memory);
}

/* Always to another block, and the old one is looked through. */
static void *http2_realloc(void *memory, size_t size, void *userdata)
{
	size_t old = memory ? malloc_usable_size(memory) : 0;
	void *moved = malloc(size);

	if (moved && memory) {
		memcpy(moved, memory, old < size ? old : size);
		free(memory);
	}
	return moved;
}

/* Seen from outside, as GNU ld has even the library call it. */
__attribute__((visibility("default"))) int
__wrap_nghttp2_session_client_new2(nghttp2_session **ret,
				   const nghttp2_session_callbacks *callbacks, void *userdata,
				   const nghttp2_option *option);
int __wrap_nghttp2_session_client_new2(nghttp2_session **ret,
				       const nghttp2_session_callbacks *callbacks, void *userdata,
				       const nghttp2_option *option)
{
	static nghttp2_mem memory = { .malloc = http2_malloc,
				      .free = http2_free,
				      .calloc = http2_calloc,
				      .realloc = http2_realloc };

	return nghttp2_session_client_new3(ret, callbacks, userdata, option, &memory);
}

static int begin(void **state)
{
	looked_at = found = 0;
	return 0;
}

static void test_the_test_sees_it(void **state)
{
	char *copy = strdup(SECRET);

	assert_non_null(copy);
	free(copy);
	assert_int_equal(found, 1);
}

/* nghttp2 copies headers into frames, and keeps what it received. A caller may leave after any
 * piece. */
static void take_pieces(const uint8_t *message, size_t message_length, unsigned int pieces)
{
	static const uint8_t reply[] = "\0\0\0\4\0\0\0\0\0"   /* settings, */
				       "\0\0\x1c\1\5\0\0\0\1" /* and trailers alone */
				       "\x88\0\x0bgrpc-status\1"
				       "5"
				       "\0\4text\x05"
				       "hallo";
	const struct grpc_request request = {
		.socket_path = "/s",
		.method = "/a/b",
		.message = message,
		.message_length = message_length,
		.timeout_usec = 1,
	};
	struct grpc_session *session;
	const uint8_t *bytes;
	size_t length, sent = 0;

	assert_int_equal(grpc_session_new(&request, &session), 0);
	while (sent < pieces && (length = grpc_session_next(session, &bytes)) > 0)
		sent += memmem(bytes, length, SECRET, strlen(SECRET)) != NULL;
	assert_true(sent > 0);
	grpc_session_receive(session, reply, sizeof(reply) - 1);
	(void) grpc_session_free(session);
	assert_true(looked_at > 5);
	assert_int_equal(found, 0);
}

static void test_a_call(void **state)
{
	static const uint8_t message[] = "\x0a\x14" SECRET;
	static uint8_t large[100000];

	for (size_t i = 0; i + sizeof(SECRET) < sizeof(large); i += sizeof(SECRET))
		memcpy(large + i, SECRET, sizeof(SECRET));
	for (unsigned int pieces = 1; pieces < 4; pieces++) {
		take_pieces(message, sizeof(message) - 1, pieces);
		take_pieces(large, sizeof(large), pieces);
	}
}

static void test_grown(void **state)
{
	char *memory = wipe_malloc(64);

	assert_non_null(memory);
	memcpy(memory, SECRET, sizeof(SECRET));
	memory = wipe_realloc(memory, 4096);
	assert_string_equal(memory, SECRET);
	memory = wipe_realloc(memory, 32);
	assert_memory_equal(memory, SECRET, sizeof(SECRET));
	wipe_free(memory);
	wipe_free(NULL);
	assert_null(wipe_malloc(SIZE_MAX));
	assert_int_equal(looked_at, 3);
	assert_int_equal(found, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_test_sees_it, begin),
		cmocka_unit_test_setup(test_a_call, begin),
		cmocka_unit_test_setup(test_grown, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
