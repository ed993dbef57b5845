/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_shares - how much of one user's mount namespaces is read; real ones:
 * tests/root/mount/test_mount_force.c
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

static void test_time_of_what_is_open(void **state)
{
	const uid_t users = OPEN_USEC_MAX / OWNER_OPEN_USEC_MAX;
	struct failure why = { .error = 0 };
	struct mount_search search = { .reterr = &why };
	struct mount_holder process = { .pid = 7, .command = "flood" };

	for (uid_t uid = 1; uid <= users; uid++) {
		process.owner = uid;
		assert_true(mount_share_has_time(&search, uid));
		assert_int_equal(mount_share_use_time(&search, &process, OWNER_OPEN_USEC_MAX), 0);
		assert_false(mount_share_has_time(&search, uid));
	}
	/* However many users: they end no search, and root's processes are read in full. */
	assert_false(mount_share_has_time(&search, users + 1));
	assert_int_equal(mount_share_use_time(&search, &process, OPEN_USEC_MAX), 0);
	process.owner = 0;
	assert_true(mount_share_has_time(&search, 0));
	assert_int_equal(mount_share_use_time(&search, &process, OPEN_USEC_MAX - 1), 0);
	assert_true(mount_share_has_time(&search, 0));
	assert_int_equal(mount_share_use_time(&search, &process, 1), -ETIMEDOUT);
	assert_string_equal(why.text,
			    "processes of root have more open than 20 seconds of a processor can "
			    "read; the last one read was process 7 'flood': "
			    "Connection timed out");
	free(search.shares);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_who_has_no_share),
		cmocka_unit_test(test_time_of_what_is_open),
	};

	return cmocka_run_group_tests_name("mount_shares", tests, NULL, NULL);
}
