/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tool - running programs: status, the end of their output, what they get from us, and their
 * end
 *
 * waitpid() is interposed to see what others see meanwhile, pidfd_open() to fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/filesystem/tool.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

static atomic_int shown_pid; /* what who looks meanwhile sees */
static pid_t waited_for;
static bool pidfd_fails;

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	assert_int_equal(atomic_load(&shown_pid), pid);
	waited_for = pid;
	return __real_waitpid(pid, status, options);
}

int __real_pidfd_open(pid_t pid, unsigned int flags);
int __wrap_pidfd_open(pid_t pid, unsigned int flags);
int __wrap_pidfd_open(pid_t pid, unsigned int flags)
{
	if (!pidfd_fails)
		return __real_pidfd_open(pid, flags);
	errno = EMFILE;
	return -1;
}

static int shell_for(const char *script, uint64_t limit_usec, const atomic_bool *cancelled,
		     char output[TOOL_OUTPUT_BYTES])
{
	const struct tool_terms terms = { limit_usec, cancelled, &shown_pid };
	const char *const argv[] = { "sh", "-c", script, NULL };
	int r = tool_run(argv, &terms, output);

	assert_int_equal(atomic_load(&shown_pid), 0);
	return r;
}

static int shell(const char *script, char output[TOOL_OUTPUT_BYTES])
{
	return shell_for(script, 0, NULL, output);
}

/* One whose parent has gone is reaped by another process, some time. */
static bool is_alive(const char *pid)
{
	char path[64], line[256];
	cleanup_fclose FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	return file && fgets(line, sizeof(line), file) && !strstr(line, ") Z") &&
	       !strstr(line, ") X");
}

static void test_status_and_output(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	assert_int_equal(shell("exit 0", output), 0);
	assert_string_equal(output, "");
	assert_int_equal(shell("echo one; echo two >&2; exit 4", output), 4);
	assert_string_equal(output, "one two");
	assert_int_equal(shell("kill -9 $$", output), 128 + SIGKILL);
}

static void test_the_end_is_kept(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	assert_int_equal(shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; "
			       "printf 'the error'",
			       output),
			 0);
	assert_in_range(strlen(output), TOOL_OUTPUT_BYTES / 2 - 1, TOOL_OUTPUT_BYTES - 1);
	assert_string_equal(output + strlen(output) - strlen("line 1999 the error"),
			    "line 1999 the error");
}

/* What is no longer kept is in the journal, and with it the end: all of it, in order. */
static void test_all_of_a_long_output_is_logged(void **state)
{
	char output[TOOL_OUTPUT_BYTES], line[2 * 4096], *end;
	static char all[64 * 1024];
	int saved = dup(STDERR_FILENO);
	size_t used = 0;
	unsigned long from;
	FILE *log_file = tmpfile();

	assert_true(log_file && saved >= 0 && dup2(fileno(log_file), STDERR_FILENO) >= 0);
	assert_int_equal(
		shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done", output), 0);
	(void) dup2(saved, STDERR_FILENO);
	(void) close(saved);
	rewind(log_file);
	while (fgets(line, sizeof(line), log_file)) {
		const char *number = strstr(line, "from byte ");

		assert_non_null(number);
		from = strtoul(number + 10, &end, 10);
		assert_int_equal(from, used);
		used += (size_t) snprintf(all + used, sizeof(all) - used, "%.*s",
					  (int) strcspn(end + 2, "\n"), end + 2);
	}
	(void) fclose(log_file);
	for (int i = 0; i < 2000; i++) {
		(void) snprintf(line, sizeof(line), "line %d%s", i, i < 1999 ? " " : "");
		assert_non_null(strstr(all, line));
	}
	assert_int_equal(strncmp(all, "line 0 line 1 ", 14), 0);
	assert_string_equal(all + used - strlen(output), output);
}

static void test_environment_and_input_are_fixed(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	assert_return_code(setenv("PATH", "/nowhere", 1), errno);
	assert_return_code(setenv("SECRET", "secret", 1), errno);
	assert_int_equal(shell("echo $PATH:$LC_ALL:$SECRET; cat", output), 0);
	assert_string_equal(output, "/usr/sbin:/sbin:/usr/bin:/bin:C:");
}

static void test_signals_are_not_blocked(void **state)
{
	char output[TOOL_OUTPUT_BYTES];
	sigset_t blocked, before;

	(void) sigemptyset(&blocked);
	(void) sigaddset(&blocked, SIGTERM);
	assert_return_code(sigprocmask(SIG_BLOCK, &blocked, &before), errno);
	assert_int_equal(shell("kill $$; echo still here", output), 128 + SIGTERM);
	assert_return_code(sigprocmask(SIG_SETMASK, &before, NULL), errno);
}

static void test_a_program_that_is_not_there(void **state)
{
	const char *const argv[] = { "mkfs.no-such-type", NULL };
	const struct tool_terms terms = { 0 };
	char output[TOOL_OUTPUT_BYTES];

	assert_int_equal(tool_run(argv, &terms, output), -ENOENT);
}

static void test_who_looks_sees_the_program(void **state)
{
	char output[TOOL_OUTPUT_BYTES], pid[16];

	assert_int_equal(shell("echo $$", output), 0);
	snprintf(pid, sizeof(pid), "%d", (int) waited_for);
	assert_string_equal(output, pid);
}

/* Signalled to end already; a test that never sees it ends by its timeout. */
static void wait_until_gone(const char *pid)
{
	while (is_alive(pid))
		(void) sched_yield();
}

/* With all that it started, and whatever they think of SIGTERM. */
static void test_the_end_of_its_time(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	assert_int_equal(shell_for("sleep 60 & echo $!; wait", 50000, NULL, output), -ETIMEDOUT);
	wait_until_gone(output);
	assert_int_equal(shell_for("trap '' TERM; sleep 60 & echo $!; while :; do wait; done",
				   50000, NULL, output),
			 -ETIMEDOUT);
	wait_until_gone(output);
	assert_int_equal(shell_for("exit 3", 60000000, NULL, output), 3);
}

static void test_a_cancellation_ends_it(void **state)
{
	atomic_bool cancelled = true;
	char output[TOOL_OUTPUT_BYTES];

	assert_int_equal(shell_for("exec sleep 60", 0, &cancelled, output), -ECANCELED);
	cancelled = false;
	assert_int_equal(shell_for("exit 2", 0, &cancelled, output), 2);
}

/* The end is that of the program, not of everybody who has its output. */
static void test_who_stays_behind_is_not_waited_for(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	assert_int_equal(shell("sleep 60 & echo $!; exit 3", output), 3);
	assert_true(is_alive(output));
	assert_return_code(kill((pid_t) strtol(output, NULL, 10), SIGKILL), errno);
}

static void test_what_cannot_be_watched_is_ended(void **state)
{
	char output[TOOL_OUTPUT_BYTES];

	pidfd_fails = true;
	assert_int_equal(shell("exec sleep 60", output), -EMFILE);
	pidfd_fails = false;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_and_output),
		cmocka_unit_test(test_the_end_is_kept),
		cmocka_unit_test(test_all_of_a_long_output_is_logged),
		cmocka_unit_test(test_environment_and_input_are_fixed),
		cmocka_unit_test(test_signals_are_not_blocked),
		cmocka_unit_test(test_a_program_that_is_not_there),
		cmocka_unit_test(test_who_looks_sees_the_program),
		cmocka_unit_test(test_the_end_of_its_time),
		cmocka_unit_test(test_a_cancellation_ends_it),
		cmocka_unit_test(test_who_stays_behind_is_not_waited_for),
		cmocka_unit_test(test_what_cannot_be_watched_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
