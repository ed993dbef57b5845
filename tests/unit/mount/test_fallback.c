/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fallback - ENOSYS alone means that a system call is missing, and it is said once
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/bind/fallback.h"

static unsigned int logged;

void __wrap_log_message(int level, const char *format, ...);

void __wrap_log_message(int level, const char *format, ...)
{
	logged++;
}

static void test_only_enosys(void **state)
{
	static const int others[] = { 0, EPERM, EINVAL, ENOENT, EOPNOTSUPP };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_false(call_is_missing(others[i], CALL_OPENAT2));
		assert_false(call_is_missing(-others[i], CALL_OPENAT2));
	}
	assert_int_equal(logged, 0);
}

static void test_said_once_per_call(void **state)
{
	for (int i = 0; i < 3; i++)
		for (int call = 0; call < KERNEL_CALLS; call++)
			assert_true(call_is_missing(-ENOSYS, call));
	assert_int_equal(logged, KERNEL_CALLS);
}

/* A clone whose descriptor had the number of ENOSYS once went the slow way. */
static void test_a_descriptor_is_no_error(void **state)
{
	for (int fd = 0; fd < 1000; fd++)
		assert_false(call_is_missing(fd, CALL_OPEN_TREE));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_enosys),
		cmocka_unit_test(test_said_once_per_call),
		cmocka_unit_test(test_a_descriptor_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
