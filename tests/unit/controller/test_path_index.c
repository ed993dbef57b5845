/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_path_index - it says of paths what comparing each with all others says
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "controller/binding/binding.h"
#include "controller/local/local_reclaim.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void paths_that_touch(void **state)
{
	static const struct {
		const char *path, *other;
		bool alone;
	} rows[] = {
		{ "/a/b", "/a/c", true },  { "/a/b", "/a/b", false }, { "/a/b", "//a//b/", false },
		{ "/a/b", "/a", false },   { "/a/b", "/", false },    { "/a/b", "/a/b/c", false },
		{ "/a/b", "/a/bc", true }, { "/a/bc", "/a/b", true }, { "/a/b", "/b", true },
		{ "/", "/a", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct path_index index = { .table = NULL };

		path_index_add(&index, rows[i].path);
		assert_true(path_index_is_alone(&index, rows[i].path));
		path_index_add(&index, rows[i].other);
		if (path_index_is_alone(&index, rows[i].path) != rows[i].alone)
			fail_msg("row %zu", i);
		assert_int_equal(!local_paths_touch(rows[i].path, rows[i].other), rows[i].alone);
		path_index_remove(&index, rows[i].other);
		assert_true(path_index_is_alone(&index, rows[i].path));
		path_index_remove(&index, rows[i].path);
		assert_null(index.table);
		path_index_done(&index);
	}
}

/* Random paths of few letters come, go and are compared. */
static void it_agrees_with_comparing_all(void **state)
{
	struct path_index index = { .table = NULL };
	char paths[24][16] = { "" };
	unsigned int seed = 7;

	for (unsigned int round = 0; round < 4000; round++) {
		char *path = paths[rand_r(&seed) % 24];
		size_t touching = 0;

		if (path[0]) {
			path_index_remove(&index, path);
			path[0] = '\0';
			continue;
		}
		for (unsigned int level = rand_r(&seed) % 4 + 1; level > 0; level--)
			(void) snprintf(path + strlen(path), 16 - strlen(path), "/%c",
					'a' + rand_r(&seed) % 3);
		path_index_add(&index, path);
		for (size_t i = 0; i < 24; i++)
			touching += paths[i][0] && local_paths_touch(path, paths[i]);
		assert_int_equal(path_index_is_alone(&index, path), touching == 1);
	}
	path_index_done(&index);
}

/* What it cannot keep it says nothing about. */
static void a_path_that_is_too_long(void **state)
{
	struct path_index index = { .table = NULL };
	cleanup_free char *path = malloc(PATH_MAX + 2);

	assert_non_null(path);
	memset(path, 'a', PATH_MAX + 1);
	path[0] = '/';
	path[PATH_MAX + 1] = '\0';
	path_index_add(&index, "/b");
	assert_true(path_index_is_alone(&index, "/b"));
	path_index_add(&index, path);
	assert_false(path_index_is_alone(&index, "/b"));
	path_index_done(&index);
	path_index_remove(&index, "/c");
	assert_false(path_index_is_alone(&index, "/c"));
	path_index_done(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_that_touch),
		cmocka_unit_test(it_agrees_with_comparing_all),
		cmocka_unit_test(a_path_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
