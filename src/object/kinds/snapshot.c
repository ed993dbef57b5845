/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot - snapshot.storage.k8s.io/v1 VolumeSnapshot, its class and its content
 *
 * Checked as the schemas of their CustomResourceDefinitions check them; what they decode to is in
 * volume_snapshot.h.
 */
#include "object/kinds.h"
#include "object/kinds/volume_snapshot.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"
#include "object/update.h"

#include <assert.h>

/* clang-format off */
static const struct schema volume_snapshot_source_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotSource",
	"The claim to take a snapshot of, or a snapshot that exists.",
	STRING("persistentVolumeClaimName", 0, "The claim to take a snapshot of."),
	STRING("volumeSnapshotContentName", 0, "The content of a snapshot that exists."),
);

static const struct schema volume_snapshot_spec_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotSpec",
	"What to take a snapshot of.",
	OBJECT(volume_snapshot_source_schema, "source", REQUIRED, "Of what; cannot be changed."),
	STRING("volumeSnapshotClassName", 0, "The class; absent: the default one."),
);

static const struct schema volume_snapshot_error_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotError",
	"Why a snapshot did not work, and when.",
	STRING("message", 0, "Why."),
	TIME("time", 0, "When."),
);

static const struct schema volume_snapshot_status_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotStatus",
	"The status of a snapshot.",
	STRING("boundVolumeSnapshotContentName", 0, "The content it is bound to."),
	TIME("creationTime", 0, "When the snapshot was taken."),
	OBJECT(volume_snapshot_error_schema, "error", 0, "Why it did not work."),
	BOOL("readyToUse", 0, "A volume can be made from it."),
	QUANTITY("restoreSize", 0, "The least size of such a volume."),
	STRING("volumeGroupSnapshotName", 0, "The group snapshot it belongs to."),
);

const struct schema volume_snapshot_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshot", NULL,
	SCHEMA_HEAD,
	OBJECT(volume_snapshot_spec_schema, "spec", REQUIRED, "What to take a snapshot of."),
	OBJECT(volume_snapshot_status_schema, "status", 0, "Observed state."),
);

const struct schema volume_snapshot_class_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotClass", NULL,
	SCHEMA_HEAD,
	STRING("deletionPolicy", REQUIRED, "What happens to the snapshot when its object is deleted: Delete or Retain."),
	STRING("driver", REQUIRED, "The CSI driver."),
	STRING_MAP("parameters", 0, "Attributes for the driver."),
);

static const struct schema volume_snapshot_content_source_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotContentSource",
	"The volume to take a snapshot of, or a snapshot that exists.",
	STRING("snapshotHandle", 0, "A snapshot that exists, by the driver's name."),
	STRING("volumeHandle", 0, "The volume to take a snapshot of, by the driver's name."),
);

static const struct schema volume_snapshot_content_spec_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotContentSpec",
	"The snapshot in the storage system.",
	STRING("deletionPolicy", REQUIRED, "What happens to the snapshot when its object is deleted: Delete or Retain."),
	STRING("driver", REQUIRED, "The CSI driver."),
	OBJECT(volume_snapshot_content_source_schema, "source", REQUIRED, "Of what; cannot be changed."),
	STRING("sourceVolumeMode", 0, "Filesystem or Block: the mode of the volume it was taken of."),
	STRING("volumeSnapshotClassName", 0, "The class it was created with."),
	OBJECT(object_reference_schema, "volumeSnapshotRef", REQUIRED, "The VolumeSnapshot it is bound to."),
);

static const struct schema volume_snapshot_content_status_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotContentStatus",
	"The state of the snapshot in the storage system.",
	INTEGER("creationTime", 0, "When it was taken, in nanoseconds of real time."),
	OBJECT(volume_snapshot_error_schema, "error", 0, "Why it did not work."),
	BOOL("readyToUse", 0, "A volume can be made from it."),
	INTEGER("restoreSize", 0, "Bytes that a volume made from it has at least."),
	STRING("snapshotHandle", 0, "The driver's handle of the snapshot."),
	STRING("volumeGroupSnapshotHandle", 0, "The driver's handle of the group snapshot."),
);

const struct schema volume_snapshot_content_schema = SCHEMA_OF(SCHEMA_SNAPSHOT, "VolumeSnapshotContent", NULL,
	SCHEMA_HEAD,
	OBJECT(volume_snapshot_content_spec_schema, "spec", REQUIRED, "The snapshot in the storage system."),
	OBJECT(volume_snapshot_content_status_schema, "status", 0, "What state it is in."),
);
/* clang-format on */

/* ---- validation: as the schemas of their CustomResourceDefinitions have it ---- */

bool snapshot_check_source(const struct field *source, const char *one, const char *other,
			   bool counts_empty)
{
	const struct field *first = FIELD(source, one), *second = FIELD(source, other);
	char detail[160];

	if (!source->item)
		return field_required(source, "");
	if (counts_empty ? !first->item != !second->item
			 : !*field_text(first) != !*field_text(second))
		return true;
	(void) snprintf(detail, sizeof(detail), "exactly one of %s and %s must be set", one, other);
	return field_invalid(source, NULL, detail);
}

bool snapshot_check_class_name(const struct field *name)
{
	char detail[160];

	if (!name->item || *field_text(name) != '\0')
		return true;
	(void) snprintf(detail, sizeof(detail), "%s must not be the empty string when set",
			name->name);
	return field_invalid(name, "", detail);
}

bool volume_snapshot_validate(const struct field *snapshot)
{
	return snapshot_check_source(FIELD(FIELD(snapshot, "spec"), "source"),
				     "volumeSnapshotContentName", "persistentVolumeClaimName",
				     false) &&
	       snapshot_check_class_name(
		       FIELD(FIELD(snapshot, "spec"), "volumeSnapshotClassName")) &&
	       field_check_quantity(FIELD(snapshot, "status.restoreSize"), false);
}

const struct fixed_field volume_snapshot_fixed[] = {
	{ "spec.source.persistentVolumeClaimName", VIOLATION_INVALID,
	  "persistentVolumeClaimName is immutable" },
	{ "spec.source.volumeSnapshotContentName", VIOLATION_INVALID,
	  "volumeSnapshotContentName is immutable" },
	{ 0 },
};

bool volume_snapshot_class_validate(const struct field *class)
{
	static const char *const policies[] = { "Delete", "Retain", NULL };

	return field_check_present(FIELD(class, "driver")) &&
	       field_check_one_of(FIELD(class, "deletionPolicy"), policies, false);
}

static bool check_snapshot_ref(const struct field *ref)
{
	if (!ref->item)
		return field_required(ref, "");
	return (*json_text(ref->item, "name") && *json_text(ref->item, "namespace")) ||
	       field_invalid(ref, NULL,
			     "both spec.volumeSnapshotRef.name and "
			     "spec.volumeSnapshotRef.namespace must be set");
}

/* The policy and the driver stand in a content as they do in a class. */
bool volume_snapshot_content_validate(const struct field *content)
{
	const struct field *spec = FIELD(content, "spec");

	return volume_snapshot_class_validate(spec) &&
	       snapshot_check_source(FIELD(spec, "source"), "volumeHandle", "snapshotHandle",
				     false) &&
	       check_snapshot_ref(FIELD(spec, "volumeSnapshotRef")) &&
	       field_check_range(FIELD(content, "status.restoreSize"), 0, INT64_MAX);
}

const struct fixed_field volume_snapshot_content_fixed[] = {
	{ "spec.source.volumeHandle", VIOLATION_INVALID, "volumeHandle is immutable" },
	{ "spec.source.snapshotHandle", VIOLATION_INVALID, "snapshotHandle is immutable" },
	{ 0 },
};

bool volume_snapshot_content_validate_update(const struct object *old,
					     const struct object *new_object,
					     struct violations *found)
{
	static const struct fixed_field once_set[] = {
		{ "spec.sourceVolumeMode", VIOLATION_INVALID, "sourceVolumeMode is immutable" },
		{ 0 },
	};

	/* It may be filled in later, once. */
	return *old->volume_snapshot_content->source_volume_mode == '\0' ||
	       update_check_fixed(old, new_object, once_set, found);
}
