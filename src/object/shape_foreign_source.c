/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_foreign_source - sources of volumes that other systems mount: kept, never acted upon
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field aws_elastic_block_store_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "partition", .type = SHAPE_INTEGER },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "volumeID", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape aws_elastic_block_store_volume_source_shape = {
	.name = "AWSElasticBlockStoreVolumeSource",
	.fields = aws_elastic_block_store_volume_source_fields,
};

static const struct shape_field azure_disk_volume_source_fields[] = {
	{ .name = "cachingMode", .type = SHAPE_STRING },
	{ .name = "diskName", .type = SHAPE_STRING, .required = true },
	{ .name = "diskURI", .type = SHAPE_STRING, .required = true },
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "kind", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ 0 },
};

const struct shape azure_disk_volume_source_shape = {
	.name = "AzureDiskVolumeSource",
	.fields = azure_disk_volume_source_fields,
};

static const struct shape_field azure_file_volume_source_fields[] = {
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretName", .type = SHAPE_STRING, .required = true },
	{ .name = "shareName", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape azure_file_volume_source_shape = {
	.name = "AzureFileVolumeSource",
	.fields = azure_file_volume_source_fields,
};

static const struct shape_field azure_file_persistent_volume_source_fields[] = {
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretName", .type = SHAPE_STRING, .required = true },
	{ .name = "secretNamespace", .type = SHAPE_STRING },
	{ .name = "shareName", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape azure_file_persistent_volume_source_shape = {
	.name = "AzureFilePersistentVolumeSource",
	.fields = azure_file_persistent_volume_source_fields,
};

static const struct shape_field ceph_fs_volume_source_fields[] = {
	{ .name = "monitors", .type = SHAPE_STRINGS, .required = true },
	{ .name = "path", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretFile", .type = SHAPE_STRING },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &local_object_reference_shape },
	{ .name = "user", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape ceph_fs_volume_source_shape = {
	.name = "CephFSVolumeSource",
	.fields = ceph_fs_volume_source_fields,
};

static const struct shape_field ceph_fs_persistent_volume_source_fields[] = {
	{ .name = "monitors", .type = SHAPE_STRINGS, .required = true },
	{ .name = "path", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretFile", .type = SHAPE_STRING },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &secret_reference_shape },
	{ .name = "user", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape ceph_fs_persistent_volume_source_shape = {
	.name = "CephFSPersistentVolumeSource",
	.fields = ceph_fs_persistent_volume_source_fields,
};

static const struct shape_field cinder_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &local_object_reference_shape },
	{ .name = "volumeID", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape cinder_volume_source_shape = {
	.name = "CinderVolumeSource",
	.fields = cinder_volume_source_fields,
};

static const struct shape_field cinder_persistent_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &secret_reference_shape },
	{ .name = "volumeID", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape cinder_persistent_volume_source_shape = {
	.name = "CinderPersistentVolumeSource",
	.fields = cinder_persistent_volume_source_fields,
};

static const struct shape_field fc_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING }, { .name = "lun", .type = SHAPE_INTEGER },
	{ .name = "readOnly", .type = SHAPE_BOOL }, { .name = "targetWWNs", .type = SHAPE_STRINGS },
	{ .name = "wwids", .type = SHAPE_STRINGS }, { 0 },
};

const struct shape fc_volume_source_shape = {
	.name = "FCVolumeSource",
	.fields = fc_volume_source_fields,
};

static const struct shape_field flex_volume_source_fields[] = {
	{ .name = "driver", .type = SHAPE_STRING, .required = true },
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "options", .type = SHAPE_STRING_MAP },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &local_object_reference_shape },
	{ 0 },
};

const struct shape flex_volume_source_shape = {
	.name = "FlexVolumeSource",
	.fields = flex_volume_source_fields,
};

static const struct shape_field flex_persistent_volume_source_fields[] = {
	{ .name = "driver", .type = SHAPE_STRING, .required = true },
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "options", .type = SHAPE_STRING_MAP },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &secret_reference_shape },
	{ 0 },
};

const struct shape flex_persistent_volume_source_shape = {
	.name = "FlexPersistentVolumeSource",
	.fields = flex_persistent_volume_source_fields,
};

static const struct shape_field flocker_volume_source_fields[] = {
	{ .name = "datasetName", .type = SHAPE_STRING },
	{ .name = "datasetUUID", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape flocker_volume_source_shape = {
	.name = "FlockerVolumeSource",
	.fields = flocker_volume_source_fields,
};

static const struct shape_field gce_persistent_disk_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "partition", .type = SHAPE_INTEGER },
	{ .name = "pdName", .type = SHAPE_STRING, .required = true },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ 0 },
};

const struct shape gce_persistent_disk_volume_source_shape = {
	.name = "GCEPersistentDiskVolumeSource",
	.fields = gce_persistent_disk_volume_source_fields,
};

static const struct shape_field git_repo_volume_source_fields[] = {
	{ .name = "directory", .type = SHAPE_STRING },
	{ .name = "repository", .type = SHAPE_STRING, .required = true },
	{ .name = "revision", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape git_repo_volume_source_shape = {
	.name = "GitRepoVolumeSource",
	.fields = git_repo_volume_source_fields,
};

static const struct shape_field glusterfs_volume_source_fields[] = {
	{ .name = "endpoints", .type = SHAPE_STRING, .required = true },
	{ .name = "path", .type = SHAPE_STRING, .required = true },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ 0 },
};

const struct shape glusterfs_volume_source_shape = {
	.name = "GlusterfsVolumeSource",
	.fields = glusterfs_volume_source_fields,
};

static const struct shape_field glusterfs_persistent_volume_source_fields[] = {
	{ .name = "endpoints", .type = SHAPE_STRING, .required = true },
	{ .name = "endpointsNamespace", .type = SHAPE_STRING },
	{ .name = "path", .type = SHAPE_STRING, .required = true },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ 0 },
};

const struct shape glusterfs_persistent_volume_source_shape = {
	.name = "GlusterfsPersistentVolumeSource",
	.fields = glusterfs_persistent_volume_source_fields,
};

static const struct shape_field image_volume_source_fields[] = {
	{ .name = "pullPolicy", .type = SHAPE_STRING },
	{ .name = "reference", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape image_volume_source_shape = {
	.name = "ImageVolumeSource",
	.fields = image_volume_source_fields,
};

static const struct shape_field iscsi_volume_source_fields[] = {
	{ .name = "chapAuthDiscovery", .type = SHAPE_BOOL },
	{ .name = "chapAuthSession", .type = SHAPE_BOOL },
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "initiatorName", .type = SHAPE_STRING },
	{ .name = "iqn", .type = SHAPE_STRING, .required = true },
	{ .name = "iscsiInterface", .type = SHAPE_STRING },
	{ .name = "lun", .type = SHAPE_INTEGER, .required = true },
	{ .name = "portals", .type = SHAPE_STRINGS },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &local_object_reference_shape },
	{ .name = "targetPortal", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape iscsi_volume_source_shape = {
	.name = "ISCSIVolumeSource",
	.fields = iscsi_volume_source_fields,
};

static const struct shape_field iscsi_persistent_volume_source_fields[] = {
	{ .name = "chapAuthDiscovery", .type = SHAPE_BOOL },
	{ .name = "chapAuthSession", .type = SHAPE_BOOL },
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "initiatorName", .type = SHAPE_STRING },
	{ .name = "iqn", .type = SHAPE_STRING, .required = true },
	{ .name = "iscsiInterface", .type = SHAPE_STRING },
	{ .name = "lun", .type = SHAPE_INTEGER, .required = true },
	{ .name = "portals", .type = SHAPE_STRINGS },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &secret_reference_shape },
	{ .name = "targetPortal", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape iscsi_persistent_volume_source_shape = {
	.name = "ISCSIPersistentVolumeSource",
	.fields = iscsi_persistent_volume_source_fields,
};

static const struct shape_field photon_persistent_disk_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "pdID", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape photon_persistent_disk_volume_source_shape = {
	.name = "PhotonPersistentDiskVolumeSource",
	.fields = photon_persistent_disk_volume_source_fields,
};

static const struct shape_field portworx_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "volumeID", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape portworx_volume_source_shape = {
	.name = "PortworxVolumeSource",
	.fields = portworx_volume_source_fields,
};

static const struct shape_field quobyte_volume_source_fields[] = {
	{ .name = "group", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "registry", .type = SHAPE_STRING, .required = true },
	{ .name = "tenant", .type = SHAPE_STRING },
	{ .name = "user", .type = SHAPE_STRING },
	{ .name = "volume", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape quobyte_volume_source_shape = {
	.name = "QuobyteVolumeSource",
	.fields = quobyte_volume_source_fields,
};

static const struct shape_field rbd_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "image", .type = SHAPE_STRING, .required = true },
	{ .name = "keyring", .type = SHAPE_STRING },
	{ .name = "monitors", .type = SHAPE_STRINGS, .required = true },
	{ .name = "pool", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &local_object_reference_shape },
	{ .name = "user", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape rbd_volume_source_shape = {
	.name = "RBDVolumeSource",
	.fields = rbd_volume_source_fields,
};

static const struct shape_field rbd_persistent_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "image", .type = SHAPE_STRING, .required = true },
	{ .name = "keyring", .type = SHAPE_STRING },
	{ .name = "monitors", .type = SHAPE_STRINGS, .required = true },
	{ .name = "pool", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &secret_reference_shape },
	{ .name = "user", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape rbd_persistent_volume_source_shape = {
	.name = "RBDPersistentVolumeSource",
	.fields = rbd_persistent_volume_source_fields,
};

static const struct shape_field scale_io_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "gateway", .type = SHAPE_STRING, .required = true },
	{ .name = "protectionDomain", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef",
	  .type = SHAPE_OBJECT,
	  .of = &local_object_reference_shape,
	  .required = true },
	{ .name = "sslEnabled", .type = SHAPE_BOOL },
	{ .name = "storageMode", .type = SHAPE_STRING },
	{ .name = "storagePool", .type = SHAPE_STRING },
	{ .name = "system", .type = SHAPE_STRING, .required = true },
	{ .name = "volumeName", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape scale_io_volume_source_shape = {
	.name = "ScaleIOVolumeSource",
	.fields = scale_io_volume_source_fields,
};

static const struct shape_field scale_io_persistent_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "gateway", .type = SHAPE_STRING, .required = true },
	{ .name = "protectionDomain", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef",
	  .type = SHAPE_OBJECT,
	  .of = &secret_reference_shape,
	  .required = true },
	{ .name = "sslEnabled", .type = SHAPE_BOOL },
	{ .name = "storageMode", .type = SHAPE_STRING },
	{ .name = "storagePool", .type = SHAPE_STRING },
	{ .name = "system", .type = SHAPE_STRING, .required = true },
	{ .name = "volumeName", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape scale_io_persistent_volume_source_shape = {
	.name = "ScaleIOPersistentVolumeSource",
	.fields = scale_io_persistent_volume_source_fields,
};

static const struct shape_field storage_os_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &local_object_reference_shape },
	{ .name = "volumeName", .type = SHAPE_STRING },
	{ .name = "volumeNamespace", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape storage_os_volume_source_shape = {
	.name = "StorageOSVolumeSource",
	.fields = storage_os_volume_source_fields,
};

static const struct shape_field storage_os_persistent_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &object_reference_shape },
	{ .name = "volumeName", .type = SHAPE_STRING },
	{ .name = "volumeNamespace", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape storage_os_persistent_volume_source_shape = {
	.name = "StorageOSPersistentVolumeSource",
	.fields = storage_os_persistent_volume_source_fields,
};

static const struct shape_field vsphere_virtual_disk_volume_source_fields[] = {
	{ .name = "fsType", .type = SHAPE_STRING },
	{ .name = "storagePolicyID", .type = SHAPE_STRING },
	{ .name = "storagePolicyName", .type = SHAPE_STRING },
	{ .name = "volumePath", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape vsphere_virtual_disk_volume_source_shape = {
	.name = "VsphereVirtualDiskVolumeSource",
	.fields = vsphere_virtual_disk_volume_source_fields,
};
