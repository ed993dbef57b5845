/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_foreign_source - sources of volumes that other systems mount: kept, never acted upon
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

const struct schema aws_elastic_block_store_volume_source_schema = {
	.name = "AWSElasticBlockStoreVolumeSource",
	.fields = {
		STRING("fsType"),
		INTEGER("partition"),
		BOOL("readOnly"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct schema azure_disk_volume_source_schema = {
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

const struct schema azure_file_volume_source_schema = {
	.name = "AzureFileVolumeSource",
	.fields = {
		BOOL("readOnly"),
		STRING("secretName", REQUIRED),
		STRING("shareName", REQUIRED),
		{ 0 },
	},
};

const struct schema azure_file_persistent_volume_source_schema = {
	.name = "AzureFilePersistentVolumeSource",
	.fields = {
		BOOL("readOnly"),
		STRING("secretName", REQUIRED),
		STRING("secretNamespace"),
		STRING("shareName", REQUIRED),
		{ 0 },
	},
};

const struct schema ceph_fs_volume_source_schema = {
	.name = "CephFSVolumeSource",
	.fields = {
		STRINGS("monitors", REQUIRED),
		STRING("path"),
		BOOL("readOnly"),
		STRING("secretFile"),
		OBJECT(local_object_reference_schema, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct schema ceph_fs_persistent_volume_source_schema = {
	.name = "CephFSPersistentVolumeSource",
	.fields = {
		STRINGS("monitors", REQUIRED),
		STRING("path"),
		BOOL("readOnly"),
		STRING("secretFile"),
		OBJECT(secret_reference_schema, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct schema cinder_volume_source_schema = {
	.name = "CinderVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_schema, "secretRef"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct schema cinder_persistent_volume_source_schema = {
	.name = "CinderPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(secret_reference_schema, "secretRef"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct schema fc_volume_source_schema = {
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

const struct schema flex_volume_source_schema = {
	.name = "FlexVolumeSource",
	.description = "A volume of an executable plugin.",
	.fields = {
		STRING("driver", REQUIRED, "podvol.io/NAME: the program of that name."),
		STRING("fsType", 0, "The file system, where the plugin makes one."),
		STRING_MAP("options", 0, "Words for the plugin."),
		BOOL("readOnly", 0, "It is mounted read-only."),
		OBJECT(local_object_reference_schema, "secretRef", 0, "A Secret for the plugin."),
		{ 0 },
	},
};

const struct schema flex_persistent_volume_source_schema = {
	.name = "FlexPersistentVolumeSource",
	.description = "A volume of an executable plugin.",
	.fields = {
		STRING("driver", REQUIRED, "podvol.io/NAME: the program of that name."),
		STRING("fsType", 0, "The file system, where the plugin makes one."),
		STRING_MAP("options", 0, "Words for the plugin."),
		BOOL("readOnly", 0, "In effect in pods; of a persistent volume the claim's counts."),
		OBJECT(secret_reference_schema, "secretRef", 0, "A Secret for the plugin."),
		{ 0 },
	},
};

const struct schema flocker_volume_source_schema = {
	.name = "FlockerVolumeSource",
	.fields = {
		STRING("datasetName"),
		STRING("datasetUUID"),
		{ 0 },
	},
};

const struct schema gce_persistent_disk_volume_source_schema = {
	.name = "GCEPersistentDiskVolumeSource",
	.fields = {
		STRING("fsType"),
		INTEGER("partition"),
		STRING("pdName", REQUIRED),
		BOOL("readOnly"),
		{ 0 },
	},
};

const struct schema git_repo_volume_source_schema = {
	.name = "GitRepoVolumeSource",
	.fields = {
		STRING("directory"),
		STRING("repository", REQUIRED),
		STRING("revision"),
		{ 0 },
	},
};

const struct schema glusterfs_volume_source_schema = {
	.name = "GlusterfsVolumeSource",
	.fields = {
		STRING("endpoints", REQUIRED),
		STRING("path", REQUIRED),
		BOOL("readOnly"),
		{ 0 },
	},
};

const struct schema glusterfs_persistent_volume_source_schema = {
	.name = "GlusterfsPersistentVolumeSource",
	.fields = {
		STRING("endpoints", REQUIRED),
		STRING("endpointsNamespace"),
		STRING("path", REQUIRED),
		BOOL("readOnly"),
		{ 0 },
	},
};

const struct schema image_volume_source_schema = {
	.name = "ImageVolumeSource",
	.fields = {
		STRING("pullPolicy"),
		STRING("reference"),
		{ 0 },
	},
};

const struct schema iscsi_volume_source_schema = {
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
		OBJECT(local_object_reference_schema, "secretRef"),
		STRING("targetPortal", REQUIRED),
		{ 0 },
	},
};

const struct schema iscsi_persistent_volume_source_schema = {
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
		OBJECT(secret_reference_schema, "secretRef"),
		STRING("targetPortal", REQUIRED),
		{ 0 },
	},
};

const struct schema photon_persistent_disk_volume_source_schema = {
	.name = "PhotonPersistentDiskVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("pdID", REQUIRED),
		{ 0 },
	},
};

const struct schema portworx_volume_source_schema = {
	.name = "PortworxVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		STRING("volumeID", REQUIRED),
		{ 0 },
	},
};

const struct schema quobyte_volume_source_schema = {
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

const struct schema rbd_volume_source_schema = {
	.name = "RBDVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("image", REQUIRED),
		STRING("keyring"),
		STRINGS("monitors", REQUIRED),
		STRING("pool"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_schema, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct schema rbd_persistent_volume_source_schema = {
	.name = "RBDPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("image", REQUIRED),
		STRING("keyring"),
		STRINGS("monitors", REQUIRED),
		STRING("pool"),
		BOOL("readOnly"),
		OBJECT(secret_reference_schema, "secretRef"),
		STRING("user"),
		{ 0 },
	},
};

const struct schema scale_io_volume_source_schema = {
	.name = "ScaleIOVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("gateway", REQUIRED),
		STRING("protectionDomain"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_schema, "secretRef", REQUIRED),
		BOOL("sslEnabled"),
		STRING("storageMode"),
		STRING("storagePool"),
		STRING("system", REQUIRED),
		STRING("volumeName"),
		{ 0 },
	},
};

const struct schema scale_io_persistent_volume_source_schema = {
	.name = "ScaleIOPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("gateway", REQUIRED),
		STRING("protectionDomain"),
		BOOL("readOnly"),
		OBJECT(secret_reference_schema, "secretRef", REQUIRED),
		BOOL("sslEnabled"),
		STRING("storageMode"),
		STRING("storagePool"),
		STRING("system", REQUIRED),
		STRING("volumeName"),
		{ 0 },
	},
};

const struct schema storage_os_volume_source_schema = {
	.name = "StorageOSVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(local_object_reference_schema, "secretRef"),
		STRING("volumeName"),
		STRING("volumeNamespace"),
		{ 0 },
	},
};

const struct schema storage_os_persistent_volume_source_schema = {
	.name = "StorageOSPersistentVolumeSource",
	.fields = {
		STRING("fsType"),
		BOOL("readOnly"),
		OBJECT(object_reference_schema, "secretRef"),
		STRING("volumeName"),
		STRING("volumeNamespace"),
		{ 0 },
	},
};

const struct schema vsphere_virtual_disk_volume_source_schema = {
	.name = "VsphereVirtualDiskVolumeSource",
	.fields = {
		STRING("fsType"),
		STRING("storagePolicyID"),
		STRING("storagePolicyName"),
		STRING("volumePath", REQUIRED),
		{ 0 },
	},
};
