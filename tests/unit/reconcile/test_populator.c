/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_populator - which pods want something, when they are looked at again, and when it ends
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/state/populator_world.h"
#include "reconcile/reconcile.h"

#include <string.h>

#define EMPTY_DIR(pod, volume) "kubernetes.io/empty-dir/uid-" pod "-" volume " "
#define MOUNTS_DATA            ", volumeMounts: [{name: data, mountPath: /data}]"
#define DELETED                ", deletionTimestamp: '2024-01-01T00:00:00Z', finalizers: [example.com/x]"

static bool remounts; /* then every plugin asks for remounts */

int __real_plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
			   struct failure *reterr);
int __wrap_plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
			   struct failure *reterr);

static bool always(const struct volume_spec *spec, const struct object_finder *objects)
{
	return remounts;
}

int __wrap_plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
			   struct failure *reterr)
{
	static const struct volume_plugin plugin = { .name = "example.com/remount",
						     .requires_remount = always };

	if (!remounts)
		return __real_plugin_for_spec(spec, ret, reterr);
	*ret = &plugin;
	return 0;
}

static void put_scratch_pod(struct populator_world *world, const char *name, const char *metadata,
			    const char *status)
{
	put_pod(world, name, metadata, MOUNTS_DATA, "{name: data, emptyDir: {}}", status);
}

/* case 308 */
static void test_volume_that_no_container_uses_is_passed_over(void **state)
{
	struct populator_world *world = *state;

	put_pod(world, "a", "", MOUNTS_DATA,
		"{name: data, emptyDir: {}}, {name: idle, emptyDir: {}},"
		"{name: lost, persistentVolumeClaim: {claimName: missing}}",
		"");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
	expect_error(world, "uid-a", NULL);
}

/* case 309 */
static void test_init_and_ephemeral_containers_use_volumes_too(void **state)
{
	struct populator_world *world = *state;

	fake_store_put(&world->store,
		       "apiVersion: v1\n"
		       "kind: Pod\n"
		       "metadata: {name: a, namespace: default, uid: uid-a}\n"
		       "spec:\n"
		       "  containers: [{name: main, image: none}]\n"
		       "  initContainers:\n"
		       "  - {name: first, image: none,"
		       " volumeMounts: [{name: one, mountPath: /one}]}\n"
		       "  ephemeralContainers:\n"
		       "  - {name: later, image: none,"
		       " volumeMounts: [{name: two, mountPath: /two}]}\n"
		       "  volumes: [{name: one, emptyDir: {}}, {name: two, emptyDir: {}}]\n");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "one") EMPTY_DIR("a", "two"));
}

static void test_inline_volume_is_a_want_of_its_pod(void **state)
{
	struct populator_world *world = *state;
	const struct desired_volume *volume;
	const struct desired_pod *pod;

	world->now_usec = 5;
	put_scratch_pod(world, "a", "", "");
	volume = desired_first(world->desired);
	pod = desired_find_pod(volume, "uid-a");
	assert_string_equal(volume->plugin->name, "kubernetes.io/empty-dir");
	assert_false(volume->device_mountable);
	assert_int_equal(pod->outer_name_count, 1);
	assert_string_equal(pod->outer_names[0], "data");
	assert_string_equal(pod->spec.name, "data");
	assert_ptr_equal(pod->spec.pod, pod->pod);
	assert_int_equal(pod->spec.source->source, SOURCE_EMPTY_DIR);
	assert_null(pod->spec.pv);
	assert_int_equal(pod->requested_usec, 5);
	assert_int_equal(dirty_count(world->dirty), 1);
	assert_int_equal(world->looks, 1);
}

/* One want under all its names, those that no container uses excepted. */
static void test_volumes_of_one_claim_are_names_of_one_want(void **state)
{
	struct populator_world *world = *state;
	const struct desired_pod *pod;

	put_bound(world, "c", "pv");
	for (unsigned int i = 0; i < 2; i++) { /* and once more: a refresh */
		put_pod(world, "a", "",
			", volumeMounts: [{name: data, mountPath: /a}, {name: copy, mountPath: /b},"
			" {name: scratch, mountPath: /c}]",
			"{name: copy, persistentVolumeClaim: {claimName: c}},"
			"{name: idle, persistentVolumeClaim: {claimName: c}},"
			"{name: scratch, emptyDir: {}},"
			"{name: data, persistentVolumeClaim: {claimName: c}}",
			"");
		expect_wants(world, "uid-a", LOCAL "pv " EMPTY_DIR("a", "scratch"));
		expect_error(world, "uid-a", NULL);
		pod = desired_find_pod(desired_find(world->desired, LOCAL "pv"), "uid-a");
		assert_int_equal(pod->outer_name_count, 2);
		assert_string_equal(pod->outer_names[0], "copy");
		assert_string_equal(pod->outer_names[1], "data");
	}
}

static void test_pods_of_other_nodes_are_passed_over(void **state)
{
	struct populator_world *world = *state;
	static const char pod[] = "apiVersion: v1\n"
				  "kind: Pod\n"
				  "metadata: {name: a, namespace: default, uid: uid-a}\n"
				  "spec:\n"
				  "  nodeName: '%s'\n"
				  "  containers: [{name: main, image: none,"
				  " volumeMounts: [{name: data, mountPath: /data}]}]\n"
				  "  volumes: [{name: data, emptyDir: {}}]\n";

	fake_store_put(&world->store, pod, "there");
	expect_wants(world, "uid-a", "");
	assert_int_equal(world->looks, 0);
	fake_store_put(&world->store, pod, "here");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
	fake_store_put(&world->store, pod, "there");
	expect_wants(world, "uid-a", "");
	fake_store_put(&world->store, pod, "");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
}

/* case 317, a difference: there is no time to wait for, and the retry comes with the claim. */
static void test_one_failing_volume_does_not_keep_the_other(void **state)
{
	struct populator_world *world = *state;

	put_pod(world, "a", "",
		", volumeMounts: [{name: lost, mountPath: /lost}, {name: data, mountPath: /data}]",
		"{name: lost, persistentVolumeClaim: {claimName: claim}},"
		"{name: data, emptyDir: {}}",
		"");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
	expect_error(world, "uid-a",
		     "error processing PVC default/claim: failed to fetch PVC from API server: "
		     "persistentvolumeclaims \"claim\" not found");
	assert_string_equal(desired_errors(world->desired, "uid-a")->volumes[0], "lost");

	/* Not after a time, but as soon as what was missing is there. */
	put_bound(world, "claim", "pv");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data") LOCAL "pv ");
	expect_error(world, "uid-a", NULL);
}

/* case 318, a difference: looked at again with the next change, not only for the next wait. */
static void test_failure_later_takes_nothing_away(void **state)
{
	struct populator_world *world = *state;

	put_bound(world, "claim", "pv");
	put_claim_pod(world, "a", "claim");
	expect_wants(world, "uid-a", LOCAL "pv ");

	fake_store_delete(&world->store, KIND_PERSISTENT_VOLUME, "pv");
	expect_wants(world, "uid-a", LOCAL "pv ");
	expect_error(world, "uid-a",
		     "error processing PVC default/claim: failed to fetch PV pv from API server: "
		     "persistentvolumes \"pv\" not found");
	put_pv(world, "pv", "claim", "Filesystem");
	expect_error(world, "uid-a", NULL);
}

static void test_claim_leads_to_its_pods_only(void **state)
{
	struct populator_world *world = *state;

	put_claim_pod(world, "a", "one");
	put_claim_pod(world, "b", "two");
	put_claim_pod(world, "c", "one");
	put_pv(world, "pv", "one", "Filesystem");
	world->looks = 0;
	put_claim(world, "one", "pv");
	assert_int_equal(world->looks, 2);
	expect_wants(world, "uid-a", LOCAL "pv ");
	expect_wants(world, "uid-b", "");
	expect_wants(world, "uid-c", LOCAL "pv ");

	put_claim(world, "three", "elsewhere");
	assert_int_equal(world->looks, 2);
	fake_store_delete(&world->store, KIND_POD, "c");
	world->looks = 0;
	put_claim(world, "one", "pv");
	assert_int_equal(world->looks, 1);
}

static void test_pv_leads_to_pods_of_its_claim(void **state)
{
	struct populator_world *world = *state;

	put_claim_pod(world, "a", "one");
	put_claim_pod(world, "b", "two");
	put_claim(world, "one", "pv");
	put_claim(world, "two", "pv");
	world->looks = 0;
	put_pv(world, "pv", "one", "Filesystem");
	assert_int_equal(world->looks, 1);
	expect_wants(world, "uid-a", LOCAL "pv ");

	/* Both sides have to know when it goes from one claim to the other. */
	world->looks = 0;
	put_pv(world, "pv", "two", "Filesystem");
	assert_int_equal(world->looks, 2);
	expect_wants(world, "uid-b", LOCAL "pv ");
	expect_error(world, "uid-a",
		     "error processing PVC default/one: found PV object pv but its "
		     "pv.Spec.ClaimRef.UID uid-two does not point to claim.UID uid-one");
}

static void test_two_volumes_of_one_claim_are_one_want(void **state)
{
	struct populator_world *world = *state;

	put_bound(world, "claim", "pv");
	put_pod(world, "a", "",
		", volumeMounts: [{name: one, mountPath: /one}, {name: two, mountPath: /two}]",
		"{name: one, persistentVolumeClaim: {claimName: claim}},"
		"{name: two, persistentVolumeClaim: {claimName: claim}}",
		"");
	expect_wants(world, "uid-a", LOCAL "pv ");
	fake_store_delete(&world->store, KIND_POD, "a");
	assert_int_equal(HASH_CNT(hh, desired_first(world->desired)), 0);
	world->looks = 0;
	put_claim(world, "claim", "pv");
	assert_int_equal(world->looks, 0);
}

/* case 319 */
static void test_terminating_pod_gets_nothing_new(void **state)
{
	struct populator_world *world = *state;

	put_scratch_pod(world, "a", DELETED, "");
	expect_wants(world, "uid-a", "");
}

static void test_terminating_pod_keeps_what_it_has(void **state)
{
	struct populator_world *world = *state;

	put_scratch_pod(world, "a", "", "");
	put_scratch_pod(world, "a", DELETED, "");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
	put_scratch_pod(world, "a", DELETED,
			"containerStatuses: [{name: main, state: {terminated: {exitCode: 0}}}]");
	expect_wants(world, "uid-a", "");
}

/* case 320 */
static void test_terminating_pod_is_served_at_start(void **state)
{
	struct populator_world *world = *state;

	world->store.listener = NULL;
	put_scratch_pod(world, "a", DELETED, "");
	put_scratch_pod(world, "b", DELETED, "phase: Succeeded");
	populator_full_pass(world->populator, 0);
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
	expect_wants(world, "uid-b", "");
}

static void test_terminating_pod_with_mounts_is_served(void **state)
{
	struct populator_world *world = *state;
	struct actual_entry entry = { .unique_name = "kubernetes.io/empty-dir/uid-a-data",
				      .plugin_name = "kubernetes.io/empty-dir",
				      .pod_uid = "uid-a" };

	assert_int_equal(actual_add_rebuilt(world->actual, &entry, MOUNT_ABSENT, "", ""), 0);
	put_scratch_pod(world, "a", DELETED, "");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
}

/* case 321, a difference: an entry of the actual state exists from before a step starts, so that a
 * want without one has nothing under way and need not be kept. */
static void test_finished_pod_wants_nothing(void **state)
{
	static const char *const statuses[] = { "phase: Succeeded", "phase: Failed" };
	struct populator_world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		put_scratch_pod(world, "a", "", "phase: Running");
		expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
		put_scratch_pod(world, "a", "", statuses[i]);
		expect_wants(world, "uid-a", "");
	}
}

static void test_pod_between_two_runs_keeps_its_volumes(void **state)
{
	struct populator_world *world = *state;

	put_scratch_pod(world, "a", "", "phase: Running");
	put_scratch_pod(world, "a", "",
			"phase: Running, containerStatuses: [{name: main, state: {terminated:"
			" {exitCode: 1}}}]");
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
}

static void mount_as_wanted(struct populator_world *world, const char *unique_name)
{
	struct actual_entry entry = { .unique_name = unique_name,
				      .plugin = desired_find(world->desired, unique_name)->plugin,
				      .spec_name = "data",
				      .pod_uid = "uid-a" };
	struct step_result result = { .kind = STEP_PUBLISH,
				      .unique_name = unique_name,
				      .pod_uid = "uid-a" };

	assert_int_equal(actual_begin(world->actual, &entry), 0);
	actual_apply(world->actual, &result);
}

/* case 322 */
static void test_finished_pod_is_unmounted(void **state)
{
	static const char unique_name[] = "kubernetes.io/empty-dir/uid-a-data";
	struct reconcile_conditions conditions = { .may_unmount = true };
	struct populator_world *world = *state;
	struct plan plan = { .count = 0 };

	put_scratch_pod(world, "a", "", "phase: Running");
	mount_as_wanted(world, unique_name);
	put_scratch_pod(world, "a", "", "phase: Succeeded");
	expect_wants(world, "uid-a", "");
	assert_int_equal(
		reconcile_volume(world->desired, world->actual, unique_name, &conditions, &plan),
		0);
	assert_int_equal(plan.count, 1);
	assert_int_equal(plan.steps[0].kind, STEP_UNPUBLISH);
	plan_done(&plan);
}

static void test_pod_that_left_the_store_wants_nothing(void **state)
{
	struct populator_world *world = *state;

	put_scratch_pod(world, "a", "", "");
	put_claim_pod(world, "b", "missing");
	world->looks = 0;
	fake_store_delete(&world->store, KIND_POD, "a");
	fake_store_delete(&world->store, KIND_POD, "b");
	expect_wants(world, "uid-a", "");
	expect_error(world, "uid-b", NULL);
	assert_int_equal(world->looks, 2); /* those who wait have to know */
}

static void test_same_name_with_another_uid_is_another_pod(void **state)
{
	struct populator_world *world = *state;
	static const char pod[] = "apiVersion: v1\n"
				  "kind: Pod\n"
				  "metadata: {name: a, namespace: default, uid: uid-%s}\n"
				  "spec:\n"
				  "  containers: [{name: main, image: none,"
				  " volumeMounts: [{name: data, mountPath: /data}]}]\n"
				  "  volumes: [{name: data, emptyDir: {}}]\n";

	fake_store_put(&world->store, pod, "a");
	fake_store_put(&world->store, pod, "b");
	expect_wants(world, "uid-a", "");
	expect_wants(world, "uid-b", EMPTY_DIR("b", "data"));
}

/* What the test says of every pod that has nothing yet. */
static bool pods_wait;

static bool must_wait(void *userdata, const struct object *pod)
{
	return pods_wait;
}

static void test_pod_that_has_to_wait_gets_nothing_but_keeps_what_it_has(void **state)
{
	struct populator_world *world = *state;
	struct populator_options options = {
		.store = &world->store,
		.desired = world->desired,
		.actual = world->actual,
		.node_name = "node",
		.must_wait = must_wait,
	};

	populator_free(world->populator);
	assert_int_equal(populator_new(&options, &world->populator), 0);
	pods_wait = true;
	put_bound(world, "data", "pv");
	put_claim_pod(world, "web", "data");
	populator_full_pass(world->populator, 1);
	expect_wants(world, "uid-web", "");
	expect_error(world, "uid-web", NULL);

	pods_wait = false;
	populator_pod(world->populator, "default", "web", 2);
	expect_wants(world, "uid-web", LOCAL "pv ");
	pods_wait = true;
	populator_pod(world->populator, "default", "web", 3);
	expect_wants(world, "uid-web", LOCAL "pv ");
}

static void test_full_pass_finds_what_was_missed(void **state)
{
	struct populator_world *world = *state;

	put_scratch_pod(world, "a", "", "");
	put_scratch_pod(world, "b", "", "");
	world->store.listener = NULL;
	fake_store_delete(&world->store, KIND_POD, "a");
	put_scratch_pod(world, "c", "", "");
	populator_full_pass(world->populator, 0);
	expect_wants(world, "uid-a", "");
	expect_wants(world, "uid-b", EMPTY_DIR("b", "data"));
	expect_wants(world, "uid-c", EMPTY_DIR("c", "data"));
}

static void test_one_pod_is_looked_at_for_whoever_waits(void **state)
{
	struct populator_world *world = *state;

	world->store.listener = NULL;
	put_scratch_pod(world, "a", "", "");
	put_scratch_pod(world, "b", "", "");
	populator_pod(world->populator, "default", "a", 3);
	expect_wants(world, "uid-a", EMPTY_DIR("a", "data"));
	expect_wants(world, "uid-b", "");
	populator_pod(world->populator, "default", "unknown", 3);
	assert_int_equal(world->looks, 1);
}

static void test_only_a_wait_asks_for_a_remount(void **state)
{
	struct populator_world *world = *state;
	const struct desired_pod *pod;

	remounts = true;
	put_scratch_pod(world, "a", "", "");
	put_scratch_pod(world, "a", "", "phase: Running");
	pod = desired_first(world->desired)->pods;
	assert_int_equal(pod->remount_generation, 0);
	populator_pod(world->populator, "default", "a", 9);
	remounts = false;
	assert_int_equal(pod->remount_generation, 1);
	assert_int_equal(pod->requested_usec, 9);
}

int main(void)
{
#define AT_START(test) cmocka_unit_test_setup_teardown(test, new_world, free_world)
#define LATER(test)    cmocka_unit_test_setup_teardown(test, started_world, free_world)
	const struct CMUnitTest tests[] = {
		LATER(test_volume_that_no_container_uses_is_passed_over),
		LATER(test_init_and_ephemeral_containers_use_volumes_too),
		LATER(test_inline_volume_is_a_want_of_its_pod),
		LATER(test_volumes_of_one_claim_are_names_of_one_want),
		LATER(test_pods_of_other_nodes_are_passed_over),
		LATER(test_one_failing_volume_does_not_keep_the_other),
		LATER(test_failure_later_takes_nothing_away),
		LATER(test_claim_leads_to_its_pods_only),
		LATER(test_pv_leads_to_pods_of_its_claim),
		LATER(test_two_volumes_of_one_claim_are_one_want),
		LATER(test_terminating_pod_gets_nothing_new),
		LATER(test_terminating_pod_keeps_what_it_has),
		AT_START(test_terminating_pod_is_served_at_start),
		LATER(test_terminating_pod_with_mounts_is_served),
		LATER(test_finished_pod_wants_nothing),
		LATER(test_finished_pod_is_unmounted),
		LATER(test_pod_between_two_runs_keeps_its_volumes),
		LATER(test_pod_that_left_the_store_wants_nothing),
		LATER(test_same_name_with_another_uid_is_another_pod),
		LATER(test_pod_that_has_to_wait_gets_nothing_but_keeps_what_it_has),
		LATER(test_full_pass_finds_what_was_missed),
		LATER(test_one_pod_is_looked_at_for_whoever_waits),
		LATER(test_only_a_wait_asks_for_a_remount),
	};

	return cmocka_run_group_tests_name("populator", tests, NULL, NULL);
}
