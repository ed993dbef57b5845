/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pod - what a Pod decodes to, and its defaults
 */
#include "object/kinds/pod.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD       "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n"
#define CONTAINERS "  containers: [{name: c}]\n"

static const struct object *full_pod(void)
{
	return object_of(text_of_file("tests/unit/object/full_pod.yaml"));
}

static void test_a_full_pod(void **state)
{
	const struct object *object = full_pod();
	const struct pod *pod = object->pod;
	char key[POD_KEY_BYTES];

	assert_ptr_equal(pod->object, object);
	assert_string_equal(object->meta.uid, "0b5e-1");
	assert_string_equal(pod_key(pod, key), "ns/web");
	assert_string_equal(pod->node_name, "n1");
	assert_string_equal(pod->service_account_name, "robot");
	assert_string_equal(pod->phase, "Running");
	assert_string_equal(pod->reason, "R");
	assert_true(pod->has_fs_group);
	assert_int_equal(pod->fs_group, 4711);
	assert_int_equal(pod->fs_group_change_policy, FS_GROUP_CHANGE_ON_ROOT_MISMATCH);
	assert_int_equal(pod->supplemental_group_count, 2);
	assert_int_equal(pod->supplemental_groups[1], 4294967);
	assert_false(pod->containers_terminated);
	(void) object_unref(object);
}

static void test_volumes(void **state)
{
	const struct object *object = full_pod();
	const struct pod_volume *volumes = object->pod->volumes;

	assert_int_equal(object->pod->volume_count, 4);
	assert_string_equal(volumes[0].name, "a");
	assert_int_equal(volumes[0].source, SOURCE_CLAIM);
	assert_string_equal(volumes[0].source_key, "persistentVolumeClaim");
	assert_string_equal(volumes[0].claim_name, "data");
	assert_true(volumes[0].claim_read_only);
	assert_string_equal(volumes[0].host_path, "");
	assert_string_equal(volumes[0].medium, "");
	assert_int_equal(volumes[1].source, SOURCE_EPHEMERAL);
	assert_string_equal(volumes[1].claim_name, "web-b");
	assert_false(volumes[1].claim_read_only);
	assert_int_equal(volumes[2].source, SOURCE_HOST_PATH);
	assert_string_equal(volumes[2].host_path, "/srv");
	assert_string_equal(volumes[2].host_path_type, "Directory");
	assert_int_equal(volumes[3].source, SOURCE_EMPTY_DIR);
	assert_string_equal(volumes[3].medium, "Memory");
	assert_true(volumes[3].has_size_limit);
	assert_true(volumes[3].size_limit_bytes == 64 << 20);
	(void) object_unref(object);
}

static void test_memory_of_the_pod(void **state)
{
	const struct object *object =
		object_of("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
			  "spec: {overhead: {memory: 64Mi}, resources: {limits: {memory: 2Gi}},"
			  " containers: [{name: c, image: i}]}\n");

	assert_true(object->pod->memory_overhead_bytes == 64 << 20);
	assert_true(object->pod->memory_limit_bytes == 2LL << 30);
	(void) object_unref(object);
	object = full_pod();
	assert_int_equal(object->pod->memory_overhead_bytes, 0);
	assert_int_equal(object->pod->memory_limit_bytes, 0);
	(void) object_unref(object);
}

static void test_containers(void **state)
{
	const struct object *object = full_pod();
	const struct pod_container *containers = object->pod->containers;
	const struct pod_volume_mount *mounts = containers[1].mounts;

	assert_int_equal(object->pod->container_count, 3);
	assert_string_equal(containers[0].name, "init");
	assert_int_equal(containers[0].type, CONTAINER_INIT);
	assert_true(containers[0].sidecar);
	assert_false(containers[0].privileged);
	assert_true(containers[0].has_run_as_user);
	assert_int_equal(containers[0].run_as_user, 7);
	assert_int_equal(containers[0].memory_limit_bytes, 0);
	assert_null(containers[0].huge_pages);
	assert_int_equal(containers[1].type, CONTAINER_REGULAR);
	assert_false(containers[1].sidecar);
	assert_true(containers[1].privileged);
	assert_int_equal(containers[1].run_as_user, 0);
	assert_true(containers[1].memory_limit_bytes == 1LL << 30);
	assert_true(containers[1].ephemeral_storage_limit_bytes == 2LL << 30);
	assert_int_equal(containers[1].mount_count, 2);
	assert_string_equal(mounts[0].name, "a");
	assert_string_equal(mounts[0].mount_path, "/x");
	assert_string_equal(mounts[0].sub_path, "s/t");
	assert_string_equal(mounts[0].sub_path_expr, "");
	assert_true(mounts[0].read_only);
	assert_string_equal(mounts[0].recursive_read_only, "Enabled");
	assert_string_equal(mounts[0].mount_propagation, "");
	assert_string_equal(mounts[1].sub_path_expr, "$(A)");
	assert_string_equal(mounts[1].mount_propagation, "Bidirectional");
	assert_false(mounts[1].read_only);
	assert_int_equal(containers[1].device_count, 1);
	assert_string_equal(containers[1].devices[0].name, "b");
	assert_string_equal(containers[1].devices[0].device_path, "/dev/b");
	assert_string_equal(containers[2].name, "debug");
	assert_int_equal(containers[2].type, CONTAINER_EPHEMERAL);
	(void) object_unref(object);
}

/* What is limited is requested, as the API machinery fills it in. */
static void test_limits_become_requests(void **state)
{
	const struct object *object = full_pod();
	const struct pod_container *container = &object->pod->containers[1];

	assert_int_equal(container->huge_page_count, 2);
	assert_string_equal(container->huge_pages[0].page_size, "1Gi");
	assert_true(container->huge_pages[0].bytes == 1LL << 30);
	assert_string_equal(container->huge_pages[1].page_size, "2Mi");
	assert_true(container->huge_pages[1].bytes == 4 << 20);
	(void) object_unref(object);
}

static void test_how_volumes_are_used(void **state)
{
	const struct object *object = full_pod();
	struct pod_volume_use use = pod_volume_use(object->pod, "a");

	assert_true(use.mounted && !use.as_device);
	use = pod_volume_use(object->pod, "b");
	assert_true(!use.mounted && use.as_device);
	use = pod_volume_use(object->pod, "e");
	assert_true(!use.mounted && !use.as_device);
	(void) object_unref(object);
}

static void test_defaults(void **state)
{
	cleanup_json struct cJSON *tree = tree_of_file("tests/unit/object/defaulted_pod.json");
	cleanup_free char *expected = json_print(tree);
	const struct object *object = object_of(
		HEAD "spec:\n" CONTAINERS
		     "  volumes:\n  - name: none\n  - {name: nothing, emptyDir: }\n"
		     "  - {name: h, hostPath: {path: /}}\n  - {name: cm, configMap: {name: x}}\n"
		     "  - {name: s, secret: {secretName: x, defaultMode: 0400}}\n"
		     "  - {name: d, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: "
		     "metadata.name}}]}}\n"
		     "  - {name: p, projected: {sources: [{serviceAccountToken: {path: t}}]}}\n"
		     "  - {name: t, ephemeral: {volumeClaimTemplate: {spec: {accessModes: "
		     "[ReadWriteOnce], resources: {requests: {storage: 1}}}}}}\n");

	assert_string_equal(object->json, expected);
	assert_int_equal(object->pod->fs_group_change_policy, FS_GROUP_CHANGE_ALWAYS);
	assert_false(object->pod->has_fs_group);
	assert_false(object->pod->containers[0].has_run_as_user);
	assert_string_equal(object->pod->phase, "");
	assert_string_equal(object->meta.uid, "");
	(void) object_unref(object);
}

static void assert_label(const char *spec, const char *user, const char *level)
{
	char text[512];
	const struct object *object;

	(void) snprintf(text, sizeof(text), HEAD "spec:\n%s", spec);
	object = object_of(text);
	assert_string_equal(object->pod->selinux_user, user);
	assert_string_equal(object->pod->selinux_level, level);
	(void) object_unref(object);
}

static void test_the_label_that_all_containers_have(void **state)
{
	assert_label(CONTAINERS, "", "");
	assert_label("  securityContext: {seLinuxOptions: {user: u, level: s0}}\n" CONTAINERS, "u",
		     "s0");
	assert_label("  securityContext: {seLinuxOptions: {user: u, level: s0}}\n"
		     "  containers: [{name: c, securityContext: {seLinuxOptions: {level: s1}}}]\n",
		     "u", "s1");
	assert_label("  containers: [{name: c, securityContext: {seLinuxOptions: {level: s1}}}, "
		     "{name: d}]\n",
		     "", "");
	assert_label("  securityContext: {seLinuxOptions: {user: u, level: s1}}\n"
		     "  initContainers: [{name: i, securityContext: {seLinuxOptions: {level: "
		     "s2}}}]\n" CONTAINERS,
		     "u", "");
}

static void test_a_map_instead_of_a_change(void **state)
{
	const struct object *asks = object_of(
		HEAD
		"  annotations: {podvol.io/fs-group-change-policy: Idmap}\n"
		"spec:\n  securityContext: {fsGroup: 1, fsGroupChangePolicy: Always}\n" CONTAINERS);
	const struct object *asks_not =
		object_of(HEAD "  annotations: {podvol.io/fs-group: Idmap}\nspec:\n" CONTAINERS);

	assert_true(asks->pod->fs_group_idmap);
	assert_int_equal(asks->pod->fs_group_change_policy, FS_GROUP_CHANGE_ALWAYS);
	assert_false(asks_not->pod->fs_group_idmap);
	(void) object_unref(asks);
	(void) object_unref(asks_not);
}

static void test_host_users(void **state)
{
	const struct object *shares = object_of(HEAD "spec:\n  hostUsers: true\n" CONTAINERS);
	const struct object *silent = object_of(HEAD "spec:\n" CONTAINERS);
	const struct object *own = object_of(HEAD "spec:\n  hostUsers: false\n" CONTAINERS);

	assert_false(shares->pod->user_namespace);
	assert_false(silent->pod->user_namespace);
	assert_true(own->pod->user_namespace);
	(void) object_unref(shares);
	(void) object_unref(silent);
	(void) object_unref(own);
}

/* Defaults are made once: what was completed before is left as it is. */
static void test_defaults_are_stable(void **state)
{
	const struct object *object = full_pod(), *again = NULL;

	assert_int_equal(object_parse_json(object->json, object->json_length, &again, NULL), 0);
	assert_string_equal(again->json, object->json);
	(void) object_unref(object);
	(void) object_unref(again);
}

static void test_sources_by_name(void **state)
{
	static const struct {
		const char *volume, *key;
		enum volume_source_kind kind;
	} sources[] = {
		{ "configMap: {name: x}", "configMap", SOURCE_CONFIG_MAP },
		{ "secret: {secretName: x}", "secret", SOURCE_SECRET },
		{ "downwardAPI: {}", "downwardAPI", SOURCE_DOWNWARD_API },
		{ "projected: {sources: []}", "projected", SOURCE_PROJECTED },
		{ "csi: {driver: d}", "csi", SOURCE_CSI },
		{ "nfs: {server: s, path: /}", "nfs", SOURCE_NFS },
		{ "flexVolume: {driver: podvol.io/x}", "flexVolume", SOURCE_FLEX },
		{ "emptyDir: {medium: HugePages-2Mi}", "emptyDir", SOURCE_EMPTY_DIR },
		{ "iscsi: {lun: 0}", "iscsi", SOURCE_OTHER },
		{ "sourceOfTomorrow: {}", "sourceOfTomorrow", SOURCE_OTHER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		char yaml[500];
		const struct object *object;

		(void) snprintf(yaml, sizeof(yaml),
				HEAD "spec:\n" CONTAINERS "  volumes: [{name: v, %s}]\n",
				sources[i].volume);
		object = object_of(yaml);
		assert_int_equal(object->pod->volumes[0].source, sources[i].kind);
		assert_string_equal(object->pod->volumes[0].source_key, sources[i].key);
		assert_string_equal(object->pod->volumes[0].claim_name, "");
		(void) object_unref(object);
	}
}

/* A source that no plugin has asked for is kept and not decoded. */
static void test_fields_of_other_sources(void **state)
{
	const struct object *object =
		object_of(HEAD "spec:\n" CONTAINERS "  volumes: [{name: v, iscsi: {lun: 0}}]\n");

	assert_int_equal(object->pod->volumes[0].field_count, 0);
	assert_string_equal(pod_volume_field(&object->pod->volumes[0], "lun"), "");
	(void) object_unref(object);
}

static void test_limits_saturate(void **state)
{
	const struct object *object = object_of(
		HEAD "spec:\n" CONTAINERS "  volumes: [{name: v, emptyDir: {sizeLimit: 1000E}}]\n");

	assert_true(object->pod->volumes[0].size_limit_bytes == INT64_MAX);
	(void) object_unref(object);
}

/* Only a word in the status says that containers ended. */
static void test_terminated_needs_evidence(void **state)
{
#define ENDED   "{name: c, state: {terminated: {exitCode: 0}}}"
#define RUNNING "{name: d, state: {running: {}}}"
	static const struct {
		const char *status;
		bool terminated;
	} statuses[] = {
		{ "{}", false },
		{ "{phase: Running}", false },
		{ "{phase: Succeeded}", true },
		{ "{phase: Failed}", true },
		{ "{containerStatuses: []}", false },
		{ "{containerStatuses: [" ENDED "]}", true },
		{ "{containerStatuses: [{name: c, state: {waiting: {}}}]}", false },
		{ "{containerStatuses: [{name: c, state: {running: {}}}]}", false },
		{ "{containerStatuses: [{name: c}]}", false },
		{ "{containerStatuses: [{name: other, state: {terminated: {}}}]}", false },
		{ "{containerStatuses: [" ENDED "], initContainerStatuses: [" RUNNING "]}", false },
		{ "{containerStatuses: [" ENDED "], ephemeralContainerStatuses: [" RUNNING "]}",
		  false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		char yaml[500];
		const struct object *object;

		(void) snprintf(yaml, sizeof(yaml), HEAD "spec:\n" CONTAINERS "status: %s\n",
				statuses[i].status);
		object = object_of(yaml);
		assert_int_equal(object->pod->containers_terminated, statuses[i].terminated);
		(void) object_unref(object);
	}
}

static void test_unknown_fields_survive(void **state)
{
	const struct object *object = object_of(
		HEAD "  managedFields: [{x: 9007199254740993}]\nspec:\n"
		     "  containers: [{name: c, image: nginx, env: [{name: A, other: null}]}]\n"
		     "  newField: {a: [1.50, ~]}\n  volumes: [{name: v, emptyDir: {}, note: hi}]\n"
		     "extra: true\n");

	assert_non_null(strstr(object->json, "\"managedFields\":[{\"x\":9007199254740993}]"));
	assert_non_null(strstr(object->json, "\"env\":[{\"name\":\"A\",\"other\":null}]"));
	assert_non_null(strstr(object->json, "\"newField\":{\"a\":[1.5,null]}"));
	assert_non_null(strstr(object->json, "\"note\":\"hi\""));
	assert_non_null(strstr(object->json, "\"extra\":true"));
	assert_int_equal(object->pod->volumes[0].source, SOURCE_EMPTY_DIR);
	(void) object_unref(object);
}

/* A null of a field that we know is as if it were not there. */
static void test_null_is_absent(void **state)
{
	const struct object *object = object_of(
		HEAD
		"  uid: null\n  labels: ~\nspec:\n  nodeName:\n  initContainers: null\n" CONTAINERS
		"  volumes: [{name: v, hostPath: {path: /, type: null}}]\nstatus: null\n");

	assert_string_equal(object->meta.uid, "");
	assert_string_equal(object->pod->node_name, "");
	assert_string_equal(object->pod->service_account_name, "default");
	assert_string_equal(object->pod->volumes[0].host_path_type, "");
	assert_null(strstr(object->json, "null"));
	(void) object_unref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_pod),
		cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_memory_of_the_pod),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_limits_become_requests),
		cmocka_unit_test(test_how_volumes_are_used),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_a_map_instead_of_a_change),
		cmocka_unit_test(test_host_users),
		cmocka_unit_test(test_defaults_are_stable),
		cmocka_unit_test(test_sources_by_name),
		cmocka_unit_test(test_fields_of_other_sources),
		cmocka_unit_test(test_limits_saturate),
		cmocka_unit_test(test_terminated_needs_evidence),
		cmocka_unit_test(test_the_label_that_all_containers_have),
		cmocka_unit_test(test_unknown_fields_survive),
		cmocka_unit_test(test_null_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
