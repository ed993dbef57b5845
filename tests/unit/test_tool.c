/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tool - running programs: status, the end of their output, what they get from us
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/tool.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

static int shell(const char *script, char output[TOOL_OUTPUT_BYTES])
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	return tool_run(argv, output);
}

static void test_status_and_output(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	(void) state;
	assert_int_equal(shell("exit 0", output), 0);
	assert_string_equal(output, "");
	assert_int_equal(shell("echo one; echo two >&2; exit 4", output), 4);
	assert_string_equal(output, "one two");
	assert_int_equal(shell("kill -9 $$", output), 128 + SIGKILL);
}

static void test_the_end_is_kept(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	(void) state;
	assert_int_equal(shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; "
			       "printf 'the error'",
			       output),
			 0);
	assert_int_equal(strlen(output), TOOL_OUTPUT_BYTES - 1);
	assert_string_equal(output + strlen(output) - strlen("line 1999 the error"),
			    "line 1999 the error");
}

static void test_environment_and_input_are_fixed(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	(void) state;
	assert_return_code(setenv("PATH", "/nowhere", 1), errno);
	assert_return_code(setenv("SECRET", "secret", 1), errno);
	assert_int_equal(shell("echo $PATH:$LC_ALL:$SECRET; cat", output), 0);
	assert_string_equal(output, "/usr/sbin:/sbin:/usr/bin:/bin:C:");
}

static void test_signals_are_not_blocked(void **state)
{
	char output[TOOL_OUTPUT_BYTES];
	sigset_t blocked, before;

	(void) state;
	(void) sigemptyset(&blocked);
	(void) sigaddset(&blocked, SIGTERM);
	assert_return_code(sigprocmask(SIG_BLOCK, &blocked, &before), errno);
	assert_int_equal(shell("kill $$; echo still here", output), 128 + SIGTERM);
	assert_return_code(sigprocmask(SIG_SETMASK, &before, NULL), errno);
}

static void test_a_program_that_is_not_there(void **state)
{
	const char *const argv[] = { "mkfs.no-such-type", NULL };
	char output[TOOL_OUTPUT_BYTES];

	(void) state;
	assert_int_equal(tool_run(argv, output), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_and_output),
		cmocka_unit_test(test_the_end_is_kept),
		cmocka_unit_test(test_environment_and_input_are_fixed),
		cmocka_unit_test(test_signals_are_not_blocked),
		cmocka_unit_test(test_a_program_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
