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
#include <stdio.h>
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
	assert_int_equal(failed(&failure, -EIO, "cannot do it: %s", text), -EIO);
	assert_in_range(strlen(failure.text), FAILURE_TEXT_BYTES - 64, FAILURE_TEXT_BYTES - 1);
	assert_int_equal(strncmp(failure.text, "cannot do it: aaa", 17), 0);
	assert_non_null(strstr(failure.text, " bytes cut ...] aaa"));
	assert_non_null(strstr(failure.text, "aaa: Input/output error"));
	assert_int_equal(failure_prefix(&failure, "volume 'data'"), -EIO);
	assert_int_equal(strncmp(failure.text, "volume 'data': cannot do it: aaa", 32), 0);
	assert_non_null(strstr(failure.text, "aaa: Input/output error"));
}

/* case 471: up to the limit nothing is lost. */
static void test_case_471_3000_characters_are_whole(void **state)
{
	struct failure failure;
	char text[3001];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	(void) failed_plain(&failure, -EIO, "rpc error: code = Internal desc = %s", text);
	assert_int_equal(strlen(failure.text), 34 + 3000);
	assert_null(strstr(failure.text, "cut"));
}

static char told[3 * FAILURE_TEXT_BYTES];
static unsigned int told_count;

static void report(const char *whole)
{
	(void) snprintf(told, sizeof(told), "%s", whole);
	told_count++;
}

/* A driver's 10,000 characters, and what was put before them: once, by the first that cuts. */
static void test_what_is_cut_is_told_whole_and_once(void **state)
{
	struct failure failure;
	char text[10001];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	failure_on_cut(report);
	(void) failed_plain(&failure, -EIO, "short: %.1000s", text);
	assert_int_equal(told_count, 0);
	(void) failed_plain(&failure, -EIO, "driver 'd' says: %s", text);
	(void) failure_prefix(&failure, "volume 'v'");
	assert_int_equal(told_count, 1);
	assert_int_equal(strlen(told), strlen("driver 'd' says: ") + 10000);
}

/* Each of them has two bytes: none is torn, wherever the cut falls. */
static void test_characters_stay_whole(void **state)
{
	char from[2 * 400 + 1], to[200];

	for (size_t i = 0; i < 400; i++)
		memcpy(from + 2 * i, "\xc3\xa4", 3);
	for (size_t room = 100; room < sizeof(to); room++) {
		size_t letters = 0;

		text_fit(to, room, from);
		assert_in_range(strlen(to), room - 64, room - 1);
		for (const char *at = to; *at; at++) {
			if ((unsigned char) *at != 0xc3) {
				assert_true(((unsigned char) *at & 0x80) == 0);
				continue;
			}
			at++;
			assert_int_equal((unsigned char) *at, 0xa4);
			letters++;
		}
		assert_true(letters > 10);
	}
}

static void test_kept_copies_and_what_is_put_behind(void **state)
{
	struct failure failure = { .error = 0 };
	const struct failure *kept;

	(void) failed_plain(&failure, -EIO, "a");
	assert_int_equal(failure_append(&failure, ": %s", "b"), -EIO);
	kept = failure_keep(&failure);
	assert_int_equal(kept->error, -EIO);
	assert_string_equal(kept->text, "a: b");
	assert_null(failure_drop(kept));
	assert_null(failure_drop(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_adds_the_errno),
		cmocka_unit_test(test_failed_plain_is_the_whole_sentence),
		cmocka_unit_test(test_prefix_comes_first),
		cmocka_unit_test(test_nobody_needs_a_text),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_case_471_3000_characters_are_whole),
		cmocka_unit_test(test_characters_stay_whole),
		cmocka_unit_test(test_what_is_cut_is_told_whole_and_once),
		cmocka_unit_test(test_kept_copies_and_what_is_put_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
