/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_objects - CSIDriver, VolumeAttachment and csi sources as the volume plugin gets them
 */
#include "base/cleanup.h"
#include "object/kinds/csi_driver.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"
#include "object/kinds/volume_attachment.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DRIVER                                                                                     \
	"apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: d.example.com}\n"        \
	"spec:\n"
#define VOLUME                                                                                     \
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\n"                           \
	"spec:\n  capacity: {storage: 1Gi}\n"
#define ATTACHMENT                                                                                 \
	"apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: x}\n"             \
	"spec: {attacher: d, nodeName: here, source: {persistentVolumeName: pv}}\n"

static void test_driver_defaults(void **state)
{
	cleanup_object const struct object *object = object_of(DRIVER "  {}\n");
	const struct csi_driver_spec *driver = object->csi_driver;

	assert_ptr_equal(driver->object, object);
	assert_true(driver->attach_required);
	assert_true(driver->is_persistent);
	assert_false(driver->is_ephemeral);
	assert_false(driver->pod_info_on_mount || driver->requires_republish ||
		     driver->selinux_mount || driver->storage_capacity);
	assert_int_equal(driver->fs_group_policy, FS_GROUP_POLICY_READ_WRITE_ONCE_WITH_FS_TYPE);
	assert_int_equal(driver->token_request_count, 0);
}

static void test_driver_says_all(void **state)
{
	cleanup_object const struct object *object =
		object_of(DRIVER "  attachRequired: false\n  podInfoOnMount: true\n"
				 "  requiresRepublish: true\n  seLinuxMount: true\n"
				 "  storageCapacity: true\n  fsGroupPolicy: File\n"
				 "  volumeLifecycleModes: [Ephemeral]\n  tokenRequests:\n"
				 "  - {audience: '', expirationSeconds: 3600}\n"
				 "  - {audience: gcp}\n"
				 "  serviceAccountTokenInSecrets: true\n");
	const struct csi_driver_spec *driver = object->csi_driver;

	assert_false(driver->attach_required);
	assert_false(driver->is_persistent);
	assert_true(driver->is_ephemeral);
	assert_true(driver->pod_info_on_mount && driver->requires_republish &&
		    driver->selinux_mount && driver->storage_capacity && driver->tokens_in_secrets);
	assert_int_equal(driver->fs_group_policy, FS_GROUP_POLICY_FILE);
	assert_int_equal(driver->token_request_count, 2);
	assert_string_equal(driver->token_requests[0].audience, "");
	assert_int_equal(driver->token_requests[0].expiration_seconds, 3600);
	assert_string_equal(driver->token_requests[1].audience, "gcp");
	assert_int_equal(driver->token_requests[1].expiration_seconds, 0);
}

static void test_fs_group_policies(void **state)
{
	static const struct {
		const char *yaml;
		enum fs_group_policy policy;
	} rows[] = {
		{ DRIVER "  fsGroupPolicy: None\n", FS_GROUP_POLICY_NONE },
		{ DRIVER "  fsGroupPolicy: ReadWriteOnceWithFSType\n",
		  FS_GROUP_POLICY_READ_WRITE_ONCE_WITH_FS_TYPE },
		{ DRIVER "  fsGroupPolicy: ''\n", FS_GROUP_POLICY_UNSET },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *object = object_of(rows[i].yaml);

		assert_int_equal(object->csi_driver->fs_group_policy, rows[i].policy);
	}
}

static void test_source_of_a_volume(void **state)
{
	cleanup_object const struct object *object = object_of(
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv, annotations:\n"
		"  {volume.beta.kubernetes.io/mount-options: 'ro,nodev'}}\n"
		"spec:\n  capacity: {storage: 1Gi}\n  mountOptions: [sync]\n"
		"  accessModes: [ReadWriteMany, ReadWriteOnce]\n"
		"  csi:\n    driver: d.example.com\n    volumeHandle: vol-1\n"
		"    fsType: ext4\n    readOnly: true\n    volumeAttributes: {a: x, b: why}\n"
		"    nodeStageSecretRef: {namespace: n1, name: stage}\n"
		"    nodePublishSecretRef: {namespace: n2, name: publish}\n"
		"    nodeExpandSecretRef: {namespace: n3, name: expand}\n"
		"    controllerPublishSecretRef: {namespace: n4, name: attach}\n"
		"    controllerExpandSecretRef: {namespace: n5, name: grow}\n");
	const struct persistent_volume *pv = object->persistent_volume;
	const struct csi_source *csi = pv->csi;

	assert_int_equal(pv->first_access_mode, ACCESS_READ_WRITE_MANY);
	assert_non_null(csi);
	assert_string_equal(csi->driver, "d.example.com");
	assert_string_equal(csi->volume_handle, "vol-1");
	assert_string_equal(csi->fs_type, "ext4");
	assert_int_equal(csi->mount_flag_count, 1); /* not those of the annotation */
	assert_string_equal(csi->mount_flags[0], "sync");
	assert_true(csi->read_only);
	assert_int_equal(csi->attributes.count, 2);
	assert_string_equal(csi->attributes.labels[1].key, "b");
	assert_string_equal(csi->attributes.labels[1].value, "why");
	assert_string_equal(csi->node_stage_secret.name_space, "n1");
	assert_string_equal(csi->node_stage_secret.name, "stage");
	assert_string_equal(csi->node_publish_secret.name, "publish");
	assert_string_equal(csi->node_expand_secret.name, "expand");
	assert_string_equal(csi->controller_publish_secret.name, "attach");
	assert_string_equal(csi->controller_expand_secret.name_space, "n5");
}

static void test_other_sources_have_none(void **state)
{
	cleanup_object const struct object *object =
		object_of(VOLUME "  accessModes: [ReadOnlyMany]\n  hostPath: {path: /x}\n");

	assert_null(object->persistent_volume->csi);
	assert_int_equal(object->persistent_volume->first_access_mode, ACCESS_READ_ONLY_MANY);
}

static void test_source_in_a_pod(void **state)
{
	cleanup_object const struct object *object =
		object_of("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
			  "  containers: [{name: c, image: i}]\n  volumes:\n"
			  "  - name: v\n    csi: {driver: d, readOnly: true, fsType: xfs,\n"
			  "      volumeAttributes: {k: w}, nodePublishSecretRef: {name: s}}\n"
			  "  - {name: e, emptyDir: {}}\n");
	const struct pod_volume *volumes = object->pod->volumes;

	assert_string_equal(volumes[0].csi->driver, "d");
	assert_string_equal(volumes[0].csi->volume_handle, "");
	assert_string_equal(volumes[0].csi->fs_type, "xfs");
	assert_true(volumes[0].csi->read_only);
	assert_string_equal(volumes[0].csi->attributes.labels[0].value, "w");
	assert_string_equal(volumes[0].csi->node_publish_secret.name, "s");
	assert_string_equal(volumes[0].csi->node_publish_secret.name_space, "");
	assert_string_equal(volumes[0].csi->node_stage_secret.name, "");
	assert_null(volumes[1].csi);
}

static void test_attachment(void **state)
{
	cleanup_object const struct object *bare = object_of(ATTACHMENT);
	cleanup_object const struct object *attached = object_of(
		ATTACHMENT "status: {attached: true, attachmentMetadata: {path: /dev/x}}\n");
	cleanup_object const struct object *broken =
		object_of(ATTACHMENT "status: {attached: false, attachError: {message: never},\n"
				     "  detachError: {message: neither}}\n");

	assert_string_equal(bare->volume_attachment->attacher, "d");
	assert_string_equal(bare->volume_attachment->node_name, "here");
	assert_string_equal(bare->volume_attachment->volume_name, "pv");
	assert_false(bare->volume_attachment->attached);
	assert_false(bare->volume_attachment->has_attach_error);
	assert_int_equal(bare->volume_attachment->metadata.count, 0);
	assert_true(attached->volume_attachment->attached);
	assert_string_equal(attached->volume_attachment->metadata.labels[0].key, "path");
	assert_true(broken->volume_attachment->has_attach_error);
	assert_string_equal(broken->volume_attachment->attach_error, "never");
	assert_true(broken->volume_attachment->has_detach_error);
	assert_string_equal(broken->volume_attachment->detach_error, "neither");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_driver_defaults),
		cmocka_unit_test(test_driver_says_all),
		cmocka_unit_test(test_fs_group_policies),
		cmocka_unit_test(test_source_of_a_volume),
		cmocka_unit_test(test_other_sources_have_none),
		cmocka_unit_test(test_source_in_a_pod),
		cmocka_unit_test(test_attachment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
