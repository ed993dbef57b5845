/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_metrics - what ended steps are counted as, and the text that Prometheus reads
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "base/cleanup.h"
#include "build-config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERIES(suffix, name, status)                                                               \
	"storage_operation_duration_seconds" suffix "{migrated=\"false\",operation_name=\"" name   \
	"\",status=\"" status "\",volume_plugin=\"example.com/fake\""

static void publish(struct agent_world *world, int error)
{
	end_step(world, STEP_PUBLISH, "volume_mount", error, ERROR_FINAL);
}

static void expect_line(struct agent_world *world, const char *line, bool is_there)
{
	cleanup_free char *text = agent_metrics(&world->agent);

	assert_non_null(text);
	if ((strstr(text, line) != NULL) != is_there)
		fail_msg("%s%s in:\n%s", is_there ? "no " : "", line, text);
}

/* Every step of agent_world takes one and a half seconds. */
static void test_durations(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	publish(world, 0);
	publish(world, 0);
	publish(world, -EIO);
	expect_line(world, SERIES("_bucket", "volume_mount", "success") ",le=\"1\"} 0\n", true);
	expect_line(world, SERIES("_bucket", "volume_mount", "success") ",le=\"2.5\"} 2\n", true);
	expect_line(world, SERIES("_bucket", "volume_mount", "success") ",le=\"600\"} 2\n", true);
	expect_line(world, SERIES("_bucket", "volume_mount", "success") ",le=\"+Inf\"} 2\n", true);
	expect_line(world, SERIES("_sum", "volume_mount", "success") "} 3\n", true);
	expect_line(world, SERIES("_count", "volume_mount", "success") "} 2\n", true);
	expect_line(world, SERIES("_count", "volume_mount", "fail-unknown") "} 1\n", true);
}

static void test_each_operation_has_its_own(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	publish(world, 0);
	end_step(world, STEP_UNPUBLISH, "volume_unmount", -EBUSY, ERROR_FINAL);
	publish(world, -ECANCELED); /* broken off: no duration of anything */
	expect_line(world, SERIES("_count", "volume_mount", "success") "} 1\n", true);
	expect_line(world, SERIES("_count", "volume_unmount", "fail-unknown") "} 1\n", true);
	expect_line(world, SERIES("_count", "volume_mount", "fail-unknown"), false);
}

#define TROUBLE(state, count) "\npodvol_troubled_volumes{state=\"" state "\"} " count "\n"

static void test_nothing_happened(void **state)
{
	static const char *const troubles[] = { TROUBLE("stuck", "0"), TROUBLE("failing", "0"),
						TROUBLE("held", "0"), TROUBLE("pending", "0") };
	struct agent_world *world = *state;

	expect_line(world, "# TYPE storage_operation_duration_seconds histogram\n", true);
	expect_line(world, "# TYPE volume_manager_total_volumes gauge\n", true);
	expect_line(world, SERIES("_count", "volume_mount", "success"), false); /* no such volume */
	expect_line(world,
		    "volume_manager_total_volumes{plugin_name=\"kubernetes.io/local-volume\","
		    "state=\"actual_state_of_world\"} 0\n",
		    true);
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		expect_line(world, troubles[i], true);
	expect_line(world, "\npodvol_oldest_pending_seconds 0.000\n", true);
	expect_line(world, "\npodvol_unresolved_pods 0\n", true);
	expect_line(world, "\npodvol_holds 0\n", true);
	expect_line(world, "\npodvol_build_info{version=\"" PACKAGE_VERSION "\"} 1\n", true);
	expect_line(world, "podvol_ownership_walk_entries{", false);
	expect_line(world, "\npodvol_ownership_walks{state=\"running\"} 0\n", true);
	expect_line(world, "\npodvol_known_volumes 0\n", true);
	expect_line(world, "\npodvol_sync_loops_total 0\n", true);
}

#define OF_PLUGIN(plugin, labels, suffix)                                                          \
	"\nstorage_operation_duration_seconds" suffix "{migrated=\"false\"," labels                \
	",volume_plugin=\"" plugin "\"} 0\n"

#define OF_MOUNTS "{operation_name=\"overall_volume_mount\",plugin_name=\"kubernetes.io/csi\""

/* A rate over a series that begins with the first failure misses that one. */
static void test_mounts_of_each_plugin_are_zero_at_first(void **state)
{
	static const char *const zeros[] = {
		OF_PLUGIN("kubernetes.io/nfs",
			  "operation_name=\"volume_mount\",status=\"fail-unknown\"", "_count"),
		OF_PLUGIN("kubernetes.io/configmap",
			  "operation_name=\"volume_unmount\",status=\"success\"", "_sum"),
		"\nvolume_operation_total_seconds_bucket" OF_MOUNTS ",le=\"600\"} 0\n",
		"\nreconstruct_volume_operations_total 0\n",
		"\nreconstruct_volume_operations_errors_total 0\n",
		"\nforce_cleaned_failed_volume_operations_total 0\n",
		"\nforce_cleaned_failed_volume_operation_errors_total 0\n",
		"\npodvol_foreign_volumes 0\n",
	};
	struct agent_world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(zeros); i++)
		expect_line(world, zeros[i], true);
}

#define MOUNTED_AFTER(suffix)                                                                      \
	"\nvolume_operation_total_seconds" suffix                                                  \
	"{operation_name=\"overall_volume_mount\",plugin_name=\"example.com/fake\""

/* From the want to the mount, whatever failed between them. */
static void test_a_mount_counts_from_its_want(void **state)
{
	struct agent_world *world = *state;
	struct stage_report report = { .failure = { .error = 0 } };
	struct operation_ended ended = {
		.result = { .kind = STEP_PUBLISH, .unique_name = VOLUME, .error = -EIO },
		.name = "volume_mount",
		.report = &report,
		.ran_usec = 100000,
	};

	want_data(world);
	turn(world);
	metrics_note(world->agent.views.metrics, &ended);
	expect_line(world, MOUNTED_AFTER("_count"), false);
	ended.result.error = 0;
	ended.result.took_usec = 7000000;
	metrics_note(world->agent.views.metrics, &ended);
	expect_line(world, MOUNTED_AFTER("_count") "} 1\n", true);
	expect_line(world, MOUNTED_AFTER("_sum") "} 7\n", true);
	expect_line(world, MOUNTED_AFTER("_bucket") ",le=\"5\"} 0\n", true);
	expect_line(world, MOUNTED_AFTER("_bucket") ",le=\"10\"} 1\n", true);
	expect_line(world, SERIES("_sum", "volume_mount", "success") "} 0.1\n", true);
}

/* The ledger of this world has been written; its log is there as long as it is open. */
static void test_sizes_of_files(void **state)
{
	struct agent_world *world = *state;

	world->config.run_dir = world->directory;
	expect_line(world, "\npodvol_database_bytes{file=\"ledger.db\"} ", true);
	expect_line(world, "\npodvol_database_bytes{file=\"ledger.db\"} 0\n", false);
	expect_line(world, "NaN", false);
	world->config.run_dir = "/dev/null";
	expect_line(world, "\npodvol_database_bytes{file=\"ledger.db\"} NaN\n", true);
	world->config.run_dir = "/nonexistent";
	expect_line(world, "\npodvol_database_bytes{file=\"ledger.db\"} 0\n", true);
	world->config.run_dir = NULL;
}

static void test_a_wanted_volume_is_pending_until_it_is_mounted(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	expect_line(world, TROUBLE("pending", "1"), true);
	expect_line(world, "\npodvol_oldest_pending_seconds 0.000\n", false);
	turn(world);
	publish(world, 0);
	expect_line(world, TROUBLE("pending", "0"), true);
	expect_line(world, "\npodvol_oldest_pending_seconds 0.000\n", true);
}

static void test_turns_are_counted(void **state)
{
	struct agent_world *world = *state;

	turn(world);
	turn(world);
	expect_line(world, "\npodvol_sync_loops_total 2\n", true);
}

/* ---- changing the group ---- */

/* A publish that took 1.5 s, and in it a walk from 1 s to 1.3 s, or none. */
static void publish_with_walk(struct agent_world *world, uint64_t begun_usec, uint64_t ended_usec,
			      int error)
{
	struct ownership_progress progress = { .begun_usec = begun_usec, .ended_usec = ended_usec };
	struct stage_report report = { .failure = { error, "it broke" }, .progress = &progress };
	struct operation_ended ended = {
		.result = { .kind = STEP_PUBLISH, .unique_name = VOLUME, .error = error },
		.name = "volume_mount",
		.report = &report,
		.ran_usec = 1500000,
	};

	metrics_note(world->agent.views.metrics, &ended);
}

#define WALKED(suffix, status) SERIES(suffix, "volume_apply_access_control", status)

/* case 90, without an fsGroup or with nothing to do there is no walk, and it is not counted. */
static void test_only_a_walk_has_a_duration(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	publish_with_walk(world, 0, 0, 0);
	expect_line(world, SERIES("_count", "volume_mount", "success") "} 1\n", true);
	expect_line(world, "volume_apply_access_control", false);
	publish_with_walk(world, 1000000, 1300000, 0);
	expect_line(world, WALKED("_sum", "success") "} 0.3\n", true);
	expect_line(world, WALKED("_bucket", "success") ",le=\"0.25\"} 0\n", true);
	expect_line(world, WALKED("_bucket", "success") ",le=\"0.5\"} 1\n", true);
	publish_with_walk(world, 1000000, 1300000, -EIO);
	expect_line(world, WALKED("_count", "fail-unknown") "} 1\n", true);
	publish_with_walk(world, 1000000, 1300000, -ECANCELED);
	expect_line(world, WALKED("_count", "fail-unknown") "} 1\n", true);
	expect_line(world, WALKED("_count", "success") "} 1\n", true);
}

#define WALK_OF "{namespace=\"default\",pod=\"web\",volume=\"data\"} "

static void test_a_walk_under_way(void **state)
{
	struct agent_world *world = *state;
	struct ownership_progress progress = { .begun_usec = 1, .expected = 2000041 };
	struct operation_view view = {
		.unique_name = VOLUME, .pod_uid = POD, .running = true, .progress = &progress
	};

	progress.entries = 1200000;
	want_data(world);
	turn(world);
	world->views = &view;
	world->view_count = 1;
	expect_line(world, "podvol_ownership_walks{state=\"running\"} 1\n", true);
	expect_line(world, "podvol_ownership_walks{state=\"waiting\"} 0\n", true);
	expect_line(world, "podvol_ownership_walk_entries" WALK_OF "1200000\n", true);
	expect_line(world, "podvol_ownership_walk_entries_at_most" WALK_OF "2000041\n", true);
	expect_line(world, "podvol_ownership_walk_seconds" WALK_OF, true);
	view.waits_for_io_slot = true;
	expect_line(world, "podvol_ownership_walks{state=\"waiting\"} 1\n", true);
	expect_line(world, "podvol_ownership_walks{state=\"running\"} 0\n", true);

	progress.ended_usec = 2;
	expect_line(world, WALK_OF, false);
	progress.ended_usec = 0;
	view.running = false; /* it failed and waits for the next try */
	expect_line(world, WALK_OF, false);
}

/* However many walks there are, the text does not grow with them. */
static void test_walks_are_bounded(void **state)
{
	enum { SHOWN = 64, WALKS = 70 };
	struct agent_world *world = *state;
	struct ownership_progress progress = { .begun_usec = 1 };
	struct operation_view views[WALKS];
	size_t lines = 0;

	for (size_t i = 0; i < WALKS; i++)
		views[i] = (struct operation_view){ .unique_name = VOLUME,
						    .pod_uid = POD,
						    .running = true,
						    .progress = &progress };
	want_data(world);
	turn(world);
	world->views = views;
	world->view_count = WALKS;
	cleanup_free char *text = agent_metrics(&world->agent);

	assert_non_null(text);
	for (const char *at = text; (at = strstr(at, "walk_entries{")) != NULL; at++)
		lines++;
	assert_int_equal(lines, SHOWN);
	expect_line(world, "podvol_ownership_walks{state=\"running\"} 70\n", true);
}

/* By the plugins that are built in: a want for one, and no mount. */
static void test_totals(void **state)
{
	struct agent_world *world = *state;
	const struct volume_plugin *plugin = plugin_by_name("kubernetes.io/empty-dir");
	const struct volume_spec spec = { .name = "v", .pod = &world->pod.object };
	const struct desired_want want_one = { .unique_name = "empty/v",
					       .plugin = plugin,
					       .spec = &spec,
					       .pod = &world->pod.object,
					       .outer_names = (const char *[]){ "v" },
					       .outer_name_count = 1 };
	const struct actual_entry entry = { .unique_name = "empty/v",
					    .plugin_name = plugin->name,
					    .plugin = plugin,
					    .spec_name = "v",
					    .pod_uid = POD,
					    .pod_key = "default/web",
					    .outer_name = "v",
					    .path = "/v" };
	const struct step_result done = { .kind = STEP_PUBLISH,
					  .unique_name = "empty/v",
					  .pod_uid = POD };

	assert_int_equal(desired_add(world->agent.desired, &want_one), 1);
	expect_line(world,
		    "volume_manager_total_volumes{plugin_name=\"kubernetes.io/empty-dir\","
		    "state=\"desired_state_of_world\"} 1\n",
		    true);
	assert_int_equal(actual_begin(world->agent.actual, &entry), 0);
	expect_line(world,
		    "volume_manager_total_volumes{plugin_name=\"kubernetes.io/empty-dir\","
		    "state=\"actual_state_of_world\"} 0\n",
		    true);
	actual_apply(world->agent.actual, &done);
	expect_line(world,
		    "volume_manager_total_volumes{plugin_name=\"kubernetes.io/empty-dir\","
		    "state=\"actual_state_of_world\"} 1\n",
		    true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_agent_world, free_agent_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_durations),
		TEST(test_each_operation_has_its_own),
		TEST(test_nothing_happened),
		TEST(test_mounts_of_each_plugin_are_zero_at_first),
		TEST(test_a_mount_counts_from_its_want),
		TEST(test_sizes_of_files),
		TEST(test_only_a_walk_has_a_duration),
		TEST(test_a_wanted_volume_is_pending_until_it_is_mounted),
		TEST(test_turns_are_counted),
		TEST(test_a_walk_under_way),
		TEST(test_walks_are_bounded),
		TEST(test_totals),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
