/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_foreign_source - sources of volumes that other systems mount: kept, never acted upon
 *
 * The fields are those of Kubernetes 1.32. A source of pods and that of PersistentVolumes often
 * differ in where the Secret is: then one macro makes both.
 */
#include "object/schema/schemas.h"

/* clang-format off */
const struct schema aws_elastic_block_store_volume_source_schema = SCHEMA("AWSElasticBlockStoreVolumeSource", NULL,
	STRING("fsType"),
	INTEGER("partition"),
	BOOL("readOnly"),
	STRING("volumeID", REQUIRED),
);

const struct schema azure_disk_volume_source_schema = SCHEMA("AzureDiskVolumeSource", NULL,
	STRING("cachingMode"),
	STRING("diskName", REQUIRED),
	STRING("diskURI", REQUIRED),
	STRING("fsType"),
	STRING("kind"),
	BOOL("readOnly"),
);

const struct schema azure_file_volume_source_schema = SCHEMA("AzureFileVolumeSource", NULL,
	BOOL("readOnly"),
	STRING("secretName", REQUIRED),
	STRING("shareName", REQUIRED),
);

const struct schema azure_file_persistent_volume_source_schema = SCHEMA("AzureFilePersistentVolumeSource", NULL,
	BOOL("readOnly"),
	STRING("secretName", REQUIRED),
	STRING("secretNamespace"),
	STRING("shareName", REQUIRED),
);

#define CEPH_FS(NAME, SECRET) SCHEMA(NAME, NULL, \
	STRINGS("monitors", REQUIRED), \
	STRING("path"), \
	BOOL("readOnly"), \
	STRING("secretFile"), \
	OBJECT(SECRET, "secretRef"), \
	STRING("user"),)
const struct schema ceph_fs_volume_source_schema = CEPH_FS("CephFSVolumeSource", local_object_reference_schema);
const struct schema ceph_fs_persistent_volume_source_schema =
	CEPH_FS("CephFSPersistentVolumeSource", secret_reference_schema);

#define CINDER(NAME, SECRET) SCHEMA(NAME, NULL, \
	STRING("fsType"), \
	BOOL("readOnly"), \
	OBJECT(SECRET, "secretRef"), \
	STRING("volumeID", REQUIRED),)
const struct schema cinder_volume_source_schema = CINDER("CinderVolumeSource", local_object_reference_schema);
const struct schema cinder_persistent_volume_source_schema =
	CINDER("CinderPersistentVolumeSource", secret_reference_schema);

const struct schema fc_volume_source_schema = SCHEMA("FCVolumeSource", NULL,
	STRING("fsType"),
	INTEGER("lun"),
	BOOL("readOnly"),
	STRINGS("targetWWNs"),
	STRINGS("wwids"),
);

const struct schema flex_volume_source_schema = SCHEMA("FlexVolumeSource",
	"A volume of an executable plugin.",
	STRING("driver", REQUIRED, "podvol.io/NAME: the program of that name."),
	STRING("fsType", 0, "The file system type, where the plugin formats."),
	STRING_MAP("options", 0, "Options for the plugin."),
	BOOL("readOnly", 0, "It is mounted read-only."),
	OBJECT(local_object_reference_schema, "secretRef", 0, "A Secret for the plugin."),
);

const struct schema flex_persistent_volume_source_schema = SCHEMA("FlexPersistentVolumeSource",
	"A volume of an executable plugin.",
	STRING("driver", REQUIRED, "podvol.io/NAME: the program of that name."),
	STRING("fsType", 0, "The file system type, where the plugin formats."),
	STRING_MAP("options", 0, "Options for the plugin."),
	BOOL("readOnly", 0, "In effect in pods; of a persistent volume the claim's counts."),
	OBJECT(secret_reference_schema, "secretRef", 0, "A Secret for the plugin."),
);

const struct schema flocker_volume_source_schema = SCHEMA("FlockerVolumeSource", NULL,
	STRING("datasetName"),
	STRING("datasetUUID"),
);

const struct schema gce_persistent_disk_volume_source_schema = SCHEMA("GCEPersistentDiskVolumeSource", NULL,
	STRING("fsType"),
	INTEGER("partition"),
	STRING("pdName", REQUIRED),
	BOOL("readOnly"),
);

const struct schema git_repo_volume_source_schema = SCHEMA("GitRepoVolumeSource", NULL,
	STRING("directory"),
	STRING("repository", REQUIRED),
	STRING("revision"),
);

const struct schema glusterfs_volume_source_schema = SCHEMA("GlusterfsVolumeSource", NULL,
	STRING("endpoints", REQUIRED),
	STRING("path", REQUIRED),
	BOOL("readOnly"),
);

const struct schema glusterfs_persistent_volume_source_schema = SCHEMA("GlusterfsPersistentVolumeSource", NULL,
	STRING("endpoints", REQUIRED),
	STRING("endpointsNamespace"),
	STRING("path", REQUIRED),
	BOOL("readOnly"),
);

const struct schema image_volume_source_schema = SCHEMA("ImageVolumeSource", NULL,
	STRING("pullPolicy"),
	STRING("reference"),
);

#define ISCSI(NAME, SECRET) SCHEMA(NAME, NULL, \
	BOOL("chapAuthDiscovery"), \
	BOOL("chapAuthSession"), \
	STRING("fsType"), \
	STRING("initiatorName"), \
	STRING("iqn", REQUIRED), \
	STRING("iscsiInterface"), \
	INTEGER("lun", REQUIRED), \
	STRINGS("portals"), \
	BOOL("readOnly"), \
	OBJECT(SECRET, "secretRef"), \
	STRING("targetPortal", REQUIRED),)
const struct schema iscsi_volume_source_schema = ISCSI("ISCSIVolumeSource", local_object_reference_schema);
const struct schema iscsi_persistent_volume_source_schema =
	ISCSI("ISCSIPersistentVolumeSource", secret_reference_schema);

const struct schema photon_persistent_disk_volume_source_schema = SCHEMA("PhotonPersistentDiskVolumeSource", NULL,
	STRING("fsType"),
	STRING("pdID", REQUIRED),
);

const struct schema portworx_volume_source_schema = SCHEMA("PortworxVolumeSource", NULL,
	STRING("fsType"),
	BOOL("readOnly"),
	STRING("volumeID", REQUIRED),
);

const struct schema quobyte_volume_source_schema = SCHEMA("QuobyteVolumeSource", NULL,
	STRING("group"),
	BOOL("readOnly"),
	STRING("registry", REQUIRED),
	STRING("tenant"),
	STRING("user"),
	STRING("volume", REQUIRED),
);

#define RBD(NAME, SECRET) SCHEMA(NAME, NULL, \
	STRING("fsType"), \
	STRING("image", REQUIRED), \
	STRING("keyring"), \
	STRINGS("monitors", REQUIRED), \
	STRING("pool"), \
	BOOL("readOnly"), \
	OBJECT(SECRET, "secretRef"), \
	STRING("user"),)
const struct schema rbd_volume_source_schema = RBD("RBDVolumeSource", local_object_reference_schema);
const struct schema rbd_persistent_volume_source_schema =
	RBD("RBDPersistentVolumeSource", secret_reference_schema);

#define SCALE_IO(NAME, SECRET) SCHEMA(NAME, NULL, \
	STRING("fsType"), \
	STRING("gateway", REQUIRED), \
	STRING("protectionDomain"), \
	BOOL("readOnly"), \
	OBJECT(SECRET, "secretRef", REQUIRED), \
	BOOL("sslEnabled"), \
	STRING("storageMode"), \
	STRING("storagePool"), \
	STRING("system", REQUIRED), \
	STRING("volumeName"),)
const struct schema scale_io_volume_source_schema = SCALE_IO("ScaleIOVolumeSource", local_object_reference_schema);
const struct schema scale_io_persistent_volume_source_schema =
	SCALE_IO("ScaleIOPersistentVolumeSource", secret_reference_schema);

#define STORAGE_OS(NAME, SECRET) SCHEMA(NAME, NULL, \
	STRING("fsType"), \
	BOOL("readOnly"), \
	OBJECT(SECRET, "secretRef"), \
	STRING("volumeName"), \
	STRING("volumeNamespace"),)
const struct schema storage_os_volume_source_schema = STORAGE_OS("StorageOSVolumeSource", local_object_reference_schema);
const struct schema storage_os_persistent_volume_source_schema =
	STORAGE_OS("StorageOSPersistentVolumeSource", object_reference_schema);

const struct schema vsphere_virtual_disk_volume_source_schema = SCHEMA("VsphereVirtualDiskVolumeSource", NULL,
	STRING("fsType"),
	STRING("storagePolicyID"),
	STRING("storagePolicyName"),
	STRING("volumePath", REQUIRED),
);
