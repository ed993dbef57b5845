/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_persistent_volume - what a PersistentVolume decodes to, its defaults and its rules
 */
#include "object/kinds/persistent_volume.h"

#include "base/cleanup.h"
#include "object/kinds/volume_source.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: pv\n"
#define AFFINITY                                                                                   \
	"  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "                      \
	"[{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}\n"
#define CAPACITY      "  capacity: {storage: 1Gi}\n"
#define MODES         "  accessModes: [ReadWriteOnce]\n"
#define HOST_PATH     "  hostPath: {path: /data}\n"
#define LOCAL         "  local: {path: /data}\n" AFFINITY
#define MINIMAL(rest) HEAD "spec:\n" CAPACITY MODES rest

static void test_a_full_volume(void **state)
{
	const struct object *object =
		object_of(HEAD "  annotations: {pv.kubernetes.io/bound-by-controller: 'yes', "
			       "pv.beta.kubernetes.io/gid: '1234'}\n"
			       "  labels: {tier: fast}\n"
			       "spec:\n  capacity: {storage: 10Gi}\n"
			       "  accessModes: [ReadWriteMany, ReadOnlyMany]\n" AFFINITY
			       "  local: {path: /dev/sdb, fsType: xfs}\n  volumeMode: Block\n"
			       "  storageClassName: fast\n  persistentVolumeReclaimPolicy: Delete\n"
			       "  mountOptions: [noatime, nosuid]\n"
			       "  claimRef: {namespace: ns, name: data, uid: u-1}\n"
			       "status: {phase: Released, reason: Why}\n");
	const struct persistent_volume *volume = object->persistent_volume;

	assert_ptr_equal(volume->object, object);
	assert_int_equal(object->kind, KIND_PERSISTENT_VOLUME);
	assert_string_equal(object->meta.name_space, "");
	assert_int_equal(object->meta.labels.count, 1);
	assert_string_equal(object->meta.labels.labels[0].value, "fast");
	assert_int_equal(volume->source, PV_SOURCE_LOCAL);
	assert_string_equal(volume->source_key, "local");
	assert_string_equal(volume->local_path, "/dev/sdb");
	assert_string_equal(volume->fs_type, "xfs");
	assert_string_equal(volume->host_path, "");
	assert_true(quantity_value(&volume->capacity) == 10LL << 30);
	assert_int_equal(volume->access_modes, ACCESS_READ_WRITE_MANY | ACCESS_READ_ONLY_MANY);
	assert_int_equal(volume->mode, VOLUME_MODE_BLOCK);
	assert_string_equal(volume->storage_class, "fast");
	assert_int_equal(volume->reclaim_policy, RECLAIM_DELETE);
	assert_int_equal(volume->mount_option_count, 2);
	assert_string_equal(volume->mount_options[0], "noatime");
	assert_string_equal(volume->mount_options[1], "nosuid");
	assert_int_equal(volume->node_affinity->count, 1);
	assert_true(volume->has_claim_ref);
	assert_string_equal(volume->claim_namespace, "ns");
	assert_string_equal(volume->claim_name, "data");
	assert_string_equal(volume->claim_uid, "u-1");
	assert_true(volume->has_gid);
	assert_int_equal(volume->gid, 1234);
	assert_true(volume->bound_by_controller);
	assert_int_equal(volume->phase, VOLUME_RELEASED);
	assert_string_equal(volume->reason, "Why");
	(void) object_unref(object);
}

static void check_mark(const char *annotations, const char *mark)
{
	cleanup_free char *text = NULL;
	cleanup_object const struct object *object = NULL;

	assert_true(asprintf(&text,
			     HEAD
			     "  uid: u-own\n  annotations: {%s}\n"
			     "spec:\n" CAPACITY MODES
			     "  claimRef: {namespace: ns, name: data, uid: u-claim}\n" HOST_PATH,
			     annotations) > 0);
	object = object_of(text);
	assert_string_equal(persistent_volume_mark(object->persistent_volume), mark);
}

static void test_its_directory_has_a_mark(void **state)
{
	check_mark("", "u-own");
	check_mark("podvol.io/marked-by: volume", "u-own");
	check_mark("podvol.io/marked-by: claim", "u-claim");
}

static void test_defaults(void **state)
{
	const struct object *object = object_of(MINIMAL(HOST_PATH));
	const struct persistent_volume *volume = object->persistent_volume;

	assert_string_equal(
		object->json,
		"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":"
		"\"pv\"},"
		"\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"],"
		"\"hostPath\":{\"path\":\"/data\",\"type\":\"\"},"
		"\"persistentVolumeReclaimPolicy\":\"Retain\",\"volumeMode\":\"Filesystem\"}}");
	assert_int_equal(object->json_length, strlen(object->json));
	assert_int_equal(volume->source, PV_SOURCE_HOST_PATH);
	assert_string_equal(volume->host_path, "/data");
	assert_string_equal(volume->host_path_type, "");
	assert_string_equal(volume->local_path, "");
	assert_string_equal(volume->fs_type, "");
	assert_int_equal(volume->mode, VOLUME_MODE_FILESYSTEM);
	assert_int_equal(volume->reclaim_policy, RECLAIM_RETAIN);
	assert_string_equal(volume->storage_class, "");
	assert_null(volume->mount_options);
	assert_null(volume->node_affinity);
	assert_false(volume->has_claim_ref);
	assert_string_equal(volume->claim_uid, "");
	assert_false(volume->has_gid);
	assert_false(volume->bound_by_controller);
	assert_int_equal(volume->phase, VOLUME_PHASE_UNSET);
	(void) object_unref(object);
}

static void test_a_host_path_has_a_type(void **state)
{
	const struct object *object =
		object_of(MINIMAL("  hostPath: {path: /data, type: DirectoryOrCreate}\n"));

	assert_string_equal(object->persistent_volume->host_path_type, "DirectoryOrCreate");
	(void) object_unref(object);
}

static void test_other_sources(void **state)
{
	static const struct {
		const char *yaml, *key;
		enum pv_source_kind kind;
	} sources[] = {
		{ MINIMAL("  csi: {driver: d, volumeHandle: h}\n"), "csi", PV_SOURCE_CSI },
		{ MINIMAL("  nfs: {server: s, path: /x}\n"), "nfs", PV_SOURCE_NFS },
		{ MINIMAL("  iscsi: {lun: 0}\n"), "iscsi", PV_SOURCE_OTHER },
		{ MINIMAL("  sourceOfTomorrow: {a: 1}\n"), "sourceOfTomorrow", PV_SOURCE_OTHER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		const struct object *object = object_of(sources[i].yaml);

		assert_int_equal(object->persistent_volume->source, sources[i].kind);
		assert_string_equal(object->persistent_volume->source_key, sources[i].key);
		(void) object_unref(object);
	}
}

static void test_nfs_source(void **state)
{
	static const struct {
		const char *yaml, *export;
		bool read_only;
	} rows[] = {
		{ "  nfs: {server: s, path: /x}\n", "s:/x", false },
		{ "  nfs: {server: 10.0.0.1, path: /x/y, readOnly: true}\n", "10.0.0.1:/x/y",
		  true },
		{ "  nfs: {server: 'fd00::1', path: /x}\n", "[fd00::1]:/x", false },
		{ "  nfs: {server: '[fd00::1]', path: /x}\n", "[fd00::1]:/x", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char yaml[1000];
		const struct object *object;

		(void) snprintf(yaml, sizeof(yaml), HEAD "spec:\n" CAPACITY MODES "%s",
				rows[i].yaml);
		object = object_of(yaml);
		assert_string_equal(object->persistent_volume->program.nfs->export, rows[i].export);
		assert_int_equal(object->persistent_volume->program.nfs->read_only,
				 rows[i].read_only);
		(void) object_unref(object);
	}
}

static size_t options_of(const char *annotation, char joined[100])
{
	char yaml[1000];
	const struct object *object;
	size_t count;

	(void) snprintf(yaml, sizeof(yaml),
			HEAD "  annotations: {volume.beta.kubernetes.io/mount-options: '%s'}\n"
			     "spec:\n" CAPACITY MODES HOST_PATH "  mountOptions: [hard]\n",
			annotation);
	object = object_of(yaml);
	count = object->persistent_volume->mount_option_count;
	assert_int_equal(object->persistent_volume->mount_options != NULL, count > 0);
	joined[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(joined);

		(void) snprintf(joined + used, 100 - used, "%s|",
				object->persistent_volume->mount_options[i]);
	}
	(void) object_unref(object);
	return count;
}

/* case 98: an annotation wins over spec.mountOptions, also an empty one. */
static void test_the_annotation_wins_case_98(void **state)
{
	char joined[100];

	assert_int_equal(options_of("", joined), 0);
	assert_int_equal(options_of("ro,nfsvers=3", joined), 2);
	assert_string_equal(joined, "ro|nfsvers=3|");
	assert_int_equal(options_of(",ro,,x=1,", joined), 2);
	assert_string_equal(joined, "ro|x=1|");
}

static bool gid_of(const char *annotation, gid_t *ret)
{
	char yaml[1000];
	const struct object *object;
	bool has_gid;

	(void) snprintf(yaml, sizeof(yaml),
			HEAD
			"  annotations: {pv.beta.kubernetes.io/gid: '%s'}\nspec:\n" CAPACITY MODES
				HOST_PATH,
			annotation);
	object = object_of(yaml);
	has_gid = object->persistent_volume->has_gid;
	*ret = object->persistent_volume->gid;
	(void) object_unref(object);
	return has_gid;
}

/* case 347: what is no number is passed over. */
static void test_gids_are_numbers_case_347(void **state)
{
	static const char *const bad[] = { "abc", "",     "-1",         "1234x",
					   " 12", "0x10", "4294967295", "99999999999999999999999" };
	gid_t gid;

	assert_true(gid_of("1234", &gid));
	assert_int_equal(gid, 1234);
	assert_true(gid_of("0", &gid));
	assert_true(gid_of("4294967294", &gid));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(gid_of(bad[i], &gid));
}

static void test_the_beta_class_wins(void **state)
{
	const struct object *object =
		object_of(HEAD "  annotations: {volume.beta.kubernetes.io/storage-class: beta}\n"
			       "spec:\n" CAPACITY MODES HOST_PATH "  storageClassName: ga\n");

	assert_string_equal(object->persistent_volume->storage_class, "beta");
	(void) object_unref(object);
}

static const struct {
	const char *yaml, *why;
} rules[] = {
	{ HEAD "spec:\n" MODES HOST_PATH, "spec.capacity: Required value" },
	{ HEAD "spec:\n  capacity: {cpu: 1}\n" MODES HOST_PATH,
	  "spec.capacity: Unsupported value: \"cpu\": supported values: \"storage\"" },
	{ HEAD "spec:\n  capacity: {storage: 0}\n" MODES HOST_PATH,
	  "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero" },
	{ HEAD "spec:\n  capacity: {storage: -1Gi}\n" MODES HOST_PATH,
	  "spec.capacity[storage]: Invalid value: \"-1Gi\": must be greater than or equal "
	  "to 0" },
	{ HEAD "spec:\n  capacity: {storage: 1 GB}\n" MODES HOST_PATH,
	  "spec.capacity[storage]: Invalid value: \"1 GB\": quantities are numbers with a "
	  "suffix, such as \"10Gi\" or \"1500m\"" },
	{ HEAD "spec:\n  capacity: {storage: [1]}\n" MODES HOST_PATH,
	  "spec.capacity[storage]: Invalid value: must be a quantity, not a list" },
	{ HEAD "spec:\n" CAPACITY HOST_PATH,
	  "spec.accessModes: Required value: at least 1 access mode is required" },
	{ HEAD "spec:\n" CAPACITY "  accessModes: [ReadWriteOnce, RWX]\n" HOST_PATH,
	  "spec.accessModes[1]: Unsupported value: \"RWX\": supported values: "
	  "\"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"" },
	{ HEAD "spec:\n" CAPACITY "  accessModes: [ReadWriteOncePod, ReadWriteOnce]\n" HOST_PATH,
	  "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access "
	  "modes" },
	{ MINIMAL(""), "spec: Required value: must specify a volume type" },
	{ MINIMAL(HOST_PATH LOCAL),
	  "spec.local: Forbidden: may not specify more than 1 volume type" },
	{ MINIMAL("  hostpath: {path: /x}\n"),
	  "spec: Invalid value: \"hostpath\": unknown field; did you mean \"hostPath\"?" },
	{ MINIMAL("  local: {path: /x}\n"),
	  "spec.nodeAffinity: Required value: Local volume requires node affinity" },
	{ MINIMAL("  local: {}\n"), "spec.local.path: Required value" },
	{ MINIMAL("  local: {path: /a/../b}\n" AFFINITY),
	  "spec.local.path: Invalid value: \"/a/../b\": must not contain '..'" },
	{ MINIMAL("  hostPath: {}\n"), "spec.hostPath.path: Required value" },
	{ MINIMAL("  hostPath: {path: ..}\n"),
	  "spec.hostPath.path: Invalid value: \"..\": must not contain '..'" },
	{ MINIMAL("  hostPath: {path: /, type: Dir}\n"),
	  "spec.hostPath.type: Unsupported value: \"Dir\": supported values: \"\", "
	  "\"BlockDevice\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", "
	  "\"File\", "
	  "\"FileOrCreate\", \"Socket\"" },
	{ MINIMAL("  csi: {volumeHandle: h}\n"), "spec.csi.driver: Required value" },
	{ MINIMAL("  csi: {driver: d}\n"), "spec.csi.volumeHandle: Required value" },
	{ MINIMAL("  nfs: {path: /x}\n"), "spec.nfs.server: Required value" },
	{ MINIMAL("  nfs: {server: s, path: x}\n"),
	  "spec.nfs.path: Invalid value: \"x\": must be an absolute path" },
	{ MINIMAL("  nodeAffinity: {}\n" HOST_PATH),
	  "spec.nodeAffinity.required: Required value: must specify required node "
	  "constraints" },
	{ MINIMAL("  volumeMode: Blk\n" HOST_PATH),
	  "spec.volumeMode: Unsupported value: \"Blk\": supported values: \"Block\", "
	  "\"Filesystem\"" },
	{ MINIMAL("  persistentVolumeReclaimPolicy: Keep\n" HOST_PATH),
	  "spec.persistentVolumeReclaimPolicy: Unsupported value: \"Keep\": supported "
	  "values: \"Delete\", \"Recycle\", \"Retain\"" },
	{ MINIMAL("  persistentVolumeReclaimPolicy: Recycle\n  hostPath: {path: //}\n"),
	  "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a "
	  "hostPath mount of '/'" },
	{ MINIMAL("  storageClassName: Fast\n" HOST_PATH),
	  "spec.storageClassName: Invalid value: \"Fast\": a lowercase RFC 1123 subdomain "
	  "must consist of lower case alphanumeric characters, '-' or '.'" },
	{ MINIMAL("  claimRef: {name: c}\n" HOST_PATH), "spec.claimRef.namespace: Required value" },
	{ MINIMAL("  claimRef: {namespace: c}\n" HOST_PATH), "spec.claimRef.name: Required value" },
	{ MINIMAL(HOST_PATH "status: {phase: Fine}\n"),
	  "status.phase: Unsupported value: \"Fine\": supported values: \"Pending\", "
	  "\"Available\", \"Bound\", \"Released\", \"Failed\"" },
	{ MINIMAL("  mountOptions: ro\n" HOST_PATH),
	  "spec.mountOptions: Invalid value: \"ro\": must be a list, not a string" },
	{ MINIMAL("  mountOptions: [1]\n" HOST_PATH),
	  "spec.mountOptions[0]: Invalid value: must be a string, not a number" },
};

static void test_rules(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		assert_refused(rules[i].yaml, rules[i].why);
}

static void test_names_of_values(void **state)
{
	assert_string_equal(volume_phase_name(VOLUME_PHASE_UNSET), "");
	assert_string_equal(volume_phase_name(VOLUME_FAILED), "Failed");
	assert_string_equal(reclaim_policy_name(RECLAIM_RETAIN), "Retain");
	assert_string_equal(reclaim_policy_name(RECLAIM_RECYCLE), "Recycle");
	assert_string_equal(volume_mode_name(VOLUME_MODE_BLOCK), "Block");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_volume),
		cmocka_unit_test(test_its_directory_has_a_mark),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_a_host_path_has_a_type),
		cmocka_unit_test(test_other_sources),
		cmocka_unit_test(test_nfs_source),
		cmocka_unit_test(test_the_annotation_wins_case_98),
		cmocka_unit_test(test_gids_are_numbers_case_347),
		cmocka_unit_test(test_the_beta_class_wins),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_names_of_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
