/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_volume - volumes of pods and those of their sources that have a plugin here, or will
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema key_to_path_schema = SCHEMA("KeyToPath",
	"One entry and the file that it becomes.",
	STRING("key", REQUIRED, "The entry."),
	INTEGER("mode", 0, "Its mode, in place of defaultMode."),
	STRING("path", REQUIRED, "The file, relative, without '..'."),
);

static const struct schema downward_api_volume_file_schema = SCHEMA("DownwardAPIVolumeFile",
	"One fact about the pod and the file that it becomes.",
	OBJECT(object_field_selector_schema, "fieldRef", 0, "A field of the pod."),
	INTEGER("mode", 0, "Its mode, in place of defaultMode."),
	STRING("path", REQUIRED, "The file, relative, without '..'."),
	OBJECT(resource_field_selector_schema, "resourceFieldRef", 0, "A limit or request of a container."),
);

static const struct schema config_map_volume_source_schema = SCHEMA("ConfigMapVolumeSource",
	"The entries of a ConfigMap as files.",
	INTEGER("defaultMode", 0, "Mode of the files; 0644."),
	OBJECTS(key_to_path_schema, "items", 0, "Only these entries; without it all."),
	STRING("name", 0, "The ConfigMap."),
	BOOL("optional", 0, "It need not exist."),
);

static const struct schema secret_volume_source_schema = SCHEMA("SecretVolumeSource",
	"The entries of a Secret as files, in memory.",
	INTEGER("defaultMode", 0, "Mode of the files; 0644."),
	OBJECTS(key_to_path_schema, "items", 0, "Only these entries; without it all."),
	BOOL("optional", 0, "It need not exist."),
	STRING("secretName", 0, "The Secret."),
);

static const struct schema downward_api_volume_source_schema = SCHEMA("DownwardAPIVolumeSource",
	"Facts about the pod itself as files.",
	INTEGER("defaultMode", 0, "Mode of the files; 0644."),
	OBJECTS(downward_api_volume_file_schema, "items", 0, "The files."),
);

static const struct schema config_map_projection_schema = SCHEMA("ConfigMapProjection", NULL,
	OBJECTS(key_to_path_schema, "items", 0, "Only these entries; without it all."),
	STRING("name", 0, "The ConfigMap."),
	BOOL("optional", 0, "It need not exist."),
);

static const struct schema secret_projection_schema = SCHEMA("SecretProjection", NULL,
	OBJECTS(key_to_path_schema, "items", 0, "Only these entries; without it all."),
	STRING("name", 0, "The Secret."),
	BOOL("optional", 0, "It need not exist."),
);

static const struct schema downward_api_projection_schema = SCHEMA("DownwardAPIProjection", NULL,
	OBJECTS(downward_api_volume_file_schema, "items", 0, "The files."),
);

static const struct schema service_account_token_projection_schema = SCHEMA("ServiceAccountTokenProjection",
	"A token of the pod's service account, renewed in time.",
	STRING("audience", 0, "Audience of the token; absent: the API server."),
	INTEGER("expirationSeconds", 0, "How long it is valid: 600 or more; 3600."),
	STRING("path", REQUIRED, "The file, relative, without '..'."),
);

static const struct schema cluster_trust_bundle_projection_schema = SCHEMA("ClusterTrustBundleProjection",
	"Certificates of a ClusterTrustBundle as one file.",
	OBJECT(label_selector_schema, "labelSelector", 0, "With signerName: only bundles with these labels."),
	STRING("name", 0, "One bundle, by name."),
	BOOL("optional", 0, "It need not exist."),
	STRING("path", REQUIRED, "The file, relative, without '..'."),
	STRING("signerName", 0, "All bundles of this signer."),
);

static const struct schema volume_projection_schema = SCHEMA("VolumeProjection",
	"One source of files in a projected volume.",
	OBJECT(cluster_trust_bundle_projection_schema, "clusterTrustBundle", 0, "Certificates to be trusted."),
	OBJECT(config_map_projection_schema, "configMap", 0, "Entries of a ConfigMap."),
	OBJECT(downward_api_projection_schema, "downwardAPI", 0, "Facts about the pod itself."),
	OBJECT(secret_projection_schema, "secret", 0, "Entries of a Secret."),
	OBJECT(service_account_token_projection_schema, "serviceAccountToken", 0, "A token of the pod's service account."),
);

static const struct schema projected_volume_source_schema = SCHEMA("ProjectedVolumeSource",
	"Several sources of files in one directory.",
	INTEGER("defaultMode", 0, "Mode of the files; 0644."),
	OBJECTS(volume_projection_schema, "sources", 0, "The sources."),
);

static const struct schema csi_volume_source_schema = SCHEMA("CSIVolumeSource",
	"A volume that a CSI driver creates for this pod alone.",
	STRING("driver", REQUIRED, "The driver."),
	STRING("fsType", 0, "The file system type, where the driver formats."),
	OBJECT(local_object_reference_schema, "nodePublishSecretRef", 0, "A Secret for the driver."),
	BOOL("readOnly", 0, "It cannot be written to."),
	STRING_MAP("volumeAttributes", 0, "Attributes for the driver."),
);

static const struct schema empty_dir_volume_source_schema = SCHEMA("EmptyDirVolumeSource",
	"An empty directory that lives as long as the pod.",
	STRING("medium", 0, "\"\": the node's disk; Memory: a tmpfs; HugePages or HugePages-2Mi: huge pages."),
	QUANTITY("sizeLimit", 0, "At most so much; a limit of the tmpfs where it is one."),
);

const struct schema host_path_volume_source_schema = SCHEMA("HostPathVolumeSource",
	"A file or directory of the node itself.",
	STRING("path", REQUIRED, "The path on the node."),
	STRING("type", 0, "What must be there: DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice, BlockDevice; \"\" anything."),
);

const struct schema nfs_volume_source_schema = SCHEMA("NFSVolumeSource",
	"A directory of an NFS server.",
	STRING("path", REQUIRED, "The directory that it exports."),
	BOOL("readOnly", 0, "It is mounted read-only."),
	STRING("server", REQUIRED, "The server's name or address."),
);

static const struct schema persistent_volume_claim_volume_source_schema = SCHEMA("PersistentVolumeClaimVolumeSource",
	"The volume that is bound to a claim of the same namespace.",
	STRING("claimName", REQUIRED, "The claim."),
	BOOL("readOnly", 0, "No container can write to it."),
);

static const struct schema persistent_volume_claim_template_schema = SCHEMA("PersistentVolumeClaimTemplate",
	"The claim that is created for an ephemeral volume.",
	OBJECT(object_meta_schema, "metadata", 0, "Labels and annotations of the claim."),
	OBJECT(persistent_volume_claim_spec_schema, "spec", REQUIRED, "As of any claim."),
);

static const struct schema ephemeral_volume_source_schema = SCHEMA("EphemeralVolumeSource",
	"A claim that is created for this pod and deleted with it.",
	OBJECT(persistent_volume_claim_template_schema, "volumeClaimTemplate", 0, "The claim; its name is POD-VOLUME."),
);

const struct schema volume_schema = SCHEMA("Volume",
	"A volume that the containers of a pod can mount; it has exactly one source.",
	OBJECT(aws_elastic_block_store_volume_source_schema, "awsElasticBlockStore"),
	OBJECT(azure_disk_volume_source_schema, "azureDisk"),
	OBJECT(azure_file_volume_source_schema, "azureFile"),
	OBJECT(ceph_fs_volume_source_schema, "cephfs"),
	OBJECT(cinder_volume_source_schema, "cinder"),
	OBJECT(config_map_volume_source_schema, "configMap", 0, "The entries of a ConfigMap as files."),
	OBJECT(csi_volume_source_schema, "csi", 0, "A volume that a CSI driver creates for this pod alone."),
	OBJECT(downward_api_volume_source_schema, "downwardAPI", 0, "Facts about the pod itself as files."),
	OBJECT(empty_dir_volume_source_schema, "emptyDir", 0, "An empty directory that lives as long as the pod; also the default."),
	OBJECT(ephemeral_volume_source_schema, "ephemeral", 0, "A claim that is created for this pod and deleted with it."),
	OBJECT(fc_volume_source_schema, "fc"),
	OBJECT(flex_volume_source_schema, "flexVolume", 0, "A volume of an executable plugin, driver podvol.io/NAME."),
	OBJECT(flocker_volume_source_schema, "flocker"),
	OBJECT(gce_persistent_disk_volume_source_schema, "gcePersistentDisk"),
	OBJECT(git_repo_volume_source_schema, "gitRepo"),
	OBJECT(glusterfs_volume_source_schema, "glusterfs"),
	OBJECT(host_path_volume_source_schema, "hostPath", 0, "A file or directory of the node itself."),
	OBJECT(image_volume_source_schema, "image", 0, "The files of an OCI image, which the runtime mounts."),
	OBJECT(iscsi_volume_source_schema, "iscsi"),
	STRING("name", REQUIRED, "Its name, by which containers mount it."),
	OBJECT(nfs_volume_source_schema, "nfs", 0, "A directory of an NFS server."),
	OBJECT(persistent_volume_claim_volume_source_schema, "persistentVolumeClaim", 0, "The volume that is bound to a claim."),
	OBJECT(photon_persistent_disk_volume_source_schema, "photonPersistentDisk"),
	OBJECT(portworx_volume_source_schema, "portworxVolume"),
	OBJECT(projected_volume_source_schema, "projected", 0, "Several sources of files in one directory."),
	OBJECT(quobyte_volume_source_schema, "quobyte"),
	OBJECT(rbd_volume_source_schema, "rbd"),
	OBJECT(scale_io_volume_source_schema, "scaleIO"),
	OBJECT(secret_volume_source_schema, "secret", 0, "The entries of a Secret as files, in memory."),
	OBJECT(storage_os_volume_source_schema, "storageos"),
	OBJECT(vsphere_virtual_disk_volume_source_schema, "vsphereVolume"),
);
