/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli_hold - podvolctl hold and release: what they ask, print and refuse
 */
#include "cli_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_hold_and_release(void **state)
{
	const struct answer list[] = {
		{ "POST /podvol/v1/pods/web/holds", 0, 201, "{\"id\":\"0123456789\"}" },
		{ "DELETE /podvol/v1/pods/web/holds/0123456789", 0, 200, "{}" },
	};

	assert_int_equal(RUN(list, "hold web --container main --pid 12"), EXIT_DONE);
	assert_string_equal(out_text, "0123456789\n");
	assert_int_equal(RUN(list, "hold web -c main --cgroup /sys/fs/cgroup/x"), EXIT_DONE);
	assert_int_equal(RUN(list, "hold web -c main"), EXIT_DONE);
	assert_int_equal(RUN(list, "release web 0123456789"), EXIT_DONE);
	assert_string_equal(out_text, "hold '0123456789' released\n");
}

static void test_unclear_words_are_refused(void **state)
{
	assert_int_equal(RUN_ALONE("hold web"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("hold web -c main --pid 0"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("hold web -c main --pid 1x"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("hold web -c main --pid 4294967297"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("hold web -c main --pid 1 --cgroup /c"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("release web"), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold_and_release),
		cmocka_unit_test(test_unclear_words_are_refused),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	free(out_text);
	free(err_text);
	return result;
}
