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

static const char *const deletion_policies[] = { "Delete", "Retain", NULL };

/* Exactly one of two members that are strings. */
static int check_source(const struct cJSON *source, const char *one, const char *other,
			const char *detail, struct violations *found)
{
	bool has_one = *json_text(source, one) != '\0';
	bool has_other = *json_text(source, other) != '\0';
	const struct field *field = FIELD(FIELD(NULL, "spec"), "source");

	if (!source)
		return field_required(field, "", found);
	return has_one != has_other ? 0 : field_invalid(field, NULL, detail, found);
}

int volume_snapshot_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *spec = json_get(tree, "spec");
	const struct cJSON *size = json_get_path(tree, "status.restoreSize");
	const struct cJSON *class = json_get(spec, "volumeSnapshotClassName");
	int r;

	assert(tree);
	r = check_source(json_get(spec, "source"), "persistentVolumeClaimName",
			 "volumeSnapshotContentName",
			 "exactly one of volumeSnapshotContentName and persistentVolumeClaimName "
			 "must be set",
			 found);
	if (r == 0 && class && *json_string(class, "") == '\0')
		r = field_invalid(FIELD(FIELD(NULL, "spec"), "volumeSnapshotClassName"), "",
				  "volumeSnapshotClassName must not be the empty string when set",
				  found);
	return r < 0 ? r
		     : field_check_quantity(FIELD(FIELD(NULL, "status"), "restoreSize"), size,
					    false, found);
}

int volume_snapshot_validate_update(const struct object *old, const struct object *new_object,
				    struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ "spec.source.persistentVolumeClaimName", VIOLATION_INVALID,
		  "persistentVolumeClaimName is immutable" },
		{ "spec.source.volumeSnapshotContentName", VIOLATION_INVALID,
		  "volumeSnapshotContentName is immutable" },
		{ 0 },
	};

	return update_check_fixed(old, new_object, fixed, found);
}

int volume_snapshot_class_validate(const struct cJSON *tree, struct violations *found)
{
	int r = 0;

	assert(tree);
	if (*json_text(tree, "driver") == '\0')
		r = field_required(FIELD(NULL, "driver"), "", found);
	if (r == 0)
		r = field_check_one_of(FIELD(NULL, "deletionPolicy"),
				       json_text(tree, "deletionPolicy"), deletion_policies, false,
				       found);
	return r;
}

static int check_snapshot_ref(const struct cJSON *ref, struct violations *found)
{
	const struct field *field = FIELD(FIELD(NULL, "spec"), "volumeSnapshotRef");

	if (!ref)
		return field_required(field, "", found);
	if (*json_text(ref, "name") == '\0' || *json_text(ref, "namespace") == '\0')
		return field_invalid(field, NULL,
				     "both spec.volumeSnapshotRef.name and "
				     "spec.volumeSnapshotRef.namespace must be set",
				     found);
	return 0;
}

int volume_snapshot_content_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *spec = json_get(tree, "spec");
	const struct field *field = FIELD(NULL, "spec");
	int r = 0;

	assert(tree);
	if (*json_text(spec, "driver") == '\0')
		r = field_required(FIELD(field, "driver"), "", found);
	if (r == 0)
		r = field_check_one_of(FIELD(field, "deletionPolicy"),
				       json_text(spec, "deletionPolicy"), deletion_policies, false,
				       found);
	if (r == 0)
		r = check_source(json_get(spec, "source"), "volumeHandle", "snapshotHandle",
				 "exactly one of volumeHandle and snapshotHandle must be set",
				 found);
	if (r == 0)
		r = check_snapshot_ref(json_get(spec, "volumeSnapshotRef"), found);
	return r < 0 ? r
		     : field_check_range(FIELD(FIELD(NULL, "status"), "restoreSize"),
					 json_get_path(tree, "status.restoreSize"), 0, INT64_MAX,
					 found);
}

int volume_snapshot_content_validate_update(const struct object *old,
					    const struct object *new_object,
					    struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ "spec.source.volumeHandle", VIOLATION_INVALID, "volumeHandle is immutable" },
		{ "spec.source.snapshotHandle", VIOLATION_INVALID, "snapshotHandle is immutable" },
		{ 0 },
	};
	static const struct fixed_field once_set[] = {
		{ "spec.sourceVolumeMode", VIOLATION_INVALID, "sourceVolumeMode is immutable" },
		{ 0 },
	};

	int r = update_check_fixed(old, new_object, fixed, found);

	/* It may be filled in later, once. */
	if (r < 0 || *old->volume_snapshot_content->source_volume_mode == '\0')
		return r;
	return update_check_fixed(old, new_object, once_set, found);
}
