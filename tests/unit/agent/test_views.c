/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_views - what the API shows of volumes and operations, and how a row explains itself
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata);

static const struct object *stored_pod;

int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	assert_int_equal(kind, KIND_POD);
	return visit(stored_pod, userdata);
}

static const struct cJSON *item_at(const struct cJSON *list, size_t which)
{
	return json_at(json_get(list, "items"), which);
}

static void expect_text(const struct cJSON *list, size_t which, const char *key, const char *text)
{
	assert_string_equal(json_string(json_get(item_at(list, which), key), "(none)"), text);
}

static void expect_bool(const struct cJSON *list, size_t which, const char *key, bool value)
{
	assert_int_equal(json_bool(json_get(item_at(list, which), key), !value), value);
}

static void expect_items(const struct cJSON *list, size_t count)
{
	assert_int_equal(json_count(json_get(list, "items")), count);
}

static void mount_it(struct agent_world *world)
{
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
}

static void test_volume_that_is_wanted_and_mounted(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *before = NULL, *after = NULL;

	want_data(world);
	before = agent_view_volumes(&world->agent, &world->pod.object);
	expect_items(before, 1);
	expect_text(before, 0, "state", "absent");
	expect_text(before, 0, "path", "");

	mount_it(world);
	after = agent_view_volumes(&world->agent, &world->pod.object);
	expect_items(after, 1);
	expect_text(after, 0, "pod", "default/web");
	expect_text(after, 0, "podUID", POD);
	expect_text(after, 0, "volume", "data");
	expect_text(after, 0, "uniqueName", VOLUME);
	expect_text(after, 0, "plugin", "example.com/fake");
	expect_text(after, 0, "source", "emptyDir");
	expect_text(after, 0, "path", "/pods/uid-1/data");
	expect_text(after, 0, "state", "mounted");
	expect_text(after, 0, "step", "(none)"); /* nothing runs */
	expect_bool(after, 0, "wanted", true);
	expect_bool(after, 0, "readOnly", false);
}

static void test_a_row_for_each_name(void **state)
{
	static const char *const names[] = { "data", "copy" };
	struct agent_world *world = *state;
	cleanup_json struct cJSON *of_pod = NULL, *by_word = NULL, *left = NULL;

	want(world, names, 2);
	mount_it(world);
	of_pod = agent_view_volumes(&world->agent, &world->pod.object);
	expect_items(of_pod, 2);
	for (size_t i = 0; i < 2; i++) {
		expect_text(of_pod, i, "volume", names[i]);
		expect_text(of_pod, i, "uniqueName", VOLUME);
		expect_text(of_pod, i, "state", "mounted");
	}
	by_word = agent_view_volume(&world->agent, VOLUME);
	expect_items(by_word, 2);

	want_no_more(world); /* what is left has one row: it is one mount */
	left = agent_view_volumes(&world->agent, &world->pod.object);
	expect_items(left, 1);
	expect_text(left, 0, "volume", "data");
}

static void test_volume_that_nobody_wants_any_more(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *list = NULL;

	want_data(world);
	mount_it(world);
	want_no_more(world);
	list = agent_view_volumes(&world->agent, &world->pod.object);
	expect_items(list, 1);
	expect_text(list, 0, "pod", "default/web");
	expect_text(list, 0, "state", "mounted");
	expect_text(list, 0, "source", "");
	expect_bool(list, 0, "wanted", false);
}

static void test_volume_by_any_of_its_words(void **state)
{
	static const struct {
		const char *word;
		size_t count;
	} rows[] = {
		{ VOLUME, 1 }, { "data", 1 }, { "/pods/uid-1/data", 1 }, { "fake", 0 }, { "", 0 },
	};
	struct agent_world *world = *state;

	want_data(world);
	mount_it(world);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup_json struct cJSON *list = agent_view_volume(&world->agent, rows[i].word);

		expect_items(list, rows[i].count);
	}
}

/* Until a step of it ends well, and then not any more. */
static void test_what_was_left_half_done_is_told(void **state)
{
	struct agent_world *world = *state;
	const struct actual_entry entry = { .unique_name = VOLUME,
					    .plugin_name = "example.com/fake",
					    .plugin = &world->plugin,
					    .spec_name = "data",
					    .pod_uid = POD,
					    .path = "/pods/uid-1/data",
					    .left = UNFINISHED_OWNERSHIP };
	cleanup_json struct cJSON *before = NULL, *after = NULL;

	assert_int_equal(actual_add_rebuilt(world->agent.actual, &entry, MOUNT_ABSENT, "", ""), 0);
	before = agent_view_volume(&world->agent, "data");
	expect_items(before, 1);
	expect_text(before, 0, "leftOver", unfinished_text(UNFINISHED_OWNERSHIP));
	want_data(world);
	mount_it(world);
	after = agent_view_volume(&world->agent, "data");
	expect_items(after, 1);
	expect_text(after, 0, "state", "mounted");
	assert_null(json_get(json_at(json_get(after, "items"), 0), "leftOver"));
}

static void test_device_that_no_pod_has(void **state)
{
	struct agent_world *world = *state;
	struct actual_entry entry = { .unique_name = VOLUME,
				      .plugin_name = "example.com/fake",
				      .plugin = &world->plugin,
				      .spec_name = "data",
				      .device_mountable = true };
	cleanup_json struct cJSON *whole = NULL, *half = NULL;

	assert_int_equal(actual_add_rebuilt(world->agent.actual, &entry, MOUNT_UNCERTAIN,
					    "/dev/sdb", "/mounts/data"),
			 0);
	whole = agent_view_volume(&world->agent, "data");
	expect_items(whole, 1);
	expect_text(whole, 0, "pod", "");
	expect_text(whole, 0, "state", "uncertain");
	expect_text(whole, 0, "device", "/dev/sdb");
	expect_text(whole, 0, "leftOver", "the device is set up, and no pod uses it");

	entry.left = UNFINISHED_FORMAT;
	assert_int_equal(actual_add_rebuilt(world->agent.actual, &entry, MOUNT_UNCERTAIN, "", ""),
			 0);
	half = agent_view_volume(&world->agent, "data");
	expect_text(half, 0, "leftOver", unfinished_text(UNFINISHED_FORMAT));
}

static void test_look_up_errors_are_rows(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *of_pod = NULL, *of_all = NULL;

	assert_int_equal(
		desired_add_error(world->agent.desired, POD, "lost", -ENOENT, "no such claim"), 0);
	want_data(world);
	of_pod = agent_view_volumes(&world->agent, &world->pod.object);
	expect_items(of_pod, 2);
	expect_text(of_pod, 1, "volume", "lost");
	expect_text(of_pod, 1, "step", "look_up");
	expect_text(of_pod, 1, "error", "no such claim");
	expect_text(of_pod, 1, "state", "absent");
	expect_bool(of_pod, 1, "wanted", true);

	stored_pod = &world->pod.object;
	of_all = agent_view_volumes(&world->agent, NULL);
	assert_true(json_equal(json_get(of_pod, "items"), json_get(of_all, "items")));
}

static const struct failure failure = { -ENOENT, "no such path" };

static struct operation_view backing_off(void)
{
	return (struct operation_view){ .unique_name = VOLUME,
					.pod_uid = POD,
					.name = "volume_mount",
					.stage = "open the source",
					.attempts = 3,
					.retry_usec = monotonic_usec() + 5000000,
					.failure = &failure };
}

static void test_operations(void **state)
{
	struct operation_view view = backing_off();
	struct agent_world *world = *state;
	cleanup_json struct cJSON *volumes = NULL, *operations = NULL;
	int64_t attempts = 0;

	want_data(world);
	turn(world);
	world->views = &view;
	world->view_count = 1;
	volumes = agent_view_volumes(&world->agent, &world->pod.object);
	expect_text(volumes, 0, "step", "volume_mount");
	expect_text(volumes, 0, "stage", "open the source");
	expect_text(volumes, 0, "error", "no such path");
	expect_text(volumes, 0, "since", "(none)"); /* 0 is no time */
	assert_non_null(strstr(json_string(json_get(item_at(volumes, 0), "nextRetry"), ""), "Z"));

	operations = agent_view_operations(&world->agent);
	expect_items(operations, 1);
	expect_text(operations, 0, "uniqueName", VOLUME);
	expect_text(operations, 0, "pod", "default/web");
	expect_text(operations, 0, "error", "no such path");
	expect_bool(operations, 0, "running", false);
	assert_true(json_int64(json_get(item_at(operations, 0), "attempts"), &attempts));
	assert_int_equal(attempts, 3);
}

static int explain(const struct volume_row *row, void *userdata)
{
	struct agent_world *world = userdata;
	struct failure why = { 0 };

	volume_row_explain(&world->agent.views.tables, row, &why);
	(void) snprintf(world->calls, sizeof(world->calls), "%.511s", why.text);
	return why.error;
}

static void expect_explained(struct agent_world *world, int error, const char *begin)
{
	assert_int_equal(volume_rows_of_pod(&world->agent.views.tables, POD, explain, world),
			 error);
	if (strncmp(world->calls, begin, strlen(begin)) != 0)
		fail_msg("'%s' does not begin with '%s'", world->calls, begin);
}

static void test_row_explains_itself(void **state)
{
	struct operation_view view = backing_off();
	struct agent_world *world = *state;

	want_data(world);
	expect_explained(world, -EINPROGRESS, "volume 'data': queued");

	world->views = &view;
	world->view_count = 1;
	expect_explained(world, -ENOENT,
			 "volume 'data': volume_mount failed at 'open the source': no such path; "
			 "attempt 3, failing for ");

	view.pod_uid = ""; /* of the whole volume: its device */
	view.running = true;
	view.name = "mount_device";
	view.since_usec = monotonic_usec();
	expect_explained(
		world, -EINPROGRESS,
		"volume 'data': mount_device is at 'open the source' since 0.0 s, attempt 4");
}

static const char *word_of(const struct agent_world *world)
{
	return volume_rows_word(&world->agent.views.tables, NULL, POD, NULL) ?: "none";
}

static void test_volumes_of_a_pod_in_a_word(void **state)
{
	struct operation_view view = backing_off();
	struct agent_world *world = *state;

	assert_string_equal(word_of(world), "none");
	want_data(world);
	assert_string_equal(word_of(world), "VolumesPending");
	world->views = &view;
	world->view_count = 1;
	assert_string_equal(word_of(world), "VolumesFailing");
	view.running = true;
	view.pace = PACE_STUCK;
	assert_string_equal(word_of(world), "VolumesStuck");
	assert_int_equal(desired_add_error(world->agent.desired, "other", "v", -EINPROGRESS, "e"),
			 0);
	assert_string_equal(volume_rows_word(&world->agent.views.tables, NULL, "other", NULL),
			    "VolumesPending");
}

static int count_until_three(const struct volume_row *row, void *userdata)
{
	return ++*(int *) userdata == 3 ? 3 : 0;
}

static void test_visitor_ends_the_walk(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct agent_world *world = *state;
	int visits = 0;

	want(world, names, 4);
	assert_int_equal(volume_rows_of_all(&world->agent.views.tables, count_until_three, &visits),
			 3);
	assert_int_equal(visits, 3);
	visits = 0;
	assert_int_equal(
		volume_rows_of_pod(&world->agent.views.tables, POD, count_until_three, &visits), 3);
	assert_int_equal(visits, 3);
}

static void test_version_names_the_node(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *view = NULL;

	world->config.node_name = (char[]){ "node" };
	world->agent.root.path = (char[]){ "/var/lib/podvol" };
	view = agent_view_version(&world->agent);
	assert_string_equal(json_string(json_get(view, "nodeName"), ""), "node");
	assert_string_equal(json_string(json_get(view, "rootDir"), ""), "/var/lib/podvol");
	assert_string_equal(json_string(json_get(view, "kubernetes"), ""), "v1.32.0");
}

static void test_no_manifests_is_an_empty_list(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *view = agent_view_manifests(&world->agent);

	expect_items(view, 0);
	assert_true(json_is_array(json_get(view, "items")));
	assert_null(agent_manifest_file_of(&world->agent, &world->pod.object));
}

#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, new_agent_world, free_agent_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(test_volume_that_is_wanted_and_mounted),
		WITH_AGENT(test_a_row_for_each_name),
		WITH_AGENT(test_volume_that_nobody_wants_any_more),
		WITH_AGENT(test_volume_by_any_of_its_words),
		WITH_AGENT(test_what_was_left_half_done_is_told),
		WITH_AGENT(test_device_that_no_pod_has),
		WITH_AGENT(test_look_up_errors_are_rows),
		WITH_AGENT(test_operations),
		WITH_AGENT(test_row_explains_itself),
		WITH_AGENT(test_volumes_of_a_pod_in_a_word),
		WITH_AGENT(test_visitor_ends_the_walk),
		WITH_AGENT(test_version_names_the_node),
		WITH_AGENT(test_no_manifests_is_an_empty_list),
	};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
