/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_claim - v1.PersistentVolumeClaim
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field volume_resource_requirements_fields[] = {
	{ .name = "limits", .type = SHAPE_QUANTITY_MAP, .description = "At most so much." },
	{ .name = "requests",
	  .type = SHAPE_QUANTITY_MAP,
	  .description = "At least so much: storage." },
	{ 0 },
};

static const struct shape volume_resource_requirements_shape = {
	.name = "VolumeResourceRequirements",
	.description = "How large a volume is to be.",
	.fields = volume_resource_requirements_fields,
};

static const struct shape_field persistent_volume_claim_spec_fields[] = {
	{ .name = "accessModes",
	  .type = SHAPE_STRINGS,
	  .description = "How it is to be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, "
			 "ReadWriteOncePod." },
	{ .name = "dataSource",
	  .type = SHAPE_OBJECT,
	  .of = &typed_local_object_reference_shape,
	  .description = "What the new volume is filled from: a snapshot or a claim." },
	{ .name = "dataSourceRef",
	  .type = SHAPE_OBJECT,
	  .of = &typed_object_reference_shape,
	  .description = "The same for any kind of source." },
	{ .name = "resources",
	  .type = SHAPE_OBJECT,
	  .of = &volume_resource_requirements_shape,
	  .description = "How large it is to be: requests.storage." },
	{ .name = "selector",
	  .type = SHAPE_OBJECT,
	  .of = &label_selector_shape,
	  .description = "Labels that the volume must have." },
	{ .name = "storageClassName",
	  .type = SHAPE_STRING,
	  .description = "The class; absent: the default one; \"\": none." },
	{ .name = "volumeAttributesClassName",
	  .type = SHAPE_STRING,
	  .description = "The attributes class wanted." },
	{ .name = "volumeMode", .type = SHAPE_STRING, .description = "Filesystem or Block." },
	{ .name = "volumeName",
	  .type = SHAPE_STRING,
	  .description = "The volume it is bound to, or asks for by name." },
	{ 0 },
};

const struct shape persistent_volume_claim_spec_shape = {
	.name = "PersistentVolumeClaimSpec",
	.description = "What storage is asked for.",
	.fields = persistent_volume_claim_spec_fields,
};

static const struct shape_field persistent_volume_claim_condition_fields[] = {
	{ .name = "lastProbeTime", .type = SHAPE_TIME },
	{ .name = "lastTransitionTime", .type = SHAPE_TIME },
	{ .name = "message", .type = SHAPE_STRING },
	{ .name = "reason", .type = SHAPE_STRING },
	{ .name = "status", .type = SHAPE_STRING, .required = true },
	{ .name = "type", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape persistent_volume_claim_condition_shape = {
	.name = "PersistentVolumeClaimCondition",
	.fields = persistent_volume_claim_condition_fields,
};

static const struct shape_field modify_volume_status_fields[] = {
	{ .name = "status", .type = SHAPE_STRING, .required = true },
	{ .name = "targetVolumeAttributesClassName", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape modify_volume_status_shape = {
	.name = "ModifyVolumeStatus",
	.fields = modify_volume_status_fields,
};

static const struct shape_field persistent_volume_claim_status_fields[] = {
	{ .name = "accessModes",
	  .type = SHAPE_STRINGS,
	  .description = "The modes that the volume has." },
	{ .name = "allocatedResourceStatuses", .type = SHAPE_STRING_MAP },
	{ .name = "allocatedResources", .type = SHAPE_QUANTITY_MAP },
	{ .name = "capacity",
	  .type = SHAPE_QUANTITY_MAP,
	  .description = "How large the volume is." },
	{ .name = "conditions",
	  .type = SHAPE_OBJECTS,
	  .of = &persistent_volume_claim_condition_shape,
	  .merge_key = "type",
	  .description = "What is true of it, or is not: as while it is being resized." },
	{ .name = "currentVolumeAttributesClassName", .type = SHAPE_STRING },
	{ .name = "modifyVolumeStatus", .type = SHAPE_OBJECT, .of = &modify_volume_status_shape },
	{ .name = "phase", .type = SHAPE_STRING, .description = "Pending, Bound or Lost." },
	{ 0 },
};

static const struct shape persistent_volume_claim_status_shape = {
	.name = "PersistentVolumeClaimStatus",
	.description = "What storage was given.",
	.fields = persistent_volume_claim_status_fields,
};

static const struct shape_field claim_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_claim_spec_shape,
	  .description = "What is asked for." },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_claim_status_shape,
	  .description = "What was given." },
	{ 0 },
};

const struct shape claim_shape = {
	.name = "PersistentVolumeClaim",
	.fields = claim_fields,
};
