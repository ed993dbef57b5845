/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_choice - claims that name no volume and volumes that name no claim, in a real store
 *
 * Which volume is best is the matter of test_volume_match. clock_gettime() is interposed: a minute
 * passes with each look at the clock, so that what is made later is newer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "binder_world.h"

#include "base/cleanup.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int minutes;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);

	if (clock == CLOCK_REALTIME)
		ret->tv_sec += 60 * atomic_fetch_add(&minutes, 1);
	return r;
}

/* ---- a claim that names none, and volumes that name none ---- */

static void best_free_volume_is_chosen(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, CLAIM("", CLASS("fast"), ""));
	run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_string_equal(world->events, "c/ProvisioningFailed ");
	put(world, VOLUME("other", "", "", ""));
	run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	/* Why it is not has changed, and is said once. */
	assert_string_equal(world->events, "c/ProvisioningFailed c/ProvisioningFailed ");
	put(world, VOLUME("another", "", "", ""));
	run(world);
	assert_string_equal(world->events, "c/ProvisioningFailed c/ProvisioningFailed ");
	put(world, VOLUME("v", "", CLASS("fast"), ""));
	run(world);
	assert_bound(world, "v");
	/* The controller chose both ways. */
	assert_true(claim(world)->bound_by_controller);
	assert_true(volume(world, "v")->bound_by_controller);
	assert_int_equal(volume(world, "other")->phase, VOLUME_AVAILABLE);
}

static void put_claim(struct world *world, unsigned int number)
{
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c%u'"
			",'namespace':'ns'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
			"'requests':{'storage':'1Gi'}}}}",
			number);
	put(world, text);
}

static void put_volume(struct world *world, unsigned int number)
{
	char text[1024];

	(void) snprintf(text, sizeof(text), VOLUME("v%u", "", "", ""), number);
	put(world, text);
}

enum { MANY = 40 };

/* How many claims are bound; each has a volume of its own that says so, too. */
static size_t count_bound(struct world *world)
{
	bool is_taken[MANY] = { false };
	size_t count = 0;
	char name[16];

	for (unsigned int i = 0; i < MANY; i++) {
		const struct object *object;
		unsigned int number;

		(void) snprintf(name, sizeof(name), "c%u", i);
		object = get(world, KIND_PERSISTENT_VOLUME_CLAIM, name);
		if (object->claim->phase != CLAIM_BOUND)
			continue;
		assert_int_equal(sscanf(object->claim->volume_name, "v%u", &number), 1);
		assert_in_range(number, 0, MANY - 1);
		assert_false(is_taken[number]);
		is_taken[number] = true;
		assert_string_equal(volume(world, object->claim->volume_name)->claim_name, name);
		count++;
	}
	return count;
}

static void no_volume_goes_to_two_claims(void **state)
{
	struct world *world = *state;

	for (unsigned int i = 0; i < MANY; i++)
		put_claim(world, i);
	for (unsigned int i = 0; i < MANY / 2; i++)
		put_volume(world, i);
	start_and_run(world);
	assert_int_equal(count_bound(world), MANY / 2);
	/* The others wait for what comes. */
	for (unsigned int i = MANY / 2; i < MANY; i++)
		put_volume(world, i);
	run(world);
	assert_int_equal(count_bound(world), MANY);
}

/* The choice is refused, since the volume has changed; the next look decides on what it is now. */
static void volume_that_changed_meanwhile_is_looked_at_again(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		struct world world = { .binder = NULL };
		cleanup_object const struct object *changed =
			object_of(i == 0 ? VOLUME("v0", "", ",'mountOptions':['noatime']", "")
					 : VOLUME("v0", "", CLASS("gold"), ""));

		store_world_open(&world.store);
		put_volume(&world, 0);
		put_claim(&world, 0);
		/* Queued before the binder's own, which expects the version before. */
		assert_int_equal(store_update(world.store.store, changed, NULL, NULL, NULL), 0);
		start_and_run(&world);
		assert_int_equal(volume(&world, "v0")->phase,
				 i == 0 ? VOLUME_BOUND : VOLUME_AVAILABLE);
		assert_string_equal(world.events, i == 0 ? "" : "c0/FailedBinding ");
		world.binder = pv_binder_free(world.binder);
		store_world_close(&world.store);
	}
}

static void a_claim_without_class_gets_the_default_one(void **state)
{
	struct world *world = *state;

	put(world, CLASS_OBJECT("plain", "", "example.com/p"));
	put(world, CLASS_OBJECT("first", IS_DEFAULT, "example.com/p"));
	put(world, CLASS_OBJECT("new", IS_DEFAULT, "kubernetes.io/no-provisioner"));
	put(world, CLAIM("", "", ""));
	start_and_run(world);
	assert_string_equal(claim(world)->storage_class, "new");
	assert_string_equal(world->events, "c/ProvisioningFailed ");
	put(world, VOLUME("v", "", CLASS("new"), ""));
	run(world);
	assert_bound(world, "v");
}

static void default_class_is_for_claims_that_match_nothing_and_say_nothing(void **state)
{
	struct world *world = *state;

	start(world);
	put(world, VOLUME("v0", "", "", ""));
	put_claim(world, 0);
	put(world, CLAIM("", CLASS(""), ""));
	put_claim(world, 1);
	run(world);
	put(world, CLASS_OBJECT("late", IS_DEFAULT, "example.com/p"));
	run(world);
	/* Two of three had no volume, one of them wants none of a class. */
	assert_string_equal(claim(world)->storage_class, "");
	for (unsigned int i = 0; i < 2; i++) {
		const struct object *object =
			get(world, KIND_PERSISTENT_VOLUME_CLAIM, i == 0 ? "c0" : "c1");

		assert_string_equal(object->claim->storage_class,
				    object->claim->phase == CLAIM_BOUND ? "" : "late");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, binder_world_setup, binder_world_teardown)
		TEST(best_free_volume_is_chosen),
		TEST(no_volume_goes_to_two_claims),
		cmocka_unit_test(volume_that_changed_meanwhile_is_looked_at_again),
		TEST(a_claim_without_class_gets_the_default_one),
		TEST(default_class_is_for_claims_that_match_nothing_and_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
