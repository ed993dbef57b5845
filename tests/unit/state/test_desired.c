/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_desired - what pods want: added, refreshed, removed, with every reference given back
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fake_objects.h"
#include "state/desired.h"

#include <string.h>

struct world {
	struct dirty_set *dirty;
	struct desired *desired;
	struct fake_pod a, b;
	struct fake_pv pv;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	fake_references = 0;
	fake_pod_init(&world->a, "a", "uid-a");
	fake_pod_init(&world->b, "b", "uid-b");
	fake_pv_init(&world->pv, "pv", ACCESS_READ_WRITE_ONCE);
	assert_int_equal(dirty_set_new(NULL, NULL, &world->dirty), 0);
	assert_int_equal(desired_new(world->dirty, &world->desired), 0);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	assert_null(desired_free(world->desired));
	assert_int_equal(fake_references, 0);
	dirty_set_free(world->dirty);
	free(world);
	return 0;
}

static int add(struct world *world, const struct fake_pod *pod, const struct volume_plugin *plugin,
	       uint64_t now_usec)
{
	struct volume_spec spec = { .name = "pv", .pv = &world->pv.object };

	return desired_add(world->desired, &(struct desired_want){
						   .unique_name = "fake/pv",
						   .plugin = plugin,
						   .device_mountable = true,
						   .spec = &spec,
						   .pod = &pod->object,
						   .outer_names = (const char *[]){ "data" },
						   .outer_name_count = 1,
						   .now_usec = now_usec,
					   });
}

static void expect_dirty(struct world *world, const char *name)
{
	cleanup_free char *taken = dirty_take(world->dirty);

	assert_non_null(taken);
	assert_string_equal(taken, name);
	assert_int_equal(dirty_count(world->dirty), 0);
}

static void test_new_want_is_kept_and_dirty(void **state)
{
	struct world *world = *state;
	const struct desired_volume *volume;
	const struct desired_pod *pod;

	assert_int_equal(add(world, &world->a, &fake_plugin, 7), 1);
	expect_dirty(world, "fake/pv");

	volume = desired_find(world->desired, "fake/pv");
	assert_non_null(volume);
	assert_ptr_equal(volume->plugin, &fake_plugin);
	assert_true(volume->device_mountable);
	assert_false(volume->block);
	pod = desired_find_pod(volume, "uid-a");
	assert_non_null(pod);
	assert_ptr_equal(pod->pod, &world->a.object);
	assert_null(pod->claim);
	assert_ptr_equal(pod->spec.pv, &world->pv.object);
	assert_int_equal(pod->outer_name_count, 1);
	assert_string_equal(pod->outer_names[0], "data");
	assert_int_equal(pod->requested_usec, 7);
	assert_null(desired_find_pod(volume, "uid-b"));
	assert_int_equal(fake_references, 2); /* pod and PV */
}

static void test_refresh_keeps_time_of_request(void **state)
{
	struct world *world = *state;
	struct fake_pod newer = world->a;
	const struct desired_pod *pod;

	assert_int_equal(add(world, &world->a, &fake_plugin, 7), 1);
	assert_int_equal(add(world, &newer, &fake_plugin, 8), 0);

	pod = desired_find_pod(desired_find(world->desired, "fake/pv"), "uid-a");
	assert_ptr_equal(pod->pod, &newer.object);
	assert_int_equal(pod->requested_usec, 7);
	assert_int_equal(fake_references, 2);
}

/* Names as the pod has them now; each may come twice. */
static int add_names(struct world *world, const char *const *names, size_t count)
{
	struct volume_spec spec = { .name = "pv", .pv = &world->pv.object };

	return desired_add(world->desired, &(struct desired_want){
						   .unique_name = "fake/pv",
						   .plugin = &fake_plugin,
						   .spec = &spec,
						   .pod = &world->a.object,
						   .outer_names = names,
						   .outer_name_count = count,
					   });
}

static void test_names_of_one_volume_are_kept_once_in_order(void **state)
{
	static const char *const first[] = { "data", "copy", "data", "again", "copy" };
	static const char *const then[] = { "copy" };
	struct world *world = *state;
	const struct desired_pod *pod;

	assert_int_equal(add_names(world, first, ARRAY_SIZE(first)), 1);
	pod = desired_find_pod(desired_first(world->desired), "uid-a");
	assert_int_equal(pod->outer_name_count, 3);
	assert_string_equal(pod->outer_names[0], "data");
	assert_string_equal(pod->outer_names[1], "copy");
	assert_string_equal(pod->outer_names[2], "again");

	assert_int_equal(add_names(world, then, ARRAY_SIZE(then)), 0);
	assert_int_equal(pod->outer_name_count, 1);
	assert_string_equal(pod->outer_names[0], "copy");
}

static void test_refresh_of_remounting_plugin_is_a_new_request(void **state)
{
	struct world *world = *state;

	assert_int_equal(add(world, &world->a, &fake_remount_plugin, 7), 1);
	assert_int_equal(add(world, &world->a, &fake_remount_plugin, 8), 0);
	assert_int_equal(desired_find_pod(desired_first(world->desired), "uid-a")->requested_usec,
			 8);
}

static void test_remount_is_requested_only_where_the_plugin_wants_it(void **state)
{
	struct world *world = *state;
	const struct desired_pod *pod;

	assert_int_equal(add(world, &world->a, &fake_plugin, 1), 1);
	expect_dirty(world, "fake/pv");
	desired_request_remount(world->desired, "fake/pv", "uid-a");
	pod = desired_find_pod(desired_first(world->desired), "uid-a");
	assert_int_equal(pod->remount_generation, 0);
	assert_int_equal(dirty_count(world->dirty), 0);
	desired_remove(world->desired, "fake/pv", "uid-a");
	expect_dirty(world, "fake/pv");

	assert_int_equal(add(world, &world->a, &fake_remount_plugin, 1), 1);
	expect_dirty(world, "fake/pv");
	desired_request_remount(world->desired, "fake/pv", "uid-a");
	pod = desired_find_pod(desired_first(world->desired), "uid-a");
	assert_int_equal(pod->remount_generation, 1);
	expect_dirty(world, "fake/pv");
	desired_request_remount(world->desired, "fake/pv", "uid-unknown");
	desired_request_remount(world->desired, "fake/unknown", "uid-a");
	assert_int_equal(dirty_count(world->dirty), 0);
}

static void test_last_pod_takes_the_volume_along(void **state)
{
	struct world *world = *state;

	assert_int_equal(add(world, &world->a, &fake_plugin, 1), 1);
	assert_int_equal(add(world, &world->b, &fake_plugin, 2), 1);
	assert_int_equal(HASH_CNT(hh, desired_first(world->desired)), 1);
	expect_dirty(world, "fake/pv");

	desired_remove(world->desired, "fake/pv", "uid-a");
	assert_int_equal(HASH_CNT(hh, desired_first(world->desired)), 1);
	expect_dirty(world, "fake/pv");

	/* The names may be the entry's own. */
	desired_remove(world->desired, desired_first(world->desired)->unique_name,
		       desired_first(world->desired)->pods->pod_uid);
	assert_int_equal(HASH_CNT(hh, desired_first(world->desired)), 0);
	assert_null(desired_find(world->desired, "fake/pv"));
	expect_dirty(world, "fake/pv");
	assert_int_equal(fake_references, 0);
}

static void test_removing_what_is_not_there_changes_nothing(void **state)
{
	struct world *world = *state;

	desired_remove(world->desired, "fake/pv", "uid-a");
	assert_int_equal(add(world, &world->a, &fake_plugin, 1), 1);
	expect_dirty(world, "fake/pv");
	desired_remove(world->desired, "fake/pv", "uid-b");
	assert_int_equal(dirty_count(world->dirty), 0);
	assert_int_equal(HASH_CNT(hh, desired_first(world->desired)), 1);
}

static void test_errors_are_a_set_with_a_limit(void **state)
{
	struct world *world = *state;
	const struct desired_errors *errors;
	char text[32];

	assert_null(desired_errors(world->desired, "uid-a"));
	assert_int_equal(desired_add_error(world->desired, "uid-a", "data", -ENOENT, "first"), 0);
	assert_int_equal(desired_add_error(world->desired, "uid-a", "data", -ENOENT, "first"), 0);
	assert_int_equal(desired_add_error(world->desired, "uid-a", "logs", -ENOENT, "first"), 0);
	errors = desired_errors(world->desired, "uid-a");
	assert_int_equal(errors->count, 2);
	assert_string_equal(errors->texts[0], "first");
	assert_string_equal(errors->volumes[0], "data");
	assert_string_equal(errors->volumes[1], "logs");
	assert_null(desired_errors(world->desired, "uid-b"));

	for (unsigned int i = 0; i < 20; i++) {
		(void) snprintf(text, sizeof(text), "error %u", i);
		assert_int_equal(desired_add_error(world->desired, "uid-a", "", -ENOENT, text), 0);
	}
	assert_int_equal(desired_errors(world->desired, "uid-a")->count, 11);
	desired_clear_errors(world->desired, "uid-a");
	assert_null(desired_errors(world->desired, "uid-a"));
	desired_clear_errors(world->desired, "uid-a");
}

static void test_removed_pod_loses_its_errors(void **state)
{
	struct world *world = *state;

	assert_int_equal(add(world, &world->a, &fake_plugin, 1), 1);
	assert_int_equal(desired_add_error(world->desired, "uid-a", "logs", -ENOENT, "text"), 0);
	assert_int_equal(desired_add_error(world->desired, "uid-b", "logs", -ENOENT, "text"), 0);
	desired_remove(world->desired, "fake/pv", "uid-a");
	assert_null(desired_errors(world->desired, "uid-a"));
	assert_non_null(desired_errors(world->desired, "uid-b")); /* freed with the table */
}

static void test_ten_thousand_volumes_are_linear(void **state)
{
	struct world *world = *state;
	struct volume_spec spec = { .name = "data", .pod = &world->a.object };
	uint64_t began_usec = monotonic_usec();
	char name[32], pod_uid[32];

	for (unsigned int i = 0; i < 10000; i++) {
		struct desired_want want = { .unique_name = name,
					     .plugin = &fake_plugin,
					     .spec = &spec,
					     .pod = &world->a.object,
					     .outer_names = (const char *[]){ "data" },
					     .outer_name_count = 1 };

		(void) snprintf(name, sizeof(name), "fake/%u", i);
		(void) snprintf(pod_uid, sizeof(pod_uid), "uid-%u", i);
		world->a.object.meta.uid = pod_uid;
		assert_int_equal(desired_add(world->desired, &want), 1);
	}
	assert_int_equal(HASH_CNT(hh, desired_first(world->desired)), 10000);
	assert_int_equal(fake_references, 20000);
	/* Milliseconds; a quadratic table takes seconds. */
	assert_true(monotonic_usec() - began_usec < 20 * USEC_PER_SEC);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_new_want_is_kept_and_dirty),
		WITH_WORLD(test_refresh_keeps_time_of_request),
		WITH_WORLD(test_names_of_one_volume_are_kept_once_in_order),
		WITH_WORLD(test_refresh_of_remounting_plugin_is_a_new_request),
		WITH_WORLD(test_remount_is_requested_only_where_the_plugin_wants_it),
		WITH_WORLD(test_last_pod_takes_the_volume_along),
		WITH_WORLD(test_removing_what_is_not_there_changes_nothing),
		WITH_WORLD(test_errors_are_a_set_with_a_limit),
		WITH_WORLD(test_removed_pod_loses_its_errors),
		WITH_WORLD(test_ten_thousand_volumes_are_linear),
	};

	return cmocka_run_group_tests_name("desired", tests, NULL, NULL);
}
