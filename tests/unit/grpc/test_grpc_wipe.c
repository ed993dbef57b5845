/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grpc_wipe - no block of memory goes back with a secret in it
 *
 * free() is the test's here: it looks through every block before it is given back.
 */
#include "base/cleanup.h"
#include "grpc/session.h"

#include <malloc.h>
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

/* nghttp2 copies a request into frames, and keeps what it received. */
static void test_a_call(void **state)
{
	static const uint8_t message[] = "\x0a\x14" SECRET;
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
		.message_length = sizeof(message) - 1,
		.timeout_usec = 1,
	};
	struct grpc_session *session;
	const uint8_t *bytes;
	size_t length, sent = 0;

	assert_int_equal(grpc_session_new(&request, &session), 0);
	while ((length = grpc_session_next(session, &bytes)) > 0)
		sent += memmem(bytes, length, SECRET, strlen(SECRET)) != NULL;
	assert_int_equal(sent, 1);
	grpc_session_receive(session, reply, sizeof(reply) - 1);
	(void) grpc_session_free(session);
	assert_true(looked_at > 5);
	assert_int_equal(found, 0);
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
