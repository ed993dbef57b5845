/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_array - an array grows by doubling and keeps what it holds; without memory nothing changes
 */
#include "base/array.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* The address sanitizer ends a program that asks for too much, or answers as libc does. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void test_grows_by_doubling(void **state)
{
	static const size_t rooms[] = { 3, 3, 3, 6, 6, 6, 12 };
	uint16_t *numbers = NULL;
	size_t room = 0;

	for (uint16_t count = 0; count < 7; count++) {
		assert_int_equal(ARRAY_ROOM(numbers, count, room, 3), 0);
		assert_int_equal(room, rooms[count]);
		numbers[count] = count;
	}
	for (uint16_t i = 0; i < 7; i++)
		assert_int_equal(numbers[i], i);
	free(numbers);
}

static void test_no_memory_changes_nothing(void **state)
{
	char *bytes = NULL, *before;
	size_t room = 0;

	assert_int_equal(ARRAY_ROOM(bytes, 0, room, 1), 0);
	before = bytes;
	room = SIZE_MAX / 2;
	assert_int_equal(array_grow(&bytes, 2, room, &room, 1), -ENOMEM);
	assert_ptr_equal(bytes, before);
	assert_int_equal(room, SIZE_MAX / 2);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_by_doubling),
		cmocka_unit_test(test_no_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
