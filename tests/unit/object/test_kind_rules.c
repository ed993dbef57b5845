/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kind_rules - defaults, rules and fixed fields of the kinds that no controller here acts upon
 */
#include "object/admit.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kinds.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CORE(kind)    "apiVersion: v1\nkind: " kind "\nmetadata: {name: x}\n"
#define STORAGE(kind) "apiVersion: storage.k8s.io/v1\nkind: " kind "\nmetadata: {name: x}\n"
#define SNAPSHOT(kind)                                                                             \
	"apiVersion: snapshot.storage.k8s.io/v1\nkind: " kind "\nmetadata: {name: x}\n"
#define CONTENT                                                                                    \
	SNAPSHOT("VolumeSnapshotContent")                                                          \
	"spec:\n  driver: d\n  deletionPolicy: Delete\n"                                           \
	"  volumeSnapshotRef: {namespace: ns, name: s}\n"
#define ATTACHMENT STORAGE("VolumeAttachment") "spec:\n  attacher: d\n  nodeName: here\n"
#define LEASE      "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: x}\n"
#define SUBDOMAIN                                                                                  \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "  \
	"or '.'"

static void test_what_is_right(void **state)
{
	static const char *const yaml[] = {
		CORE("ConfigMap"),
		CORE("ConfigMap") "data: {a.b_C-1: x}\nbinaryData: {.a: ''}\n",
		CORE("Secret"),
		CORE("Secret") "type: kubernetes.io/basic-auth\nstringData: {password: x}\n",
		CORE("Secret") "type: kubernetes.io/tls\ndata: {tls.crt: '', tls.key: ''}\n",
		CORE("Secret") "type: example.com/own\n",
		CORE("Node") "spec:\n  taints:\n  - {key: a, effect: NoSchedule}\n"
			     "  - {key: a, effect: NoExecute}\n",
		CORE("Namespace"),
		CORE("ServiceAccount") "secrets: [{name: s}]\n",
		CORE("Event") "involvedObject: {namespace: default}\n",
		CORE("Event") "involvedObject: {kind: Node, name: here}\n",
		STORAGE("CSIDriver"),
		STORAGE("CSINode") "spec:\n  drivers: [{name: CSI.Example.com, nodeID: i, "
				   "topologyKeys: [a], allocatable: {count: 0}}]\n",
		ATTACHMENT "  source: {persistentVolumeName: pv}\n",
		ATTACHMENT "  source: {inlineVolumeSpec: {csi: {driver: d, volumeHandle: h}}}\n",
		STORAGE("CSIStorageCapacity") "storageClassName: c\ncapacity: 1Gi\n",
		STORAGE("VolumeAttributesClass") "driverName: d\nparameters: {a: b}\n",
		LEASE "spec: {holderIdentity: me, leaseDurationSeconds: 40}\n",
		SNAPSHOT("VolumeSnapshot") "spec: {source: {persistentVolumeClaimName: c}}\n",
		SNAPSHOT("VolumeSnapshotClass") "driver: d\ndeletionPolicy: Retain\n",
		CONTENT "  source: {snapshotHandle: h}\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(yaml); i++)
		(void) object_unref(object_of(yaml[i]));
}

static const struct {
	const char *yaml, *text;
} wrong[] = {
	{ CORE("ConfigMap") "data: {a/b: x}\n",
	  "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of "
	  "alphanumeric characters, '-', '_' or '.'" },
	{ CORE("ConfigMap") "binaryData: {..: ''}\n",
	  "binaryData[..]: Invalid value: \"..\": must not be '..'" },
	{ CORE("ConfigMap") "data: {..a: ''}\n",
	  "data[..a]: Invalid value: \"..a\": must not start with '..'" },
	{ CORE("ConfigMap") "data: {a: ''}\nbinaryData: {a: ''}\n",
	  "data[a]: Invalid value: \"a\": duplicate of key present in binaryData" },
	{ CORE("Secret") "stringData: {a b: ''}\n",
	  "data: Invalid value: a valid config key must consist of alphanumeric characters, '-', "
	  "'_' or '.'" },
	/* A difference from Kubernetes: of a Secret no value and no key of its writer is shown. */
	{ CORE("Secret") "data: {hunter2: not base64}\n",
	  "data: Invalid value: illegal base64 data" },
	{ CORE("Secret") "data: {hunter2: 5}\n",
	  "data: Invalid value: must be a string of base64, not a number" },
	{ CORE("Secret") "stringData: {hunter2: [a]}\n",
	  "stringData: Invalid value: must be a string, not a list" },
	{ "apiVersion: v1\nkind: Secret\nmetadata: {name: Hunter2}\n",
	  "metadata.name: Invalid value: a lowercase RFC 1123 subdomain must consist of lower case "
	  "alphanumeric characters, '-' or '.'" },
	{ CORE("Secret") "type: kubernetes.io/tls\ndata: {tls.crt: ''}\n",
	  "data[tls.key]: Required value" },
	{ CORE("Secret") "type: kubernetes.io/basic-auth\n", "data[username]: Required value" },
	{ CORE("Secret") "type: kubernetes.io/service-account-token\n",
	  "metadata.annotations[kubernetes.io/service-account.name]: Required value" },
	{ CORE("Node") "spec: {taints: [{key: a, effect: Never}]}\n",
	  "spec.taints[0].effect: Unsupported value: \"Never\": supported values: "
	  "\"NoExecute\", \"NoSchedule\", \"PreferNoSchedule\"" },
	{ CORE("Node") "spec: {taints: [{key: a, effect: NoExecute}, {key: a, effect: "
		       "NoExecute}]}\n",
	  "spec.taints[1]: Duplicate value: \"a\"" },
	{ CORE("Node") "status: {capacity: {cpu: -1}}\n",
	  "status.capacity[cpu]: Invalid value: \"-1\": must be greater than or equal to "
	  "0" },
	{ "apiVersion: v1\nkind: Namespace\nmetadata: {name: a.b}\n",
	  "metadata.name: Invalid value: \"a.b\": a lowercase RFC 1123 label must consist "
	  "of lower case alphanumeric characters or '-'" },
	{ CORE("Event") "involvedObject: {namespace: other}\n",
	  "involvedObject.namespace: Invalid value: \"other\": does not match "
	  "event.namespace" },
	{ CORE("Event") "involvedObject: {}\neventTime: '2026-11-21T08:35:00.000001Z'\n",
	  "reportingComponent: Required value" },
	{ "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: "
	  "a234567890123456789012345678901234567890123456789012345678901234}\n",
	  "metadata.name: Too long: may not be more than 63 bytes" },
	{ STORAGE("CSIDriver") "spec: {fsGroupPolicy: Maybe}\n",
	  "spec.fsGroupPolicy: Unsupported value: \"Maybe\": supported values: \"File\", "
	  "\"None\", \"ReadWriteOnceWithFSType\"" },
	{ STORAGE("CSIDriver") "spec: {volumeLifecycleModes: [Brief]}\n",
	  "spec.volumeLifecycleModes[0]: Unsupported value: \"Brief\": supported values: "
	  "\"Ephemeral\", \"Persistent\"" },
	{ STORAGE("CSIDriver") "spec: {tokenRequests: [{audience: a, expirationSeconds: "
			       "5}]}\n",
	  "spec.tokenRequests[0].expirationSeconds: Invalid value: 5: must be between 600 "
	  "and 4294967296, inclusive" },
	{ STORAGE("CSIDriver") "spec: {tokenRequests: [{audience: a}, {audience: a}]}\n",
	  "spec.tokenRequests[1].audience: Duplicate value: \"a\"" },
	{ STORAGE("CSIDriver") "spec: {serviceAccountTokenInSecrets: true}\n",
	  "spec.serviceAccountTokenInSecrets: Forbidden: has no meaning without tokenRequests" },
	{ STORAGE("CSINode") "spec: {drivers: [{name: d}]}\n",
	  "spec.drivers[0].nodeID: Required value" },
	{ STORAGE("CSINode") "spec: {drivers: [{name: d, nodeID: i}, {name: d, nodeID: "
			     "m}]}\n",
	  "spec.drivers[1].name: Duplicate value: \"d\"" },
	{ STORAGE("CSINode") "spec: {drivers: [{name: d, nodeID: i, allocatable: {count: "
			     "-1}}]}\n",
	  "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or "
	  "equal to 0" },
	{ ATTACHMENT "  source: {}\n",
	  "spec.source: Required value: must specify exactly one of inlineVolumeSpec and "
	  "persistentVolumeName" },
	{ ATTACHMENT "  source: {persistentVolumeName: pv, inlineVolumeSpec: {}}\n",
	  "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and "
	  "persistentVolumeName" },
	{ ATTACHMENT "  source: {persistentVolumeName: PV}\n",
	  "spec.source.persistentVolumeName: Invalid value: \"PV\": " SUBDOMAIN },
	{ STORAGE("CSIStorageCapacity"), "storageClassName: Required value" },
	{ STORAGE("CSIStorageCapacity") "storageClassName: c\nmaximumVolumeSize: -1\n",
	  "maximumVolumeSize: Invalid value: \"-1\": must be greater than or equal to 0" },
	{ STORAGE("VolumeAttributesClass") "parameters: {a: b}\n", "driverName: Required value" },
	{ STORAGE("VolumeAttributesClass") "driverName: d/e\nparameters: {a: b}\n",
	  "driverName: Invalid value: \"d/e\": " SUBDOMAIN },
	{ STORAGE("VolumeAttributesClass") "driverName: d\n",
	  "parameters: Required value: must contain at least one key/value pair" },
	{ LEASE "spec: {leaseDurationSeconds: 0}\n",
	  "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0" },
	{ LEASE "spec: {leaseTransitions: -1}\n",
	  "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0" },
	{ SNAPSHOT("VolumeSnapshot"), "spec.source: Required value" },
	{ SNAPSHOT("VolumeSnapshot") "spec: {source: {}}\n",
	  "spec.source: Invalid value: exactly one of volumeSnapshotContentName and "
	  "persistentVolumeClaimName must be set" },
	{ SNAPSHOT("VolumeSnapshot") "spec: {source: {persistentVolumeClaimName: c}, "
				     "volumeSnapshotClassName: ''}\n",
	  "spec.volumeSnapshotClassName: Invalid value: \"\": volumeSnapshotClassName "
	  "must not be the empty string when set" },
	{ SNAPSHOT("VolumeSnapshotClass") "deletionPolicy: Keep\n", "driver: Required value" },
	{ SNAPSHOT("VolumeSnapshotClass") "driver: d\ndeletionPolicy: Keep\n",
	  "deletionPolicy: Unsupported value: \"Keep\": supported values: \"Delete\", "
	  "\"Retain\"" },
	{ CONTENT "  source: {snapshotHandle: h, volumeHandle: v}\n",
	  "spec.source: Invalid value: exactly one of volumeHandle and snapshotHandle must "
	  "be set" },
	{ SNAPSHOT("VolumeSnapshotContent") "spec: {driver: d, deletionPolicy: Delete, "
					    "source: {volumeHandle: v}, "
					    "volumeSnapshotRef: {name: s}}\n",
	  "spec.volumeSnapshotRef: Invalid value: both spec.volumeSnapshotRef.name and "
	  "spec.volumeSnapshotRef.namespace must be set" },
	{ CONTENT "  source: {snapshotHandle: h}\nstatus: {restoreSize: -1}\n",
	  "status.restoreSize: Invalid value: -1: must be between 0 and 9223372036854775807, "
	  "inclusive" },
	{ SNAPSHOT("VolumeSnapshot") "spec: {source: {persistentVolumeClaimName: c}}\n"
				     "status: {restoreSize: much}\n",
	  "status.restoreSize: Invalid value: \"much\": quantities are numbers with a "
	  "suffix, such as \"10Gi\" or \"1500m\"" },
};

static void test_what_is_wrong(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_refused(wrong[i].yaml, wrong[i].text);
}

static void test_defaults(void **state)
{
	static const struct {
		const char *yaml, *json;
	} rows[] = {
		{ CORE("Secret") "stringData: {a: hi, b: ''}\ndata: {a: eA==, c: eQ==}\n",
		  "\"data\":{\"a\":\"aGk=\",\"c\":\"eQ==\",\"b\":\"\"},\"type\":\"Opaque\"}" },
		{ CORE("Secret") "stringData: {}\n", "\"type\":\"Opaque\"}" },
		{ CORE("Namespace"), "\"status\":{\"phase\":\"Active\"}}" },
		{ STORAGE("CSIDriver") "spec: {attachRequired: false}\n",
		  "\"spec\":{\"attachRequired\":false,\"podInfoOnMount\":false,"
		  "\"storageCapacity\":false,\"requiresRepublish\":false,\"seLinuxMount\":false,"
		  "\"fsGroupPolicy\":\"ReadWriteOnceWithFSType\","
		  "\"volumeLifecycleModes\":[\"Persistent\"]}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *object = object_of(rows[i].yaml);
		size_t length = strlen(rows[i].json);

		assert_true(object->json_length > length);
		assert_string_equal(object->json + object->json_length - length, rows[i].json);
		assert_null(strstr(object->json, "stringData"));
	}
}

/* An object of @bytes in one entry, as JSON; the rules count what the bytes are, decoded. */
static int make_large(const char *kind, const char *member, char fill, size_t bytes)
{
	cleanup_json struct cJSON *tree = json_new_object();
	cleanup_object const struct object *object = NULL;
	struct failure why = { .error = 0 };
	char *text = malloc(bytes + 1);
	int r;

	assert_non_null(text);
	memset(text, fill, bytes);
	text[bytes] = '\0';
	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", kind);
	(void) json_set_string(json_add_object(tree, "metadata"), "name", "x");
	(void) json_set_string(json_add_object(tree, member), "a", text);
	free(text);
	r = object_from_json(tree, &object, &why);
	if (r < 0)
		assert_non_null(strstr(why.text, ": Too long: may not be more than 1048576 bytes"));
	return r;
}

static void test_sizes(void **state)
{
	assert_int_equal(make_large("ConfigMap", "data", 'a', ENTRIES_BYTES_MAX), 0);
	assert_int_equal(make_large("ConfigMap", "data", 'a', ENTRIES_BYTES_MAX + 1), -EINVAL);
	assert_int_equal(make_large("ConfigMap", "binaryData", 'A', ENTRIES_BYTES_MAX / 3 * 4), 0);
	assert_int_equal(make_large("ConfigMap", "binaryData", 'A', ENTRIES_BYTES_MAX / 3 * 4 + 4),
			 -EINVAL);
	assert_int_equal(make_large("Secret", "stringData", 'a', ENTRIES_BYTES_MAX), 0);
	assert_int_equal(make_large("Secret", "stringData", 'a', ENTRIES_BYTES_MAX + 1), -EINVAL);
}

static const struct {
	const char *old, *proposed;
	const char *text; /* NULL: may happen */
} updates[] = {
	{ CORE("ConfigMap") "data: {a: x}\n", CORE("ConfigMap") "data: {a: z}\n", NULL },
	{ CORE("ConfigMap") "data: {a: x}\nimmutable: true\n",
	  CORE("ConfigMap") "data: {a: z}\nimmutable: true\n",
	  "data: Forbidden: field is immutable when `immutable` is set" },
	{ CORE("ConfigMap") "immutable: true\n", CORE("ConfigMap"),
	  "immutable: Forbidden: field is immutable when `immutable` is set" },
	{ CORE("Secret") "stringData: {a: x}\nimmutable: true\n",
	  CORE("Secret") "stringData: {a: z}\nimmutable: true\n",
	  "data: Forbidden: field is immutable when `immutable` is set" },
	{ CORE("Secret"), CORE("Secret") "type: example.com/own\n",
	  "type: Invalid value: field is immutable" },
	{ CORE("Node"), CORE("Node") "spec: {providerID: a}\n", NULL },
	{ CORE("Node") "spec: {providerID: a}\n", CORE("Node") "spec: {providerID: b}\n",
	  "spec.providerID: Forbidden: node updates may not change providerID except from "
	  "\"\" to valid" },
	{ STORAGE("CSIDriver"), STORAGE("CSIDriver") "spec: {podInfoOnMount: true}\n", NULL },
	{ STORAGE("CSIDriver"), STORAGE("CSIDriver") "spec: {attachRequired: false}\n",
	  "spec.attachRequired: Invalid value: field is immutable" },
	{ STORAGE("CSINode") "spec: {drivers: [{name: d, nodeID: i}]}\n",
	  STORAGE("CSINode") "spec: {drivers: [{name: e, nodeID: m}]}\n", NULL },
	{ STORAGE("CSINode") "spec: {drivers: [{name: d, nodeID: i}]}\n",
	  STORAGE("CSINode") "spec: {drivers: [{name: d, nodeID: m}]}\n",
	  "spec.drivers: Invalid value: \"d\": field is immutable" },
	{ ATTACHMENT "  source: {persistentVolumeName: pv}\n",
	  ATTACHMENT "  source: {persistentVolumeName: pv}\nstatus: {attached: true}\n", NULL },
	{ ATTACHMENT "  source: {persistentVolumeName: pv}\n",
	  ATTACHMENT "  source: {persistentVolumeName: other}\n",
	  "spec: Invalid value: field is immutable" },
	{ STORAGE("CSIStorageCapacity") "storageClassName: c\n",
	  STORAGE("CSIStorageCapacity") "storageClassName: c\ncapacity: 1Gi\n", NULL },
	{ STORAGE("CSIStorageCapacity") "storageClassName: c\n",
	  STORAGE("CSIStorageCapacity") "storageClassName: d\n",
	  "storageClassName: Invalid value: \"d\": field is immutable" },
	{ STORAGE("VolumeAttributesClass") "driverName: d\nparameters: {a: b}\n",
	  STORAGE("VolumeAttributesClass") "driverName: e\nparameters: {a: b}\n",
	  "driverName: Forbidden: updates to driverName are forbidden." },
	{ STORAGE("VolumeAttributesClass") "driverName: d\nparameters: {a: b}\n",
	  STORAGE("VolumeAttributesClass") "driverName: d\nparameters: {a: c}\n",
	  "parameters: Forbidden: updates to parameters are forbidden." },
	{ SNAPSHOT("VolumeSnapshot") "spec: {source: {persistentVolumeClaimName: c}}\n",
	  SNAPSHOT("VolumeSnapshot") "spec: {source: {persistentVolumeClaimName: d}}\n",
	  "spec.source.persistentVolumeClaimName: Invalid value: \"d\": "
	  "persistentVolumeClaimName is immutable" },
	{ CONTENT "  source: {snapshotHandle: h}\n", CONTENT "  source: {snapshotHandle: i}\n",
	  "spec.source.snapshotHandle: Invalid value: \"i\": snapshotHandle is "
	  "immutable" },
	{ CONTENT "  source: {snapshotHandle: h}\n  sourceVolumeMode: Block\n",
	  CONTENT "  source: {snapshotHandle: h}\n  sourceVolumeMode: Filesystem\n",
	  "spec.sourceVolumeMode: Invalid value: \"Filesystem\": sourceVolumeMode is "
	  "immutable" },
};

static void test_updates(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(updates); i++) {
		cleanup_object const struct object *old = object_of(updates[i].old);
		cleanup_object const struct object *proposed = object_of(updates[i].proposed);
		cleanup_object const struct object *result = NULL;
		struct failure why = { .error = 0 };
		struct admission admission = { .verb = ADMIT_UPDATE,
					       .old = old,
					       .proposed = proposed,
					       .resource_version = 2 };
		int r = object_admit(&admission, &result, &why);

		assert_int_equal(r, updates[i].text ? -EINVAL : 0);
		if (updates[i].text)
			assert_string_equal(why.text, updates[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_right), cmocka_unit_test(test_what_is_wrong),
		cmocka_unit_test(test_defaults),      cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_updates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
