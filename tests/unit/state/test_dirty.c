/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dirty - the set keeps order, holds a name once, wakes once, and asks for a full pass when it
 * lost a name
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "state/dirty.h"

#include <string.h>

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
static bool out_of_memory;

void *__wrap_calloc(size_t count, size_t size)
{
	return out_of_memory ? NULL : __real_calloc(count, size);
}

static void count_wake(void *userdata)
{
	++*(unsigned int *) userdata;
}

static struct dirty_set *new_set(unsigned int *wakes)
{
	struct dirty_set *set;

	assert_int_equal(dirty_set_new(wakes ? count_wake : NULL, wakes, &set), 0);
	return set;
}

static void expect_next(struct dirty_set *set, const char *name)
{
	cleanup_free char *taken = dirty_take(set);

	assert_non_null(taken);
	assert_string_equal(taken, name);
}

static void test_oldest_name_comes_first(void **state)
{
	struct dirty_set *set = new_set(NULL);

	assert_int_equal(dirty_add(set, "b"), 0);
	assert_int_equal(dirty_add(set, "a"), 0);
	assert_int_equal(dirty_add(set, "c"), 0);
	expect_next(set, "b");
	expect_next(set, "a");
	expect_next(set, "c");
	assert_null(dirty_take(set));
	assert_null(dirty_set_free(set));
}

static void test_name_is_there_once(void **state)
{
	struct dirty_set *set = new_set(NULL);

	assert_int_equal(dirty_add(set, "a"), 0);
	assert_int_equal(dirty_add(set, "b"), 0);
	assert_int_equal(dirty_add(set, "a"), 0);
	assert_int_equal(dirty_count(set), 2);
	expect_next(set, "a"); /* the second addition did not move it back */
	assert_int_equal(dirty_add(set, "a"), 0);
	expect_next(set, "b");
	expect_next(set, "a");
	dirty_set_free(set);
}

static void test_name_is_copied(void **state)
{
	struct dirty_set *set = new_set(NULL);
	char name[] = "a";

	assert_int_equal(dirty_add(set, name), 0);
	name[0] = 'z';
	expect_next(set, "a");
	dirty_set_free(set);
}

static void test_wakes_when_it_stops_being_empty(void **state)
{
	unsigned int wakes = 0;
	struct dirty_set *set = new_set(&wakes);

	assert_int_equal(dirty_add(set, "a"), 0);
	assert_int_equal(dirty_add(set, "b"), 0);
	assert_int_equal(wakes, 1);
	expect_next(set, "a");
	assert_int_equal(dirty_add(set, "c"), 0);
	assert_int_equal(wakes, 1);
	expect_next(set, "b");
	expect_next(set, "c");
	assert_int_equal(dirty_add(set, "a"), 0);
	assert_int_equal(wakes, 2);
	dirty_set_free(set);
}

static void test_lost_name_asks_for_a_full_pass(void **state)
{
	unsigned int wakes = 0;
	struct dirty_set *set = new_set(&wakes);

	assert_false(dirty_take_full_pass(set));
	out_of_memory = true;
	assert_int_equal(dirty_add(set, "a"), -ENOMEM);
	assert_int_equal(dirty_add(set, "b"), -ENOMEM);
	out_of_memory = false;

	assert_int_equal(wakes, 1);
	assert_null(dirty_take(set));
	assert_true(dirty_take_full_pass(set));
	assert_false(dirty_take_full_pass(set));
	dirty_set_free(set);
}

static void test_cost_is_linear(void **state)
{
	struct dirty_set *set = new_set(NULL);
	uint64_t began_usec = monotonic_usec();
	char name[32];

	for (unsigned int i = 0; i < 10000; i++) {
		(void) snprintf(name, sizeof(name), "volume-%u", i);
		assert_int_equal(dirty_add(set, name), 0);
	}
	for (unsigned int i = 0; i < 10000; i++) {
		(void) snprintf(name, sizeof(name), "volume-%u", i);
		expect_next(set, name);
	}
	/* Milliseconds; a quadratic set takes seconds. */
	assert_true(monotonic_usec() - began_usec < 20 * USEC_PER_SEC);
	dirty_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_name_comes_first),
		cmocka_unit_test(test_name_is_there_once),
		cmocka_unit_test(test_name_is_copied),
		cmocka_unit_test(test_wakes_when_it_stops_being_empty),
		cmocka_unit_test(test_lost_name_asks_for_a_full_pass),
		cmocka_unit_test(test_cost_is_linear),
	};

	return cmocka_run_group_tests_name("dirty", tests, NULL, NULL);
}
