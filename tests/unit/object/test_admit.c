/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_admit - what the store adds to what is written, and which writes it refuses
 */
#include "object/admit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW      (1795336500 * USEC_PER_SEC) /* 2026-11-22T08:35:00Z */
#define NOW_TEXT "2026-11-22T08:35:00Z"

#define POD(meta, rest)                                                                            \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: web" meta                                     \
	"}\nspec:\n  containers: [{name: c}]\n" rest
#define CLAIM(meta, rest)                                                                          \
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data" meta                  \
	"}\nspec:\n  accessModes: [ReadWriteOnce]\n" rest
#define REQUEST(size) "  resources: {requests: {storage: " size "}}\n"
#define VOLUME(rest)                                                                               \
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec:\n"                    \
	"  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n" rest
#define CLASS(rest)                                                                                \
	"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\n" rest

/* What becomes of a write; NULL: the object goes. @version 2 for the first update. */
static const struct object *admit(enum admit_verb verb, const struct object *old,
				  const struct object *proposed, uint64_t version)
{
	const struct admission admission = { .verb = verb,
					     .old = old,
					     .proposed = proposed,
					     .resource_version = version,
					     .now_usec = NOW };
	const struct object *result = NULL;
	struct failure failure = { 0 };

	if (object_admit(&admission, &result, &failure) != 0)
		print_message("refused: %s\n", failure.text);
	assert_int_equal(failure.error, 0);
	return result;
}

static const struct object *create(const char *yaml)
{
	const struct object *proposed = object_of(yaml);
	const struct object *created = admit(ADMIT_CREATE, NULL, proposed, 1);

	assert_non_null(created);
	(void) object_unref(proposed);
	return created;
}

static const struct object *update(const struct object *old, const char *yaml)
{
	const struct object *proposed = object_of(yaml);
	const struct object *updated = admit(ADMIT_UPDATE, old, proposed, 2);

	(void) object_unref(proposed);
	return updated;
}

static void assert_update_refused(const char *before, const char *after, const char *why)
{
	const struct object *old = create(before), *proposed = object_of(after), *result = NULL;
	const struct admission admission = {
		.verb = ADMIT_UPDATE, .old = old, .proposed = proposed, .resource_version = 2
	};
	struct failure failure = { 0 };

	assert_int_equal(object_admit(&admission, &result, &failure), -EINVAL);
	assert_null(result);
	assert_string_equal(failure.text, why);
	(void) object_unref(old);
	(void) object_unref(proposed);
}

/* As podvold itself writes it. */
static void assert_end_of_move_taken(const char *before, const char *after)
{
	const struct object *old = create(before), *proposed = object_of(after), *result = NULL;
	const struct admission admission = { .verb = ADMIT_UPDATE,
					     .old = old,
					     .proposed = proposed,
					     .resource_version = 2,
					     .ends_move = true };

	assert_int_equal(object_admit(&admission, &result, NULL), 0);
	(void) object_unref(old);
	(void) object_unref(proposed);
	(void) object_unref(result);
}

static void assert_create_refused(const char *yaml, const char *why)
{
	const struct object *proposed = object_of(yaml), *result = NULL;
	const struct admission admission = { .verb = ADMIT_CREATE,
					     .proposed = proposed,
					     .resource_version = 1 };
	struct failure failure = { 0 };

	assert_int_equal(object_admit(&admission, &result, &failure), -EINVAL);
	assert_null(result);
	if (strncmp(failure.text, why, strlen(why)) != 0)
		assert_string_equal(failure.text, why);
	(void) object_unref(proposed);
}

static void assert_update_taken(const char *before, const char *after)
{
	const struct object *old = create(before), *updated = update(old, after);

	assert_non_null(updated);
	(void) object_unref(old);
	(void) object_unref(updated);
}

static void test_create_stamps(void **state)
{
	const struct object *pod = create(
		POD(", uid: u-1, labels: {a: b}, deletionTimestamp: '2026-01-01T00:00:00Z'", ""));

	assert_string_equal(
		pod->json,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"labels\":"
		"{"
		"\"a\":\"b\"},\"namespace\":\"default\",\"uid\":\"u-1\",\"resourceVersion\":\"1\","
		"\"generation\":1,\"creationTimestamp\":\"" NOW_TEXT
		"\"},\"spec\":{\"containers\":[{"
		"\"name\":\"c\"}],\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":"
		"30}}");
	assert_true(pod->meta.creation_usec == NOW);
	assert_int_equal(pod->meta.resource_version, 1);
	assert_int_equal(pod->meta.generation, 1);
	assert_false(pod->meta.deletes);
	(void) object_unref(pod);
}

static void test_create_makes_uids(void **state)
{
	const struct object *one = create(POD("", "")), *other = create(POD("", ""));

	assert_int_equal(strlen(one->meta.uid), 36);
	assert_int_equal(one->meta.uid[14], '4');
	assert_non_null(strchr("89ab", one->meta.uid[19]));
	assert_string_not_equal(one->meta.uid, other->meta.uid);
	(void) object_unref(one);
	(void) object_unref(other);
}

static void test_volumes_and_claims_are_protected(void **state)
{
	const struct object *claim = create(CLAIM("", REQUEST("1Gi")));
	const struct object *volume = create(VOLUME("  hostPath: {path: /x}\n"));
	const struct object *twice =
		create(CLAIM(", finalizers: [a/b, kubernetes.io/pvc-protection]", REQUEST("1Gi")));

	assert_true(claim->claim->has_protection_finalizer);
	assert_non_null(strstr(volume->json, "\"finalizers\":[\"kubernetes.io/pv-protection\"]"));
	assert_non_null(
		strstr(twice->json, "\"finalizers\":[\"a/b\",\"kubernetes.io/pvc-protection\"]"));
	(void) object_unref(claim);
	(void) object_unref(volume);
	(void) object_unref(twice);
}

static void test_create_of_what_exists(void **state)
{
	const struct object *pod = create(POD("", "")), *result = NULL;
	const struct admission admission = { .verb = ADMIT_CREATE, .old = pod, .proposed = pod };
	struct failure failure = { 0 };

	assert_int_equal(object_admit(&admission, &result, &failure), -EEXIST);
	assert_string_equal(failure.text, "pods \"web\" already exists");
	(void) object_unref(pod);
}

static void test_update_keeps_what_is_the_stores(void **state)
{
	const struct object *old = create(POD(", uid: u-1", ""));
	const struct object *updated =
		update(old, POD(", annotations: {a: b}, generation: 99, creationTimestamp: "
				"'2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z'",
				""));

	assert_string_equal(updated->meta.uid, "u-1");
	assert_true(updated->meta.creation_usec == NOW);
	assert_int_equal(updated->meta.resource_version, 2);
	assert_int_equal(updated->meta.generation, 1); /* the spec is the same */
	assert_false(updated->meta.deletes);
	(void) object_unref(old);
	(void) object_unref(updated);
}

static void test_generation_counts_specs(void **state)
{
	const struct object *old = create(POD("", ""));
	const struct object *updated = update(old, POD("", "  restartPolicy: Never\n"));
	const struct object *class = create(CLASS("provisioner: x\n"));
	const struct object *changed =
		update(class, CLASS("provisioner: x\nallowVolumeExpansion: true\n"));
	const struct object *same = update(class, CLASS("provisioner: x\n"));

	assert_int_equal(updated->meta.generation, 2);
	assert_int_equal(changed->meta.generation, 2);
	assert_int_equal(same->meta.generation, 1);
	(void) object_unref(old);
	(void) object_unref(updated);
	(void) object_unref(class);
	(void) object_unref(changed);
	(void) object_unref(same);
}

static int edit_nothing(struct cJSON *tree, void *userdata)
{
	return 0;
}

/* The store compares bytes to see that an update changes nothing. */
static void test_an_unchanged_update_has_the_same_bytes(void **state)
{
	static const char yaml[] = CLAIM(", labels: {a: b}", REQUEST("1Gi"));
	const struct object *old = create(yaml), *edited = NULL, *again;

	assert_int_equal(object_edit(old, edit_nothing, NULL, &edited, NULL), 0);
	again = admit(ADMIT_UPDATE, old, edited, 1);
	assert_string_equal(again->json, old->json);
	(void) object_unref(again);
	(void) object_unref(edited);
	(void) object_unref(old);
	old = create(POD(", uid: u", "  volumes: [{name: v}]\n"));
	again = admit(ADMIT_UPDATE, old, old, 1);
	assert_string_equal(again->json, old->json);
	(void) object_unref(again);
	again = update(old, POD("", "  volumes: [{name: v}]\n"));
	assert_int_equal(strlen(again->json), strlen(old->json));
	(void) object_unref(again);
	(void) object_unref(old);
}

static void test_a_uid_is_for_good(void **state)
{
	assert_update_refused(POD(", uid: u-1", ""), POD(", uid: u-2", ""),
			      "metadata.uid: Invalid value: \"u-2\": field is immutable");
}

static void test_pods_keep_their_volumes(void **state)
{
	static const char why[] =
		"spec.volumes: Forbidden: the volumes of a pod may not be changed";
	static const char before[] = POD("", "  volumes: [{name: a, hostPath: {path: /x}}]\n");

	assert_update_refused(before, POD("", ""), why);
	assert_update_refused(before, POD("", "  volumes: [{name: a, hostPath: {path: /y}}]\n"),
			      why);
	assert_update_refused(
		before, POD("", "  volumes: [{name: a, hostPath: {path: /x}}, {name: b}]\n"), why);
	assert_update_taken(before,
			    POD("", "  volumes: [{hostPath: {type: '', path: /x}, name: a}]\n"));
	assert_update_taken(before, POD("", "  volumes: [{name: a, hostPath: {path: /x}}]\n"
					    "  nodeName: n1\n"));
	assert_update_taken(POD("", ""), POD("", "  volumes: []\n"));
	assert_update_refused(POD("", "  nodeName: n1\n"), POD("", "  nodeName: n2\n"),
			      "spec.nodeName: Invalid value: \"n2\": field is immutable");
}

static void test_volumes_keep_their_source(void **state)
{
#define AFFINITY(zone)                                                                             \
	"  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: "  \
	"In, values: [" zone "]}]}]}}\n"
	assert_update_refused(VOLUME("  hostPath: {path: /x}\n"),
			      VOLUME("  hostPath: {path: /y}\n"),
			      "spec.persistentvolumesource: Forbidden: "
			      "spec.persistentvolumesource is immutable after creation");
	assert_update_refused(VOLUME("  hostPath: {path: /x}\n"),
			      VOLUME("  nfs: {server: s, path: /x}\n"),
			      "spec.persistentvolumesource: Forbidden: "
			      "spec.persistentvolumesource is immutable after creation");
	assert_update_refused(VOLUME("  hostPath: {path: /x}\n"),
			      VOLUME("  hostPath: {path: /x}\n  volumeMode: Block\n"),
			      "spec.volumeMode: Forbidden: field is immutable");
	assert_update_refused(VOLUME("  hostPath: {path: /x}\n" AFFINITY("a")),
			      VOLUME("  hostPath: {path: /x}\n" AFFINITY("b")),
			      "spec.nodeAffinity: Forbidden: field is immutable");
	assert_update_refused(VOLUME("  hostPath: {path: /x}\n" AFFINITY("a")),
			      VOLUME("  hostPath: {path: /x}\n"),
			      "spec.nodeAffinity: Forbidden: field is immutable");
	assert_update_taken(VOLUME("  hostPath: {path: /x}\n"),
			    VOLUME("  hostPath: {path: /x}\n" AFFINITY("a")));
	assert_update_taken(VOLUME("  hostPath: {path: /x}\n"),
			    VOLUME("  hostPath: {path: /x}\n  storageClassName: x\n"
				   "  persistentVolumeReclaimPolicy: Delete\n"
				   "  claimRef: {namespace: n1, name: c}\n"));
}

static void test_claims_may_be_bound_and_grow(void **state)
{
	static const char why[] =
		"spec: Forbidden: spec is immutable after creation except resources.requests and "
		"volumeAttributesClassName for bound claims";
	static const char bound[] = "status: {phase: Bound, capacity: {storage: 10Gi}}\n";
	char before[500];

	assert_update_taken(CLAIM("", REQUEST("1Gi")),
			    CLAIM("", REQUEST("1Gi") "  volumeName: pv\n  storageClassName: x\n"));
	assert_update_refused(CLAIM("", REQUEST("1Gi")), CLAIM("", REQUEST("2Gi")),
			      "spec.resources.requests[storage]: Forbidden: Only bound persistent "
			      "volume claims can be expanded");
	assert_update_refused(CLAIM("", REQUEST("1Gi") "  volumeName: pv\n"),
			      CLAIM("", REQUEST("1Gi") "  volumeName: other\n"), why);
	assert_update_refused(CLAIM("", REQUEST("1Gi") "  storageClassName: x\n"),
			      CLAIM("", REQUEST("1Gi")), why);
	assert_update_refused(CLAIM("", REQUEST("1Gi")),
			      CLAIM("", REQUEST("1Gi") "  volumeMode: Block\n"), why);
	(void) snprintf(before, sizeof(before), "%s%s", CLAIM("", REQUEST("20Gi")), bound);
	assert_update_refused(before, CLAIM("", REQUEST("9Gi")),
			      "spec.resources.requests[storage]: Forbidden: field can not be less "
			      "than status.capacity");
	assert_update_taken(before, CLAIM("", REQUEST("10Gi"))); /* back to what it has */
}

static void test_the_end_of_a_move_changes_volume_and_class(void **state)
{
	static const char why[] =
		"spec: Forbidden: spec is immutable after creation except resources.requests and "
		"volumeAttributesClassName for bound claims";
#define MOVING(meta, volume, class)                                                                \
	CLAIM(", uid: u" meta,                                                                     \
	      REQUEST("1Gi") "  volumeName: " volume "\n  storageClassName: " class "\n")
#define ASKED ", annotations: {podvol.io/move-to: slow}"
#define MOVED "pvc-u-08d55207b575757b"

	assert_end_of_move_taken(MOVING(ASKED, "pv", "fast"), MOVING("", MOVED, "slow"));
	assert_update_refused(MOVING(ASKED, "pv", "fast"), MOVING("", MOVED, "slow"), why);
	assert_update_refused(MOVING("", "pv", "fast"), MOVING("", MOVED, "slow"), why);
	assert_update_refused(MOVING(ASKED, "pv", "fast"), MOVING(ASKED, MOVED, "slow"), why);
	assert_update_refused(MOVING(ASKED, "pv", "fast"), MOVING("", "other", "slow"), why);
	assert_update_refused(MOVING(ASKED, "pv", "fast"), MOVING("", MOVED, "other"), why);
	assert_update_refused(MOVING(ASKED, "pv", "fast"), MOVING("", "pv", "slow"), why);
}

static void test_classes_keep_what_made_volumes(void **state)
{
	assert_update_refused(CLASS("provisioner: x\n"), CLASS("provisioner: z\n"),
			      "provisioner: Forbidden: updates to provisioner are forbidden.");
	assert_update_refused(CLASS("provisioner: x\n"),
			      CLASS("provisioner: x\nparameters: {a: b}\n"),
			      "parameters: Forbidden: updates to parameters are forbidden.");
	assert_update_refused(CLASS("provisioner: x\n"),
			      CLASS("provisioner: x\nreclaimPolicy: Retain\n"),
			      "reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.");
	assert_update_refused(CLASS("provisioner: x\n"),
			      CLASS("provisioner: x\nvolumeBindingMode: WaitForFirstConsumer\n"),
			      "volumeBindingMode: Forbidden: field is immutable");
	assert_update_taken(CLASS("provisioner: x\nparameters: {a: '1', b: '2'}\n"),
			    CLASS("parameters: {b: '2', a: '1'}\nprovisioner: x\n"
				  "mountOptions: [ro]\n"));
}

static void test_delete_without_finalizers_is_at_once(void **state)
{
	const struct object *pod = create(POD("", ""));

	assert_null(admit(ADMIT_DELETE, pod, NULL, 2));
	(void) object_unref(pod);
}

static void test_finalizers_hold_a_delete_back(void **state)
{
	const struct object *claim = create(CLAIM("", REQUEST("1Gi")));
	const struct object *deleted = admit(ADMIT_DELETE, claim, NULL, 2), *again, *gone, *kept;

	assert_true(deleted->meta.deletes);
	assert_string_equal(deleted->meta.deletion_timestamp, NOW_TEXT);
	assert_int_equal(deleted->meta.resource_version, 2);
	assert_int_equal(deleted->meta.generation, 2);
	assert_true(deleted->claim->has_protection_finalizer);
	again = admit(ADMIT_DELETE, deleted, NULL, 3);
	assert_ptr_equal(again, deleted); /* it was asked for before */
	kept = update(deleted, CLAIM(", labels: {a: b}, finalizers: [kubernetes.io/pvc-protection]",
				     REQUEST("1Gi")));
	assert_true(kept->meta.deletes); /* nothing brings it back */
	assert_non_null(strstr(kept->json, "\"deletionGracePeriodSeconds\":0"));
	gone = update(deleted, CLAIM("", REQUEST("1Gi")));
	assert_null(gone);
	(void) object_unref(kept);
	(void) object_unref(again);
	(void) object_unref(deleted);
	(void) object_unref(claim);
}

static void test_no_finalizer_joins_a_delete(void **state)
{
	const struct object *claim = create(CLAIM("", REQUEST("1Gi")));
	const struct object *deleted = admit(ADMIT_DELETE, claim, NULL, 2), *result = NULL;
	const struct object *proposed = object_of(
		CLAIM(", finalizers: [kubernetes.io/pvc-protection, new/one]", REQUEST("1Gi")));
	const struct admission admission = { .verb = ADMIT_UPDATE,
					     .old = deleted,
					     .proposed = proposed };
	struct failure failure = { 0 };

	assert_int_equal(object_admit(&admission, &result, &failure), -EINVAL);
	assert_string_equal(failure.text,
			    "metadata.finalizers: Forbidden: no new finalizers can be added if the "
			    "object is being deleted");
	(void) object_unref(proposed);
	(void) object_unref(deleted);
	(void) object_unref(claim);
}

static void test_case_472_names_are_those_of_kubernetes(void **state)
{
	static const struct {
		const char *yaml, *why;
	} rows[] = {
		{ VOLUME("  csi: {driver: ../../x, volumeHandle: h}\n"),
		  "spec.csi.driver: Invalid value: \"../../x\": " },
		{ POD("", "  volumes: [{name: a, emptyDir: {}}, {name: b, csi: {driver: a/b}}]\n"),
		  "spec.volumes[1].csi.driver: Invalid value: \"a/b\": " },
		{ POD(", labels: {a: \"x\\ny\"}", ""), "metadata.labels: Invalid value: \"x\ny\": "
						       "a valid label must be an empty string" },
		{ POD(", labels: {a: -x}", ""), "metadata.labels: Invalid value: \"-x\": " },
		{ POD(", labels: {'a b': x}", ""),
		  "metadata.labels: Invalid value: \"a b\": name part must consist" },
		{ POD(", labels: {/a: x}", ""),
		  "metadata.labels: Invalid value: \"/a\": prefix part must be non-empty" },
		{ POD(", labels: {A.b/c: x}", ""),
		  "metadata.labels: Invalid value: \"A.b/c\": prefix part a lowercase" },
		{ POD(", labels: {a.b/: x}", ""),
		  "metadata.labels: Invalid value: \"a.b/\": name part must be non-empty" },
		{ POD(", annotations: {a/b/c: x}", ""),
		  "metadata.annotations: Invalid value: \"a/b/c\": a qualified name" },
		{ POD(", finalizers: ['../x']", ""),
		  "metadata.finalizers: Invalid value: \"../x\": " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_create_refused(rows[i].yaml, rows[i].why);
	assert_update_refused(
		POD("", ""), POD(", labels: {a: b_}", ""),
		"metadata.labels: Invalid value: \"b_\": a valid label must be an "
		"empty string or consist of alphanumeric characters, '-', '_' or '.', "
		"and must start and end with an alphanumeric character");
	assert_update_taken(POD("", ""), POD(", labels: {a.b-c/D_e.f: '', x: 1.0_A},"
					     " annotations: {Example.COM/A: '../ x'}",
					     ""));
}

/* A pod that an earlier version stored is served, and its status can be written. */
static void test_stored_names_stay(void **state)
{
	const struct object *old = object_of(POD(", labels: {a: '-x'}, annotations: {/: ''}", ""));
	const struct object *updated =
		update(old, POD(", labels: {a: '-x', b: c}, annotations: {/: d}", ""));

	assert_non_null(updated);
	(void) object_unref(old);
	(void) object_unref(updated);
}

/* ---- fields that pods name ---- */

#define FILES(item) POD("", "  volumes: [{name: v, downwardAPI: {items: [{path: p, " item "}]}}]\n")
#define VARIABLE(from)                                                                             \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: c, env: [" \
	"{name: E, valueFrom: {" from "}}]}]\n"
#define FIELD_OF(path)    "fieldRef: {fieldPath: \"" path "\"}"
#define RESOURCE_OF(rest) "resourceFieldRef: {containerName: c, resource: " rest "}"
#define FILE_AT           "spec.volumes[0].downwardAPI.items[0]."
#define ENV_AT            "spec.containers[0].env[0].valueFrom."

static void test_fields_that_files_and_variables_may_name(void **state)
{
	static const char *const taken[] = {
		FILES(FIELD_OF("metadata.labels")),
		FILES(FIELD_OF("metadata.annotations")),
		FILES(FIELD_OF("metadata.uid")),
		FILES(FIELD_OF("metadata.labels['example.com/App']")),
		FILES(FIELD_OF("metadata.annotations['Example.com/Note']")),
		FILES(RESOURCE_OF("limits.cpu, divisor: 1m")),
		FILES(RESOURCE_OF("requests.memory, divisor: 1Mi")),
		FILES(RESOURCE_OF("requests.ephemeral-storage, divisor: '0'")),
		FILES(RESOURCE_OF("limits.hugepages-2Mi")),
		VARIABLE(FIELD_OF("spec.nodeName")),
		VARIABLE(FIELD_OF("status.podIPs")),
		VARIABLE(FIELD_OF("metadata.labels['app']")),
		VARIABLE("resourceFieldRef: {resource: limits.memory, divisor: 1}"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		(void) object_unref(create(taken[i]));
}

static void test_fields_that_they_may_not_name(void **state)
{
	static const struct {
		const char *yaml, *why;
	} rows[] = {
		{ FILES(FIELD_OF("spec.nodeName")),
		  FILE_AT "fieldRef.fieldPath: Unsupported value: \"spec.nodeName\": supported "
			  "values: \"metadata.annotations\", \"metadata.labels\"" },
		{ FILES(FIELD_OF("spec.no")),
		  FILE_AT "fieldRef.fieldPath: Invalid value: \"spec.no\": error converting "
			  "fieldPath: field label not supported: spec.no" },
		{ FILES(FIELD_OF("metadata.name['a']")),
		  FILE_AT "fieldRef.fieldPath: Invalid value: \"metadata.name['a']\": error "
			  "converting fieldPath: field label does not support subscript" },
		{ FILES(FIELD_OF("metadata.labels['a b']")),
		  FILE_AT "fieldRef.fieldPath: Invalid value: \"a b\": name part must consist" },
		{ FILES("fieldRef: {apiVersion: v2, fieldPath: metadata.name}"),
		  FILE_AT "fieldRef.fieldPath: Invalid value: \"metadata.name\": error converting "
			  "fieldPath: unsupported pod version: v2" },
		{ FILES("resourceFieldRef: {resource: limits.cpu}"),
		  FILE_AT "resourceFieldRef.containerName: Required value" },
		{ FILES(RESOURCE_OF("limits.gpu")),
		  FILE_AT "resourceFieldRef.resource: Unsupported value: \"limits.gpu\": "
			  "supported values: \"limits.cpu\"" },
		{ FILES(RESOURCE_OF("limits.cpu, divisor: 1k")),
		  FILE_AT "resourceFieldRef.divisor: Invalid value: \"1k\": only divisor's values "
			  "1m and 1 are supported with the cpu resource" },
		{ FILES(RESOURCE_OF("limits.memory, divisor: 3")), FILE_AT
		  "resourceFieldRef.divisor: Invalid value: \"3\": only divisor's values "
		  "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi and 1Ei are supported "
		  "with the memory resource" },
		{ VARIABLE(FIELD_OF("metadata.labels")),
		  ENV_AT "fieldRef.fieldPath: Unsupported value: \"metadata.labels\"" },
		{ VARIABLE(FIELD_OF("status.phase")),
		  ENV_AT "fieldRef.fieldPath: Unsupported value: \"status.phase\"" },
		{ POD("",
		      "  volumes: [{name: v, projected: {sources: [{downwardAPI: {items: [{path: "
		      "p, " FIELD_OF("status.podIP") "}]}}]}}]\n"),
		  "spec.volumes[0].projected.sources[0].downwardAPI.items[0].fieldRef.fieldPath: "
		  "Unsupported value: \"status.podIP\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_create_refused(rows[i].yaml, rows[i].why);
}

/* What an earlier version stored is served, and updated in all else. */
static void test_stored_fields_stay(void **state)
{
	const struct object *old = object_of(FILES(FIELD_OF("spec.nodeName")));
	const struct object *updated = update(old, FILES(FIELD_OF("spec.nodeName")));

	assert_non_null(updated);
	(void) object_unref(old);
	(void) object_unref(updated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_stamps),
		cmocka_unit_test(test_create_makes_uids),
		cmocka_unit_test(test_volumes_and_claims_are_protected),
		cmocka_unit_test(test_create_of_what_exists),
		cmocka_unit_test(test_update_keeps_what_is_the_stores),
		cmocka_unit_test(test_generation_counts_specs),
		cmocka_unit_test(test_an_unchanged_update_has_the_same_bytes),
		cmocka_unit_test(test_a_uid_is_for_good),
		cmocka_unit_test(test_case_472_names_are_those_of_kubernetes),
		cmocka_unit_test(test_stored_names_stay),
		cmocka_unit_test(test_fields_that_files_and_variables_may_name),
		cmocka_unit_test(test_fields_that_they_may_not_name),
		cmocka_unit_test(test_stored_fields_stay),
		cmocka_unit_test(test_pods_keep_their_volumes),
		cmocka_unit_test(test_volumes_keep_their_source),
		cmocka_unit_test(test_claims_may_be_bound_and_grow),
		cmocka_unit_test(test_the_end_of_a_move_changes_volume_and_class),
		cmocka_unit_test(test_classes_keep_what_made_volumes),
		cmocka_unit_test(test_delete_without_finalizers_is_at_once),
		cmocka_unit_test(test_finalizers_hold_a_delete_back),
		cmocka_unit_test(test_no_finalizer_joins_a_delete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
