/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rebuild_recorded - what a start keeps of what a step served: only where the ledger and the
 * directory agree exactly
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "reconcile/reconcile.h"

#include <string.h>

#define PLUGIN "kubernetes.io/local-volume"

enum { MOUNT_ID = 70, SERVED = 9 };

struct recorded_case {
	enum mount_state state;
	enum unfinished unfinished;
	bool is_device, has_device, block, is_there;
	uint64_t mark, found_mark, served;
};

static const struct recorded_case cases[] = {
	{ .state = MOUNT_DONE, .is_there = true, .mark = 5, .found_mark = 5, .served = SERVED },
	{ .state = MOUNT_DONE, .is_there = true, .mark = 5, .found_mark = 7 },
	{ .state = MOUNT_DONE, .is_there = true, .mark = 5 },
	{ .state = MOUNT_DONE, .mark = 5 },
	{ .state = MOUNT_DONE, .is_there = true },
	{ .state = MOUNT_DONE },
	{ .state = MOUNT_UNCERTAIN, .is_there = true, .mark = 5, .found_mark = 5 },
	{ .state = MOUNT_DONE,
	  .unfinished = UNFINISHED_SET_UP,
	  .is_there = true,
	  .mark = 5,
	  .found_mark = 5 },
	{ .state = MOUNT_DONE,
	  .unfinished = UNFINISHED_TEARDOWN,
	  .is_there = true,
	  .mark = 5,
	  .found_mark = 5 },
	{ .state = MOUNT_DONE, .block = true, .is_there = true, .mark = 5, .found_mark = 5 },
	/* A stage of a directory mounts nothing; a device without its mount is another matter. */
	{ .state = MOUNT_DONE, .is_device = true, .served = SERVED },
	{ .state = MOUNT_DONE, .is_device = true, .has_device = true },
	{ .state = MOUNT_DONE, .is_device = true, .is_there = true, .found_mark = 5 },
	{ .state = MOUNT_DONE,
	  .is_device = true,
	  .has_device = true,
	  .is_there = true,
	  .mark = 5,
	  .found_mark = 5,
	  .served = SERVED },
};

static void ignore(const struct rebuild_report *report, void *userdata)
{
}

static void rebuild_one(const struct recorded_case *one, struct actual *actual)
{
	struct found_volume there = { .pod_uid = one->is_device ? "" : "a",
				      .plugin_name = PLUGIN,
				      .volume_name = "pv",
				      .block = one->block,
				      .is_mount_point = one->found_mark != 0,
				      .mount_id = one->found_mark != 0 ? MOUNT_ID : 0,
				      .mount_mark = one->found_mark };
	const struct found_list list = { .volumes = &there, .count = one->is_there };
	const struct ledger_row row = { .entry = { .unique_name = PLUGIN "/pv",
						   .plugin_name = PLUGIN,
						   .spec_name = "pv",
						   .device_mountable = true,
						   .block = one->block,
						   .pod_uid = one->is_device ? NULL : "a",
						   .mount_mark = one->mark,
						   .served = SERVED },
					.state = one->state,
					.device_path = one->has_device ? "/dev/sdb" : "",
					.device_mount_path = "/global",
					.unfinished = one->unfinished };
	const struct rebuild_input input = { .rows = &row, .row_count = 1, .found = &list };

	assert_int_equal(rebuild(actual, &input, ignore, NULL), 1);
}

static void test_what_may_be_confirmed(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct recorded_case *one = &cases[i];
		bool is_kept = one->served != 0;
		const struct actual_volume *volume;
		const struct actual_pod *pod;
		struct dirty_set *dirty;
		struct actual *actual;

		print_message("# case %zu\n", i);
		assert_int_equal(dirty_set_new(NULL, NULL, &dirty), 0);
		assert_int_equal(actual_new(dirty, &actual), 0);
		rebuild_one(one, actual);
		volume = actual_find(actual, PLUGIN "/pv");
		pod = actual_find_pod(volume, "a");
		assert_int_equal(pod ? pod->served : volume->device_served, one->served);
		assert_int_equal(pod ? pod->mount_id : volume->device_mount_id,
				 is_kept && one->mark != 0 ? MOUNT_ID : 0);
		assert_int_equal(pod ? pod->mount_mark : volume->device_mount_mark,
				 is_kept ? one->mark : 0);
		assert_int_equal(pod ? pod->state : volume->device_state, MOUNT_UNCERTAIN);
		actual_free(actual);
		dirty_set_free(dirty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_may_be_confirmed),
	};

	return cmocka_run_group_tests_name("rebuild_recorded", tests, NULL, NULL);
}
