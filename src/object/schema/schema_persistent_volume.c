/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_persistent_volume - v1.PersistentVolume
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema local_volume_source_schema = SCHEMA("LocalVolumeSource",
	"A disk, partition or directory of one node.",
	STRING("fsType", 0, "The file system that an empty device gets; ext4."),
	STRING("path", REQUIRED, "A block device or a directory of the node."),
);

static const struct schema csi_persistent_volume_source_schema = SCHEMA("CSIPersistentVolumeSource",
	"A volume of a CSI driver.",
	OBJECT(secret_reference_schema, "controllerExpandSecretRef", 0, "A Secret for expanding."),
	OBJECT(secret_reference_schema, "controllerPublishSecretRef", 0, "A Secret for attaching."),
	STRING("driver", REQUIRED, "The driver."),
	STRING("fsType", 0, "The file system type, where the driver formats."),
	OBJECT(secret_reference_schema, "nodeExpandSecretRef", 0, "A Secret for expanding on the node."),
	OBJECT(secret_reference_schema, "nodePublishSecretRef", 0, "A Secret for publishing."),
	OBJECT(secret_reference_schema, "nodeStageSecretRef", 0, "A Secret for staging."),
	BOOL("readOnly", 0, "It is published read-only."),
	STRING_MAP("volumeAttributes", 0, "Attributes for the driver."),
	STRING("volumeHandle", REQUIRED, "The driver's handle of the volume."),
);

static const struct schema volume_node_affinity_schema = SCHEMA("VolumeNodeAffinity",
	"From which nodes a volume can be reached.",
	OBJECT(node_selector_schema, "required", 0, "Nodes that do not match cannot reach it."),
);

const struct schema persistent_volume_spec_schema = SCHEMA("PersistentVolumeSpec",
	"What a persistent volume is: size, modes and exactly one source.",
	STRINGS("accessModes", 0, "How it can be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod."),
	OBJECT(aws_elastic_block_store_volume_source_schema, "awsElasticBlockStore"),
	OBJECT(azure_disk_volume_source_schema, "azureDisk"),
	OBJECT(azure_file_persistent_volume_source_schema, "azureFile"),
	QUANTITY_MAP("capacity", 0, "How large it is: storage."),
	OBJECT(ceph_fs_persistent_volume_source_schema, "cephfs"),
	OBJECT(cinder_persistent_volume_source_schema, "cinder"),
	OBJECT(object_reference_schema, "claimRef", 0, "The claim it is bound to, or reserved for."),
	OBJECT(csi_persistent_volume_source_schema, "csi", 0, "A volume of a CSI driver."),
	OBJECT(fc_volume_source_schema, "fc"),
	OBJECT(flex_persistent_volume_source_schema, "flexVolume", 0, "A volume of an executable plugin, driver podvol.io/NAME."),
	OBJECT(flocker_volume_source_schema, "flocker"),
	OBJECT(gce_persistent_disk_volume_source_schema, "gcePersistentDisk"),
	OBJECT(glusterfs_persistent_volume_source_schema, "glusterfs"),
	OBJECT(host_path_volume_source_schema, "hostPath", 0, "A directory of the node that the pod runs on; for tests."),
	OBJECT(iscsi_persistent_volume_source_schema, "iscsi"),
	OBJECT(local_volume_source_schema, "local", 0, "A disk, partition or directory of one node."),
	STRINGS("mountOptions", 0, "Options of its mount, one each."),
	OBJECT(nfs_volume_source_schema, "nfs", 0, "A directory of an NFS server."),
	OBJECT(volume_node_affinity_schema, "nodeAffinity", 0, "From which nodes it can be reached."),
	STRING("persistentVolumeReclaimPolicy", 0, "What happens to it when its claim is deleted: Retain, Delete or Recycle."),
	OBJECT(photon_persistent_disk_volume_source_schema, "photonPersistentDisk"),
	OBJECT(portworx_volume_source_schema, "portworxVolume"),
	OBJECT(quobyte_volume_source_schema, "quobyte"),
	OBJECT(rbd_persistent_volume_source_schema, "rbd"),
	OBJECT(scale_io_persistent_volume_source_schema, "scaleIO"),
	STRING("storageClassName", 0, "The class whose claims it answers; \"\": claims without one."),
	OBJECT(storage_os_persistent_volume_source_schema, "storageos"),
	STRING("volumeAttributesClassName", 0, "Its attributes class."),
	STRING("volumeMode", 0, "Filesystem or Block."),
	OBJECT(vsphere_virtual_disk_volume_source_schema, "vsphereVolume"),
);

static const struct schema persistent_volume_status_schema = SCHEMA("PersistentVolumeStatus",
	"The state of a persistent volume.",
	TIME("lastPhaseTransitionTime", 0, "Since when it has this phase."),
	STRING("message", 0, "Why, for people."),
	STRING("phase", 0, "Pending, Available, Bound, Released or Failed."),
	STRING("reason", 0, "Why, in one word."),
);

const struct schema persistent_volume_schema = SCHEMA("PersistentVolume", NULL,
	SCHEMA_HEAD,
	OBJECT(persistent_volume_spec_schema, "spec", 0, "What it is."),
	OBJECT(persistent_volume_status_schema, "status", 0, "What state it is in."),
);
