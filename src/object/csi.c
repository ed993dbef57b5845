/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi - storage.k8s.io/v1 CSIDriver, CSINode and CSIStorageCapacity
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/shapes.h"

static const struct shape_field token_request_fields[] = {
	{ .name = "audience", .type = SHAPE_STRING, .required = true },
	{ .name = "expirationSeconds", .type = SHAPE_INTEGER },
	{ 0 },
};

static const struct shape token_request_shape = {
	.name = "TokenRequest",
	.package = SHAPE_STORAGE,
	.description = "A token that the driver wants with each publish.",
	.fields = token_request_fields,
};

static const struct shape_field csi_driver_spec_fields[] = {
	{ .name = "attachRequired",
	  .type = SHAPE_BOOL,
	  .description = "Volumes must be attached before a node can have them." },
	{ .name = "fsGroupPolicy",
	  .type = SHAPE_STRING,
	  .description = "Whether fsGroup is applied: ReadWriteOnceWithFSType, File or None." },
	{ .name = "podInfoOnMount",
	  .type = SHAPE_BOOL,
	  .description = "The driver is told which pod a volume is for." },
	{ .name = "requiresRepublish",
	  .type = SHAPE_BOOL,
	  .description = "The driver wants NodePublishVolume again and again." },
	{ .name = "seLinuxMount",
	  .type = SHAPE_BOOL,
	  .description = "The driver can mount with an SELinux label." },
	{ .name = "storageCapacity",
	  .type = SHAPE_BOOL,
	  .description = "Its capacity is told in CSIStorageCapacity objects." },
	{ .name = "tokenRequests",
	  .type = SHAPE_OBJECTS,
	  .of = &token_request_shape,
	  .description = "Tokens of the pod's service account that the driver wants." },
	{ .name = "volumeLifecycleModes",
	  .type = SHAPE_STRINGS,
	  .description = "Persistent, Ephemeral or both." },
	{ 0 },
};

static const struct shape csi_driver_spec_shape = {
	.name = "CSIDriverSpec",
	.package = SHAPE_STORAGE,
	.description = "What a CSI driver can do and wants to be told.",
	.fields = csi_driver_spec_fields,
};

static const struct shape_field csi_driver_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &csi_driver_spec_shape,
	  .description = "What the driver can do and wants to be told.",
	  .required = true },
	{ 0 },
};

const struct shape csi_driver_shape = {
	.name = "CSIDriver",
	.package = SHAPE_STORAGE,
	.fields = csi_driver_fields,
};

static const struct shape_field volume_node_resources_fields[] = {
	{ .name = "count", .type = SHAPE_INTEGER, .description = "So many; absent: no bound." },
	{ 0 },
};

static const struct shape volume_node_resources_shape = {
	.name = "VolumeNodeResources",
	.package = SHAPE_STORAGE,
	.description = "How many volumes a driver takes on a node.",
	.fields = volume_node_resources_fields,
};

static const struct shape_field csi_node_driver_fields[] = {
	{ .name = "allocatable",
	  .type = SHAPE_OBJECT,
	  .of = &volume_node_resources_shape,
	  .description = "How many volumes it takes here." },
	{ .name = "name", .type = SHAPE_STRING, .description = "The driver.", .required = true },
	{ .name = "nodeID",
	  .type = SHAPE_STRING,
	  .description = "The driver's own name for the node.",
	  .required = true },
	{ .name = "topologyKeys",
	  .type = SHAPE_STRINGS,
	  .description = "Labels of the node that say what it can reach." },
	{ 0 },
};

static const struct shape csi_node_driver_shape = {
	.name = "CSINodeDriver",
	.package = SHAPE_STORAGE,
	.description = "One driver that is registered on a node.",
	.fields = csi_node_driver_fields,
};

static const struct shape_field csi_node_spec_fields[] = {
	{ .name = "drivers",
	  .type = SHAPE_OBJECTS,
	  .of = &csi_node_driver_shape,
	  .merge_key = "name",
	  .description = "The drivers that are registered here.",
	  .required = true },
	{ 0 },
};

static const struct shape csi_node_spec_shape = {
	.name = "CSINodeSpec",
	.package = SHAPE_STORAGE,
	.description = "The drivers of a node.",
	.fields = csi_node_spec_fields,
};

static const struct shape_field csi_node_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &csi_node_spec_shape,
	  .description = "The drivers.",
	  .required = true },
	{ 0 },
};

const struct shape csi_node_shape = {
	.name = "CSINode",
	.package = SHAPE_STORAGE,
	.fields = csi_node_fields,
};

static const struct shape_field csi_storage_capacity_fields[] = {
	SHAPE_HEAD,
	{ .name = "capacity", .type = SHAPE_QUANTITY, .description = "So much is left in all." },
	{ .name = "maximumVolumeSize",
	  .type = SHAPE_QUANTITY,
	  .description = "So large can one volume be." },
	{ .name = "nodeTopology",
	  .type = SHAPE_OBJECT,
	  .of = &label_selector_shape,
	  .description = "The nodes it is about; absent: none." },
	{ .name = "storageClassName",
	  .type = SHAPE_STRING,
	  .description = "The class it is about.",
	  .required = true },
	{ 0 },
};

const struct shape csi_storage_capacity_shape = {
	.name = "CSIStorageCapacity",
	.package = SHAPE_STORAGE,
	.fields = csi_storage_capacity_fields,
};
