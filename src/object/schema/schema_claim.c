/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_claim - v1.PersistentVolumeClaim
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema volume_resource_requirements_schema = SCHEMA("VolumeResourceRequirements",
	"The requested size of a volume.",
	QUANTITY_MAP("limits", 0, "At most so much."),
	QUANTITY_MAP("requests", 0, "At least so much: storage."),
);

const struct schema persistent_volume_claim_spec_schema = SCHEMA("PersistentVolumeClaimSpec",
	"The requested storage.",
	STRINGS("accessModes", 0, "How it is to be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod."),
	OBJECT(typed_local_object_reference_schema, "dataSource", 0, "What the new volume is filled from: a snapshot or a claim."),
	OBJECT(typed_object_reference_schema, "dataSourceRef", 0, "The same for any kind of source."),
	OBJECT(volume_resource_requirements_schema, "resources", 0, "The requested size: requests.storage."),
	OBJECT(label_selector_schema, "selector", 0, "Labels that the volume must have."),
	STRING("storageClassName", 0, "The class; absent: the default one; \"\": none."),
	STRING("volumeAttributesClassName", 0, "The requested attributes class."),
	STRING("volumeMode", 0, "Filesystem or Block."),
	STRING("volumeName", 0, "The volume it is bound to, or asks for by name."),
);

static const struct schema persistent_volume_claim_condition_schema = SCHEMA("PersistentVolumeClaimCondition", NULL,
	TIME("lastProbeTime", 0, "When it was looked at."),
	TIME("lastTransitionTime", 0, "When its status changed."),
	STRING("message", 0, "The reason in a sentence."),
	STRING("reason", 0, "The reason in a word."),
	STRING("status", REQUIRED, "True, False or Unknown."),
	STRING("type", REQUIRED, "Resizing, FileSystemResizePending, ..."),
);

static const struct schema modify_volume_status_schema = SCHEMA("ModifyVolumeStatus", NULL,
	STRING("status", REQUIRED, "Pending, InProgress or Infeasible."),
	STRING("targetVolumeAttributesClassName", 0, "The attributes class that it is changed to."),
);

static const struct schema persistent_volume_claim_status_schema = SCHEMA("PersistentVolumeClaimStatus",
	"What storage was given.",
	STRINGS("accessModes", 0, "The modes that the volume has."),
	STRING_MAP("allocatedResourceStatuses", 0, "Progress of a resize, by resource."),
	QUANTITY_MAP("allocatedResources", 0, "The size that the volume is being expanded to."),
	QUANTITY_MAP("capacity", 0, "How large the volume is."),
	OBJECTS_BY(persistent_volume_claim_condition_schema, "type", "conditions", 0, "Its conditions, such as Resizing."),
	STRING("currentVolumeAttributesClassName", 0, "The attributes class that the volume has."),
	OBJECT(modify_volume_status_schema, "modifyVolumeStatus", 0, "Progress of a change of the attributes class."),
	STRING("phase", 0, "Pending, Bound or Lost."),
);

const struct schema claim_schema = SCHEMA("PersistentVolumeClaim", NULL,
	SCHEMA_HEAD,
	OBJECT(persistent_volume_claim_spec_schema, "spec", 0, "What is asked for."),
	OBJECT(persistent_volume_claim_status_schema, "status", 0, "What was given."),
);
