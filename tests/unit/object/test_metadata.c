/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_metadata - times as the API writes them, and the order of names
 */
#include "object/metadata.h"
#include "object/timestamp.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/select/name_index.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_times_are_printed(void **state)
{
	char text[TIMESTAMP_BYTES];

	timestamp_print(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00Z");
	timestamp_print(1795250100 * USEC_PER_SEC + 999999, text);
	assert_string_equal(text, "2026-11-21T08:35:00Z");
	timestamp_print_micro(1795250100 * USEC_PER_SEC + 42, text);
	assert_string_equal(text, "2026-11-21T08:35:00.000042Z");
	timestamp_print_micro(UINT64_MAX, text);
	assert_true(strlen(text) < TIMESTAMP_BYTES);
	timestamp_print(UINT64_MAX, text); /* the year 586524 */
	assert_true(strlen(text) < TIMESTAMP_BYTES);
}

static void test_times_are_read(void **state)
{
	assert_true(timestamp_parse("2026-11-21T08:35:00Z") == 1795250100 * USEC_PER_SEC);
	assert_true(timestamp_parse("2026-11-21T08:35:00.1234567Z") ==
		    1795250100 * USEC_PER_SEC + 123456);
	assert_true(timestamp_parse("2026-11-21T09:35:00+01:00") == 1795250100 * USEC_PER_SEC);
	assert_true(timestamp_parse("2026-11-21T06:05:00.5-02:30") ==
		    1795250100 * USEC_PER_SEC + 500000);
	assert_true(timestamp_is_valid("1969-07-20T20:17:40Z"));
	assert_false(timestamp_is_valid("2026-11-21T09:35:00+1:00"));
	assert_false(timestamp_is_valid("2026-11-21T09:35:00+01:00x"));
	assert_false(timestamp_is_valid("2026-11-21T09:35:00+24:00"));
	assert_false(timestamp_is_valid("2026-11-21T09:35:00"));
	assert_false(timestamp_is_valid("2026-11-21T09:35:00+ 1:00"));
	assert_false(timestamp_is_valid(" 2026-11-21T09:35:00Z"));
	assert_false(timestamp_is_valid("2026-1-1T9:5:0Z"));
	assert_false(timestamp_is_valid("2026-11-21T09:35:00.Z"));
	assert_false(timestamp_is_valid("2026-02-29T09:35:00Z"));
	assert_true(timestamp_is_valid("2028-02-29T09:35:00Z"));
	assert_false(timestamp_is_valid("2026-11-21T09:35:60Z"));
	assert_true(timestamp_parse("") == 0);
	assert_true(timestamp_parse("2026-11-21") == 0);
	assert_true(timestamp_parse("2026-11-21T08:35:00") == 0);
	assert_true(timestamp_parse("2026-11-21T08:35:00Zx") == 0);
	assert_true(timestamp_parse("1960-01-01T00:00:00Z") == 0);
}

static void test_annotations(void **state)
{
	cleanup_json struct cJSON *tree =
		tree_of_json("{\"metadata\":{\"annotations\":{\"a\":\"\",\"b\":1}}}");

	assert_string_equal(metadata_annotation(tree, "a"), "");
	assert_null(metadata_annotation(tree, "b"));
	assert_null(metadata_annotation(tree, "c"));
	assert_null(metadata_annotation(NULL, "a"));
}

static void test_elements_by_name(void **state)
{
	cleanup_json struct cJSON *list =
		tree_of_json("[{\"n\":\"c\"},{\"n\":\"a\"},{},{\"n\":\"b\"},{\"n\":\"a\"},{\"n\":1}"
			     ",{\"n\":\"a\"}]");
	struct name_index index;

	assert_int_equal(name_index_init(&index, list, "n"), 0);
	assert_int_equal(index.count, 7);
	assert_int_equal(name_index_find(&index, "a")->position, 1);
	assert_int_equal(name_index_find(&index, "b")->position, 3);
	assert_int_equal(name_index_find(&index, "c")->position, 0);
	assert_null(name_index_find(&index, "d"));
	assert_null(name_index_find(&index, "B"));
	assert_int_equal(name_index_duplicate(&index)->position, 4);
	name_index_done(&index);
	assert_int_equal(name_index_init(&index, NULL, "n"), 0);
	assert_null(name_index_find(&index, "a"));
	assert_null(name_index_duplicate(&index));
	name_index_done(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_are_printed),
		cmocka_unit_test(test_times_are_read),
		cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_elements_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
