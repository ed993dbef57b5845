/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_table - kubectl's columns and ages
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

/* All cells of the only row, each followed by '|', and the columns likewise. */
static void show(const char *yaml, char columns[300], char cells[300])
{
	const struct object *object = object_of(yaml);
	cleanup_json struct cJSON *table = table_from_objects(object->kind, &object, 1, NOW, NULL);
	const struct cJSON *row = json_at(json_get(table, "rows"), 0);
	size_t used = 0;

	for (const struct cJSON *item = json_first(json_get(row, "cells")); item;
	     item = json_next(item))
		used += (size_t) snprintf(cells + used, 300 - used, "%s|", json_string(item, "?"));
	used = 0;
	for (const struct cJSON *item = json_first(json_get(table, "columnDefinitions")); item;
	     item = json_next(item))
		used += (size_t) snprintf(columns + used, 300 - used, "%s|",
					  json_string(json_get(item, "name"), "?"));
	(void) object_unref(object);
}

static void assert_row(const char *yaml, const char *columns, const char *cells)
{
	char got_columns[300], got_cells[300];

	show(yaml, got_columns, got_cells);
	assert_string_equal(got_columns, columns);
	assert_string_equal(got_cells, cells);
}

static void test_pods(void **state)
{
	static const char columns[] =
		"Name|Ready|Status|Restarts|Age|IP|Node|Nominated Node|Readiness Gates|";

	assert_row(
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, creationTimestamp: '" CREATED_TEXT
		"'}\nspec: {nodeName: n1, containers: [{name: a}, {name: b}], initContainers: "
		"[{name: i}]}\n"
		"status: {phase: Running, containerStatuses: [{name: a, ready: true, "
		"restartCount: 3}, {name: b, ready: false, restartCount: 1}]}\n",
		columns, "web|1/2|Running|4|5h|<none>|n1|<none>|<none>|");
	assert_row("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: "
		   "a}]}\n",
		   columns, "web|0/1|Pending|0|<unknown>|<none>|<none>|<none>|<none>|");
	assert_row("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: "
		   "a}]}\n"
		   "status: {phase: Failed, reason: Evicted}\n",
		   columns, "web|0/1|Evicted|0|<unknown>|<none>|<none>|<none>|<none>|");
	assert_row("apiVersion: v1\nkind: Pod\nmetadata: {name: web, deletionTimestamp: "
		   "'" CREATED_TEXT
		   "'}\nspec: {containers: [{name: a}]}\nstatus: {phase: Running}\n",
		   columns, "web|0/1|Terminating|0|<unknown>|<none>|<none>|<none>|<none>|");
	assert_row("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: "
		   "a}], readinessGates: [{conditionType: x}, {conditionType: z}]}\n"
		   "status: {phase: Running, podIP: 10.0.0.7, nominatedNodeName: n2, conditions: "
		   "[{type: z, status: 'True'}, {type: x, status: 'False'}]}\n",
		   columns, "web|0/1|Running|0|<unknown>|10.0.0.7|<none>|n2|1/2|");
}

static void test_volumes(void **state)
{
	static const char columns[] =
		"Name|Capacity|Access Modes|Reclaim "
		"Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|"
		"VolumeMode|Source|";

	assert_row(
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec:\n"
		"  capacity: {storage: 1.5Gi}\n"
		"  accessModes: [ReadWriteMany, ReadOnlyMany, ReadWriteOnce]\n"
		"  hostPath: {path: /x}\n  storageClassName: fast\n"
		"  claimRef: {namespace: ns, name: data}\n"
		"status: {phase: Failed, reason: Why}\n",
		columns,
		"pv|1536Mi|RWO,ROX,RWX|Retain|Failed|ns/data|fast|<unset>|Why|<unknown>|Filesystem|"
		"hostPath|");
	assert_row("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec:\n"
		   "  capacity: {storage: 1000}\n  accessModes: [ReadWriteOncePod]\n"
		   "  nfs: {server: s, path: /}\n",
		   columns, "pv|1000|RWOP|Retain|Pending|||<unset>||<unknown>|Filesystem|nfs|");
}

static void test_claims(void **state)
{
	static const char columns[] =
		"Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|"
		"VolumeMode|Request|";

	assert_row("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec:\n"
		   "  accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n"
		   "  volumeName: pv\n  storageClassName: x\n"
		   "status: {phase: Bound, capacity: {storage: 2Gi}}\n",
		   columns, "c|Bound|pv|2Gi|RWO|x|<unset>|<unknown>|Filesystem|1Gi|");
	assert_row("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec:\n"
		   "  accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n",
		   columns, "c|Pending|||||<unset>|<unknown>|Filesystem|1Gi|");
}

static void test_classes(void **state)
{
	assert_row("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: c, "
		   "annotations: "
		   "{storageclass.kubernetes.io/is-default-class: 'true'}}\nprovisioner: p\n"
		   "volumeBindingMode: WaitForFirstConsumer\nallowVolumeExpansion: true\n",
		   "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age|",
		   "c (default)|p|Delete|WaitForFirstConsumer|true|<unknown>|");
}

static void test_a_table_is_what_kubectl_reads(void **state)
{
	const struct object *object = object_of(
		"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: c, uid: u, "
		"resourceVersion: '7', creationTimestamp: '" CREATED_TEXT "', labels: {a: b}}\n"
		"provisioner: p\n");
	cleanup_json struct cJSON *table =
		table_from_objects(KIND_STORAGE_CLASS, &object, 1, NOW, NULL);
	cleanup_free char *printed = json_print(json_at(json_get(table, "rows"), 0));
	cleanup_free char *column = json_print(json_at(json_get(table, "columnDefinitions"), 0));

	assert_string_equal(json_string(json_get(table, "kind"), ""), "Table");
	assert_string_equal(json_string(json_get(table, "apiVersion"), ""), "meta.k8s.io/v1");
	assert_string_equal(printed,
			    "{\"cells\":[\"c\",\"p\",\"Delete\",\"Immediate\",\"false\",\"5h\"],"
			    "\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":"
			    "\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"c\",\"uid\":\"u\","
			    "\"resourceVersion\":\"7\",\"creationTimestamp\":\"" CREATED_TEXT
			    "\",\"labels\":{\"a\":\"b\"}}}}");
	assert_string_equal(column, "{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\","
				    "\"description\":\"\",\"priority\":0}");
	(void) object_unref(object);
}

static void test_an_empty_table(void **state)
{
	cleanup_json struct cJSON *table = table_from_objects(KIND_POD, NULL, 0, NOW, NULL);

	assert_int_equal(json_count(json_get(table, "rows")), 0);
	assert_true(json_count(json_get(table, "columnDefinitions")) > 0);
}

static void test_ages(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} ages[] = {
		{ 0, "0s" },          { 119, "119s" },      { 120, "2m" },
		{ 121, "2m1s" },      { 599, "9m59s" },     { 600, "10m" },
		{ 10799, "179m" },    { 10800, "3h" },      { 10860, "3h1m" },
		{ 28799, "7h59m" },   { 28800, "8h" },      { 172799, "47h" },
		{ 172800, "2d" },     { 176400, "2d1h" },   { 691199, "7d23h" },
		{ 691200, "8d" },     { 63071999, "729d" }, { 63072000, "2y" },
		{ 63158400, "2y1d" }, { 252288000, "8y" },  { 1000000000, "31y" },
	};
	char text[TABLE_CELL_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(ages); i++) {
		table_age(CREATED, CREATED + ages[i].seconds * USEC_PER_SEC, text);
		assert_string_equal(text, ages[i].text);
	}
	table_age(CREATED, CREATED - 1, text); /* the clock was set back */
	assert_string_equal(text, "0s");
	table_age(0, CREATED, text);
	assert_string_equal(text, "<unknown>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_a_table_is_what_kubectl_reads),
		cmocka_unit_test(test_an_empty_table),
		cmocka_unit_test(test_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
