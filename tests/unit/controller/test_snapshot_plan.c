/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_snapshot_plan - contents of snapshots, the secrets they name, and what snapshots say
 */
#include "controller/snapshot/snapshot_plan.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define UID "11111111-2222-3333-4444-000000000001"
#define HEAD(kind, name, more)                                                                     \
	"apiVersion: snapshot.storage.k8s.io/v1\nkind: " kind "\nmetadata: {name: " name more "}"  \
	"\n"
#define SNAPSHOT                                                                                   \
	HEAD("VolumeSnapshot", "s", ", namespace: ns, uid: " UID)                                  \
	"spec: {volumeSnapshotClassName: k, source: {persistentVolumeClaimName: c}}\n"
#define CLASS(parameters)                                                                          \
	HEAD("VolumeSnapshotClass", "k", "") "driver: d\ndeletionPolicy: Delete\n" parameters
#define VOLUME(source)                                                                             \
	"apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: pv\n  annotations:\n"          \
	"    pv.kubernetes.io/provisioned-by: podvol/local\n"                                      \
	"spec:\n  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n  " source "\n"
#define CSI_SOURCE "csi: {driver: d, volumeHandle: h}"
#define LOCAL_SOURCE                                                                               \
	"local: {path: /srv/pv}\n  nodeAffinity: {required: {nodeSelectorTerms: "                  \
	"[{matchExpressions: [{key: a, operator: Exists}]}]}}"
#define SECRET(name, space)                                                                        \
	"parameters: {csi.storage.k8s.io/snapshotter-secret-name: '" name                          \
	"', csi.storage.k8s.io/snapshotter-secret-namespace: '" space "', other: x}\n"

static int plan(const char *class_yaml, const struct object **ret, struct failure *why)
{
	cleanup_object const struct object *snapshot = object_of(SNAPSHOT);
	cleanup_object const struct object *class = object_of(class_yaml);
	cleanup_object const struct object *volume = object_of(VOLUME(CSI_SOURCE));
	const struct snapshot_sources sources = {
		.snapshot = snapshot->volume_snapshot,
		.class = class->volume_snapshot_class,
		.volume = volume->persistent_volume,
	};

	return snapshot_plan_content(&sources, ret, why);
}

static void test_a_content(void **state)
{
	cleanup_object const struct object *made = NULL;
	const struct volume_snapshot_content *content;
	struct failure why = { .error = 0 };
	char buffer[SNAPSHOT_NAME_BYTES];

	assert_int_equal(plan(CLASS(""), &made, &why), 0);
	content = made->volume_snapshot_content;
	assert_string_equal(made->meta.name, "snapcontent-" UID);
	assert_string_equal(snapshot_name(content, buffer), "snapshot-" UID);
	assert_string_equal(content->driver, "d");
	assert_string_equal(content->volume_handle, "h");
	assert_string_equal(content->class_name, "k");
	assert_string_equal(content->source_volume_mode, "Filesystem");
	assert_int_equal(content->deletion_policy, SNAPSHOT_DELETE);
	assert_string_equal(content->snapshot_uid, UID);
	assert_true(content->has_finalizer);
	assert_false(content->is_being_created);
	assert_string_equal(content->secret_name, "");
}

static const struct {
	const char *class, *name, *space, *refusal;
} secrets[] = {
	{ CLASS(SECRET("a", "b")), "a", "b", NULL },
	{ CLASS(SECRET("x-${volumesnapshot.name}-y", "${volumesnapshot.namespace}")), "x-s-y", "ns",
	  NULL },
	{ CLASS(SECRET("${volumesnapshotcontent.name}", "b")), "snapcontent-" UID, "b", NULL },
	{ CLASS(SECRET("a", "")), "", "", "names half a secret" },
	{ CLASS(SECRET("${pvc.name}", "b")), "", "", "cannot be the name" },
	{ CLASS(SECRET("a", "${volumesnapshot.name}")), "", "", "cannot be the namespace" },
	{ CLASS(SECRET("a", "$")), "", "", "cannot be the namespace" },
};

static void test_secrets(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		cleanup_object const struct object *made = NULL;
		struct failure why = { .error = 0 };
		int r = plan(secrets[i].class, &made, &why);

		assert_int_equal(r, secrets[i].refusal ? -EINVAL : 0);
		if (secrets[i].refusal) {
			assert_non_null(strstr(why.text, secrets[i].refusal));
			continue;
		}
		assert_string_equal(made->volume_snapshot_content->secret_name, secrets[i].name);
		assert_string_equal(made->volume_snapshot_content->secret_namespace,
				    secrets[i].space);
	}
	assert_true(snapshot_is_own_parameter("csi.storage.k8s.io/snapshotter-secret-name"));
	assert_false(snapshot_is_own_parameter("other"));
}

#define GROUP_API(text)                                                                            \
	"apiVersion: groupsnapshot.storage.k8s.io/v1\nkind: VolumeGroupSnapshot" text
#define GROUP_CLASS(name, space)                                                                   \
	GROUP_API("Class\nmetadata: {name: k}\ndriver: d\ndeletionPolicy: Delete\n"                \
		  "parameters: {csi.storage.k8s.io/group-snapshotter-secret-name: '" name          \
		  "', csi.storage.k8s.io/group-snapshotter-secret-namespace: '" space "'}\n")

static int plan_group(const char *class_yaml, const struct object **ret)
{
	cleanup_object const struct object *group =
		object_of(GROUP_API("\nmetadata: {name: g, namespace: ns, uid: " UID "}\nspec: "
				    "{volumeGroupSnapshotClassName: k, source: {selector: {}}}\n"));
	cleanup_object const struct object *class = object_of(class_yaml);
	const struct snapshot_sources sources = {
		.snapshot = group->volume_snapshot,
		.class = class->volume_snapshot_class,
	};

	return snapshot_plan_content(&sources, ret, NULL);
}

static void test_secrets_of_groups(void **state)
{
	cleanup_object const struct object *made = NULL, *none = NULL;

	assert_int_equal(plan_group(GROUP_CLASS("x-${volumegroupsnapshot.name}",
						"${volumegroupsnapshot.namespace}"),
				    &made),
			 0);
	assert_string_equal(made->volume_snapshot_content->secret_name, "x-g");
	assert_string_equal(made->volume_snapshot_content->secret_namespace, "ns");
	assert_int_equal(plan_group(GROUP_CLASS("${volumesnapshot.name}", "b"), &none), -EINVAL);
	assert_int_equal(plan_group(GROUP_CLASS("a", "${volumesnapshot.namespace}"), &none),
			 -EINVAL);
	assert_int_equal(plan_group(GROUP_CLASS("a", "${volumegroupsnapshot.name}"), &none),
			 -EINVAL);
	assert_int_equal(plan(CLASS(SECRET("${volumegroupsnapshot.name}", "b")), &none,
			      &(struct failure){ .error = 0 }),
			 -EINVAL);
}

#define GROUP_CONTENT(source)                                                                      \
	GROUP_API("Content\nmetadata: {name: c}\nspec: {driver: d, deletionPolicy: Delete, "       \
		  "volumeGroupSnapshotRef: {name: g, namespace: ns}, source: {" source "}}\n")

#define OF(volume, snapshot)                                                                       \
	{                                                                                          \
		.volume_handle = (volume), .handle = (snapshot)                                    \
	}

static const struct {
	struct snapshot_member members[3];
	size_t count;
	int error;
	const char *refusal;
} answers[] = {
	{ { OF("b", "t"), OF("a", "s") }, 2, 0, "" },
	{ { OF("a", "s") }, 1, -EBADMSG, "1 snapshots instead of 2" },
	{ { OF("a", "s"), OF("b", "t"), OF("c", "u") }, 3, -EBADMSG, "3 snapshots instead of 2" },
	{ { OF("a", "s"), OF("x", "t") }, 2, -EBADMSG, "no snapshot, or several, of 'b'" },
	{ { OF("a", "s"), OF("a", "t") }, 2, -EBADMSG, "no snapshot, or several, of 'a'" },
	{ { OF("a", "s"), OF("b", "s") }, 2, -EBADMSG, "without a handle of its own" },
	{ { OF("a", "s"), OF("b", "") }, 2, -EBADMSG, "without a handle of its own" },
};

/* Of a group that was there before: which volumes it is of is known from the answer alone. */
static const struct snapshot_member of_given[][2] = {
	{ OF("a", "s"), OF("b", "u") },
	{ OF("a", "s"), OF("a", "t") },
	{ OF("a", "s"), OF("", "t") },
};

static void test_answers_of_groups(void **state)
{
	cleanup_object const struct object *taken =
		object_of(GROUP_CONTENT("volumeHandles: [a, b]"));
	cleanup_object const struct object *given =
		object_of(GROUP_CONTENT("groupSnapshotHandles: {volumeGroupSnapshotHandle: h, "
					"volumeSnapshotHandles: [s, t]}"));

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct failure why = { .error = 0 };

		assert_int_equal(snapshot_check_members(taken->volume_snapshot_content,
							answers[i].members, answers[i].count, &why),
				 answers[i].error);
		assert_non_null(strstr(why.text, answers[i].refusal));
	}
	assert_int_equal(
		snapshot_check_members(given->volume_snapshot_content, answers[0].members, 2, NULL),
		0);
	for (size_t i = 0; i < ARRAY_SIZE(of_given); i++)
		assert_int_equal(snapshot_check_members(given->volume_snapshot_content, of_given[i],
							2, NULL),
				 -EBADMSG);
}

static void test_drivers(void **state)
{
	cleanup_object const struct object *csi = object_of(VOLUME(CSI_SOURCE));
	cleanup_object const struct object *local = object_of(VOLUME(LOCAL_SOURCE));
	cleanup_object const struct object *path = object_of(VOLUME("hostPath: {path: /srv}"));

	assert_string_equal(snapshot_driver_of(csi->persistent_volume), "d");
	assert_string_equal(snapshot_handle_of(csi->persistent_volume), "h");
	assert_string_equal(snapshot_driver_of(local->persistent_volume), "podvol/local");
	assert_string_equal(snapshot_handle_of(local->persistent_volume), "pv");
	assert_string_equal(snapshot_driver_of(path->persistent_volume), "");
}

static void test_what_a_snapshot_says(void **state)
{
	cleanup_object const struct object *snapshot = object_of(SNAPSHOT), *said = NULL;
	cleanup_object const struct object *again = NULL, *failed_one = NULL;
	cleanup_object const struct object *content = object_of(
		HEAD("VolumeSnapshotContent", "b",
		     "") "spec: {driver: d, deletionPolicy: Delete, source: {volumeHandle: h}, "
			 "volumeSnapshotRef: {namespace: ns, name: s, uid: " UID "}}\n"
			 "status: {snapshotHandle: x, readyToUse: true, restoreSize: 1024, "
			 "creationTime: 1767323045000000000}\n");
	const struct volume_snapshot_content *from = content->volume_snapshot_content;

	assert_true(snapshot_is_named_by(from, snapshot));
	assert_int_equal(snapshot_plan_status(snapshot->volume_snapshot, from, &said), 0);
	assert_string_equal(said->volume_snapshot->bound_content, "b");
	assert_string_equal(said->volume_snapshot->creation_time, "2026-01-02T03:04:05Z");
	assert_true(said->volume_snapshot->state.is_ready);
	assert_true(quantity_value(&said->volume_snapshot->state.restore_size) == 1024);
	/* Nothing new is no new version. */
	assert_int_equal(snapshot_plan_status(said->volume_snapshot, from, &again), 0);
	assert_null(again);
	assert_int_equal(snapshot_plan_error(said, "no", 1767323045000000, &failed_one), 0);
	assert_false(failed_one->volume_snapshot->state.is_ready);
	assert_string_equal(failed_one->volume_snapshot->state.error, "no");
	assert_int_equal(snapshot_plan_error(failed_one, "no", 1767323046000000, &again), 0);
	assert_null(again);
}

static void test_finalizers(void **state)
{
	cleanup_object const struct object *snapshot = object_of(SNAPSHOT);
	cleanup_object const struct object *with = NULL, *without = NULL;

	assert_int_equal(snapshot_with_finalizer(snapshot, FINALIZER_SNAPSHOT_BOUND, &with), 0);
	assert_true(with->volume_snapshot->has_bound_finalizer);
	assert_int_equal(snapshot_without_finalizer(with, FINALIZER_SNAPSHOT_BOUND, &without), 0);
	assert_false(without->volume_snapshot->has_bound_finalizer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_content),
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_secrets_of_groups),
		cmocka_unit_test(test_answers_of_groups),
		cmocka_unit_test(test_drivers),
		cmocka_unit_test(test_what_a_snapshot_says),
		cmocka_unit_test(test_finalizers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
