/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rebuild - the ledger decides what is ours; directories alone are reported and become nothing
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "reconcile/reconcile.h"

#include <string.h>

#define PLUGIN "example.com/fake"

static const struct volume_plugin plugin = { .name = PLUGIN };

const struct volume_plugin *__wrap_plugin_by_name(const char *name);

const struct volume_plugin *__wrap_plugin_by_name(const char *name)
{
	return strcmp(name, PLUGIN) == 0 ? &plugin : NULL;
}

struct world {
	struct dirty_set *dirty;
	struct actual *actual;
	char reports[512];
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(dirty_set_new(NULL, NULL, &world->dirty), 0);
	assert_int_equal(actual_new(world->dirty, &world->actual), 0);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	actual_free(world->actual);
	dirty_set_free(world->dirty);
	free(world);
	return 0;
}

static void note(const struct found_volume *volume, enum rebuild_verdict verdict, void *userdata)
{
	static const char *const names[] = { [REBUILD_ADOPT] = "adopt",
					     [REBUILD_FOREIGN] = "foreign",
					     [REBUILD_UNKNOWN_PLUGIN] = "unknown" };
	struct world *world = userdata;
	size_t length = strlen(world->reports);

	(void) snprintf(world->reports + length, sizeof(world->reports) - length,
			"%s %s/%s/%s%s%s;", names[verdict], volume->pod_uid, volume->plugin_name,
			volume->volume_name, volume->block ? " block" : "",
			volume->is_mount_point ? " mounted" : "");
}

static struct ledger_row row(const char *plugin_name, const char *pod_uid)
{
	return (struct ledger_row){ .entry = { .unique_name = PLUGIN "/pv",
					       .plugin_name = plugin_name,
					       .spec_name = "pv",
					       .device_mountable = true,
					       .pod_uid = pod_uid,
					       .pod_key = "default/a",
					       .outer_name = "data",
					       .path = "/pods/a/pv" },
				    .state = MOUNT_DONE,
				    .device_path = "/dev/sdb",
				    .device_mount_path = "/global" };
}

static struct found_volume found(const char *pod_uid, const char *name)
{
	return (struct found_volume){ .pod_uid = pod_uid,
				      .plugin_name = PLUGIN,
				      .volume_name = name,
				      .is_mount_point = true };
}

static int rebuild_from(struct world *world, const struct ledger_row *rows, size_t row_count,
			struct found_volume *volumes, size_t volume_count)
{
	struct found_list list = { .volumes = volumes, .count = volume_count };

	return rebuild(world->actual, rows, row_count, &list, note, world);
}

/* case 348 */
static void test_known_volume_is_uncertain(void **state)
{
	struct world *world = *state;
	struct ledger_row rows[] = { row(PLUGIN, NULL), row(PLUGIN, "a") };
	struct found_volume volumes[] = { found("a", "pv") };
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	assert_int_equal(rebuild_from(world, rows, 2, volumes, 1), 2);
	assert_string_equal(world->reports, "");

	volume = actual_find(world->actual, PLUGIN "/pv");
	assert_ptr_equal(volume->plugin, &plugin);
	assert_int_equal(volume->device_state, MOUNT_UNCERTAIN);
	assert_true(volume->device_from_rebuild);
	assert_string_equal(volume->device_path, "/dev/sdb");
	assert_string_equal(volume->device_mount_path, "/global");
	pod = actual_find_pod(volume, "a");
	assert_int_equal(pod->state, MOUNT_UNCERTAIN);
	assert_true(pod->from_rebuild);
	assert_string_equal(pod->outer_name, "data");
	assert_string_equal(pod->path, "/pods/a/pv");
	assert_int_equal(dirty_count(world->dirty), 1);
}

static void test_intent_without_result_is_adopted(void **state)
{
	struct world *world = *state;
	struct ledger_row rows[] = { row(PLUGIN, NULL), row(PLUGIN, "a") };

	rows[0].state = rows[1].state = MOUNT_ABSENT;
	assert_int_equal(rebuild_from(world, rows, 2, NULL, 0), 2);
	assert_string_equal(world->reports, "adopt a/" PLUGIN "/pv;");
	assert_int_equal(actual_first(world->actual)->device_state, MOUNT_UNCERTAIN);
	assert_int_equal(actual_first(world->actual)->pods->state, MOUNT_UNCERTAIN);
}

static void test_volume_without_device_stays_without(void **state)
{
	struct world *world = *state;
	struct ledger_row rows[] = { row(PLUGIN, "a"), row(PLUGIN, "b") };
	struct found_volume volumes[] = { found("b", "pv"), found("a", "pv") };

	rows[0].entry.device_mountable = rows[1].entry.device_mountable = false;
	assert_int_equal(rebuild_from(world, rows, 2, volumes, 2), 2);
	assert_int_equal(actual_first(world->actual)->device_state, MOUNT_ABSENT);
	assert_int_equal(HASH_COUNT(actual_first(world->actual)->pods), 2);
}

static void test_directory_alone_is_foreign(void **state)
{
	struct world *world = *state;
	struct ledger_row rows[] = { row(PLUGIN, "a") };
	struct found_volume volumes[] = { found("z", "pv"), found("a", "pv"), found("a", "other") };

	assert_int_equal(rebuild_from(world, rows, 1, volumes, 3), 1);
	assert_string_equal(world->reports, "foreign a/" PLUGIN "/other mounted;"
					    "foreign z/" PLUGIN "/pv mounted;");
	assert_int_equal(actual_count(world->actual), 1);
	assert_false(actual_pod_may_be_mounted(world->actual, "z"));
}

static struct found_volume sub_paths(const char *pod_uid, const char *name)
{
	return (struct found_volume){
		.pod_uid = pod_uid, .plugin_name = "", .volume_name = name, .sub_paths = true
	};
}

static void test_sub_paths_belong_to_their_volume(void **state)
{
	struct world *world = *state;
	struct ledger_row rows[] = { row(PLUGIN, NULL), row(PLUGIN, "a") };
	struct found_volume volumes[] = { sub_paths("z", "pv"), sub_paths("a", "pv"),
					  found("a", "pv"), sub_paths("a", "other") };

	assert_int_equal(rebuild_from(world, rows, 2, volumes, 4), 2);
	assert_string_equal(world->reports, "foreign a//other;foreign z//pv;");
	assert_int_equal(actual_count(world->actual), 1);
}

static void test_block_and_filesystem_directories_are_apart(void **state)
{
	struct world *world = *state;
	struct ledger_row rows[] = { row(PLUGIN, "a") };
	struct found_volume volumes[] = { found("a", "pv") };

	rows[0].entry.block = true;
	assert_int_equal(rebuild_from(world, rows, 1, volumes, 1), 1);
	assert_string_equal(world->reports,
			    "adopt a/" PLUGIN "/pv block;foreign a/" PLUGIN "/pv mounted;");
	assert_true(actual_first(world->actual)->block);
}

/* case 353 */
static void test_unknown_plugin_is_seen_and_left_alone(void **state)
{
	struct world *world = *state;
	struct reconcile_conditions conditions = { .may_unmount = true };
	struct ledger_row rows[] = { row("example.com/gone", "a") };
	struct found_volume volumes[] = { found("a", "pv") };
	struct plan plan = { .count = 0 };
	struct desired *desired;

	volumes[0].plugin_name = "example.com/gone";
	assert_int_equal(rebuild_from(world, rows, 1, volumes, 1), 0);
	assert_string_equal(world->reports, "unknown a/example.com/gone/pv mounted;");
	assert_null(actual_first(world->actual)->plugin);
	assert_true(actual_pod_may_be_mounted(world->actual, "a"));

	assert_int_equal(desired_new(world->dirty, &desired), 0);
	assert_int_equal(reconcile_volume(desired, world->actual, PLUGIN "/pv", &conditions, &plan),
			 0);
	assert_int_equal(plan.count, 0);
	desired_free(desired);
}

static void test_nothing_known_nothing_found(void **state)
{
	struct world *world = *state;

	assert_int_equal(rebuild_from(world, NULL, 0, NULL, 0), 0);
	assert_string_equal(world->reports, "");
	assert_int_equal(actual_count(world->actual), 0);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_known_volume_is_uncertain),
		WITH_WORLD(test_intent_without_result_is_adopted),
		WITH_WORLD(test_volume_without_device_stays_without),
		WITH_WORLD(test_directory_alone_is_foreign),
		WITH_WORLD(test_sub_paths_belong_to_their_volume),
		WITH_WORLD(test_block_and_filesystem_directories_are_apart),
		WITH_WORLD(test_unknown_plugin_is_seen_and_left_alone),
		WITH_WORLD(test_nothing_known_nothing_found),
	};

	return cmocka_run_group_tests_name("rebuild", tests, NULL, NULL);
}
