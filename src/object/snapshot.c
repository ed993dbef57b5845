/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot - snapshot.storage.k8s.io/v1 VolumeSnapshot, its class and its content
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/shapes.h"

static const struct shape_field volume_snapshot_source_fields[] = {
	{ .name = "persistentVolumeClaimName",
	  .type = SHAPE_STRING,
	  .description = "The claim to take a snapshot of." },
	{ .name = "volumeSnapshotContentName",
	  .type = SHAPE_STRING,
	  .description = "The content of a snapshot that exists." },
	{ 0 },
};

static const struct shape volume_snapshot_source_shape = {
	.name = "VolumeSnapshotSource",
	.package = SHAPE_SNAPSHOT,
	.description = "The claim to take a snapshot of, or a snapshot that exists.",
	.fields = volume_snapshot_source_fields,
};

static const struct shape_field volume_snapshot_spec_fields[] = {
	{ .name = "source",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_source_shape,
	  .description = "Of what; cannot be changed.",
	  .required = true },
	{ .name = "volumeSnapshotClassName",
	  .type = SHAPE_STRING,
	  .description = "The class; absent: the default one." },
	{ 0 },
};

static const struct shape volume_snapshot_spec_shape = {
	.name = "VolumeSnapshotSpec",
	.package = SHAPE_SNAPSHOT,
	.description = "Of what a snapshot is wanted.",
	.fields = volume_snapshot_spec_fields,
};

static const struct shape_field volume_snapshot_error_fields[] = {
	{ .name = "message", .type = SHAPE_STRING, .description = "Why." },
	{ .name = "time", .type = SHAPE_TIME, .description = "When." },
	{ 0 },
};

static const struct shape volume_snapshot_error_shape = {
	.name = "VolumeSnapshotError",
	.package = SHAPE_SNAPSHOT,
	.description = "Why a snapshot did not work, and when.",
	.fields = volume_snapshot_error_fields,
};

static const struct shape_field volume_snapshot_status_fields[] = {
	{ .name = "boundVolumeSnapshotContentName",
	  .type = SHAPE_STRING,
	  .description = "The content it is bound to." },
	{ .name = "creationTime",
	  .type = SHAPE_TIME,
	  .description = "When the snapshot was taken." },
	{ .name = "error",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_error_shape,
	  .description = "Why it did not work." },
	{ .name = "readyToUse",
	  .type = SHAPE_BOOL,
	  .description = "A volume can be made from it." },
	{ .name = "restoreSize",
	  .type = SHAPE_QUANTITY,
	  .description = "How large such a volume must be at least." },
	{ .name = "volumeGroupSnapshotName",
	  .type = SHAPE_STRING,
	  .description = "The group snapshot it belongs to." },
	{ 0 },
};

static const struct shape volume_snapshot_status_shape = {
	.name = "VolumeSnapshotStatus",
	.package = SHAPE_SNAPSHOT,
	.description = "What became of a snapshot.",
	.fields = volume_snapshot_status_fields,
};

static const struct shape_field volume_snapshot_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_spec_shape,
	  .description = "Of what a snapshot is wanted.",
	  .required = true },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_status_shape,
	  .description = "What became of it." },
	{ 0 },
};

const struct shape volume_snapshot_shape = {
	.name = "VolumeSnapshot",
	.package = SHAPE_SNAPSHOT,
	.fields = volume_snapshot_fields,
};

static const struct shape_field volume_snapshot_class_fields[] = {
	SHAPE_HEAD,
	{ .name = "deletionPolicy",
	  .type = SHAPE_STRING,
	  .description = "What becomes of the snapshot when its object goes: Delete or Retain.",
	  .required = true },
	{ .name = "driver",
	  .type = SHAPE_STRING,
	  .description = "The CSI driver.",
	  .required = true },
	{ .name = "parameters", .type = SHAPE_STRING_MAP, .description = "Words for the driver." },
	{ 0 },
};

const struct shape volume_snapshot_class_shape = {
	.name = "VolumeSnapshotClass",
	.package = SHAPE_SNAPSHOT,
	.fields = volume_snapshot_class_fields,
};

static const struct shape_field volume_snapshot_content_source_fields[] = {
	{ .name = "snapshotHandle",
	  .type = SHAPE_STRING,
	  .description = "A snapshot that exists, by the driver's name." },
	{ .name = "volumeHandle",
	  .type = SHAPE_STRING,
	  .description = "The volume to take a snapshot of, by the driver's name." },
	{ 0 },
};

static const struct shape volume_snapshot_content_source_shape = {
	.name = "VolumeSnapshotContentSource",
	.package = SHAPE_SNAPSHOT,
	.description = "The volume to take a snapshot of, or a snapshot that exists.",
	.fields = volume_snapshot_content_source_fields,
};

static const struct shape_field volume_snapshot_content_spec_fields[] = {
	{ .name = "deletionPolicy",
	  .type = SHAPE_STRING,
	  .description = "What becomes of the snapshot when its object goes: Delete or Retain.",
	  .required = true },
	{ .name = "driver",
	  .type = SHAPE_STRING,
	  .description = "The CSI driver.",
	  .required = true },
	{ .name = "source",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_content_source_shape,
	  .description = "Of what; cannot be changed.",
	  .required = true },
	{ .name = "sourceVolumeMode",
	  .type = SHAPE_STRING,
	  .description = "Filesystem or Block: the mode of the volume it was taken of." },
	{ .name = "volumeSnapshotClassName",
	  .type = SHAPE_STRING,
	  .description = "The class it was made by." },
	{ .name = "volumeSnapshotRef",
	  .type = SHAPE_OBJECT,
	  .of = &object_reference_shape,
	  .description = "The VolumeSnapshot it is bound to.",
	  .required = true },
	{ 0 },
};

static const struct shape volume_snapshot_content_spec_shape = {
	.name = "VolumeSnapshotContentSpec",
	.package = SHAPE_SNAPSHOT,
	.description = "The snapshot in the storage system.",
	.fields = volume_snapshot_content_spec_fields,
};

static const struct shape_field volume_snapshot_content_status_fields[] = {
	{ .name = "creationTime",
	  .type = SHAPE_INTEGER,
	  .description = "When it was taken, in nanoseconds of real time." },
	{ .name = "error",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_error_shape,
	  .description = "Why it did not work." },
	{ .name = "readyToUse",
	  .type = SHAPE_BOOL,
	  .description = "A volume can be made from it." },
	{ .name = "restoreSize",
	  .type = SHAPE_INTEGER,
	  .description = "Bytes that a volume made from it has at least." },
	{ .name = "snapshotHandle",
	  .type = SHAPE_STRING,
	  .description = "The driver's own name for the snapshot." },
	{ .name = "volumeGroupSnapshotHandle",
	  .type = SHAPE_STRING,
	  .description = "The driver's own name for the group snapshot." },
	{ 0 },
};

static const struct shape volume_snapshot_content_status_shape = {
	.name = "VolumeSnapshotContentStatus",
	.package = SHAPE_SNAPSHOT,
	.description = "What state the snapshot in the storage system is in.",
	.fields = volume_snapshot_content_status_fields,
};

static const struct shape_field volume_snapshot_content_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_content_spec_shape,
	  .description = "The snapshot in the storage system.",
	  .required = true },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &volume_snapshot_content_status_shape,
	  .description = "What state it is in." },
	{ 0 },
};

const struct shape volume_snapshot_content_shape = {
	.name = "VolumeSnapshotContent",
	.package = SHAPE_SNAPSHOT,
	.fields = volume_snapshot_content_fields,
};
