/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_path_text - one spelling for each place inside a container
 */
#include "container/words.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* As Go's path.Clean("/" + path) gives them. */
static void test_clean(void **state)
{
	static const char *const rows[][2] = {
		{ "", "/" },
		{ "/", "/" },
		{ "///", "/" },
		{ ".", "/" },
		{ "data", "/data" },
		{ "/data/", "/data" },
		{ "//data//x", "/data/x" },
		{ "/data/./x/.", "/data/x" },
		{ "/data/../x", "/x" },
		{ "/data/x/..", "/data" },
		{ "/..", "/" },
		{ "/../../etc", "/etc" },
		{ "/a/b/../../c", "/c" },
		{ "/...", "/..." },
		{ "/..a/.b", "/..a/.b" },
		{ "/a b/\n:,", "/a b/\n:," },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free char *clean = path_text_clean(rows[i][0]);

		assert_non_null(clean);
		assert_string_equal(clean, rows[i][1]);
	}
}

static void test_depth(void **state)
{
	assert_int_equal(path_text_depth("/"), 0);
	assert_int_equal(path_text_depth("/a"), 1);
	assert_int_equal(path_text_depth("/a/b/c"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
