/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_state_memory - the tables when any one allocation fails
 *
 * The same short story again and again, its first, second, third, ... allocation failing. After
 * each the tables agree with each other and with what the calls said, and everything is given back.
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

static unsigned long countdown; /* 0: nothing fails */
static bool has_failed;

static bool fails_now(void)
{
	if (countdown == 0 || --countdown > 0)
		return false;
	has_failed = true;
	return true;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_reallocarray(void *pointer, size_t count, size_t size);
void *__wrap_reallocarray(void *pointer, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *pointer, size_t count, size_t size)
{
	return fails_now() ? NULL : __real_reallocarray(pointer, count, size);
}

char *__wrap_strdup(const char *text)
{
	return fails_now() ? NULL : __real_strdup(text);
}

struct world {
	struct dirty_set *dirty;
	struct desired *desired;
	struct actual *actual;
	struct fake_pod a, b;
};

static const char *const volumes[] = { "fake/one", "fake/two", "fake/three" };

/* Either it is there as a whole, with its name in the index and in the dirty set, or not at all. */
static void expect_wanted(struct world *world, const char *volume, const struct fake_pod *pod,
			  int added)
{
	const struct desired_volume *want = desired_find(world->desired, volume);
	bool is_there = want && desired_find_pod(want, pod->object.meta.uid);
	bool is_indexed = false;
	const char *name;

	for (size_t i = 0; (name = desired_volume_of_pod(world->desired, pod->object.meta.uid, i));
	     i++)
		is_indexed = is_indexed || strcmp(name, volume) == 0;
	assert_int_equal(is_there, added >= 0);
	assert_int_equal(is_indexed, is_there);
	assert_true(!want || want->pods);
}

static void want_all(struct world *world, const struct fake_pod *pod)
{
	struct volume_spec spec = { .name = "data", .pod = &pod->object };

	for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
		struct desired_want want = { .unique_name = volumes[i],
					     .plugin = &fake_plugin,
					     .device_mountable = true,
					     .spec = &spec,
					     .pod = &pod->object,
					     .outer_names = (const char *[]){ "data" },
					     .outer_name_count = 1 };

		expect_wanted(world, volumes[i], pod, desired_add(world->desired, &want));
	}
}

static void expect_have(struct world *world, const char *volume, const char *pod_uid, int begun)
{
	const struct actual_volume *have = actual_find(world->actual, volume);
	bool is_indexed = false;
	const char *name;

	for (size_t i = 0; (name = actual_volume_of_pod(world->actual, pod_uid, i)); i++)
		is_indexed = is_indexed || strcmp(name, volume) == 0;
	assert_int_equal(have && actual_find_pod(have, pod_uid), begun >= 0);
	assert_int_equal(is_indexed, begun >= 0);
	assert_true(!have || have->pods);
}

static void mount_all(struct world *world, const char *pod_uid)
{
	for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
		struct actual_entry entry = { .unique_name = volumes[i],
					      .plugin = &fake_plugin,
					      .spec_name = "data",
					      .device_mountable = true,
					      .pod_uid = pod_uid,
					      .pod_key = "default/pod",
					      .outer_name = "data",
					      .path = "/path" };
		struct step_result result = { .kind = STEP_PUBLISH,
					      .unique_name = volumes[i],
					      .pod_uid = pod_uid,
					      .device_path = "/dev/sdb" };
		int begun = actual_begin(world->actual, &entry);

		expect_have(world, volumes[i], pod_uid, begun);
		if (begun < 0)
			continue;
		actual_apply(world->actual, &result);
		assert_int_equal(
			actual_find_pod(actual_find(world->actual, volumes[i]), pod_uid)->state,
			MOUNT_DONE);
		result.kind = STEP_STAGE;
		result.pod_uid = NULL;
		actual_apply(world->actual, &result);
	}
}

/* What changed is dirty, or everything is. */
static void expect_dirty(struct world *world)
{
	assert_true(dirty_count(world->dirty) == ARRAY_SIZE(volumes) ||
		    dirty_take_full_pass(world->dirty) ||
		    HASH_CNT(hh, desired_first(world->desired)) < ARRAY_SIZE(volumes));
}

static void reconcile_all(struct world *world)
{
	struct reconcile_conditions conditions = { .may_unmount = true };
	struct plan plan = { .count = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
		size_t count = plan.count;

		if (reconcile_volume(world->desired, world->actual, volumes[i], &conditions,
				     &plan) < 0)
			assert_int_equal(plan.count, count);
	}
	plan_done(&plan);
}

static void unmount_all(struct world *world, const struct fake_pod *pod)
{
	const char *pod_uid = pod->object.meta.uid;
	struct step_result result = { .kind = STEP_UNPUBLISH, .pod_uid = pod_uid };

	for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
		desired_remove(world->desired, volumes[i], pod_uid);
		result.unique_name = volumes[i];
		actual_apply(world->actual, &result);
	}
	assert_null(desired_volume_of_pod(world->desired, pod_uid, 0));
	assert_false(actual_pod_may_be_mounted(world->actual, pod_uid));
}

static void tell_story(struct world *world)
{
	want_all(world, &world->a);
	want_all(world, &world->b);
	(void) desired_add_error(world->desired, "b", "data", -ENOENT, "text");
	mount_all(world, "a");
	mount_all(world, "b");
	expect_dirty(world);
	reconcile_all(world);
	unmount_all(world, &world->a);
}

/* Returns whether an allocation failed. */
static bool run(unsigned long nth)
{
	struct world world = { .dirty = NULL };

	fake_references = 0;
	has_failed = false;
	fake_pod_init(&world.a, "a", "a");
	fake_pod_init(&world.b, "b", "b");
	assert_int_equal(dirty_set_new(NULL, NULL, &world.dirty), 0);
	assert_int_equal(desired_new(world.dirty, &world.desired), 0);
	assert_int_equal(actual_new(world.dirty, &world.actual), 0);

	countdown = nth;
	tell_story(&world);
	countdown = 0;

	desired_free(world.desired);
	actual_free(world.actual);
	dirty_set_free(world.dirty);
	assert_int_equal(fake_references, 0);
	return has_failed;
}

static void test_any_one_allocation_may_fail(void **state)
{
	unsigned long nth = 0;

	while (run(++nth))
		;
	assert_true(nth > 100); /* the story does allocate */
}

static void test_constructors_may_fail(void **state)
{
	struct dirty_set *dirty = NULL, *other;
	struct desired *desired;
	struct actual *actual;

	assert_int_equal(dirty_set_new(NULL, NULL, &dirty), 0);
	countdown = 1;
	assert_int_equal(dirty_set_new(NULL, NULL, &other), -ENOMEM);
	countdown = 1;
	assert_int_equal(desired_new(dirty, &desired), -ENOMEM);
	countdown = 1;
	assert_int_equal(actual_new(dirty, &actual), -ENOMEM);
	countdown = 0;
	dirty_set_free(dirty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_one_allocation_may_fail),
		cmocka_unit_test(test_constructors_may_fail),
	};

	return cmocka_run_group_tests_name("state_memory", tests, NULL, NULL);
}
