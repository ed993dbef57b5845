/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_advice - every error number has at most one thing to do, in a form that fits behind a text
 */
#include "status/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ERRORS = 140 /* more than Linux has */ };

static void test_form(void **state)
{
	int count = 0;

	for (int error = 0; error < ERRORS; error++) {
		const char *text = advice_for(-error);
		char clause[200] = "";

		if (*text)
			(void) snprintf(clause, sizeof(clause), "; to do: %s", text);
		assert_string_equal(advice_clause(-error), clause);
		assert_true(!*text || islower((unsigned char) text[0]));
		assert_true(!*text || text[strlen(text) - 1] != '.');
		count += *text != '\0';
	}
	assert_true(count > 15);
}

static void test_what_is_to_do(void **state)
{
	assert_non_null(strstr(advice_for(-ENOENT), "create what is missing"));
	assert_non_null(strstr(advice_for(-ENOSPC), "free space"));
	assert_non_null(strstr(advice_for(-ENOTCONN), "start the driver"));
	assert_string_equal(advice_for(-ENOMEM), ""); /* retried, and nothing of the volume's */
	assert_string_equal(advice_for(0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_what_is_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
