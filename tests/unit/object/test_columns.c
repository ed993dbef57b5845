/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_columns - what kubectl shows of the kinds that are not decoded
 */
#include "object/schema/table.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CREATED_TEXT "2026-11-21T08:35:00Z"
#define CREATED      (1795250100 * USEC_PER_SEC)
#define NOW          (CREATED + 3600 * 5 * USEC_PER_SEC)

#define META           "metadata: {name: x, creationTimestamp: '" CREATED_TEXT "'}\n"
#define CORE(kind)     "apiVersion: v1\nkind: " kind "\n" META
#define STORAGE(kind)  "apiVersion: storage.k8s.io/v1\nkind: " kind "\n" META
#define SNAPSHOT(kind) "apiVersion: snapshot.storage.k8s.io/v1\nkind: " kind "\n" META

/* What a list of texts looks like in one line; columns that only -o wide shows end in '*'. */
static void put(char line[600], const char *text, const char *mark)
{
	size_t used = strlen(line);

	(void) snprintf(line + used, 600 - used, "%s%s|", text, mark);
}

static void assert_row(const char *yaml, const char *columns, const char *cells)
{
	cleanup_object const struct object *object = object_of(yaml);
	cleanup_json struct cJSON *table = table_from_objects(object->kind, &object, 1, NOW, NULL);
	const struct cJSON *list = json_get(table, "columnDefinitions");
	char got_columns[600] = "", got_cells[600] = "";

	for (const struct cJSON *item = json_first(list); item; item = json_next(item)) {
		int64_t priority = 0;

		assert_true(json_int64(json_get(item, "priority"), &priority));
		put(got_columns, json_string(json_get(item, "name"), "?"), priority ? "*" : "");
	}
	list = json_get(json_at(json_get(table, "rows"), 0), "cells");
	for (const struct cJSON *item = json_first(list); item; item = json_next(item))
		put(got_cells, json_string(item, "?"), "");
	assert_string_equal(got_columns, columns);
	assert_string_equal(got_cells, cells);
}

static void test_settings(void **state)
{
	assert_row(CORE("ConfigMap") "data: {a: '', b: ''}\nbinaryData: {c: ''}\n",
		   "Name|Data|Age|", "x|3|5h|");
	assert_row(CORE("Secret") "data: {a: ''}\n", "Name|Type|Data|Age|", "x|Opaque|1|5h|");
	assert_row(CORE("ServiceAccount") "secrets: [{name: s}]\n", "Name|Secrets|Age|", "x|1|5h|");
	assert_row(CORE("Namespace"), "Name|Status|Age|", "x|Active|5h|");
	assert_row("apiVersion: coordination.k8s.io/v1\nkind: Lease\n" META
		   "spec: {holderIdentity: me}\n",
		   "Name|Holder|Age|", "x|me|5h|");
}

static void test_nodes(void **state)
{
	static const char columns[] = "Name|Status|Roles|Age|Version|Internal-IP*|External-IP*|"
				      "OS-Image*|Kernel-Version*|Container-Runtime*|";

	assert_row(CORE("Node"), columns,
		   "x|Unknown|<none>|5h||<none>|<none>|<unknown>|<unknown>|<unknown>|");
	assert_row("apiVersion: v1\nkind: Node\nmetadata: {name: x, labels: "
		   "{node-role.kubernetes.io/edge: '', kubernetes.io/role: store}}\n"
		   "spec: {unschedulable: true}\n"
		   "status:\n  conditions: [{type: Other, status: 'True'}, {type: Ready, status: "
		   "'False'}]\n  addresses: [{type: Hostname, address: h}, {type: InternalIP, "
		   "address: 10.0.0.1}]\n"
		   "  nodeInfo: {kubeletVersion: v1, osImage: Debian, kernelVersion: '6.1', "
		   "containerRuntimeVersion: none}\n",
		   columns,
		   "x|NotReady,SchedulingDisabled|edge,store|<unknown>|v1|10.0.0.1|<none>|Debian|"
		   "6.1|none|");
	assert_row(CORE("Node") "status: {conditions: [{type: Ready, status: 'True'}]}\n", columns,
		   "x|Ready|<none>|5h||<none>|<none>|<unknown>|<unknown>|<unknown>|");
}

static void test_events(void **state)
{
	static const char columns[] = "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|"
				      "First Seen*|Count*|Name*|";

	assert_row(CORE("Event") "involvedObject: {kind: Pod, namespace: default, name: Web, "
				 "fieldPath: 'spec.containers{c}'}\ntype: Warning\n"
				 "reason: FailedMount\nmessage: ' no such path\n\n  '\ncount: 4\n"
				 "firstTimestamp: '" CREATED_TEXT "'\n"
				 "lastTimestamp: '2026-11-21T13:34:50Z'\n"
				 "source: {component: podvold, host: n1}\n",
		   columns,
		   "10s|Warning|FailedMount|pod/Web|spec.containers{c}|podvold, n1|no such path|"
		   "5h|4|x|");
	assert_row(CORE("Event") "involvedObject: {kind: Pod, namespace: default, name: web}\n"
				 "eventTime: '2026-11-21T13:34:00.000000Z'\nreason: r\n"
				 "reportingComponent: c\nreportingInstance: i\naction: a\n"
				 "series: {count: 9, lastObservedTime: "
				 "'2026-11-21T13:34:57.000000Z'}\n",
		   columns, "3s||r|pod/web||c, i||60s|9|x|");
	assert_row(CORE("Event") "involvedObject: {namespace: default}\n", columns,
		   "<unknown>|||||||<unknown>|1|x|");
}

/* VolumeAttributesClass is served as v1: a difference from Kubernetes 1.32. */
static void test_csi(void **state)
{
	static const char driver[] = "Name|AttachRequired|PodInfoOnMount|StorageCapacity|"
				     "TokenRequests|RequiresRepublish|Modes|Age|";

	assert_row(STORAGE("CSIDriver"), driver, "x|true|false|false|<unset>|false|Persistent|5h|");
	assert_row(STORAGE("CSIDriver") "spec: {tokenRequests: [{audience: ''}, {audience: a}], "
					"volumeLifecycleModes: [Persistent, Ephemeral]}\n",
		   driver, "x|true|false|false|,a|false|Persistent,Ephemeral|5h|");
	assert_row(STORAGE("CSINode") "spec: {drivers: [{name: d, nodeID: i}]}\n",
		   "Name|Drivers|Age|", "x|1|5h|");
	assert_row(STORAGE("CSIStorageCapacity") "storageClassName: c\n",
		   "Name|StorageClassName|Capacity|", "x|c|<unset>|");
	assert_row(STORAGE("VolumeAttributesClass") "driverName: d\nparameters: {a: b}\n",
		   "Name|DriverName|Age|", "x|d|5h|");
	assert_row(STORAGE("VolumeAttachment") "spec: {attacher: d, nodeName: here, source: "
					       "{persistentVolumeName: pv}}\n",
		   "Name|Attacher|PV|Node|Attached|Age|", "x|d|pv|here|false|5h|");
	assert_row(
		STORAGE("VolumeAttachment") "spec: {attacher: d, nodeName: here, source: "
					    "{inlineVolumeSpec: {}}}\nstatus: {attached: true}\n",
		"Name|Attacher|PV|Node|Attached|Age|", "x|d||here|true|5h|");
}

static void test_snapshots(void **state)
{
	assert_row(SNAPSHOT("VolumeSnapshot") "spec: {volumeSnapshotClassName: k, source: "
					      "{persistentVolumeClaimName: c}}\n"
					      "status: {readyToUse: true, restoreSize: 1Gi, "
					      "boundVolumeSnapshotContentName: b, creationTime: "
					      "'2026-11-21T13:34:00Z'}\n",
		   "Name|ReadyToUse|SourcePVC|SourceSnapshotContent|RestoreSize|SnapshotClass|"
		   "SnapshotContent|CreationTime|Age|",
		   "x|true|c||1Gi|k|b|60s|5h|");
	assert_row(SNAPSHOT("VolumeSnapshotClass") "driver: d\ndeletionPolicy: Retain\n",
		   "Name|Driver|DeletionPolicy|Age|", "x|d|Retain|5h|");
	assert_row(SNAPSHOT("VolumeSnapshotContent") "spec: {driver: d, deletionPolicy: Delete, "
						     "volumeSnapshotClassName: k, source: "
						     "{volumeHandle: h}, volumeSnapshotRef: "
						     "{namespace: ns, name: s}}\n"
						     "status: {restoreSize: 1073741824}\n",
		   "Name|ReadyToUse|RestoreSize|DeletionPolicy|Driver|VolumeSnapshotClass|"
		   "VolumeSnapshot|VolumeSnapshotNamespace|Age|",
		   "x||1073741824|Delete|d|k|s|ns|5h|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),  cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_events),    cmocka_unit_test(test_csi),
		cmocka_unit_test(test_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
