/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_duration - lengths of time in words
 */
#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_good(void **state)
{
	static const struct {
		const char *text;
		uint64_t usec;
	} rows[] = {
		{ "0", 0 },
		{ "30", 30000000 },
		{ "30s", 30000000 },
		{ "500ms", 500000 },
		{ "7us", 7 },
		{ "2m", 120000000 },
		{ "1h30m", 5400000000 },
		{ "1m0s5ms", 60005000 },
		{ "720h", DURATION_USEC_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t usec = 1;

		assert_int_equal(duration_parse(rows[i].text, &usec), 0);
		assert_int_equal(usec, rows[i].usec);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		int error;
	} rows[] = {
		{ "", -EINVAL },
		{ "s", -EINVAL },
		{ "-1s", -EINVAL },
		{ " 1s", -EINVAL },
		{ "1.5s", -EINVAL },
		{ "1h30", -EINVAL },
		{ "1d", -EINVAL },
		{ "1s ", -EINVAL },
		{ "721h", -ERANGE },
		{ "720h1us", -ERANGE },
		{ "99999999999999999999999999s", -ERANGE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t usec = 12345;

		assert_int_equal(duration_parse(rows[i].text, &usec), rows[i].error);
		assert_int_equal(usec, 12345); /* written only on success */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
