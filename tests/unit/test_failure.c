/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failure - the text of a failure: what, why, cut when too long, never needed
 */
#include "base/failure.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_failed_adds_the_errno(void **state)
{
	struct failure failure;

	assert_int_equal(failed(&failure, -ENOENT, "cannot open '%s'", "x"), -ENOENT);
	assert_int_equal(failure.error, -ENOENT);
	assert_string_equal(failure.text, "cannot open 'x': No such file or directory");
}

static void test_failed_plain_is_the_whole_sentence(void **state)
{
	struct failure failure;

	assert_int_equal(failed_plain(&failure, -EINVAL, "%d is odd", 3), -EINVAL);
	assert_string_equal(failure.text, "3 is odd");
}

static void test_prefix_comes_first(void **state)
{
	struct failure failure;

	(void) failed_plain(&failure, -EINVAL, "3 is odd");
	assert_int_equal(failure_prefix(&failure, "volume '%s'", "data"), -EINVAL);
	assert_string_equal(failure.text, "volume 'data': 3 is odd");
}

static void test_nobody_needs_a_text(void **state)
{
	assert_int_equal(failed(NULL, -EIO, "x"), -EIO);
	assert_int_equal(failed_plain(NULL, -EIO, "x"), -EIO);
	assert_int_equal(failure_prefix(NULL, "x"), 0);
}

static void test_long_texts_are_cut(void **state)
{
	struct failure failure;
	char text[2 * FAILURE_TEXT_BYTES];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(failed(&failure, -EIO, "%s", text), -EIO);
	assert_int_equal(strlen(failure.text), FAILURE_TEXT_BYTES - 1);
	assert_int_equal(failure_prefix(&failure, "%s", text), -EIO);
	assert_int_equal(strlen(failure.text), FAILURE_TEXT_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_adds_the_errno),
		cmocka_unit_test(test_failed_plain_is_the_whole_sentence),
		cmocka_unit_test(test_prefix_comes_first),
		cmocka_unit_test(test_nobody_needs_a_text),
		cmocka_unit_test(test_long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
