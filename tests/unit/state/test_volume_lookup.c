/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_lookup - kubelet's checks of claims and PVs, in their order and with their texts
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "populator_world.h"

#include <string.h>

#define CLAIM                                                                                      \
	"apiVersion: v1\n"                                                                         \
	"kind: PersistentVolumeClaim\n"                                                            \
	"metadata: {name: claim, namespace: default, uid: uid-claim%s}\n"                          \
	"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}%s}\n"          \
	"status: {phase: %s}\n"
#define DELETED ", deletionTimestamp: '2024-01-01T00:00:00Z'"

static void test_bound_claim_is_a_want(void **state)
{
	struct populator_world *world = *state;
	const struct desired_volume *volume;
	const struct desired_pod *pod;

	put_bound(world, "claim", "pv");
	put_claim_pod(world, "a", "claim");
	expect_error(world, "uid-a", NULL);
	expect_wants(world, "uid-a", LOCAL "pv ");

	volume = desired_find(world->desired, LOCAL "pv");
	assert_true(volume->device_mountable);
	assert_false(volume->block);
	pod = desired_find_pod(volume, "uid-a");
	assert_string_equal(pod->spec.name, "pv");
	assert_string_equal(pod->spec.pv->meta.name, "pv");
	assert_null(pod->spec.source);
	assert_string_equal(pod->claim->meta.name, "claim");
	assert_string_equal(pod->outer_names[0], "data");
	assert_false(pod->spec.read_only);
}

static void test_read_only_is_that_of_the_claim_reference(void **state)
{
	struct populator_world *world = *state;

	put_bound(world, "claim", "pv");
	put_pod(world, "a", "", ", volumeMounts: [{name: data, mountPath: /data}]",
		"{name: data, persistentVolumeClaim: {claimName: claim, readOnly: true}}", "");
	put_pod(world, "b", "", ", volumeMounts: [{name: data, mountPath: /data, readOnly: true}]",
		"{name: data, persistentVolumeClaim: {claimName: claim}}", "");
	assert_true(desired_find_pod(desired_first(world->desired), "uid-a")->spec.read_only);
	assert_false(desired_find_pod(desired_first(world->desired), "uid-b")->spec.read_only);
}

static void expect_claim_error(struct populator_world *world, const char *text)
{
	char whole[512];

	(void) snprintf(whole, sizeof(whole), "error processing PVC default/claim: %s", text);
	expect_error(world, "uid-a", whole);
	expect_wants(world, "uid-a", "");
}

static void test_checks_in_their_order(void **state)
{
	struct populator_world *world = *state;

	put_claim_pod(world, "a", "claim");
	expect_claim_error(world, "failed to fetch PVC from API server: "
				  "persistentvolumeclaims \"claim\" not found");

	/* case 312 */
	fake_store_put(&world->store, CLAIM, DELETED ", finalizers: [example.com/other]", "",
		       "Pending");
	expect_claim_error(world, "PVC is being deleted");

	/* case 310 */
	fake_store_put(&world->store, CLAIM, "", "", "Pending");
	expect_claim_error(world, "PVC is not bound");

	fake_store_put(&world->store, CLAIM, "", "", "Bound");
	expect_claim_error(world, "PVC has empty pvc.Spec.VolumeName");

	fake_store_put(&world->store, CLAIM, ", annotations: {podvol.io/move-to: slow}",
		       ", volumeName: pv", "Bound");
	expect_error(world, "uid-a",
		     "waits for the move of claim 'default/claim' to StorageClass 'slow'");

	/* case 311 */
	fake_store_put(&world->store, CLAIM, DELETED ", finalizers: [kubernetes.io/pvc-protection]",
		       ", volumeName: pv", "Bound");
	expect_claim_error(world, "failed to fetch PV pv from API server: "
				  "persistentvolumes \"pv\" not found");

	fake_store_put(&world->store, "apiVersion: v1\n"
				      "kind: PersistentVolume\n"
				      "metadata: {name: pv, uid: uid-pv}\n"
				      "spec: {capacity: {storage: 1Gi}, hostPath: {path: /srv},"
				      " accessModes: [ReadWriteOnce]}\n");
	put_claim_pod(world, "a", "claim"); /* a PV without a claimRef leads nowhere */
	expect_claim_error(world, "found PV object pv but it has a nil pv.Spec.ClaimRef indicating "
				  "it is not yet bound to the claim");

	/* case 313 */
	fake_store_put(&world->store,
		       "apiVersion: v1\n"
		       "kind: PersistentVolume\n"
		       "metadata: {name: pv, uid: uid-pv}\n"
		       "spec: {capacity: {storage: 1Gi}, hostPath: {path: /srv},"
		       " accessModes: [ReadWriteOnce],"
		       " claimRef: {namespace: default, name: claim, uid: other}}\n");
	expect_claim_error(world, "found PV object pv but its pv.Spec.ClaimRef.UID other does not "
				  "point to claim.UID uid-claim");

	put_pv(world, "pv", "claim", "Filesystem");
	expect_error(world, "uid-a", NULL);
	expect_wants(world, "uid-a", LOCAL "pv ");
}

/* case 316 */
static void test_block_volume_cannot_be_mounted(void **state)
{
	struct populator_world *world = *state;

	put_claim(world, "claim", "pv");
	put_pv(world, "pv", "claim", "Block");
	put_claim_pod(world, "a", "claim");
	expect_error(world, "uid-a",
		     "volume data has volumeMode Block, but is specified in volumeMounts");
	expect_wants(world, "uid-a", "");
}

static void put_device_pod(struct populator_world *world)
{
	put_pod(world, "a", "", ", volumeDevices: [{name: data, devicePath: /dev/data}]",
		"{name: data, persistentVolumeClaim: {claimName: claim}}", "");
}

/* case 315 */
static void test_filesystem_cannot_be_a_device(void **state)
{
	struct populator_world *world = *state;

	put_bound(world, "claim", "pv");
	put_device_pod(world);
	expect_error(world, "uid-a",
		     "volume data has volumeMode Filesystem, but is specified in volumeDevices");
	expect_wants(world, "uid-a", "");
}

static void test_block_volume_is_a_device(void **state)
{
	struct populator_world *world = *state;

	put_claim(world, "claim", "pv");
	put_pv(world, "pv", "claim", "Block");
	put_device_pod(world);
	expect_error(world, "uid-a", NULL);
	expect_wants(world, "uid-a", LOCAL "pv ");
	assert_true(desired_first(world->desired)->block);
	assert_true(desired_first(world->desired)->pods->spec.block);
}

static void put_ephemeral(struct populator_world *world, const char *owner)
{
	fake_store_put(&world->store,
		       "apiVersion: v1\n"
		       "kind: PersistentVolumeClaim\n"
		       "metadata: {name: a-data, namespace: default, uid: uid-a-data,"
		       " ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: %s,"
		       " controller: true}]}\n"
		       "spec: {volumeName: pv, accessModes: [ReadWriteOnce],"
		       " resources: {requests: {storage: 1Gi}}}\n"
		       "status: {phase: Bound}\n",
		       owner);
}

/* case 314 */
static void test_ephemeral_claim_belongs_to_its_pod(void **state)
{
	struct populator_world *world = *state;

	put_pv(world, "pv", "a-data", "Filesystem");
	put_ephemeral(world, "somebody");
	put_pod(world, "a", "", ", volumeMounts: [{name: data, mountPath: /data}]",
		"{name: data, ephemeral: {volumeClaimTemplate: {spec: {accessModes:"
		" [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}",
		"");
	expect_error(world, "uid-a",
		     "PVC default/a-data was not created for pod default/a (pod is not owner)");
	expect_wants(world, "uid-a", "");

	put_ephemeral(world, "uid-a");
	expect_error(world, "uid-a", NULL);
	expect_wants(world, "uid-a", LOCAL "pv ");
}

static void test_source_without_plugin_is_an_error(void **state)
{
	struct populator_world *world = *state;

	put_pod(world, "a", "", ", volumeMounts: [{name: data, mountPath: /data}]",
		"{name: data, cephfs: {monitors: [m]}}", "");
	assert_non_null(desired_errors(world->desired, "uid-a"));
	assert_non_null(strstr(desired_errors(world->desired, "uid-a")->texts[0],
			       "failed to get Plugin from volumeSpec for volume \"data\": "));
	expect_wants(world, "uid-a", "");
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, started_world, free_world)
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_bound_claim_is_a_want),
		WITH_WORLD(test_read_only_is_that_of_the_claim_reference),
		WITH_WORLD(test_checks_in_their_order),
		WITH_WORLD(test_block_volume_cannot_be_mounted),
		WITH_WORLD(test_filesystem_cannot_be_a_device),
		WITH_WORLD(test_block_volume_is_a_device),
		WITH_WORLD(test_ephemeral_claim_belongs_to_its_pod),
		WITH_WORLD(test_source_without_plugin_is_an_error),
	};

	return cmocka_run_group_tests_name("volume_lookup", tests, NULL, NULL);
}
