/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_persistent_volume - v1.PersistentVolume
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field local_volume_source_fields[] = {
	{ .name = "fsType",
	  .type = SHAPE_STRING,
	  .description = "The file system that an empty device gets; ext4." },
	{ .name = "path",
	  .type = SHAPE_STRING,
	  .description = "A block device or a directory of the node.",
	  .required = true },
	{ 0 },
};

static const struct shape local_volume_source_shape = {
	.name = "LocalVolumeSource",
	.description = "A disk, partition or directory of one node.",
	.fields = local_volume_source_fields,
};

static const struct shape_field csi_persistent_volume_source_fields[] = {
	{ .name = "controllerExpandSecretRef",
	  .type = SHAPE_OBJECT,
	  .of = &secret_reference_shape,
	  .description = "A Secret for expanding." },
	{ .name = "controllerPublishSecretRef",
	  .type = SHAPE_OBJECT,
	  .of = &secret_reference_shape,
	  .description = "A Secret for attaching." },
	{ .name = "driver", .type = SHAPE_STRING, .description = "The driver.", .required = true },
	{ .name = "fsType",
	  .type = SHAPE_STRING,
	  .description = "The file system, where the driver makes one." },
	{ .name = "nodeExpandSecretRef",
	  .type = SHAPE_OBJECT,
	  .of = &secret_reference_shape,
	  .description = "A Secret for expanding on the node." },
	{ .name = "nodePublishSecretRef",
	  .type = SHAPE_OBJECT,
	  .of = &secret_reference_shape,
	  .description = "A Secret for publishing." },
	{ .name = "nodeStageSecretRef",
	  .type = SHAPE_OBJECT,
	  .of = &secret_reference_shape,
	  .description = "A Secret for staging." },
	{ .name = "readOnly", .type = SHAPE_BOOL, .description = "It is published read-only." },
	{ .name = "volumeAttributes",
	  .type = SHAPE_STRING_MAP,
	  .description = "Words for the driver." },
	{ .name = "volumeHandle",
	  .type = SHAPE_STRING,
	  .description = "The driver's own name for the volume.",
	  .required = true },
	{ 0 },
};

static const struct shape csi_persistent_volume_source_shape = {
	.name = "CSIPersistentVolumeSource",
	.description = "A volume of a CSI driver.",
	.fields = csi_persistent_volume_source_fields,
};

static const struct shape_field volume_node_affinity_fields[] = {
	{ .name = "required",
	  .type = SHAPE_OBJECT,
	  .of = &node_selector_shape,
	  .description = "Nodes that do not match cannot reach it." },
	{ 0 },
};

static const struct shape volume_node_affinity_shape = {
	.name = "VolumeNodeAffinity",
	.description = "From which nodes a volume can be reached.",
	.fields = volume_node_affinity_fields,
};

static const struct shape_field persistent_volume_spec_fields[] = {
	{ .name = "accessModes",
	  .type = SHAPE_STRINGS,
	  .description = "How it can be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, "
			 "ReadWriteOncePod." },
	{ .name = "awsElasticBlockStore",
	  .type = SHAPE_OBJECT,
	  .of = &aws_elastic_block_store_volume_source_shape },
	{ .name = "azureDisk", .type = SHAPE_OBJECT, .of = &azure_disk_volume_source_shape },
	{ .name = "azureFile",
	  .type = SHAPE_OBJECT,
	  .of = &azure_file_persistent_volume_source_shape },
	{ .name = "capacity",
	  .type = SHAPE_QUANTITY_MAP,
	  .description = "How large it is: storage." },
	{ .name = "cephfs", .type = SHAPE_OBJECT, .of = &ceph_fs_persistent_volume_source_shape },
	{ .name = "cinder", .type = SHAPE_OBJECT, .of = &cinder_persistent_volume_source_shape },
	{ .name = "claimRef",
	  .type = SHAPE_OBJECT,
	  .of = &object_reference_shape,
	  .description = "The claim it is bound to, or kept for." },
	{ .name = "csi",
	  .type = SHAPE_OBJECT,
	  .of = &csi_persistent_volume_source_shape,
	  .description = "A volume of a CSI driver." },
	{ .name = "fc", .type = SHAPE_OBJECT, .of = &fc_volume_source_shape },
	{ .name = "flexVolume", .type = SHAPE_OBJECT, .of = &flex_persistent_volume_source_shape },
	{ .name = "flocker", .type = SHAPE_OBJECT, .of = &flocker_volume_source_shape },
	{ .name = "gcePersistentDisk",
	  .type = SHAPE_OBJECT,
	  .of = &gce_persistent_disk_volume_source_shape },
	{ .name = "glusterfs",
	  .type = SHAPE_OBJECT,
	  .of = &glusterfs_persistent_volume_source_shape },
	{ .name = "hostPath",
	  .type = SHAPE_OBJECT,
	  .of = &host_path_volume_source_shape,
	  .description = "A directory of whatever node; for trying things out." },
	{ .name = "iscsi", .type = SHAPE_OBJECT, .of = &iscsi_persistent_volume_source_shape },
	{ .name = "local",
	  .type = SHAPE_OBJECT,
	  .of = &local_volume_source_shape,
	  .description = "A disk, partition or directory of one node." },
	{ .name = "mountOptions",
	  .type = SHAPE_STRINGS,
	  .description = "Options of its mount, one each." },
	{ .name = "nfs",
	  .type = SHAPE_OBJECT,
	  .of = &nfs_volume_source_shape,
	  .description = "A directory of an NFS server." },
	{ .name = "nodeAffinity",
	  .type = SHAPE_OBJECT,
	  .of = &volume_node_affinity_shape,
	  .description = "From which nodes it can be reached." },
	{ .name = "persistentVolumeReclaimPolicy",
	  .type = SHAPE_STRING,
	  .description = "What becomes of it when its claim goes: Retain, Delete or Recycle." },
	{ .name = "photonPersistentDisk",
	  .type = SHAPE_OBJECT,
	  .of = &photon_persistent_disk_volume_source_shape },
	{ .name = "portworxVolume", .type = SHAPE_OBJECT, .of = &portworx_volume_source_shape },
	{ .name = "quobyte", .type = SHAPE_OBJECT, .of = &quobyte_volume_source_shape },
	{ .name = "rbd", .type = SHAPE_OBJECT, .of = &rbd_persistent_volume_source_shape },
	{ .name = "scaleIO", .type = SHAPE_OBJECT, .of = &scale_io_persistent_volume_source_shape },
	{ .name = "storageClassName",
	  .type = SHAPE_STRING,
	  .description = "The class whose claims it answers; \"\": claims without one." },
	{ .name = "storageos",
	  .type = SHAPE_OBJECT,
	  .of = &storage_os_persistent_volume_source_shape },
	{ .name = "volumeAttributesClassName",
	  .type = SHAPE_STRING,
	  .description = "Its attributes class." },
	{ .name = "volumeMode", .type = SHAPE_STRING, .description = "Filesystem or Block." },
	{ .name = "vsphereVolume",
	  .type = SHAPE_OBJECT,
	  .of = &vsphere_virtual_disk_volume_source_shape },
	{ 0 },
};

const struct shape persistent_volume_spec_shape = {
	.name = "PersistentVolumeSpec",
	.description = "What a persistent volume is: size, modes and exactly one source.",
	.fields = persistent_volume_spec_fields,
};

static const struct shape_field persistent_volume_status_fields[] = {
	{ .name = "lastPhaseTransitionTime",
	  .type = SHAPE_TIME,
	  .description = "Since when it has this phase." },
	{ .name = "message", .type = SHAPE_STRING, .description = "Why, for people." },
	{ .name = "phase",
	  .type = SHAPE_STRING,
	  .description = "Pending, Available, Bound, Released or Failed." },
	{ .name = "reason", .type = SHAPE_STRING, .description = "Why, in one word." },
	{ 0 },
};

static const struct shape persistent_volume_status_shape = {
	.name = "PersistentVolumeStatus",
	.description = "What state a persistent volume is in.",
	.fields = persistent_volume_status_fields,
};

static const struct shape_field persistent_volume_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_spec_shape,
	  .description = "What it is." },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_status_shape,
	  .description = "What state it is in." },
	{ 0 },
};

const struct shape persistent_volume_shape = {
	.name = "PersistentVolume",
	.fields = persistent_volume_fields,
};
