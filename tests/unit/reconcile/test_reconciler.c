/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reconciler - the promises of a plan, one test each, and what happens without memory
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/state/fake_objects.h"
#include "reconcile/reconcile.h"

#include <string.h>

#define VOLUME "example.com/fake/pv"

struct world {
	struct dirty_set *dirty;
	struct desired *desired;
	struct actual *actual;
	struct fake_pod a, b;
	struct fake_pv pv;
	struct holds *holds; /* NULL: none are known */
	struct plan plan;
};

void *__real_reallocarray(void *pointer, size_t count, size_t size);
void *__wrap_reallocarray(void *pointer, size_t count, size_t size);
static bool out_of_memory;
static unsigned int allocations;

void *__wrap_reallocarray(void *pointer, size_t count, size_t size)
{
	allocations++;
	return out_of_memory ? NULL : __real_reallocarray(pointer, count, size);
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	fake_pod_init(&world->a, "a", "uid-a");
	fake_pod_init(&world->b, "b", "uid-b");
	fake_pv_init(&world->pv, "pv", ACCESS_READ_WRITE_ONCE);
	assert_int_equal(dirty_set_new(NULL, NULL, &world->dirty), 0);
	assert_int_equal(desired_new(world->dirty, &world->desired), 0);
	assert_int_equal(actual_new(world->dirty, &world->actual), 0);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	plan_done(&world->plan);
	holds_free(world->holds);
	desired_free(world->desired);
	actual_free(world->actual);
	dirty_set_free(world->dirty);
	free(world);
	return 0;
}

static void want(struct world *world, const struct fake_pod *pod)
{
	struct volume_spec spec = { .name = "pv", .pv = &world->pv.object };

	assert_true(desired_add(world->desired, &(struct desired_want){
							.unique_name = VOLUME,
							.plugin = &fake_plugin,
							.device_mountable = true,
							.spec = &spec,
							.pod = &pod->object,
							.outer_names = (const char *[]){ "data" },
							.outer_name_count = 1,
						}) >= 0);
}

static void begin(struct world *world, const char *pod_uid, const struct volume_plugin *plugin)
{
	struct actual_entry entry = { .unique_name = VOLUME,
				      .plugin_name = "example.com/fake",
				      .spec_name = "pv",
				      .plugin = plugin,
				      .device_mountable = true,
				      .pod_uid = pod_uid };

	if (plugin)
		assert_int_equal(actual_begin(world->actual, &entry), 0);
	else
		assert_int_equal(actual_add_rebuilt(world->actual, &entry, MOUNT_DONE, "", ""), 0);
}

static void ended(struct world *world, enum step_kind kind, const char *pod_uid, int error)
{
	actual_apply(world->actual, &(struct step_result){ .kind = kind,
							   .unique_name = VOLUME,
							   .pod_uid = pod_uid,
							   .error = error,
							   .error_class = ERROR_UNCERTAIN,
							   .touched = true });
}

static void have(struct world *world, const char *pod_uid)
{
	begin(world, pod_uid, &fake_plugin);
	ended(world, STEP_STAGE, NULL, 0);
	ended(world, STEP_PUBLISH, pod_uid, 0);
}

static void reconcile(struct world *world, bool may_unmount)
{
	struct reconcile_conditions conditions = { .may_unmount = may_unmount,
						   .holds = world->holds };

	world->plan.count = 0;
	assert_int_equal(
		reconcile_volume(world->desired, world->actual, VOLUME, &conditions, &world->plan),
		0);
}

static void expect_step(struct world *world, size_t index, enum step_kind kind, const char *pod_uid)
{
	assert_true(index < world->plan.count);
	assert_int_equal(world->plan.steps[index].kind, kind);
	assert_string_equal(world->plan.steps[index].unique_name, VOLUME);
	if (pod_uid)
		assert_string_equal(world->plan.steps[index].pod_uid, pod_uid);
	else
		assert_null(world->plan.steps[index].pod_uid);
}

static void expect_only(struct world *world, enum step_kind kind, const char *pod_uid)
{
	assert_int_equal(world->plan.count, 1);
	expect_step(world, 0, kind, pod_uid);
}

static void test_unpublish_comes_before_publish(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	want(world, &world->b);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 2);
	expect_step(world, 0, STEP_UNPUBLISH, "uid-a");
	expect_step(world, 1, STEP_PUBLISH, "uid-b");
}

static void test_single_pod_volume_waits_until_it_was_left(void **state)
{
	struct world *world = *state;

	world->pv.pv.access_modes = ACCESS_READ_WRITE_ONCE_POD;
	have(world, "uid-a");
	want(world, &world->b);
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-a");

	ended(world, STEP_UNPUBLISH, "uid-a", -EIO); /* uncertain: perhaps still there */
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-a");
	reconcile(world, false);
	assert_int_equal(world->plan.count, 0);

	ended(world, STEP_UNPUBLISH, "uid-a", 0);
	reconcile(world, true);
	expect_only(world, STEP_PUBLISH, "uid-b");
}

static void test_stage_comes_before_the_first_publish(void **state)
{
	struct world *world = *state;

	want(world, &world->a);
	want(world, &world->b);
	reconcile(world, true);
	expect_only(world, STEP_STAGE, NULL);
	assert_non_null(world->plan.steps[0].want);
	assert_non_null(world->plan.steps[0].want_pod);
	assert_null(world->plan.steps[0].have);

	begin(world, NULL, &fake_plugin);
	ended(world, STEP_STAGE, NULL, -EIO);
	reconcile(world, true);
	expect_only(world, STEP_STAGE, NULL); /* an uncertain device is staged again */

	ended(world, STEP_STAGE, NULL, 0);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 2);
	expect_step(world, 0, STEP_PUBLISH, "uid-a");
	expect_step(world, 1, STEP_PUBLISH, "uid-b");
	assert_string_equal(world->plan.steps[1].want_pod->pod_uid, "uid-b");
	assert_false(world->plan.steps[1].remount);
}

static void test_unstage_comes_after_the_last_unpublish(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-a");
	ended(world, STEP_UNPUBLISH, "uid-a", 0);
	reconcile(world, true);
	expect_only(world, STEP_UNSTAGE, NULL);
	ended(world, STEP_UNSTAGE, NULL, -EIO);
	reconcile(world, true);
	expect_only(world, STEP_UNSTAGE, NULL);
	ended(world, STEP_UNSTAGE, NULL, 0);
	reconcile(world, true);
	expect_only(world, STEP_FORGET, NULL);
	ended(world, STEP_FORGET, NULL, 0);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
}

static void test_uncertain_is_mounted_for_removal_and_absent_for_wants(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	begin(world, "uid-b", &fake_plugin);
	ended(world, STEP_PUBLISH, "uid-b", -EIO);
	want(world, &world->a);
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-b");

	want(world, &world->b);
	reconcile(world, true);
	expect_only(world, STEP_PUBLISH, "uid-b");
	assert_false(world->plan.steps[0].remount);
}

static void test_nothing_is_taken_down_before_all_pods_are_known(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	reconcile(world, false);
	assert_int_equal(world->plan.count, 0);
	ended(world, STEP_UNPUBLISH, "uid-a", 0);
	reconcile(world, false);
	assert_int_equal(world->plan.count, 0);
	want(world, &world->b);
	reconcile(world, false);
	expect_only(world, STEP_PUBLISH, "uid-b");
}

/* After a restart there is no earlier want to go by: what the pod has of a claim that is not bound
 * yet may be just that. */
static void test_nothing_is_taken_from_a_pod_that_is_not_understood(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	have(world, "uid-b");
	assert_int_equal(
		desired_add_error(world->desired, "uid-a", "data", -ENOENT, "is not bound"), 0);
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-b");
	ended(world, STEP_UNPUBLISH, "uid-b", 0);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
	desired_clear_errors(world->desired, "uid-a");
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-a");
}

static void hold(struct world *world, const char *pod_uid)
{
	struct hold fields = {
		.pod_uid = pod_uid,
		.pod_namespace = "default",
		.pod_name = "a",
		.container = "main",
		.cgroup = "",
	};
	const struct hold *added;

	if (!world->holds)
		assert_int_equal(holds_new(10, &world->holds), 0);
	assert_int_equal(holds_add(world->holds, &fields, &added, NULL), 0);
}

static void release(struct world *world, const char *pod_uid)
{
	holds_remove(world->holds, holds_of_pod(world->holds, pod_uid, 0)->id);
}

/* Neither the pod's mount nor the device under it, until the last hold went. */
static void test_nothing_is_taken_from_a_pod_that_is_held(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	hold(world, "uid-a");
	hold(world, "uid-a");
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
	release(world, "uid-a");
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
	release(world, "uid-a");
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-a");
}

/* What may be mounted is as good as mounted; what never was holds up nothing. */
static void test_hold_keeps_what_may_be_there_only(void **state)
{
	struct world *world = *state;

	begin(world, "uid-a", &fake_plugin);
	ended(world, STEP_STAGE, NULL, 0);
	hold(world, "uid-a");
	reconcile(world, true);
	expect_step(world, 0, STEP_FORGET, "uid-a");
	ended(world, STEP_PUBLISH, "uid-a", -ETIMEDOUT);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
}

static void test_held_pod_stops_no_other(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	hold(world, "uid-a");
	want(world, &world->b);
	reconcile(world, true);
	expect_only(world, STEP_PUBLISH, "uid-b");
	world->pv.pv.access_modes = ACCESS_READ_WRITE_ONCE_POD;
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
	hold(world, "uid-b");
	release(world, "uid-a");
	reconcile(world, true);
	expect_only(world, STEP_UNPUBLISH, "uid-a");
}

static void test_unknown_plugin_gets_no_steps(void **state)
{
	struct world *world = *state;

	begin(world, "uid-a", NULL);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
	want(world, &world->b);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
}

static void test_remount_is_a_publish_of_what_is_mounted(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	want(world, &world->a);
	reconcile(world, true);
	assert_int_equal(world->plan.count, 0);
	desired_find_pod(desired_find(world->desired, VOLUME), "uid-a")->remount_generation = 1;
	reconcile(world, true);
	expect_only(world, STEP_PUBLISH, "uid-a");
	assert_true(world->plan.steps[0].remount);
}

static void test_plan_is_appended_to_and_kept_without_memory(void **state)
{
	struct world *world = *state;
	struct reconcile_conditions conditions = { .may_unmount = true };
	unsigned int before;

	want(world, &world->a);
	reconcile(world, true);
	while (world->plan.count < world->plan.capacity)
		assert_int_equal(reconcile_volume(world->desired, world->actual, VOLUME,
						  &conditions, &world->plan),
				 0);

	before = allocations;
	out_of_memory = true;
	assert_int_equal(
		reconcile_volume(world->desired, world->actual, VOLUME, &conditions, &world->plan),
		-ENOMEM);
	out_of_memory = false;
	assert_int_equal(world->plan.count, world->plan.capacity);
	expect_step(world, world->plan.count - 1, STEP_STAGE, NULL);
	assert_int_equal(allocations, before + 1);
}

static void test_half_a_volume_never_enters_the_plan(void **state)
{
	struct world *world = *state;
	struct reconcile_conditions conditions = { .may_unmount = true };

	have(world, "uid-a");
	want(world, &world->b);
	reconcile(world, true);
	world->plan.count = world->plan.capacity - 1; /* room for the unpublish only */
	out_of_memory = true;
	assert_int_equal(
		reconcile_volume(world->desired, world->actual, VOLUME, &conditions, &world->plan),
		-ENOMEM);
	out_of_memory = false;
	assert_int_equal(world->plan.count, world->plan.capacity - 1);
}

static void test_a_look_allocates_only_for_the_plan(void **state)
{
	struct world *world = *state;

	have(world, "uid-a");
	want(world, &world->b);
	reconcile(world, true);
	allocations = 0;
	for (unsigned int i = 0; i < 100; i++)
		reconcile(world, true);
	assert_int_equal(allocations, 0);
	assert_int_equal(world->plan.count, 2);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_unpublish_comes_before_publish),
		WITH_WORLD(test_single_pod_volume_waits_until_it_was_left),
		WITH_WORLD(test_stage_comes_before_the_first_publish),
		WITH_WORLD(test_unstage_comes_after_the_last_unpublish),
		WITH_WORLD(test_uncertain_is_mounted_for_removal_and_absent_for_wants),
		WITH_WORLD(test_nothing_is_taken_down_before_all_pods_are_known),
		WITH_WORLD(test_nothing_is_taken_from_a_pod_that_is_not_understood),
		WITH_WORLD(test_nothing_is_taken_from_a_pod_that_is_held),
		WITH_WORLD(test_hold_keeps_what_may_be_there_only),
		WITH_WORLD(test_held_pod_stops_no_other),
		WITH_WORLD(test_unknown_plugin_gets_no_steps),
		WITH_WORLD(test_remount_is_a_publish_of_what_is_mounted),
		WITH_WORLD(test_plan_is_appended_to_and_kept_without_memory),
		WITH_WORLD(test_half_a_volume_never_enters_the_plan),
		WITH_WORLD(test_a_look_allocates_only_for_the_plan),
	};

	return cmocka_run_group_tests_name("reconciler", tests, NULL, NULL);
}
