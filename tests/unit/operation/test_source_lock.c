/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_source_lock - which sources exclude each other, who waits, who comes next
 */
#include "operation/source_lock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct world {
	struct source_locks *locks;
	struct source_lock some[4];
};

static int set_up(void **state)
{
	static struct world world;

	memset(&world, 0, sizeof(world));
	assert_int_equal(source_locks_new(&world.locks), 0);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < 4; i++)
		source_lock_release(world->locks, &world->some[i]);
	assert_null(source_locks_free(world->locks));
	return 0;
}

static int take(struct world *world, int index, uint64_t device, uint64_t inode, const char *path)
{
	const struct stage_source source = { .device = device, .inode = inode, .path = path };

	return source_lock_take(world->locks, &world->some[index], &source);
}

static void test_same_directory_case_460(void **state)
{
	struct world *world = *state;

	assert_int_equal(take(world, 0, 8, 100, "/srv/x"), 1);
	assert_int_equal(take(world, 1, 8, 100, "/srv/other-name"), 0);
	assert_null(source_lock_next(world->locks));
	source_lock_release(world->locks, &world->some[0]);
	assert_ptr_equal(source_lock_next(world->locks), &world->some[1]);
	assert_true(world->some[1].held);
	assert_null(source_lock_next(world->locks));
}

static void test_one_below_the_other_case_460(void **state)
{
	struct world *world = *state;

	assert_int_equal(take(world, 0, 8, 100, "/srv/x"), 1);
	assert_int_equal(take(world, 1, 8, 101, "/srv/x/y/z"), 0);
	assert_int_equal(take(world, 2, 8, 102, "/"), 0);
	assert_int_equal(take(world, 3, 8, 103, "/srv/xy"), 0); /* behind "/", which waits */
	source_lock_release(world->locks, &world->some[0]);
	assert_ptr_equal(source_lock_next(world->locks), &world->some[1]);
	assert_null(source_lock_next(world->locks));
	source_lock_release(world->locks, &world->some[1]);
	assert_ptr_equal(source_lock_next(world->locks), &world->some[2]);
	assert_null(source_lock_next(world->locks));
	source_lock_release(world->locks, &world->some[2]);
	assert_ptr_equal(source_lock_next(world->locks), &world->some[3]);
}

static void test_others_go_ahead(void **state)
{
	struct world *world = *state;

	assert_int_equal(take(world, 0, 8, 100, "/srv/x"), 1);
	assert_int_equal(take(world, 1, 8, 101, "/srv/xy"), 1);
	assert_int_equal(take(world, 2, 9, 100, "/srv/x"), 1); /* another file system */
	assert_int_equal(take(world, 3, 8, 102, "/sr"), 1);
}

/* Who gave up no longer stands in the way of those behind it. */
static void test_who_waits_may_leave(void **state)
{
	struct world *world = *state;

	assert_int_equal(take(world, 0, 8, 100, "/a"), 1);
	assert_int_equal(take(world, 1, 8, 2, "/"), 0);
	assert_int_equal(take(world, 2, 8, 101, "/b"), 0);
	source_lock_release(world->locks, &world->some[1]);
	assert_ptr_equal(source_lock_next(world->locks), &world->some[2]);
	assert_null(source_lock_next(world->locks));
	source_lock_release(world->locks, &world->some[3]); /* never taken */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_directory_case_460, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_below_the_other_case_460, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_others_go_ahead, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_who_waits_may_leave, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("source_lock", tests, NULL, NULL);
}
