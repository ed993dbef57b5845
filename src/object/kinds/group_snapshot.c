/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_snapshot - groupsnapshot.storage.k8s.io/v1 VolumeGroupSnapshot, its class and its content
 *
 * Checked as the schemas of their CustomResourceDefinitions check them; they decode to what
 * snapshots decode to, in volume_snapshot.h.
 */
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"
#include "object/select/selector_json.h"
#include "object/update.h"

#include <assert.h>
#include <string.h>

/* clang-format off */
static const struct schema group_source_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotSource",
	"The claims to take snapshots of, or a group snapshot that exists.",
	OBJECT(label_selector_schema, "selector", 0, "The labels of the claims to take snapshots of."),
	STRING("volumeGroupSnapshotContentName", 0, "The content of a group snapshot that exists."),
);

static const struct schema group_spec_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotSpec",
	"What to take snapshots of.",
	OBJECT(group_source_schema, "source", REQUIRED, "Of what; cannot be changed."),
	STRING("volumeGroupSnapshotClassName", 0, "The class; absent: the default one."),
);

static const struct schema group_error_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeSnapshotError",
	"Why a group snapshot did not work, and when.",
	STRING("message", 0, "Why."),
	TIME("time", 0, "When."),
);

static const struct schema group_status_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotStatus",
	"The status of a group snapshot.",
	STRING("boundVolumeGroupSnapshotContentName", 0, "The content it is bound to."),
	TIME("creationTime", 0, "When the snapshots were taken."),
	OBJECT(group_error_schema, "error", 0, "Why it did not work."),
	BOOL("readyToUse", 0, "Volumes can be made from all of its snapshots."),
);

const struct schema volume_group_snapshot_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshot", NULL,
	SCHEMA_HEAD,
	OBJECT(group_spec_schema, "spec", REQUIRED, "What to take snapshots of."),
	OBJECT(group_status_schema, "status", 0, "Observed state."),
);

const struct schema volume_group_snapshot_class_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotClass", NULL,
	SCHEMA_HEAD,
	STRING("deletionPolicy", REQUIRED, "What happens to the snapshots when their object is deleted: Delete or Retain."),
	STRING("driver", REQUIRED, "The CSI driver."),
	STRING_MAP("parameters", 0, "Parameters of the driver."),
);

static const struct schema group_handles_schema = SCHEMA_OF(SCHEMA_GROUP, "GroupSnapshotHandles",
	"A group snapshot that exists, by the driver's names.",
	STRING("volumeGroupSnapshotHandle", REQUIRED, "The driver's handle of the group snapshot."),
	STRINGS("volumeSnapshotHandles", REQUIRED, "The driver's handles of its snapshots."),
);

static const struct schema group_content_source_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotContentSource",
	"The volumes to take snapshots of, or a group snapshot that exists.",
	OBJECT(group_handles_schema, "groupSnapshotHandles", 0, "A group snapshot that exists."),
	STRINGS("volumeHandles", 0, "The volumes to take snapshots of, by the driver's names."),
);

static const struct schema group_content_spec_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotContentSpec",
	"The group snapshot in the storage system.",
	STRING("deletionPolicy", REQUIRED, "What happens to the snapshots when their object is deleted: Delete or Retain."),
	STRING("driver", REQUIRED, "The CSI driver."),
	OBJECT(group_content_source_schema, "source", REQUIRED, "Of what; cannot be changed."),
	STRING("volumeGroupSnapshotClassName", 0, "The class it was created with."),
	OBJECT(object_reference_schema, "volumeGroupSnapshotRef", REQUIRED, "The VolumeGroupSnapshot it is bound to."),
);

static const struct schema group_info_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeSnapshotInfo",
	"One snapshot of the group.",
	INTEGER("creationTime", 0, "When it was taken, in nanoseconds of real time."),
	BOOL("readyToUse", 0, "A volume can be made from it."),
	INTEGER("restoreSize", 0, "Bytes that a volume made from it has at least."),
	STRING("snapshotHandle", 0, "The driver's handle of the snapshot."),
	STRING("volumeHandle", 0, "The driver's handle of the volume it was taken of."),
);

static const struct schema group_content_status_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotContentStatus",
	"The state of the group snapshot in the storage system.",
	TIME("creationTime", 0, "When it was taken."),
	OBJECT(group_error_schema, "error", 0, "Why it did not work."),
	BOOL("readyToUse", 0, "Volumes can be made from all of its snapshots."),
	STRING("volumeGroupSnapshotHandle", 0, "The driver's handle of the group snapshot."),
	OBJECTS(group_info_schema, "volumeSnapshotInfoList", 0, "Its snapshots."),
);

const struct schema volume_group_snapshot_content_schema = SCHEMA_OF(SCHEMA_GROUP, "VolumeGroupSnapshotContent", NULL,
	SCHEMA_HEAD,
	OBJECT(group_content_spec_schema, "spec", REQUIRED, "The group snapshot in the storage system."),
	OBJECT(group_content_status_schema, "status", 0, "What state it is in."),
);
/* clang-format on */

/* ---- validation ---- */

/* Exactly one of two members. */
static int check_source(const struct cJSON *source, const char *one, const char *other,
			const char *detail, struct violations *found)
{
	const struct field *field = FIELD(FIELD(NULL, "spec"), "source");

	if (!source)
		return field_required(field, "", found);
	return !json_get(source, one) != !json_get(source, other)
		       ? 0
		       : field_invalid(field, NULL, detail, found);
}

int volume_group_snapshot_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *source = json_get_path(tree, "spec.source");
	const struct cJSON *class = json_get_path(tree, "spec.volumeGroupSnapshotClassName");
	const struct cJSON *selector = json_get(source, "selector");
	int r;

	assert(tree);
	r = check_source(source, "selector", "volumeGroupSnapshotContentName",
			 "exactly one of selector and volumeGroupSnapshotContentName must be set",
			 found);
	if (r == 0 && selector)
		r = label_selector_validate(
			selector, FIELD(FIELD(FIELD(NULL, "spec"), "source"), "selector"), found);
	if (r == 0 && class && *json_string(class, "") == '\0')
		r = field_invalid(FIELD(FIELD(NULL, "spec"), "volumeGroupSnapshotClassName"), "",
				  "volumeGroupSnapshotClassName must not be the empty string when "
				  "set",
				  found);
	return r;
}

int volume_group_snapshot_validate_update(const struct object *old, const struct object *new_object,
					  struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ "spec.source", VIOLATION_INVALID, "source is immutable" },
		{ 0 },
	};

	return update_check_fixed(old, new_object, fixed, found);
}

int volume_group_snapshot_content_validate(const struct cJSON *tree, struct violations *found)
{
	static const char *const policies[] = { "Delete", "Retain", NULL };
	const struct cJSON *spec = json_get(tree, "spec");
	const struct cJSON *ref = json_get(spec, "volumeGroupSnapshotRef");
	const struct field *field = FIELD(NULL, "spec");
	int r = 0;

	assert(tree);
	if (*json_text(spec, "driver") == '\0')
		r = field_required(FIELD(field, "driver"), "", found);
	if (r == 0)
		r = field_check_one_of(FIELD(field, "deletionPolicy"),
				       json_text(spec, "deletionPolicy"), policies, false, found);
	if (r == 0)
		r = check_source(json_get(spec, "source"), "volumeHandles", "groupSnapshotHandles",
				 "exactly one of volumeHandles and groupSnapshotHandles must be "
				 "set",
				 found);
	if (r == 0 && (*json_text(ref, "name") == '\0' || *json_text(ref, "namespace") == '\0'))
		r = field_invalid(FIELD(field, "volumeGroupSnapshotRef"), NULL,
				  "both volumeGroupSnapshotRef.name and "
				  "volumeGroupSnapshotRef.namespace must be set",
				  found);
	return r;
}

int volume_group_snapshot_content_validate_update(const struct object *old,
						  const struct object *new_object,
						  struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ "spec.source", VIOLATION_INVALID, "source is immutable" },
		{ "spec.driver", VIOLATION_INVALID, "driver is immutable once set" },
		{ 0 },
	};

	return update_check_fixed(old, new_object, fixed, found);
}
