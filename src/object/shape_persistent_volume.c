/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_persistent_volume - v1.PersistentVolume
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape local_volume_source_shape = {
	.name = "LocalVolumeSource",
	.description = "A disk, partition or directory of one node.",
	.fields = {
		STRING("fsType", 0, "The file system that an empty device gets; ext4."),
		STRING("path", REQUIRED, "A block device or a directory of the node."),
		{ 0 },
	},
};

static const struct shape csi_persistent_volume_source_shape = {
	.name = "CSIPersistentVolumeSource",
	.description = "A volume of a CSI driver.",
	.fields = {
		OBJECT(secret_reference_shape, "controllerExpandSecretRef", 0, "A Secret for expanding."),
		OBJECT(secret_reference_shape, "controllerPublishSecretRef", 0, "A Secret for attaching."),
		STRING("driver", REQUIRED, "The driver."),
		STRING("fsType", 0, "The file system, where the driver makes one."),
		OBJECT(secret_reference_shape, "nodeExpandSecretRef", 0, "A Secret for expanding on the node."),
		OBJECT(secret_reference_shape, "nodePublishSecretRef", 0, "A Secret for publishing."),
		OBJECT(secret_reference_shape, "nodeStageSecretRef", 0, "A Secret for staging."),
		BOOL("readOnly", 0, "It is published read-only."),
		STRING_MAP("volumeAttributes", 0, "Words for the driver."),
		STRING("volumeHandle", REQUIRED, "The driver's own name for the volume."),
		{ 0 },
	},
};

static const struct shape volume_node_affinity_shape = {
	.name = "VolumeNodeAffinity",
	.description = "From which nodes a volume can be reached.",
	.fields = {
		OBJECT(node_selector_shape, "required", 0, "Nodes that do not match cannot reach it."),
		{ 0 },
	},
};

const struct shape persistent_volume_spec_shape = {
	.name = "PersistentVolumeSpec",
	.description = "What a persistent volume is: size, modes and exactly one source.",
	.fields = {
		STRINGS("accessModes", 0, "How it can be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod."),
		OBJECT(aws_elastic_block_store_volume_source_shape, "awsElasticBlockStore"),
		OBJECT(azure_disk_volume_source_shape, "azureDisk"),
		OBJECT(azure_file_persistent_volume_source_shape, "azureFile"),
		QUANTITY_MAP("capacity", 0, "How large it is: storage."),
		OBJECT(ceph_fs_persistent_volume_source_shape, "cephfs"),
		OBJECT(cinder_persistent_volume_source_shape, "cinder"),
		OBJECT(object_reference_shape, "claimRef", 0, "The claim it is bound to, or kept for."),
		OBJECT(csi_persistent_volume_source_shape, "csi", 0, "A volume of a CSI driver."),
		OBJECT(fc_volume_source_shape, "fc"),
		OBJECT(flex_persistent_volume_source_shape, "flexVolume"),
		OBJECT(flocker_volume_source_shape, "flocker"),
		OBJECT(gce_persistent_disk_volume_source_shape, "gcePersistentDisk"),
		OBJECT(glusterfs_persistent_volume_source_shape, "glusterfs"),
		OBJECT(host_path_volume_source_shape, "hostPath", 0, "A directory of whatever node; for trying things out."),
		OBJECT(iscsi_persistent_volume_source_shape, "iscsi"),
		OBJECT(local_volume_source_shape, "local", 0, "A disk, partition or directory of one node."),
		STRINGS("mountOptions", 0, "Options of its mount, one each."),
		OBJECT(nfs_volume_source_shape, "nfs", 0, "A directory of an NFS server."),
		OBJECT(volume_node_affinity_shape, "nodeAffinity", 0, "From which nodes it can be reached."),
		STRING("persistentVolumeReclaimPolicy", 0, "What becomes of it when its claim goes: Retain, Delete or Recycle."),
		OBJECT(photon_persistent_disk_volume_source_shape, "photonPersistentDisk"),
		OBJECT(portworx_volume_source_shape, "portworxVolume"),
		OBJECT(quobyte_volume_source_shape, "quobyte"),
		OBJECT(rbd_persistent_volume_source_shape, "rbd"),
		OBJECT(scale_io_persistent_volume_source_shape, "scaleIO"),
		STRING("storageClassName", 0, "The class whose claims it answers; \"\": claims without one."),
		OBJECT(storage_os_persistent_volume_source_shape, "storageos"),
		STRING("volumeAttributesClassName", 0, "Its attributes class."),
		STRING("volumeMode", 0, "Filesystem or Block."),
		OBJECT(vsphere_virtual_disk_volume_source_shape, "vsphereVolume"),
		{ 0 },
	},
};

static const struct shape persistent_volume_status_shape = {
	.name = "PersistentVolumeStatus",
	.description = "What state a persistent volume is in.",
	.fields = {
		TIME("lastPhaseTransitionTime", 0, "Since when it has this phase."),
		STRING("message", 0, "Why, for people."),
		STRING("phase", 0, "Pending, Available, Bound, Released or Failed."),
		STRING("reason", 0, "Why, in one word."),
		{ 0 },
	},
};

const struct shape persistent_volume_shape = {
	.name = "PersistentVolume",
	.fields = {
		SHAPE_HEAD,
		OBJECT(persistent_volume_spec_shape, "spec", 0, "What it is."),
		OBJECT(persistent_volume_status_shape, "status", 0, "What state it is in."),
		{ 0 },
	},
};
