/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_foreign_source - sources of volumes that other systems mount: kept, never acted upon
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

const struct shape aws_elastic_block_store_volume_source_shape = {
	.name = "AWSElasticBlockStoreVolumeSource",
	.fields = {
		STRING("fsType"),
		INTEGER("partition"),
		BOOL("readOnly"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct shape azure_disk_volume_source_shape = {
	.name = "AzureDiskVolumeSource",
	.fields = {
		STRING("cachingMode"),
		STRING("diskName", REQUIRED),
		STRING("diskURI", REQUIRED),
		STRING("fsType"),
		STRING("kind"),
		BOOL("readOnly"),
		{ 0 },
	},
};

const struct shape azure_file_volume_source_shape = {
	.name = "AzureFileVolumeSource",
	.fields = {
		BOOL("readOnly"),
		STRING("secretName", REQUIRED),
		STRING("shareName", REQUIRED),
		{ 0 },
	},
};

const struct shape azure_file_persistent_volume_source_shape = {
	.name = "AzureFilePersistentVolumeSource",
	.fields = {
		BOOL("readOnly"),
		STRING("secretName", REQUIRED),
		STRING("secretNamespace"),
		STRING("shareName", REQUIRED),
		{ 0 },
	},
};

const struct shape ceph_fs_volume_source_shape = {
	.name = "CephFSVolumeSource",
	.fields = {
		STRINGS("monitors", REQUIRED),
		STRING("path"),
		BOOL("readOnly"),
		STRING("secretFile"),
		OBJECT(local_object_reference_shape, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct shape ceph_fs_persistent_volume_source_shape = {
	.name = "CephFSPersistentVolumeSource",
	.fields = {
		STRINGS("monitors", REQUIRED),
		STRING("path"),
		BOOL("readOnly"),
		STRING("secretFile"),
		OBJECT(secret_reference_shape, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct shape cinder_volume_source_shape = {
	.name = "CinderVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_shape, "secretRef"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct shape cinder_persistent_volume_source_shape = {
	.name = "CinderPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(secret_reference_shape, "secretRef"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct shape fc_volume_source_shape = {
	.name = "FCVolumeSource",
	.fields = {
		STRING("fsType"),
		INTEGER("lun"),
		BOOL("readOnly"),
		STRINGS("targetWWNs"),
		STRINGS("wwids"),
		{ 0 },
	},
};

const struct shape flex_volume_source_shape = {
	.name = "FlexVolumeSource",
	.fields = {
		STRING("driver", REQUIRED),
		STRING("fsType"),
		STRING_MAP("options"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_shape, "secretRef"),
		{ 0 },
	},
};

const struct shape flex_persistent_volume_source_shape = {
	.name = "FlexPersistentVolumeSource",
	.fields = {
		STRING("driver", REQUIRED),
		STRING("fsType"),
		STRING_MAP("options"),
		BOOL("readOnly"),
		OBJECT(secret_reference_shape, "secretRef"),
		{ 0 },
	},
};

const struct shape flocker_volume_source_shape = {
	.name = "FlockerVolumeSource",
	.fields = {
		STRING("datasetName"),
		STRING("datasetUUID"),
		{ 0 },
	},
};

const struct shape gce_persistent_disk_volume_source_shape = {
	.name = "GCEPersistentDiskVolumeSource",
	.fields = {
		STRING("fsType"),
		INTEGER("partition"),
		STRING("pdName", REQUIRED),
		BOOL("readOnly"),
		{ 0 },
	},
};

const struct shape git_repo_volume_source_shape = {
	.name = "GitRepoVolumeSource",
	.fields = {
		STRING("directory"),
		STRING("repository", REQUIRED),
		STRING("revision"),
		{ 0 },
	},
};

const struct shape glusterfs_volume_source_shape = {
	.name = "GlusterfsVolumeSource",
	.fields = {
		STRING("endpoints", REQUIRED),
		STRING("path", REQUIRED),
		BOOL("readOnly"),
		{ 0 },
	},
};

const struct shape glusterfs_persistent_volume_source_shape = {
	.name = "GlusterfsPersistentVolumeSource",
	.fields = {
		STRING("endpoints", REQUIRED),
		STRING("endpointsNamespace"),
		STRING("path", REQUIRED),
		BOOL("readOnly"),
		{ 0 },
	},
};

const struct shape image_volume_source_shape = {
	.name = "ImageVolumeSource",
	.fields = {
		STRING("pullPolicy"),
		STRING("reference"),
		{ 0 },
	},
};

const struct shape iscsi_volume_source_shape = {
	.name = "ISCSIVolumeSource",
	.fields = {
		BOOL("chapAuthDiscovery"),
		BOOL("chapAuthSession"),
		STRING("fsType"),
		STRING("initiatorName"),
		STRING("iqn", REQUIRED),
		STRING("iscsiInterface"),
		INTEGER("lun", REQUIRED),
		STRINGS("portals"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_shape, "secretRef"),
		STRING("targetPortal", REQUIRED),
		{ 0 },
	},
};

const struct shape iscsi_persistent_volume_source_shape = {
	.name = "ISCSIPersistentVolumeSource",
	.fields = {
		BOOL("chapAuthDiscovery"),
		BOOL("chapAuthSession"),
		STRING("fsType"),
		STRING("initiatorName"),
		STRING("iqn", REQUIRED),
		STRING("iscsiInterface"),
		INTEGER("lun", REQUIRED),
		STRINGS("portals"),
		BOOL("readOnly"),
		OBJECT(secret_reference_shape, "secretRef"),
		STRING("targetPortal", REQUIRED),
		{ 0 },
	},
};

const struct shape photon_persistent_disk_volume_source_shape = {
	.name = "PhotonPersistentDiskVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("pdID", REQUIRED),
		{ 0 },
	},
};

const struct shape portworx_volume_source_shape = {
	.name = "PortworxVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct shape quobyte_volume_source_shape = {
	.name = "QuobyteVolumeSource",
	.fields = {
		STRING("group"),
		BOOL("readOnly"),
		STRING("registry", REQUIRED),
		STRING("tenant"),
		STRING("user"),
		STRING("volume", REQUIRED),
		{ 0 },
	},
};

const struct shape rbd_volume_source_shape = {
	.name = "RBDVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("image", REQUIRED),
		STRING("keyring"),
		STRINGS("monitors", REQUIRED),
		STRING("pool"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_shape, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct shape rbd_persistent_volume_source_shape = {
	.name = "RBDPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("image", REQUIRED),
		STRING("keyring"),
		STRINGS("monitors", REQUIRED),
		STRING("pool"),
		BOOL("readOnly"),
		OBJECT(secret_reference_shape, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct shape scale_io_volume_source_shape = {
	.name = "ScaleIOVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("gateway", REQUIRED),
		STRING("protectionDomain"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_shape, "secretRef", REQUIRED),
		BOOL("sslEnabled"),
		STRING("storageMode"),
		STRING("storagePool"),
		STRING("system", REQUIRED),
		STRING("volumeName"),
		{ 0 },
	},
};

const struct shape scale_io_persistent_volume_source_shape = {
	.name = "ScaleIOPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("gateway", REQUIRED),
		STRING("protectionDomain"),
		BOOL("readOnly"),
		OBJECT(secret_reference_shape, "secretRef", REQUIRED),
		BOOL("sslEnabled"),
		STRING("storageMode"),
		STRING("storagePool"),
		STRING("system", REQUIRED),
		STRING("volumeName"),
		{ 0 },
	},
};

const struct shape storage_os_volume_source_shape = {
	.name = "StorageOSVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_shape, "secretRef"),
		STRING("volumeName"),
		STRING("volumeNamespace"),
		{ 0 },
	},
};

const struct shape storage_os_persistent_volume_source_shape = {
	.name = "StorageOSPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(object_reference_shape, "secretRef"),
		STRING("volumeName"),
		STRING("volumeNamespace"),
		{ 0 },
	},
};

const struct shape vsphere_virtual_disk_volume_source_shape = {
	.name = "VsphereVirtualDiskVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("storagePolicyID"),
		STRING("storagePolicyName"),
		STRING("volumePath", REQUIRED),
		{ 0 },
	},
};
