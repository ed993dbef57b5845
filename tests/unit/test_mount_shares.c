/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_shares - how much of one user's mount namespaces is read; real ones:
 * tests/root/test_mount_force.c
 */
#include "mount/holders/mount_search.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct mount_holder user = { .has_owner = true, .user_namespace = 7, .owner = 1000 };
static const struct mount_holder other = { .has_owner = true, .user_namespace = 8, .owner = 1001 };
static const struct mount_holder root = { .has_owner = true, .user_namespace = 9, .owner = 0 };
static const struct mount_holder own = { .has_owner = true, .owner = 1000 };
static const struct mount_holder unknown = { .user_namespace = 7, .owner = 1000 };

static void test_namespaces(void **state)
{
	struct mount_search search = { .count = 0 };

	for (int i = 0; i < OWNER_NAMESPACES_MAX; i++) {
		assert_int_equal(mount_share_left(&search, &user), MOUNT_TABLE_BYTES_MAX - 10 * i);
		assert_int_equal(mount_share_use(&search, &user, 10), 0);
	}
	assert_int_equal(mount_share_left(&search, &user), 0);
	assert_int_equal(mount_share_left(&search, &other), MOUNT_TABLE_BYTES_MAX);
	free(search.shares);
}

static void test_bytes(void **state)
{
	struct mount_search search = { .count = 0 };

	assert_int_equal(mount_share_use(&search, &user, MOUNT_TABLE_BYTES_MAX - 1), 0);
	assert_int_equal(mount_share_left(&search, &user), 1);
	assert_int_equal(mount_share_unread(&search, &user), 0);
	assert_int_equal(mount_share_unread(&search, &user), 0);
	assert_int_equal(mount_share_left(&search, &user), 0);
	assert_int_equal(search.shares[0].unread, 2);
	assert_int_equal(mount_share_left(&search, &other), MOUNT_TABLE_BYTES_MAX);
	free(search.shares);
}

/* All of these is read, or the search fails. */
static void test_who_has_no_share(void **state)
{
	static const struct mount_holder *const holders[] = { &root, &own, &unknown };
	struct mount_search search = { .count = 0 };

	for (size_t i = 0; i < sizeof(holders) / sizeof(holders[0]); i++) {
		for (int j = 0; j <= OWNER_NAMESPACES_MAX; j++)
			assert_int_equal(mount_share_use(&search, holders[i], 1000000), 0);
		assert_int_equal(mount_share_left(&search, holders[i]), MOUNT_TABLE_BYTES_MAX);
		assert_int_equal(mount_share_unread(&search, holders[i]), -E2BIG);
	}
	assert_null(search.shares);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_who_has_no_share),
	};

	return cmocka_run_group_tests_name("mount_shares", tests, NULL, NULL);
}
