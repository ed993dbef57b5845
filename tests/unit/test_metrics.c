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

static void test_nothing_happened(void **state)
{
	struct agent_world *world = *state;

	expect_line(world, "# TYPE storage_operation_duration_seconds histogram\n", true);
	expect_line(world, "# TYPE volume_manager_total_volumes gauge\n", true);
	expect_line(world, "{", false);
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
	expect_line(world, "actual_state_of_world", false);
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
		TEST(test_totals),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
