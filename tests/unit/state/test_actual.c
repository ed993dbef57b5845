/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_actual - every cell of the table of results, and what leaves the table when
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "state/actual.h"

#include <string.h>

#define VOLUME "example.com/fake/pv"

static const struct volume_plugin plugin = { .name = "example.com/fake" };

struct world {
	struct dirty_set *dirty;
	struct actual *actual;
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

	assert_null(actual_free(world->actual));
	dirty_set_free(world->dirty);
	free(world);
	return 0;
}

static const struct actual_entry entry_a = {
	.unique_name = VOLUME,
	.plugin_name = "example.com/fake",
	.spec_name = "pv",
	.plugin = &plugin,
	.device_mountable = true,
	.pod_uid = "uid-a",
	.pod_key = "default/a",
	.outer_name = "data",
	.path = "/pods/uid-a/pv",
};

static struct actual_volume *volume_of(struct world *world)
{
	return actual_find(world->actual, VOLUME);
}

static struct actual_pod *pod_a(struct world *world)
{
	return actual_find_pod(volume_of(world), "uid-a");
}

static void apply(struct world *world, enum step_kind kind, int error, enum error_class class)
{
	actual_apply(world->actual,
		     &(struct step_result){
			     .kind = kind,
			     .unique_name = VOLUME,
			     .pod_uid = kind == STEP_STAGE || kind == STEP_UNSTAGE ? NULL : "uid-a",
			     .error = error,
			     .error_class = class,
			     .touched = true,
		     });
}

static void begin(struct world *world)
{
	assert_int_equal(actual_begin(world->actual, &entry_a), 0);
}

static void clear_dirty(struct world *world)
{
	char *name;

	while ((name = dirty_take(world->dirty)))
		free(name);
}

/* Bring the pod's entry, or the device, into a state by the ways that lead there. */
static void bring(struct world *world, enum step_kind kind, enum mount_state from)
{
	begin(world);
	if (from == MOUNT_UNCERTAIN)
		apply(world, kind, -EIO, ERROR_UNCERTAIN);
	if (from == MOUNT_DONE)
		apply(world, kind, 0, ERROR_FINAL);
}

struct cell {
	enum error_class error_class;
	enum mount_state before, after;
};

static const struct cell cells[] = {
	{ ERROR_UNCERTAIN, MOUNT_ABSENT, MOUNT_UNCERTAIN }, /* case 330 */
	{ ERROR_UNCERTAIN, MOUNT_UNCERTAIN, MOUNT_UNCERTAIN },
	{ ERROR_UNCERTAIN, MOUNT_DONE, MOUNT_DONE }, /* case 332 */
	{ ERROR_TRANSIENT, MOUNT_ABSENT, MOUNT_ABSENT },
	{ ERROR_TRANSIENT, MOUNT_UNCERTAIN, MOUNT_UNCERTAIN },
	{ ERROR_TRANSIENT, MOUNT_DONE, MOUNT_DONE },
	{ ERROR_FINAL, MOUNT_ABSENT, MOUNT_ABSENT }, /* case 331 */
	{ ERROR_FINAL, MOUNT_UNCERTAIN, MOUNT_ABSENT },
	{ ERROR_FINAL, MOUNT_DONE, MOUNT_DONE },
};

static void test_failed_publish_by_the_table(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		void *fresh = NULL;

		assert_int_equal(setup(&fresh), 0);
		bring(fresh, STEP_PUBLISH, cells[i].before);
		assert_int_equal(pod_a(fresh)->state, cells[i].before);
		apply(fresh, STEP_PUBLISH, -EIO, cells[i].error_class);
		assert_int_equal(pod_a(fresh)->state, cells[i].after);
		assert_int_equal(
			actual_pod_may_be_mounted(((struct world *) fresh)->actual, "uid-a"),
			cells[i].after != MOUNT_ABSENT);
		teardown(&fresh);
	}
}

static void test_failed_stage_by_the_table(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		void *fresh = NULL;

		assert_int_equal(setup(&fresh), 0);
		bring(fresh, STEP_STAGE, cells[i].before);
		assert_int_equal(volume_of(fresh)->device_state, cells[i].before);
		apply(fresh, STEP_STAGE, -EIO, cells[i].error_class);
		assert_int_equal(volume_of(fresh)->device_state, cells[i].after);
		assert_int_equal(pod_a(fresh)->state, MOUNT_ABSENT);
		teardown(&fresh);
	}
}

static void rebuild_entry(struct world *world)
{
	assert_int_equal(
		actual_add_rebuilt(world->actual, &entry_a, MOUNT_DONE, "/dev/loop7", "/global"),
		0);
}

/* case 356 */
static void test_rebuilt_entry_survives_a_final_error(void **state)
{
	struct world *world = *state;

	rebuild_entry(world);
	assert_int_equal(pod_a(world)->state, MOUNT_UNCERTAIN);
	assert_int_equal(volume_of(world)->device_state, MOUNT_UNCERTAIN);
	assert_int_equal(dirty_count(world->dirty), 1);

	begin(world);
	apply(world, STEP_STAGE, -EIO, ERROR_FINAL);
	apply(world, STEP_PUBLISH, -EIO, ERROR_FINAL);
	assert_int_equal(pod_a(world)->state, MOUNT_UNCERTAIN);
	assert_int_equal(volume_of(world)->device_state, MOUNT_UNCERTAIN);
	assert_true(actual_pod_may_be_mounted(world->actual, "uid-a"));
}

/* It was ended early after the driver had said OK, perhaps; then it is wanted again. */
static void test_set_up_that_was_ended_early_survives_a_final_error(void **state)
{
	struct world *world = *state;

	begin(world);
	apply(world, STEP_STAGE, -ECANCELED, ERROR_UNCERTAIN);
	apply(world, STEP_PUBLISH, -ECANCELED, ERROR_UNCERTAIN);
	apply(world, STEP_STAGE, -EIO, ERROR_FINAL);
	apply(world, STEP_PUBLISH, -EIO, ERROR_FINAL);
	assert_int_equal(pod_a(world)->state, MOUNT_UNCERTAIN);
	assert_int_equal(volume_of(world)->device_state, MOUNT_UNCERTAIN);

	/* Once it is known to be there it is like any other. */
	apply(world, STEP_STAGE, 0, 0);
	apply(world, STEP_PUBLISH, 0, 0);
	assert_false(pod_a(world)->may_be_left);
	assert_false(volume_of(world)->device_may_be_left);
}

/* case 357 */
static void test_rebuilt_entry_that_was_mounted_again_is_like_any_other(void **state)
{
	struct world *world = *state;

	rebuild_entry(world);
	begin(world);
	apply(world, STEP_STAGE, 0, ERROR_FINAL);
	apply(world, STEP_PUBLISH, 0, ERROR_FINAL);
	assert_false(pod_a(world)->from_rebuild);
	assert_false(volume_of(world)->device_from_rebuild);
	apply(world, STEP_PUBLISH, -EIO, ERROR_FINAL);
	assert_int_equal(pod_a(world)->state, MOUNT_DONE);
}

/* A driver that could not unstage still has it staged, whatever it says to the next stage. */
static void test_what_could_not_be_torn_down_survives_a_final_error(void **state)
{
	struct world *world = *state;

	begin(world);
	apply(world, STEP_STAGE, 0, 0);
	apply(world, STEP_PUBLISH, 0, 0);
	apply(world, STEP_UNPUBLISH, -EBUSY, ERROR_FINAL);
	assert_int_equal(pod_a(world)->state, MOUNT_UNCERTAIN);
	apply(world, STEP_PUBLISH, -EIO, ERROR_FINAL);
	assert_int_equal(pod_a(world)->state, MOUNT_UNCERTAIN);

	apply(world, STEP_UNSTAGE, -EBUSY, ERROR_FINAL);
	apply(world, STEP_STAGE, -EIO, ERROR_FINAL);
	assert_int_equal(volume_of(world)->device_state, MOUNT_UNCERTAIN);
}

static void test_success_records_what_it_found(void **state)
{
	struct world *world = *state;
	struct actual_entry entry = entry_a;

	entry.remount_generation = 3;
	assert_int_equal(actual_begin(world->actual, &entry), 0);
	actual_apply(world->actual, &(struct step_result){ .kind = STEP_STAGE,
							   .unique_name = VOLUME,
							   .device_path = "/dev/loop7",
							   .device_mount_path = "/global" });
	actual_apply(world->actual, &(struct step_result){ .kind = STEP_PUBLISH,
							   .unique_name = VOLUME,
							   .pod_uid = "uid-a",
							   .device_path = "",
							   .mount_id = 42,
							   .took_usec = 99 });
	assert_string_equal(volume_of(world)->device_path, "/dev/loop7");
	assert_string_equal(volume_of(world)->device_mount_path, "/global");
	assert_int_equal(pod_a(world)->mount_id, 42);
	assert_int_equal(pod_a(world)->took_usec, 99);
	assert_int_equal(pod_a(world)->remount_generation, 3);
}

static void test_generation_counts_as_served_only_after_success(void **state)
{
	struct world *world = *state;
	struct actual_entry entry = entry_a;

	begin(world);
	apply(world, STEP_PUBLISH, 0, ERROR_FINAL);
	entry.remount_generation = 1;
	assert_int_equal(actual_begin(world->actual, &entry), 0);
	apply(world, STEP_PUBLISH, -EIO, ERROR_FINAL);
	assert_int_equal(pod_a(world)->remount_generation, 0);
	apply(world, STEP_PUBLISH, 0, ERROR_FINAL);
	assert_int_equal(pod_a(world)->remount_generation, 1);
}

static void test_unpublish_takes_the_pod_out(void **state)
{
	struct world *world = *state;

	bring(world, STEP_PUBLISH, MOUNT_DONE);
	clear_dirty(world);
	/* The strings may be the entry's own. */
	actual_apply(world->actual,
		     &(struct step_result){ .kind = STEP_UNPUBLISH,
					    .unique_name = volume_of(world)->unique_name,
					    .pod_uid = pod_a(world)->pod_uid });
	assert_null(pod_a(world));
	assert_non_null(volume_of(world));
	assert_int_equal(dirty_count(world->dirty), 1);
	assert_false(actual_pod_may_be_mounted(world->actual, "uid-a"));
}

static void test_failed_unpublish_is_uncertain_once_it_touched_anything(void **state)
{
	struct world *world = *state;

	bring(world, STEP_PUBLISH, MOUNT_DONE);
	actual_apply(world->actual, &(struct step_result){ .kind = STEP_UNPUBLISH,
							   .unique_name = VOLUME,
							   .pod_uid = "uid-a",
							   .error = -EIO });
	assert_int_equal(pod_a(world)->state, MOUNT_DONE);
	apply(world, STEP_UNPUBLISH, -EBUSY, ERROR_FINAL);
	assert_int_equal(pod_a(world)->state, MOUNT_UNCERTAIN);
}

/* case 334 */
static void test_refused_unstage_changes_no_state(void **state)
{
	struct world *world = *state;

	bring(world, STEP_STAGE, MOUNT_DONE);
	actual_apply(world->actual, &(struct step_result){ .kind = STEP_UNSTAGE,
							   .unique_name = VOLUME,
							   .error = -EBUSY });
	assert_int_equal(volume_of(world)->device_state, MOUNT_DONE);
	apply(world, STEP_UNSTAGE, -EBUSY, ERROR_FINAL);
	assert_int_equal(volume_of(world)->device_state, MOUNT_UNCERTAIN);
}

static void test_unstage_keeps_the_device_path_alone(void **state)
{
	struct world *world = *state;

	rebuild_entry(world);
	apply(world, STEP_UNSTAGE, 0, ERROR_FINAL);
	assert_int_equal(volume_of(world)->device_state, MOUNT_ABSENT);
	assert_false(volume_of(world)->device_from_rebuild);
	assert_string_equal(volume_of(world)->device_mount_path, "");
	assert_string_equal(volume_of(world)->device_path, "/dev/loop7");
}

static void test_forget_drops_the_pod_or_everything(void **state)
{
	struct world *world = *state;
	struct actual_entry entry_b = entry_a;

	begin(world);
	entry_b.pod_uid = "uid-b";
	assert_int_equal(actual_begin(world->actual, &entry_b), 0);
	assert_int_equal(dirty_count(world->dirty), 0); /* beginning is no news */
	apply(world, STEP_FORGET, 0, ERROR_FINAL);
	assert_null(pod_a(world));
	assert_int_equal(actual_count(world->actual), 1);
	actual_apply(world->actual,
		     &(struct step_result){ .kind = STEP_FORGET, .unique_name = VOLUME });
	assert_int_equal(actual_count(world->actual), 0);
	assert_null(actual_first(world->actual));
}

static void test_unknown_entries_are_passed_over(void **state)
{
	struct world *world = *state;

	for (int kind = 0; kind < STEP_KIND_COUNT; kind++)
		apply(world, (enum step_kind) kind, 0, ERROR_FINAL);
	assert_int_equal(dirty_count(world->dirty), 0);

	assert_int_equal(actual_begin(world->actual, &entry_a), 0);
	actual_apply(world->actual, &(struct step_result){ .kind = STEP_PUBLISH,
							   .unique_name = VOLUME,
							   .pod_uid = "uid-z" });
	assert_null(actual_find_pod(volume_of(world), "uid-z"));
	assert_int_equal(pod_a(world)->state, MOUNT_ABSENT);
}

static void test_begin_keeps_states_and_completes_texts(void **state)
{
	struct world *world = *state;
	struct actual_entry from_disk = { .unique_name = VOLUME,
					  .plugin_name = "example.com/fake",
					  .spec_name = "pv",
					  .pod_uid = "uid-a",
					  .pod_key = "",
					  .outer_name = "pv",
					  .path = "" };

	assert_int_equal(actual_add_rebuilt(world->actual, &from_disk, MOUNT_ABSENT, NULL, NULL),
			 0);
	assert_null(volume_of(world)->plugin);
	assert_int_equal(volume_of(world)->device_state, MOUNT_ABSENT);
	begin(world);
	assert_int_equal(pod_a(world)->state, MOUNT_UNCERTAIN);
	assert_true(pod_a(world)->from_rebuild);
	assert_ptr_equal(volume_of(world)->plugin, &plugin);
	assert_true(volume_of(world)->device_mountable);
	assert_string_equal(pod_a(world)->outer_name, "data");
	assert_string_equal(pod_a(world)->pod_key, "default/a");

	from_disk.outer_name = NULL;
	from_disk.path = NULL;
	from_disk.plugin = &plugin;
	assert_int_equal(actual_begin(world->actual, &from_disk), 0);
	assert_string_equal(pod_a(world)->outer_name, "data");
	assert_string_equal(pod_a(world)->path, "/pods/uid-a/pv");
}

static void test_device_row_after_its_pods_keeps_them(void **state)
{
	struct world *world = *state;
	struct actual_entry device = entry_a;

	device.pod_uid = NULL;
	assert_int_equal(actual_add_rebuilt(world->actual, &entry_a, MOUNT_ABSENT, "", ""), 0);
	assert_int_equal(
		actual_add_rebuilt(world->actual, &device, MOUNT_UNCERTAIN, "/dev/sdb", "/global"),
		0);
	assert_int_equal(actual_add_rebuilt(world->actual, &entry_a, MOUNT_ABSENT, "", ""), 0);
	assert_int_equal(volume_of(world)->device_state, MOUNT_UNCERTAIN);
	assert_string_equal(volume_of(world)->device_path, "/dev/sdb");
	assert_int_equal(HASH_COUNT(volume_of(world)->pods), 1);
}

/* The device that was staged once is still there, whatever the source is now. */
static void test_a_directory_where_a_device_was_staged(void **state)
{
	struct world *world = *state;

	rebuild_entry(world);
	assert_false(volume_of(world)->staged_nothing);
	apply(world, STEP_STAGE, 0, ERROR_FINAL);
	assert_int_equal(volume_of(world)->device_state, MOUNT_DONE);
	assert_false(volume_of(world)->staged_nothing);
}

static void test_a_directory_from_the_beginning(void **state)
{
	struct world *world = *state;

	bring(world, STEP_STAGE, MOUNT_DONE);
	assert_true(volume_of(world)->staged_nothing);
	apply(world, STEP_STAGE, 0, ERROR_FINAL);
	assert_true(volume_of(world)->staged_nothing);
}

/* case 363 */
static void test_index_counts_a_pod_over_all_its_volumes(void **state)
{
	struct world *world = *state;
	struct actual_entry other = entry_a;

	other.unique_name = "example.com/fake/other";
	bring(world, STEP_PUBLISH, MOUNT_UNCERTAIN);
	assert_int_equal(actual_begin(world->actual, &other), 0);
	assert_true(actual_pod_may_be_mounted(world->actual, "uid-a"));
	apply(world, STEP_UNPUBLISH, 0, ERROR_FINAL);
	assert_false(actual_pod_may_be_mounted(world->actual, "uid-a"));

	actual_apply(world->actual, &(struct step_result){ .kind = STEP_PUBLISH,
							   .unique_name = other.unique_name,
							   .pod_uid = "uid-a" });
	assert_true(actual_pod_may_be_mounted(world->actual, "uid-a"));
	assert_false(actual_pod_may_be_mounted(world->actual, "uid-b"));
}

static void test_states_have_names(void **state)
{
	assert_string_equal(mount_state_name(MOUNT_ABSENT), "absent");
	assert_string_equal(mount_state_name(MOUNT_UNCERTAIN), "uncertain");
	assert_string_equal(mount_state_name(MOUNT_DONE), "mounted");
}

static void test_ten_thousand_volumes_are_linear(void **state)
{
	struct world *world = *state;
	struct actual_entry entry = entry_a;
	uint64_t began_usec = monotonic_usec();
	char name[32], pod_uid[32];

	entry.unique_name = name;
	entry.pod_uid = pod_uid;
	for (unsigned int i = 0; i < 10000; i++) {
		(void) snprintf(name, sizeof(name), "fake/%u", i);
		(void) snprintf(pod_uid, sizeof(pod_uid), "uid-%u", i);
		assert_int_equal(actual_begin(world->actual, &entry), 0);
		actual_apply(world->actual, &(struct step_result){ .kind = STEP_PUBLISH,
								   .unique_name = name,
								   .pod_uid = pod_uid });
	}
	assert_int_equal(actual_count(world->actual), 10000);
	/* Milliseconds; a quadratic table takes seconds. */
	assert_true(monotonic_usec() - began_usec < 20 * USEC_PER_SEC);
}

/* What was only begun or uncertain already stays what it is. */
static void test_doubt_makes_mounted_uncertain(void **state)
{
	struct world *world = *state;
	struct actual_volume *volume;

	assert_int_equal(actual_begin(world->actual, &entry_a), 0);
	actual_doubt(world->actual, VOLUME, "uid-a", false);
	volume = volume_of(world);
	assert_int_equal(actual_find_pod(volume, "uid-a")->state, MOUNT_ABSENT);
	actual_apply(
		world->actual,
		&(struct step_result){ .kind = STEP_STAGE, .unique_name = VOLUME, .mount_id = 70 });
	actual_apply(world->actual, &(struct step_result){ .kind = STEP_PUBLISH,
							   .unique_name = VOLUME,
							   .pod_uid = "uid-a",
							   .mount_id = 71 });
	assert_int_equal(volume->device_mount_id, 70);
	assert_int_equal(actual_find_pod(volume, "uid-a")->mount_id, 71);
	free(dirty_take(world->dirty));

	actual_doubt(world->actual, VOLUME, "uid-a", false);
	assert_int_equal(actual_find_pod(volume, "uid-a")->state, MOUNT_UNCERTAIN);
	assert_int_equal(volume->device_state, MOUNT_DONE);
	assert_int_equal(dirty_count(world->dirty), 1);
	actual_doubt(world->actual, VOLUME, NULL, false);
	assert_int_equal(volume->device_state, MOUNT_UNCERTAIN);
	actual_doubt(world->actual, "unknown", NULL, false);
}

/* A failed mount of what is hidden proves nothing of what lies below. */
static void test_what_was_hidden_may_be_left(void **state)
{
	const struct step_result mounted = { .kind = STEP_PUBLISH,
					     .unique_name = VOLUME,
					     .pod_uid = "uid-a" };
	struct step_result failed = mounted;
	struct world *world = *state;

	failed.error = -ENOENT;
	failed.error_class = ERROR_FINAL;
	assert_int_equal(actual_begin(world->actual, &entry_a), 0);
	for (int may_be_left = 0; may_be_left < 2; may_be_left++) {
		actual_apply(world->actual, &mounted);
		actual_doubt(world->actual, VOLUME, "uid-a", may_be_left);
		actual_apply(world->actual, &failed);
		assert_int_equal(actual_find_pod(volume_of(world), "uid-a")->state,
				 may_be_left ? MOUNT_UNCERTAIN : MOUNT_ABSENT);
	}
	actual_apply(world->actual,
		     &(struct step_result){ .kind = STEP_STAGE, .unique_name = VOLUME });
	actual_doubt(world->actual, VOLUME, NULL, true);
	actual_apply(world->actual, &(struct step_result){ .kind = STEP_STAGE,
							   .unique_name = VOLUME,
							   .error = -ENOENT,
							   .error_class = ERROR_FINAL });
	assert_int_equal(volume_of(world)->device_state, MOUNT_UNCERTAIN);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_publish_by_the_table),
		cmocka_unit_test(test_failed_stage_by_the_table),
		WITH_WORLD(test_rebuilt_entry_survives_a_final_error),
		WITH_WORLD(test_set_up_that_was_ended_early_survives_a_final_error),
		WITH_WORLD(test_rebuilt_entry_that_was_mounted_again_is_like_any_other),
		WITH_WORLD(test_what_could_not_be_torn_down_survives_a_final_error),
		WITH_WORLD(test_success_records_what_it_found),
		WITH_WORLD(test_generation_counts_as_served_only_after_success),
		WITH_WORLD(test_unpublish_takes_the_pod_out),
		WITH_WORLD(test_failed_unpublish_is_uncertain_once_it_touched_anything),
		WITH_WORLD(test_refused_unstage_changes_no_state),
		WITH_WORLD(test_unstage_keeps_the_device_path_alone),
		WITH_WORLD(test_forget_drops_the_pod_or_everything),
		WITH_WORLD(test_unknown_entries_are_passed_over),
		WITH_WORLD(test_doubt_makes_mounted_uncertain),
		WITH_WORLD(test_what_was_hidden_may_be_left),
		WITH_WORLD(test_begin_keeps_states_and_completes_texts),
		WITH_WORLD(test_device_row_after_its_pods_keeps_them),
		WITH_WORLD(test_a_directory_where_a_device_was_staged),
		WITH_WORLD(test_a_directory_from_the_beginning),
		WITH_WORLD(test_index_counts_a_pod_over_all_its_volumes),
		WITH_WORLD(test_states_have_names),
		WITH_WORLD(test_ten_thousand_volumes_are_linear),
	};

	return cmocka_run_group_tests_name("actual", tests, NULL, NULL);
}
