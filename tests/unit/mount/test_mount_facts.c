/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_facts - which errors mean that a mount's server is gone
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/mount.h"

static void test_corrupted_mount_errors(void **state)
{
	static const int corrupted[] = { ENOTCONN,  ESTALE,      EIO,   EACCES,
					 EHOSTDOWN, EWOULDBLOCK, ENODEV };
	static const int others[] = { 0, ENOENT, EPERM, ENOTDIR, ELOOP, ENOMEM, ENAMETOOLONG };

	for (size_t i = 0; i < ARRAY_SIZE(corrupted); i++) {
		assert_true(is_corrupted_mount_error(corrupted[i]));
		assert_true(is_corrupted_mount_error(-corrupted[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(is_corrupted_mount_error(-others[i]));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corrupted_mount_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
