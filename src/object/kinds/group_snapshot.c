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

bool volume_group_snapshot_validate(const struct field *snapshot)
{
	const struct field *spec = FIELD(snapshot, "spec"), *source = FIELD(spec, "source");

	return snapshot_check_source(source, "selector", "volumeGroupSnapshotContentName", true) &&
	       label_selector_validate(FIELD(source, "selector")) &&
	       snapshot_check_class_name(FIELD(spec, "volumeGroupSnapshotClassName"));
}

const struct fixed_field volume_group_snapshot_fixed[] = {
	{ "spec.source", VIOLATION_INVALID, "source is immutable" },
	{ 0 },
};

bool volume_group_snapshot_content_validate(const struct field *content)
{
	const struct field *spec = FIELD(content, "spec");
	const struct field *ref = FIELD(spec, "volumeGroupSnapshotRef");

	if (!volume_snapshot_class_validate(spec) ||
	    !snapshot_check_source(FIELD(spec, "source"), "volumeHandles", "groupSnapshotHandles",
				   true))
		return false;
	return (*json_text(ref->item, "name") && *json_text(ref->item, "namespace")) ||
	       field_invalid(ref, NULL,
			     "both volumeGroupSnapshotRef.name and "
			     "volumeGroupSnapshotRef.namespace must be set");
}

const struct fixed_field volume_group_snapshot_content_fixed[] = {
	{ "spec.source", VIOLATION_INVALID, "source is immutable" },
	{ "spec.driver", VIOLATION_INVALID, "driver is immutable once set" },
	{ 0 },
};
