/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena - pieces are zeroed, aligned and apart; exhaustion is kept, not returned
 */
#include "object/json/arena.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_pieces_are_apart(void **state)
{
	struct arena arena;
	unsigned char *pieces[300];

	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t size = i * 7 % 97 + 1;

		pieces[i] = arena_array(&arena, size, 1);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t) pieces[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < size; j++)
			assert_int_equal(pieces[i][j], 0);
		memset(pieces[i], (int) i, size);
	}
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		assert_int_equal(pieces[i][i * 7 % 97], i & 0xff);
	assert_false(arena_exhausted(&arena));
	arena_done(&arena);
}

static void test_strings_are_copied(void **state)
{
	struct arena arena = { 0 };
	char text[] = "hello";
	const char *copy = arena_string(&arena, text), *part = arena_string_length(&arena, text, 2);

	text[0] = 'j';
	assert_string_equal(copy, "hello");
	assert_string_equal(part, "he");
	arena_done(&arena);
}

static void test_nothing_costs_nothing(void **state)
{
	struct arena arena = { 0 };

	assert_string_equal(arena_string(&arena, NULL), "");
	assert_string_equal(arena_string(&arena, ""), "");
	assert_null(arena_array(&arena, 0, 8));
	assert_null(arena.blocks);
	assert_false(arena_exhausted(&arena));
	arena_done(&arena);
}

static void test_large_pieces_have_a_block(void **state)
{
	struct arena arena = { 0 };
	char *large = arena_array(&arena, 100000, 1);

	memset(large, 1, 100000);
	assert_string_equal(arena_string(&arena, "after"), "after");
	arena_done(&arena);
}

/* The next request for so much room needs no block: the gap before a struct counts. */
static void test_size_is_what_suffices(void **state)
{
	_Alignas(max_align_t) char room[256] = "";
	struct arena arena;

	arena_init_with(&arena, room, 16);
	for (int turn = 0; turn < 2; turn++) {
		(void) arena_string(&arena, "name");
		assert_non_null(arena_array(&arena, 1, 32));
		assert_int_equal(arena.blocks != NULL, turn == 0);
		assert_int_equal(arena_size(&arena), 16 + 32);
		arena_done(&arena);
		arena_init_with(&arena, room, 16 + 32);
	}
	arena_done(&arena);
}

static void test_exhaustion_is_kept(void **state)
{
	struct arena arena = { 0 };

	assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
	assert_true(arena_exhausted(&arena));
	assert_string_equal(arena_string(&arena, "x"), "x"); /* what there is memory for, still */
	assert_true(arena_exhausted(&arena));
	arena_done(&arena);
	assert_false(arena_exhausted(&arena));
	assert_null(arena_array(&arena, SIZE_MAX - 8, 1));
	assert_true(arena_exhausted(&arena));
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_are_apart),
		cmocka_unit_test(test_strings_are_copied),
		cmocka_unit_test(test_nothing_costs_nothing),
		cmocka_unit_test(test_large_pieces_have_a_block),
		cmocka_unit_test(test_size_is_what_suffices),
		cmocka_unit_test(test_exhaustion_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
