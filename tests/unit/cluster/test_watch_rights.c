/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_watch_rights - who tries whether claims and volumes may be watched, and when it is tried
 * again
 *
 * The timer is taken over: no test waits.
 */
#include "cluster/cluster_internal.h"
#include "cluster/watch_rights.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct world {
	sd_event *event;
	struct watch_rights *rights;
	sd_event_time_handler_t handler; /* of the right that was used last */
	void *handler_data;
	uint64_t relative_usec; /* that a timer was set to last; 0: none was */
	unsigned int changes;
} world;

int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __real_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);

int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata)
{
	world.handler = callback;
	world.handler_data = userdata;
	return __real_sd_event_add_time(event, ret, clock, usec, accuracy, callback, userdata);
}

int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	world.relative_usec = usec;
	return 0;
}

static void on_changed(void *userdata, const struct watch_right *right)
{
	assert_non_null(right);
	world.changes++;
}

static int set_up(void **state)
{
	world = (struct world){ 0 };
	assert_int_equal(sd_event_new(&world.event), 0);
	return watch_rights_new(world.event, on_changed, NULL, &world.rights);
}

static int tear_down(void **state)
{
	world.rights = watch_rights_free(world.rights);
	sd_event_unref(world.event);
	return 0;
}

static struct watch_right *use(const char *name_space)
{
	return watch_right_use(world.rights, KIND_PERSISTENT_VOLUME_CLAIM, name_space);
}

static void expire(void)
{
	assert_int_equal(world.handler(NULL, 0, world.handler_data), 0);
}

static void test_one_object_tries_for_all(void **state)
{
	struct watch_right *right = use("a"), *same = use("a"), *other = use("b");

	assert_ptr_equal(right, same);
	assert_ptr_not_equal(right, other);
	assert_true(watch_right_begin(right));
	assert_false(watch_right_begin(same));
	assert_true(watch_right_begin(other));
	assert_false(watch_right_is_granted(right));
	watch_right_granted(right);
	assert_int_equal(world.changes, 1);
	assert_true(watch_right_is_granted(same));
	assert_true(watch_right_begin(same));
	watch_right_granted(right); /* the second object's list */
	assert_int_equal(world.changes, 1);
	(void) watch_right_unuse(right);
	(void) watch_right_unuse(same);
	(void) watch_right_unuse(other);
}

static void test_a_refusal_is_tried_again_later_each_time(void **state)
{
	static const unsigned int seconds[] = { 5, 10, 20, 40, 80, 160, 300, 300 };
	struct watch_right *right = use("a");

	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		assert_true(watch_right_begin(right));
		watch_right_refused(right);
		assert_int_equal(world.relative_usec, seconds[i] * 1000000ULL);
		assert_false(watch_right_begin(right));
		world.relative_usec = 0;
		watch_right_refused(right); /* of another object whose watch ended */
		assert_int_equal(world.relative_usec, 0);
		assert_int_equal(world.changes, i);
		expire();
		assert_int_equal(world.changes, i + 1);
	}
	(void) watch_right_unuse(right);
}

static void test_a_right_that_is_taken_away_is_tried_soon(void **state)
{
	struct watch_right *right = use("a");

	assert_true(watch_right_begin(right));
	watch_right_refused(right);
	expire();
	assert_true(watch_right_begin(right));
	watch_right_granted(right);
	watch_right_refused(right);
	assert_false(watch_right_is_granted(right));
	assert_int_equal(world.relative_usec, 5 * 1000000ULL);
	(void) watch_right_unuse(right);
}

static void test_an_object_that_goes_leaves_the_try_to_another(void **state)
{
	struct watch_right *right = use("a");

	assert_true(watch_right_begin(right));
	watch_right_given_up(right);
	assert_int_equal(world.changes, 1);
	assert_true(watch_right_begin(right));
	watch_right_granted(right);
	watch_right_given_up(right);
	assert_true(watch_right_is_granted(right));
	(void) watch_right_unuse(right);
	right = use("a");
	assert_false(watch_right_is_granted(right)); /* it was the last user */
	(void) watch_right_unuse(right);
}

static void test_what_is_served_and_settled(void **state)
{
	const struct object_reference claim = { KIND_PERSISTENT_VOLUME_CLAIM, "n", "c" };
	const struct object_reference nameless = { KIND_PERSISTENT_VOLUME, "", "" };
	const struct object_reference identity = { KIND_CONFIG_MAP, IDENTITY_NAMESPACE,
						   IDENTITY_NAME };
	const struct object_reference account = { KIND_SERVICE_ACCOUNT, "n", "a" };

	assert_true(needed_is_served(&claim));
	assert_false(needed_is_served(&nameless));
	assert_false(needed_is_served(&identity));
	assert_false(needed_is_served(&account));
	assert_true(needed_is_file(KIND_SECRET) && needed_is_file(KIND_CONFIG_MAP));
	assert_false(needed_is_file(KIND_PERSISTENT_VOLUME) || needed_is_claim(KIND_SECRET));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_object_tries_for_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_refusal_is_tried_again_later_each_time,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_right_that_is_taken_away_is_tried_soon,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_object_that_goes_leaves_the_try_to_another,
						set_up, tear_down),
		cmocka_unit_test(test_what_is_served_and_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
