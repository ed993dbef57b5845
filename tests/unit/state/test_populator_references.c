/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_populator_references - volumes that are made from other objects follow their changes, and no
 * other volume is touched
 *
 * The plugin is made up: it takes configMap volumes, whose name says what they are made from.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "populator_world.h"

#include <string.h>

#define MOUNTS_FILES ", volumeMounts: [{name: conf, mountPath: /conf}]"
#define FILES(pod)   "example.com/files/uid-" pod "-conf "

int __real_plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
			   struct failure *reterr);
int __wrap_plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
			   struct failure *reterr);

static bool always(const struct volume_spec *spec, const struct object_finder *objects)
{
	return true;
}

/* Of the ConfigMap "conf", and in pods whose label says so of the pod itself. */
static int name_objects(const struct volume_spec *spec, const char *node_name,
			int (*visit)(const struct object_reference *reference, void *userdata),
			void *userdata)
{
	const struct object_meta *meta = &spec->pod->meta;
	int r = visit(&(struct object_reference){ KIND_CONFIG_MAP, meta->name_space, "conf" },
		      userdata);

	if (r == 0 && meta->labels.count > 0)
		r = visit(&(struct object_reference){ KIND_POD, meta->name_space, meta->name },
			  userdata);
	return r;
}

int __wrap_plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
			   struct failure *reterr)
{
	static const struct volume_plugin plugin = { .name = "example.com/files",
						     .requires_remount = always,
						     .references = name_objects };

	if (!spec->source || spec->source->source != SOURCE_CONFIG_MAP)
		return __real_plugin_for_spec(spec, ret, reterr);
	*ret = &plugin;
	return 0;
}

static void put_files_pod(struct populator_world *world, const char *name, const char *metadata,
			  const char *status)
{
	put_pod(world, name, metadata, MOUNTS_FILES, "{name: conf, configMap: {name: conf}}",
		status);
}

static void put_conf(struct populator_world *world, const char *name, const char *value)
{
	fake_store_put(&world->store,
		       "apiVersion: v1\nkind: ConfigMap\n"
		       "metadata: {name: %s, namespace: default, uid: uid-%s}\n"
		       "data: {key: %s}\n",
		       name, name, value);
}

static uint64_t generation(struct populator_world *world, const char *unique_name, const char *uid)
{
	const struct desired_volume *volume = desired_find(world->desired, unique_name);

	assert_non_null(volume);
	return desired_find_pod(volume, uid)->remount_generation;
}

static void expect_renewed(struct populator_world *world, const char *unique_names)
{
	assert_string_equal(world->renewed, unique_names);
	world->renewed[0] = '\0';
}

static void test_a_change_renews_the_volumes_made_from_it(void **state)
{
	struct populator_world *world = *state;

	put_files_pod(world, "a", "", "");
	put_files_pod(world, "b", "", "");
	put_pod(world, "c", "", ", volumeMounts: [{name: data, mountPath: /data}]",
		"{name: data, emptyDir: {}}", "");
	world->looks = 0;
	put_conf(world, "conf", "one");
	assert_int_equal(world->looks, 2);
	assert_int_equal(generation(world, "example.com/files/uid-a-conf", "uid-a"), 1);
	assert_int_equal(generation(world, "example.com/files/uid-b-conf", "uid-b"), 1);
	expect_renewed(world, FILES("a") FILES("b"));

	put_conf(world, "other", "one");
	assert_int_equal(world->looks, 2);
	expect_renewed(world, "");
}

static void test_an_object_that_goes_is_a_change(void **state)
{
	struct populator_world *world = *state;

	put_conf(world, "conf", "one");
	put_files_pod(world, "a", "", "");
	fake_store_delete(&world->store, KIND_CONFIG_MAP, "conf");
	expect_renewed(world, FILES("a"));
	expect_wants(world, "uid-a", FILES("a"));
}

static void test_a_pod_that_shows_itself_follows_its_own_changes(void **state)
{
	struct populator_world *world = *state;

	put_files_pod(world, "a", ", labels: {shows: self}", "");
	expect_renewed(world, FILES("a")); /* harmless: nothing of it ran yet */
	put_files_pod(world, "a", ", labels: {shows: self}", "phase: Running");
	expect_renewed(world, FILES("a"));
	put_files_pod(world, "b", "", "");
	put_files_pod(world, "b", "", "phase: Running");
	expect_renewed(world, "");
}

static void test_a_pod_that_went_follows_nothing(void **state)
{
	struct populator_world *world = *state;

	put_files_pod(world, "a", "", "");
	fake_store_delete(&world->store, KIND_POD, "a");
	world->looks = 0;
	put_conf(world, "conf", "one");
	assert_int_equal(world->looks, 0);
	expect_renewed(world, "");
}

static void test_a_full_pass_renews_what_may_have_been_missed(void **state)
{
	struct populator_world *world = *state;

	put_files_pod(world, "a", "", "");
	populator_full_pass(world->populator, 0);
	assert_int_equal(generation(world, "example.com/files/uid-a-conf", "uid-a"), 1);
}

/* A claim is followed while it is missing, too, and no volume is "made from" it. */
static void test_claims_are_followed_as_before(void **state)
{
	struct populator_world *world = *state;

	put_claim_pod(world, "a", "data");
	expect_wants(world, "uid-a", "");
	put_bound(world, "data", "pv");
	expect_wants(world, "uid-a", LOCAL "pv ");
	expect_renewed(world, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_change_renews_the_volumes_made_from_it,
						started_world, free_world),
		cmocka_unit_test_setup_teardown(test_an_object_that_goes_is_a_change, started_world,
						free_world),
		cmocka_unit_test_setup_teardown(
			test_a_pod_that_shows_itself_follows_its_own_changes, started_world,
			free_world),
		cmocka_unit_test_setup_teardown(test_a_pod_that_went_follows_nothing, started_world,
						free_world),
		cmocka_unit_test_setup_teardown(test_a_full_pass_renews_what_may_have_been_missed,
						started_world, free_world),
		cmocka_unit_test_setup_teardown(test_claims_are_followed_as_before, started_world,
						free_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
