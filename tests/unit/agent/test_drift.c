/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_drift - what others do to managed mounts: which steps follow, which wait, and what is
 * reported
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "drift_world.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct drift_view view_now(void)
{
	struct drift_view view;

	assert_true(drift_view_of(drift_world.drift, VOLUME, POD, &view));
	return view;
}

static bool is_well(void)
{
	struct drift_view view;

	return !drift_view_of(drift_world.drift, VOLUME, POD, &view);
}

static void test_unmounted_is_published_again(void **state)
{
	struct agent_world *world = *state;

	detached(MANAGED);
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
	expect_event("VolumeUnmounted", "was unmounted by process 4711");
	assert_int_equal(fake_events.count, 1);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	mounted_as(MANAGED + 1);
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	expect_event("VolumeRestored", "is restored after");
	assert_true(is_well());

	detached(MANAGED); /* an id of before means nothing any more */
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	detached(MANAGED + 1);
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
}

static void test_moved_is_published_again(void **state)
{
	struct agent_world *world = *state;

	moved(MANAGED);
	expect_event("VolumeMountMoved", "was moved to another place by process 4711");
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

/* With a kernel that names no process podvold's own unmount looks like any other. */
static void test_a_teardown_is_no_drift(void **state)
{
	const struct operation_view running = {
		.unique_name = VOLUME, .pod_uid = POD, .kind = STEP_UNPUBLISH, .running = true
	};
	struct agent_world *world = *state;

	world->views = &running;
	world->view_count = 1;
	detached(MANAGED);
	assert_int_equal(fake_events.count, 0);
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	world->view_count = 0;
}

/* A publish that had looked before the unmount ends as if all were well. */
static void test_unmounted_during_a_step_is_seen_after_it(void **state)
{
	const struct operation_view running = { .unique_name = VOLUME,
						.pod_uid = "", /* of a volume with a device */
						.kind = STEP_PUBLISH,
						.running = true };
	struct agent_world *world = *state;

	world->views = &running;
	world->view_count = 1;
	detached(MANAGED);
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	world->view_count = 0;
	mounted_as(MANAGED);
	drift_world.fate = MOUNT_GONE;
	run_jobs();
	expect_event("VolumeUnmounted", "was unmounted by an unknown process");
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
}

/* One volume, one operation at a time: a step of the device is no step of the pod's mount. */
static void test_unmounted_during_another_step_is_seen_at_once(void **state)
{
	const struct operation_view running = {
		.unique_name = VOLUME, .pod_uid = "", .kind = STEP_STAGE, .running = true
	};
	struct agent_world *world = *state;

	world->views = &running;
	world->view_count = 1;
	detached(MANAGED);
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
	world->view_count = 0;
}

static void test_what_was_taken_down_is_known_no_more(void **state)
{
	struct agent_world *world = *state;

	want_no_more(world);
	turn(world);
	end_step(world, STEP_UNPUBLISH, "volume_unmount", 0, ERROR_FINAL);
	detached(MANAGED);
	assert_int_equal(fake_events.count, 0);
}

static void test_policy_report_changes_nothing(void **state)
{
	struct agent_world *world = *state;

	world->config.drift.heals = false;
	detached(MANAGED);
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
	expect_event("VolumeUnmounted", "it stays so (drift: report)");
	assert_true(view_now().holds_back);
	turn(world);
	expect_calls(world, "commit ");
	want_no_more(world); /* but the pod may go */
	turn(world);
	expect_calls(world, "commit submit:unpublish(1) ");
}

static void test_a_foreign_volume_s_mount_on_top(void **state)
{
	struct agent_world *world = *state;

	add_other(FOREIGN_VOLUMES, PATH, "/other");
	attached(FOREIGN_VOLUMES);
	run_jobs();
	assert_string_equal(drift_world.diary, "ids:1 ");
	assert_int_equal(state_of_pod(world), MOUNT_UNCERTAIN);
	expect_event("VolumeMountedOver", "a ext4 (/dev/sda) on it");
	turn(world);
	expect_calls(world, "commit ");
	want_no_more(world); /* nor is it unmounted with podvold's */
	turn(world);
	expect_calls(world, "commit ");
	want_data(world);

	detached(FOREIGN_VOLUMES);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	mounted_as(MANAGED);
	expect_event("VolumeRestored", "not by podvold");
}

static void test_a_mount_above_hides_it(void **state)
{
	struct agent_world *world = *state;

	add_other(FOREIGN_VOLUMES, "/pods/uid-1", "/");
	attached(FOREIGN_VOLUMES);
	run_jobs();
	expect_event("VolumeMountedOver", "on '/pods/uid-1'");
	detached(FOREIGN_VOLUMES);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

static void test_mounts_elsewhere_concern_nobody(void **state)
{
	struct agent_world *world = *state;

	add_other(FOREIGN_VOLUMES, "/pods/uid-1/data/below", "/");
	add_other(FOREIGN_VOLUMES + 1, "/pods/uid-2/data", "/");
	attached(FOREIGN_VOLUMES);
	run_jobs();
	assert_int_equal(fake_events.count, 0);
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
}

static void test_a_mount_that_is_gone_again_is_not_looked_at(void **state)
{
	add_other(FOREIGN_VOLUMES, PATH, "/other");
	attached_and_detached(FOREIGN_VOLUMES);
	run_jobs();
	assert_string_equal(drift_world.diary, "");
	attached(FOREIGN_VOLUMES + 1); /* others that follow are */
	run_jobs();
	assert_string_equal(drift_world.diary, "ids:1 ");
}

/* A thread saw it, and its end is reported before what the thread saw. */
static void test_a_mount_that_goes_while_it_is_looked_at(void **state)
{
	struct agent_world *world = *state;

	add_other(FOREIGN_VOLUMES, PATH, "/other");
	attached(FOREIGN_VOLUMES);
	detached(FOREIGN_VOLUMES);
	run_jobs();
	assert_string_equal(drift_world.diary, "ids:1 ");
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	assert_true(is_well());
}

/* ---- attributes ---- */

static void look_at_attributes(uint64_t attributes)
{
	drift_world.attributes = attributes;
	drift_world.watch.altered(drift_world.watch.userdata, true);
	run_jobs();
}

static void test_remounted_is_set_back(void **state)
{
	struct agent_world *world = *state;

	look_at_attributes(MOUNT_ATTR_NODEV);
	assert_true(is_well()); /* the first look says how it is to be */
	drift_world.diary[0] = '\0';
	look_at_attributes(MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY);
	assert_string_equal(drift_world.diary, "known:2 set-back:100:4 ");
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	assert_int_equal(fake_events.count, 2);
	assert_non_null(
		strstr(fake_events.list[0].text, "was rw,nodev and was remounted ro,nodev"));
	expect_event("VolumeRestored", "after");
}

static void test_each_look_asks_for_the_next_change(void **state)
{
	unsigned int before = drift_world.rearmed;

	look_at_attributes(0);
	assert_int_equal(drift_world.rearmed, before + 1);
	look_at_attributes(0);
	assert_int_equal(drift_world.rearmed, before + 2);
}

/* Beside thousands the loop is not to walk over those that are as they were. */
static void test_the_loop_gets_what_changed(void **state)
{
	look_at_attributes(MOUNT_ATTR_NODEV);
	assert_int_equal(drift_world.returned, 2); /* nothing was known of its attributes */
	look_at_attributes(MOUNT_ATTR_NODEV);
	assert_int_equal(drift_world.returned, 1); /* the root directory's */
	look_at_attributes(MOUNT_ATTR_RDONLY);
	assert_int_equal(drift_world.returned, 2);
	look_at_attributes(MOUNT_ATTR_NODEV); /* as it is to be, but the loop has to learn it */
	assert_int_equal(drift_world.returned, 2);
	look_at_attributes(MOUNT_ATTR_NODEV);
	assert_int_equal(drift_world.returned, 1);
}

/* The last of those that are compared takes the place of one that goes. */
static void test_a_mount_that_goes_leaves_the_others_known(void **state)
{
	struct agent_world *world = *state;
	struct drift *drift = drift_world.drift;

	world->config.drift.heals = false;
	other_mounted_as(MANAGED + 1);
	look_at_attributes(0);
	assert_int_equal(drift->known_count, 2);
	drift_forget(drift, VOLUME, POD);
	assert_int_equal(drift->known_count, 1);
	look_at_attributes(MOUNT_ATTR_RDONLY);
	assert_int_equal(drift->seen[DRIFT_REMOUNTED], 1);
	assert_string_equal(drift_index_by_id(drift, MANAGED + 1)->path, OTHER_PATH);
	drift_forget(drift, "other", "uid-2");
	look_at_attributes(0);
	assert_int_equal(drift_world.returned, 1);
}

static void test_not_set_back_stays_told(void **state)
{
	look_at_attributes(0);
	drift_world.set_back_error = -EPERM;
	look_at_attributes(MOUNT_ATTR_RDONLY);
	assert_false(is_well());
	look_at_attributes(MOUNT_ATTR_RDONLY); /* reported once */
	assert_int_equal(fake_events.count, 1);
	look_at_attributes(0);
	expect_event("VolumeRestored", "not by podvold");
	assert_true(is_well());
}

static void test_reported_remount_stays(void **state)
{
	struct agent_world *world = *state;

	look_at_attributes(0);
	world->config.drift.heals = false;
	drift_world.diary[0] = '\0';
	look_at_attributes(MOUNT_ATTR_NOSUID);
	assert_string_equal(drift_world.diary, "known:2 ");
	expect_event("VolumeRemounted", "drift: report");
}

/* ---- how often ---- */

/* Three times at once, then later and later: the fourth waits half a second. */
static void test_a_fight_is_slowed_down(void **state)
{
	struct agent_world *world = *state;

	for (uint64_t id = MANAGED; id < MANAGED + 3; id++) {
		detached(id);
		turn(world);
		expect_calls(world, "commit submit:publish(1) ");
		mounted_as(id + 1);
		turn(world);
	}
	detached(MANAGED + 3);
	turn(world);
	expect_calls(world, "commit ");
	assert_false(is_well());
}

/* ---- looks ---- */

static void test_lost_events_are_a_look_at_everything(void **state)
{
	struct agent_world *world = *state;

	drift_world.fate = MOUNT_GONE;
	drift_world.watch.lost(drift_world.watch.userdata);
	run_jobs();
	assert_string_equal(drift_world.diary, "all:2 ");
	expect_event("VolumeUnmounted", "by an unknown process");
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

static void test_a_cover_that_no_look_finds_is_gone(void **state)
{
	struct agent_world *world = *state;

	add_other(FOREIGN_VOLUMES, PATH, "/other");
	drift_world.watch.lost(drift_world.watch.userdata);
	run_jobs();
	expect_event("VolumeMountedOver", "since an unknown process mounted");
	drift_world.other_count = 0;
	drift_world.watch.lost(drift_world.watch.userdata);
	run_jobs();
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

/* A set-up found the foreign mount on the source, too, and took it for what it wanted. */
static void test_a_cover_that_was_taken_for_ours(void **state)
{
	struct agent_world *world = *state;

	add_other(FOREIGN_VOLUMES, PATH, "/other");
	attached(FOREIGN_VOLUMES);
	run_jobs();
	mounted_as(FOREIGN_VOLUMES);
	detached(FOREIGN_VOLUMES);
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
}

/* The mount that is just being made is not in the table yet. */
static void test_a_look_during_a_step_is_done_again(void **state)
{
	const struct operation_view running = {
		.unique_name = VOLUME, .pod_uid = POD, .kind = STEP_PUBLISH, .running = true
	};
	struct agent_world *world = *state;

	world->views = &running;
	world->view_count = 1;
	add_other(MANAGED + 1, PATH, "/data");
	drift_world.watch.lost(drift_world.watch.userdata);
	run_jobs();
	assert_int_equal(fake_events.count, 0);
	world->view_count = 0;
	assert_true(drift_world.drift->check_again);
	mounted_as(MANAGED + 1);
	assert_false(drift_world.drift->check_again);
	assert_true(is_well());
}

/* Before Linux 6.8 the number of a mount that went is the next one's, whose step may end first. */
static void test_a_number_that_is_used_again(void **state)
{
	struct agent_world *world = *state;
	const struct operation_view running = {
		.unique_name = VOLUME, .pod_uid = POD, .kind = STEP_UNPUBLISH, .running = true
	};

	world->views = &running;
	world->view_count = 1;
	other_mounted_as(MANAGED);
	world->view_count = 0;
	drift_forget(drift_world.drift, VOLUME, POD);
	add_other(MANAGED, OTHER_PATH, "/data"); /* a look that does not know it */
	drift_world.watch.lost(drift_world.watch.userdata);
	run_jobs();
	assert_int_equal(drift_world.drift->seen[DRIFT_COVERED], 0);
	drift_forget(drift_world.drift, "other", "uid-2");
}

static void test_a_look_that_fails_changes_nothing(void **state)
{
	struct agent_world *world = *state;

	drift_world.fate = MOUNT_GONE;
	drift_world.look_error = -ENOMEM;
	drift_world.watch.lost(drift_world.watch.userdata);
	run_jobs();
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
	assert_int_equal(fake_events.count, 0);
}

/* ---- the root directory ---- */

static void test_nothing_begins_while_the_root_is_away(void **state)
{
	struct agent_world *world = *state;

	drift_world.root_anew_id = ROOT_ID + 1;
	detached(ROOT_ID);
	detached(MANAGED);
	turn(world);
	expect_calls(world, "commit ");
	run_jobs();
	assert_string_equal(drift_world.diary, "root ");
	turn(world);
	expect_calls(world, "commit submit:publish(1) ");
	detached(ROOT_ID); /* of before */
	assert_false(drift_world.drift->root_lost);
	detached(ROOT_ID + 1);
	assert_true(drift_world.drift->root_lost);
}

static void test_metrics(void **state)
{
	cleanup_free char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	detached(MANAGED);
	mounted_as(MANAGED + 1);
	moved(MANAGED + 1);
	drift_print_metrics(drift_world.drift, file);
	assert_int_equal(fclose(file), 0);
	assert_non_null(strstr(text, "podvol_drift_total{kind=\"unmounted\"} 1\n"));
	assert_non_null(strstr(text, "podvol_drift_total{kind=\"moved\"} 1\n"));
	assert_non_null(strstr(text, "podvol_drift_mended_total{kind=\"unmounted\"} 1\n"));
	assert_non_null(strstr(text, "podvol_drift_mended_total{kind=\"moved\"} 0\n"));
	assert_non_null(strstr(text, "podvol_mount_events_own_total 5\n"));
}

int main(void)
{
#define MOUNTED(test) cmocka_unit_test_setup_teardown(test, set_up_mounted, tear_down_drift)
	const struct CMUnitTest tests[] = {
		MOUNTED(test_unmounted_is_published_again),
		MOUNTED(test_moved_is_published_again),
		MOUNTED(test_a_teardown_is_no_drift),
		MOUNTED(test_unmounted_during_a_step_is_seen_after_it),
		MOUNTED(test_unmounted_during_another_step_is_seen_at_once),
		MOUNTED(test_what_was_taken_down_is_known_no_more),
		MOUNTED(test_policy_report_changes_nothing),
		MOUNTED(test_a_foreign_volume_s_mount_on_top),
		MOUNTED(test_a_mount_above_hides_it),
		MOUNTED(test_mounts_elsewhere_concern_nobody),
		MOUNTED(test_a_mount_that_is_gone_again_is_not_looked_at),
		MOUNTED(test_a_mount_that_goes_while_it_is_looked_at),
		MOUNTED(test_each_look_asks_for_the_next_change),
		MOUNTED(test_remounted_is_set_back),
		MOUNTED(test_the_loop_gets_what_changed),
		MOUNTED(test_a_mount_that_goes_leaves_the_others_known),
		MOUNTED(test_not_set_back_stays_told),
		MOUNTED(test_reported_remount_stays),
		MOUNTED(test_a_fight_is_slowed_down),
		MOUNTED(test_lost_events_are_a_look_at_everything),
		MOUNTED(test_a_cover_that_no_look_finds_is_gone),
		MOUNTED(test_a_cover_that_was_taken_for_ours),
		MOUNTED(test_a_look_during_a_step_is_done_again),
		MOUNTED(test_a_number_that_is_used_again),
		MOUNTED(test_a_look_that_fails_changes_nothing),
		MOUNTED(test_nothing_begins_while_the_root_is_away),
		MOUNTED(test_metrics),
	};

	return cmocka_run_group_tests_name("drift", tests, NULL, NULL);
}
