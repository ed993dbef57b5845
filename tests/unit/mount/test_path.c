/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_path - backsteps in paths: an element that is exactly "..", before anything is normalised
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/mount.h"

static const struct {
	const char *label, *path;
	bool backstep;
} rows[] = {
	{ "case 1, no backstep", "/mnt/disks/vol1", false },
	{ "case 2, nothing else", "..", true },
	{ "case 3, in the middle, although harmless", "/mnt/../etc", true },
	{ "case 4, at the end", "/mnt/disks/..", true },
	{ "case 5, a name that begins so", "/mnt/..foo/bar", false },
	{ "case 6, a name that ends so", "/mnt/foo..", false },
	{ "case 7, three dots", "/mnt/...", false },
	{ "case 8, empty", "", false },
	{ "case 9, other things to normalise", "./a//b", false },
	{ "at the beginning", "../etc", true },
	{ "between doubled slashes", "/mnt//..//etc", true },
	{ "with a slash after it", "/mnt/../", true },
};

static void test_backsteps(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (path_has_backstep(rows[i].path) != rows[i].backstep)
			fail_msg("%s: '%s'", rows[i].label, rows[i].path);
}

static void test_place_done_twice(void **state)
{
	struct place place = PLACE_EMPTY;

	place_done(&place);
	place_done(&place);
	assert_int_equal(place.parent_fd, -EBADF);
	assert_null(place.name);
}

/* Refused before anything is opened, so descriptor 0 is never used. */
static void test_names_that_are_no_entry(void **state)
{
	static const char *const bad[] = { "", "/", "/a", "a/", ".", "..", "a/.", "a/..", "a//" };
	struct place place = PLACE_EMPTY;
	struct failure failure;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (place_open(0, "/r", bad[i], &place, &failure) != -EINVAL)
			fail_msg("'%s' was opened", bad[i]);
		if (place_make(0, "/r", bad[i], 0750, &place, &failure) != -EINVAL)
			fail_msg("'%s' was made", bad[i]);
	}
	assert_int_equal(place.parent_fd, -EBADF);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backsteps),
		cmocka_unit_test(test_place_done_twice),
		cmocka_unit_test(test_names_that_are_no_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
