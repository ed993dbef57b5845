/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_uuid - random UUIDs: their form, that none comes twice, and how often the kernel is asked
 *
 * getentropy is interposed to count and to fail.
 */
#include "base/uuid.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MANY = 4096, UUIDS_A_CALL = 16 };

static atomic_uint calls;
static bool fails;

int __real_getentropy(void *ret, size_t size);
int __wrap_getentropy(void *ret, size_t size);
int __wrap_getentropy(void *ret, size_t size)
{
	atomic_fetch_add(&calls, 1);
	if (!fails)
		return __real_getentropy(ret, size);
	errno = ENOSYS;
	return -1;
}

typedef char uuid_list[MANY][UUID_BYTES];

static void *make_many(void *list)
{
	char(*uuids)[UUID_BYTES] = list;

	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(uuid_make(uuids[i]), 0);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* On another thread each time: it begins with no bytes of its own. */
static void make_on_a_thread(char (*uuids)[UUID_BYTES])
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, make_many, uuids), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void they_are_of_version_4(void **state)
{
	uuid_list *uuids = calloc(1, sizeof(*uuids));

	assert_non_null(uuids);
	make_on_a_thread(*uuids);
	for (size_t i = 0; i < MANY; i++) {
		const char *text = (*uuids)[i];

		assert_int_equal(strlen(text), UUID_BYTES - 1);
		assert_int_equal(strspn(text, "0123456789abcdef-"), UUID_BYTES - 1);
		assert_int_equal(text[14], '4');
		assert_non_null(strchr("89ab", text[19]));
	}
	free(uuids);
}

static void none_comes_twice(void **state)
{
	char(*uuids)[UUID_BYTES] = calloc(2 * MANY, UUID_BYTES);

	assert_non_null(uuids);
	make_on_a_thread(uuids);
	make_on_a_thread(uuids + MANY);
	qsort(uuids, 2 * MANY, UUID_BYTES, compare);
	for (size_t i = 1; i < 2 * MANY; i++)
		assert_string_not_equal(uuids[i - 1], uuids[i]);
	free(uuids);
}

static void one_call_is_enough_for_sixteen(void **state)
{
	uuid_list *uuids = calloc(1, sizeof(*uuids));

	assert_non_null(uuids);
	calls = 0;
	make_on_a_thread(*uuids);
	assert_int_equal(calls, MANY / UUIDS_A_CALL);
	free(uuids);
}

static void a_failed_call_makes_none(void **state)
{
	char uuid[UUID_BYTES] = "untouched";

	fails = true;
	assert_int_equal(uuid_make(uuid), -ENOSYS);
	fails = false;
	assert_string_equal(uuid, "untouched");
	assert_int_equal(uuid_make(uuid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_call_makes_none),
		cmocka_unit_test(they_are_of_version_4),
		cmocka_unit_test(none_comes_twice),
		cmocka_unit_test(one_call_is_enough_for_sixteen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
