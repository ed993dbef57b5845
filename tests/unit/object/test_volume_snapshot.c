/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_snapshot - what snapshots, their classes and contents decode to; sources of claims
 */
#include "object/kinds/volume_snapshot.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEAD(kind) "apiVersion: snapshot.storage.k8s.io/v1\nkind: " kind "\nmetadata:\n  name: x\n"
#define CLAIM                                                                                      \
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\n"                       \
	"spec:\n  accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n"
#define SNAPSHOT_SOURCE "{apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: s}"

static void test_a_snapshot(void **state)
{
	cleanup_object const struct object *object =
		object_of(HEAD("VolumeSnapshot") "  finalizers: [" FINALIZER_SNAPSHOT_BOUND "]\n"
						 "  annotations: {podvol.io/deleted-by: me}\n"
						 "spec:\n  volumeSnapshotClassName: k\n"
						 "  source: {persistentVolumeClaimName: c}\n"
						 "status:\n  boundVolumeSnapshotContentName: b\n"
						 "  creationTime: 2026-01-02T03:04:05Z\n"
						 "  readyToUse: false\n  restoreSize: 1Gi\n"
						 "  error: {message: m, "
						 "time: 2026-01-02T03:04:06Z}\n");
	const struct volume_snapshot *snapshot = object->volume_snapshot;

	assert_ptr_equal(snapshot->object, object);
	assert_string_equal(snapshot->claim_name, "c");
	assert_string_equal(snapshot->content_name, "");
	assert_true(snapshot->has_class);
	assert_string_equal(snapshot->class_name, "k");
	assert_string_equal(snapshot->bound_content, "b");
	assert_string_equal(snapshot->creation_time, "2026-01-02T03:04:05Z");
	assert_true(snapshot->state.has_ready);
	assert_false(snapshot->state.is_ready);
	assert_true(quantity_value(&snapshot->state.restore_size) == 1LL << 30);
	assert_true(snapshot->state.has_error);
	assert_string_equal(snapshot->state.error, "m");
	assert_string_equal(snapshot->state.error_time, "2026-01-02T03:04:06Z");
	assert_true(snapshot->has_bound_finalizer);
	assert_false(snapshot->has_source_finalizer);
	assert_string_equal(snapshot->deleted_by, "me");
}

static void test_a_bare_snapshot(void **state)
{
	cleanup_object const struct object *object = object_of(
		HEAD("VolumeSnapshot") "spec: {source: {volumeSnapshotContentName: b}}\n");
	const struct volume_snapshot *snapshot = object->volume_snapshot;

	assert_string_equal(snapshot->content_name, "b");
	assert_false(snapshot->has_class);
	assert_false(snapshot->state.has_ready);
	assert_false(snapshot->state.has_error);
	assert_false(snapshot->state.restore_size.is_set);
	assert_string_equal(snapshot->bound_content, "");
}

static void test_a_class(void **state)
{
	cleanup_object const struct object *object = object_of(
		HEAD("VolumeSnapshotClass") "  annotations: {" ANNOTATION_SNAPSHOT_DEFAULT_CLASS
					    ": 'true'}\n"
					    "driver: d\ndeletionPolicy: Retain\n"
					    "parameters: {a: b}\n");
	const struct volume_snapshot_class *class = object->volume_snapshot_class;

	assert_string_equal(class->driver, "d");
	assert_int_equal(class->deletion_policy, SNAPSHOT_RETAIN);
	assert_true(class->is_default);
	assert_int_equal(class->parameters.count, 1);
	assert_string_equal(class->parameters.labels[0].key, "a");
	assert_string_equal(class->parameters.labels[0].value, "b");
}

static void test_a_content(void **state)
{
	cleanup_object const struct object *object = object_of(
		HEAD("VolumeSnapshotContent") "  finalizers: [" FINALIZER_CONTENT "]\n"
					      "  annotations:\n"
					      "    " ANNOTATION_SNAPSHOT_BEING_CREATED ": 'yes'\n"
					      "    " ANNOTATION_SNAPSHOT_SECRET_NAME ": token\n"
					      "    " ANNOTATION_SNAPSHOT_SECRET_SPACE ": ns\n"
					      "    podvol.io/base-path: /srv\n"
					      "spec:\n  driver: d\n  deletionPolicy: Delete\n"
					      "  sourceVolumeMode: Filesystem\n"
					      "  volumeSnapshotClassName: k\n"
					      "  source: {volumeHandle: v}\n"
					      "  volumeSnapshotRef: {namespace: a, name: s, "
					      "uid: u}\n"
					      "status: {snapshotHandle: h, readyToUse: true, "
					      "restoreSize: 1024, "
					      "creationTime: 1767323045000000001}\n");
	const struct volume_snapshot_content *content = object->volume_snapshot_content;

	assert_string_equal(content->driver, "d");
	assert_int_equal(content->deletion_policy, SNAPSHOT_DELETE);
	assert_string_equal(content->volume_handle, "v");
	assert_string_equal(content->given_handle, "");
	assert_string_equal(content->source_volume_mode, "Filesystem");
	assert_string_equal(content->class_name, "k");
	assert_string_equal(content->snapshot_namespace, "a");
	assert_string_equal(content->snapshot_name, "s");
	assert_string_equal(content->snapshot_uid, "u");
	assert_string_equal(content->snapshot_handle, "h");
	assert_true(content->creation_nsec == 1767323045000000001);
	assert_true(content->state.is_ready);
	assert_true(quantity_value(&content->state.restore_size) == 1024);
	assert_true(content->has_finalizer);
	assert_true(content->is_being_created);
	assert_false(content->is_being_deleted);
	assert_string_equal(content->secret_name, "token");
	assert_string_equal(content->secret_namespace, "ns");
	assert_string_equal(content->base_path, "/srv");
}

/* ---- what a claim is filled from ---- */

static const struct {
	const char *spec;
	enum data_source_kind kind;
	const char *name_space, *name;
	bool has_source, has_reference;
} sources[] = {
	{ "", DATA_SOURCE_NONE, "", "", false, false },
	{ "  dataSource: {kind: PersistentVolumeClaim, name: d}\n", DATA_SOURCE_CLAIM, "", "d",
	  true, true },
	{ "  dataSourceRef: {kind: PersistentVolumeClaim, name: d}\n", DATA_SOURCE_CLAIM, "", "d",
	  true, true },
	{ "  dataSource: " SNAPSHOT_SOURCE "\n", DATA_SOURCE_SNAPSHOT, "", "s", true, true },
	{ "  dataSource: " SNAPSHOT_SOURCE "\n  dataSourceRef: " SNAPSHOT_SOURCE "\n",
	  DATA_SOURCE_SNAPSHOT, "", "s", true, true },
	{ "  dataSourceRef: {apiGroup: a.b, kind: Populator, name: p, namespace: other}\n",
	  DATA_SOURCE_OTHER, "other", "p", false, true },
};

static void test_sources_of_claims(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		cleanup_free char *yaml = NULL;
		cleanup_object const struct object *object = NULL;
		const struct data_source *source;

		assert_true(asprintf(&yaml, CLAIM "%s", sources[i].spec) > 0);
		object = object_of(yaml);
		source = &object->claim->data_source;
		assert_int_equal(source->kind, sources[i].kind);
		assert_string_equal(source->name_space, sources[i].name_space);
		assert_string_equal(source->name, sources[i].name);
		assert_int_equal(strstr(object->json, "\"dataSource\"") != NULL,
				 sources[i].has_source);
		assert_int_equal(strstr(object->json, "\"dataSourceRef\"") != NULL,
				 sources[i].has_reference);
	}
}

static const struct {
	const char *spec, *text;
} wrong_sources[] = {
	{ "  dataSource: {kind: PersistentVolumeClaim}\n", "spec.dataSource.name: Required value" },
	{ "  dataSourceRef: {name: d}\n", "spec.dataSource.kind: Required value" },
	{ "  dataSource: {kind: VolumeSnapshot, name: s}\n",
	  "spec.dataSource: Invalid value: \"VolumeSnapshot\": must be 'PersistentVolumeClaim' "
	  "when referencing the default apiGroup" },
	{ "  dataSource: {kind: PersistentVolumeClaim, name: a}\n"
	  "  dataSourceRef: {kind: PersistentVolumeClaim, name: b}\n",
	  "spec: Invalid value: must match dataSourceRef" },
	{ "  dataSource: {kind: PersistentVolumeClaim, name: a}\n"
	  "  dataSourceRef: {kind: PersistentVolumeClaim, name: a, namespace: other}\n",
	  "spec: Invalid value: may not specify dataSource when dataSourceRef.namespace is "
	  "specified" },
};

static void test_wrong_sources(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong_sources); i++) {
		cleanup_free char *yaml = NULL;

		assert_true(asprintf(&yaml, CLAIM "%s", wrong_sources[i].spec) > 0);
		assert_refused(yaml, wrong_sources[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_snapshot),        cmocka_unit_test(test_a_bare_snapshot),
		cmocka_unit_test(test_a_class),           cmocka_unit_test(test_a_content),
		cmocka_unit_test(test_sources_of_claims), cmocka_unit_test(test_wrong_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
