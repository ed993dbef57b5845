/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_volume - volumes of pods and those of their sources that have a plugin here, or will
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field key_to_path_fields[] = {
	{ .name = "key", .type = SHAPE_STRING, .description = "The entry.", .required = true },
	{ .name = "mode",
	  .type = SHAPE_INTEGER,
	  .description = "Its mode, in place of defaultMode." },
	{ .name = "path",
	  .type = SHAPE_STRING,
	  .description = "The file, relative, without '..'.",
	  .required = true },
	{ 0 },
};

static const struct shape key_to_path_shape = {
	.name = "KeyToPath",
	.description = "One entry and the file that it becomes.",
	.fields = key_to_path_fields,
};

static const struct shape_field downward_api_volume_file_fields[] = {
	{ .name = "fieldRef",
	  .type = SHAPE_OBJECT,
	  .of = &object_field_selector_shape,
	  .description = "A field of the pod." },
	{ .name = "mode",
	  .type = SHAPE_INTEGER,
	  .description = "Its mode, in place of defaultMode." },
	{ .name = "path",
	  .type = SHAPE_STRING,
	  .description = "The file, relative, without '..'.",
	  .required = true },
	{ .name = "resourceFieldRef",
	  .type = SHAPE_OBJECT,
	  .of = &resource_field_selector_shape,
	  .description = "A limit or request of a container." },
	{ 0 },
};

static const struct shape downward_api_volume_file_shape = {
	.name = "DownwardAPIVolumeFile",
	.description = "One fact about the pod and the file that it becomes.",
	.fields = downward_api_volume_file_fields,
};

static const struct shape_field config_map_volume_source_fields[] = {
	{ .name = "defaultMode", .type = SHAPE_INTEGER, .description = "Mode of the files; 0644." },
	{ .name = "items",
	  .type = SHAPE_OBJECTS,
	  .of = &key_to_path_shape,
	  .description = "Only these entries; without it all." },
	{ .name = "name", .type = SHAPE_STRING, .description = "The ConfigMap." },
	{ .name = "optional", .type = SHAPE_BOOL, .description = "It need not exist." },
	{ 0 },
};

static const struct shape config_map_volume_source_shape = {
	.name = "ConfigMapVolumeSource",
	.description = "The entries of a ConfigMap as files.",
	.fields = config_map_volume_source_fields,
};

static const struct shape_field secret_volume_source_fields[] = {
	{ .name = "defaultMode", .type = SHAPE_INTEGER, .description = "Mode of the files; 0644." },
	{ .name = "items",
	  .type = SHAPE_OBJECTS,
	  .of = &key_to_path_shape,
	  .description = "Only these entries; without it all." },
	{ .name = "optional", .type = SHAPE_BOOL, .description = "It need not exist." },
	{ .name = "secretName", .type = SHAPE_STRING, .description = "The Secret." },
	{ 0 },
};

static const struct shape secret_volume_source_shape = {
	.name = "SecretVolumeSource",
	.description = "The entries of a Secret as files, in memory.",
	.fields = secret_volume_source_fields,
};

static const struct shape_field downward_api_volume_source_fields[] = {
	{ .name = "defaultMode", .type = SHAPE_INTEGER, .description = "Mode of the files; 0644." },
	{ .name = "items",
	  .type = SHAPE_OBJECTS,
	  .of = &downward_api_volume_file_shape,
	  .description = "The files." },
	{ 0 },
};

static const struct shape downward_api_volume_source_shape = {
	.name = "DownwardAPIVolumeSource",
	.description = "Facts about the pod itself as files.",
	.fields = downward_api_volume_source_fields,
};

static const struct shape_field config_map_projection_fields[] = {
	{ .name = "items", .type = SHAPE_OBJECTS, .of = &key_to_path_shape },
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "optional", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape config_map_projection_shape = {
	.name = "ConfigMapProjection",
	.fields = config_map_projection_fields,
};

static const struct shape_field secret_projection_fields[] = {
	{ .name = "items", .type = SHAPE_OBJECTS, .of = &key_to_path_shape },
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "optional", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape secret_projection_shape = {
	.name = "SecretProjection",
	.fields = secret_projection_fields,
};

static const struct shape_field downward_api_projection_fields[] = {
	{ .name = "items", .type = SHAPE_OBJECTS, .of = &downward_api_volume_file_shape },
	{ 0 },
};

static const struct shape downward_api_projection_shape = {
	.name = "DownwardAPIProjection",
	.fields = downward_api_projection_fields,
};

static const struct shape_field service_account_token_projection_fields[] = {
	{ .name = "audience", .type = SHAPE_STRING },
	{ .name = "expirationSeconds", .type = SHAPE_INTEGER },
	{ .name = "path", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape service_account_token_projection_shape = {
	.name = "ServiceAccountTokenProjection",
	.description = "A token of the pod's service account, renewed in time.",
	.fields = service_account_token_projection_fields,
};

static const struct shape_field cluster_trust_bundle_projection_fields[] = {
	{ .name = "labelSelector", .type = SHAPE_OBJECT, .of = &label_selector_shape },
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "optional", .type = SHAPE_BOOL },
	{ .name = "path", .type = SHAPE_STRING, .required = true },
	{ .name = "signerName", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape cluster_trust_bundle_projection_shape = {
	.name = "ClusterTrustBundleProjection",
	.description = "Certificates of a ClusterTrustBundle as one file.",
	.fields = cluster_trust_bundle_projection_fields,
};

static const struct shape_field volume_projection_fields[] = {
	{ .name = "clusterTrustBundle",
	  .type = SHAPE_OBJECT,
	  .of = &cluster_trust_bundle_projection_shape,
	  .description = "Certificates to be trusted." },
	{ .name = "configMap",
	  .type = SHAPE_OBJECT,
	  .of = &config_map_projection_shape,
	  .description = "Entries of a ConfigMap." },
	{ .name = "downwardAPI",
	  .type = SHAPE_OBJECT,
	  .of = &downward_api_projection_shape,
	  .description = "Facts about the pod itself." },
	{ .name = "secret",
	  .type = SHAPE_OBJECT,
	  .of = &secret_projection_shape,
	  .description = "Entries of a Secret." },
	{ .name = "serviceAccountToken",
	  .type = SHAPE_OBJECT,
	  .of = &service_account_token_projection_shape,
	  .description = "A token of the pod's service account." },
	{ 0 },
};

static const struct shape volume_projection_shape = {
	.name = "VolumeProjection",
	.description = "One source of files in a projected volume.",
	.fields = volume_projection_fields,
};

static const struct shape_field projected_volume_source_fields[] = {
	{ .name = "defaultMode", .type = SHAPE_INTEGER, .description = "Mode of the files; 0644." },
	{ .name = "sources",
	  .type = SHAPE_OBJECTS,
	  .of = &volume_projection_shape,
	  .description = "The sources." },
	{ 0 },
};

static const struct shape projected_volume_source_shape = {
	.name = "ProjectedVolumeSource",
	.description = "Several sources of files in one directory.",
	.fields = projected_volume_source_fields,
};

static const struct shape_field csi_volume_source_fields[] = {
	{ .name = "driver", .type = SHAPE_STRING, .description = "The driver.", .required = true },
	{ .name = "fsType",
	  .type = SHAPE_STRING,
	  .description = "The file system, where the driver makes one." },
	{ .name = "nodePublishSecretRef",
	  .type = SHAPE_OBJECT,
	  .of = &local_object_reference_shape,
	  .description = "A Secret for the driver." },
	{ .name = "readOnly", .type = SHAPE_BOOL, .description = "It cannot be written to." },
	{ .name = "volumeAttributes",
	  .type = SHAPE_STRING_MAP,
	  .description = "Words for the driver." },
	{ 0 },
};

static const struct shape csi_volume_source_shape = {
	.name = "CSIVolumeSource",
	.description = "A volume that a CSI driver makes for this pod alone.",
	.fields = csi_volume_source_fields,
};

static const struct shape_field empty_dir_volume_source_fields[] = {
	{ .name = "medium",
	  .type = SHAPE_STRING,
	  .description = "\"\": the node's disk; Memory: a tmpfs; HugePages or HugePages-2Mi: huge "
			 "pages." },
	{ .name = "sizeLimit",
	  .type = SHAPE_QUANTITY,
	  .description = "At most so much; a limit of the tmpfs where it is one." },
	{ 0 },
};

static const struct shape empty_dir_volume_source_shape = {
	.name = "EmptyDirVolumeSource",
	.description = "An empty directory that lives as long as the pod.",
	.fields = empty_dir_volume_source_fields,
};

static const struct shape_field host_path_volume_source_fields[] = {
	{ .name = "path",
	  .type = SHAPE_STRING,
	  .description = "The path on the node.",
	  .required = true },
	{ .name = "type",
	  .type = SHAPE_STRING,
	  .description = "What must be there: DirectoryOrCreate, Directory, FileOrCreate, File, "
			 "Socket, CharDevice, BlockDevice; \"\" anything." },
	{ 0 },
};

const struct shape host_path_volume_source_shape = {
	.name = "HostPathVolumeSource",
	.description = "A file or directory of the node itself.",
	.fields = host_path_volume_source_fields,
};

static const struct shape_field nfs_volume_source_fields[] = {
	{ .name = "path",
	  .type = SHAPE_STRING,
	  .description = "The directory that it exports.",
	  .required = true },
	{ .name = "readOnly", .type = SHAPE_BOOL, .description = "It is mounted read-only." },
	{ .name = "server",
	  .type = SHAPE_STRING,
	  .description = "The server's name or address.",
	  .required = true },
	{ 0 },
};

const struct shape nfs_volume_source_shape = {
	.name = "NFSVolumeSource",
	.description = "A directory of an NFS server.",
	.fields = nfs_volume_source_fields,
};

static const struct shape_field persistent_volume_claim_volume_source_fields[] = {
	{ .name = "claimName",
	  .type = SHAPE_STRING,
	  .description = "The claim.",
	  .required = true },
	{ .name = "readOnly", .type = SHAPE_BOOL, .description = "No container can write to it." },
	{ 0 },
};

static const struct shape persistent_volume_claim_volume_source_shape = {
	.name = "PersistentVolumeClaimVolumeSource",
	.description = "The volume that is bound to a claim of the same namespace.",
	.fields = persistent_volume_claim_volume_source_fields,
};

static const struct shape_field persistent_volume_claim_template_fields[] = {
	{ .name = "metadata",
	  .type = SHAPE_OBJECT,
	  .of = &object_meta_shape,
	  .description = "Labels and annotations of the claim." },
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_claim_spec_shape,
	  .description = "As of any claim.",
	  .required = true },
	{ 0 },
};

static const struct shape persistent_volume_claim_template_shape = {
	.name = "PersistentVolumeClaimTemplate",
	.description = "The claim that is made for an ephemeral volume.",
	.fields = persistent_volume_claim_template_fields,
};

static const struct shape_field ephemeral_volume_source_fields[] = {
	{ .name = "volumeClaimTemplate",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_claim_template_shape,
	  .description = "The claim; its name is POD-VOLUME." },
	{ 0 },
};

static const struct shape ephemeral_volume_source_shape = {
	.name = "EphemeralVolumeSource",
	.description = "A claim that is made for this pod and goes with it.",
	.fields = ephemeral_volume_source_fields,
};

static const struct shape_field volume_fields[] = {
	{ .name = "awsElasticBlockStore",
	  .type = SHAPE_OBJECT,
	  .of = &aws_elastic_block_store_volume_source_shape },
	{ .name = "azureDisk", .type = SHAPE_OBJECT, .of = &azure_disk_volume_source_shape },
	{ .name = "azureFile", .type = SHAPE_OBJECT, .of = &azure_file_volume_source_shape },
	{ .name = "cephfs", .type = SHAPE_OBJECT, .of = &ceph_fs_volume_source_shape },
	{ .name = "cinder", .type = SHAPE_OBJECT, .of = &cinder_volume_source_shape },
	{ .name = "configMap",
	  .type = SHAPE_OBJECT,
	  .of = &config_map_volume_source_shape,
	  .description = "The entries of a ConfigMap as files." },
	{ .name = "csi",
	  .type = SHAPE_OBJECT,
	  .of = &csi_volume_source_shape,
	  .description = "A volume that a CSI driver makes for this pod alone." },
	{ .name = "downwardAPI",
	  .type = SHAPE_OBJECT,
	  .of = &downward_api_volume_source_shape,
	  .description = "Facts about the pod itself as files." },
	{ .name = "emptyDir",
	  .type = SHAPE_OBJECT,
	  .of = &empty_dir_volume_source_shape,
	  .description = "An empty directory that lives as long as the pod; also the default." },
	{ .name = "ephemeral",
	  .type = SHAPE_OBJECT,
	  .of = &ephemeral_volume_source_shape,
	  .description = "A claim that is made for this pod and goes with it." },
	{ .name = "fc", .type = SHAPE_OBJECT, .of = &fc_volume_source_shape },
	{ .name = "flexVolume", .type = SHAPE_OBJECT, .of = &flex_volume_source_shape },
	{ .name = "flocker", .type = SHAPE_OBJECT, .of = &flocker_volume_source_shape },
	{ .name = "gcePersistentDisk",
	  .type = SHAPE_OBJECT,
	  .of = &gce_persistent_disk_volume_source_shape },
	{ .name = "gitRepo", .type = SHAPE_OBJECT, .of = &git_repo_volume_source_shape },
	{ .name = "glusterfs", .type = SHAPE_OBJECT, .of = &glusterfs_volume_source_shape },
	{ .name = "hostPath",
	  .type = SHAPE_OBJECT,
	  .of = &host_path_volume_source_shape,
	  .description = "A file or directory of the node itself." },
	{ .name = "image",
	  .type = SHAPE_OBJECT,
	  .of = &image_volume_source_shape,
	  .description = "The files of an OCI image, which the runtime mounts." },
	{ .name = "iscsi", .type = SHAPE_OBJECT, .of = &iscsi_volume_source_shape },
	{ .name = "name",
	  .type = SHAPE_STRING,
	  .description = "Its name, by which containers mount it.",
	  .required = true },
	{ .name = "nfs",
	  .type = SHAPE_OBJECT,
	  .of = &nfs_volume_source_shape,
	  .description = "A directory of an NFS server." },
	{ .name = "persistentVolumeClaim",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_claim_volume_source_shape,
	  .description = "The volume that is bound to a claim." },
	{ .name = "photonPersistentDisk",
	  .type = SHAPE_OBJECT,
	  .of = &photon_persistent_disk_volume_source_shape },
	{ .name = "portworxVolume", .type = SHAPE_OBJECT, .of = &portworx_volume_source_shape },
	{ .name = "projected",
	  .type = SHAPE_OBJECT,
	  .of = &projected_volume_source_shape,
	  .description = "Several sources of files in one directory." },
	{ .name = "quobyte", .type = SHAPE_OBJECT, .of = &quobyte_volume_source_shape },
	{ .name = "rbd", .type = SHAPE_OBJECT, .of = &rbd_volume_source_shape },
	{ .name = "scaleIO", .type = SHAPE_OBJECT, .of = &scale_io_volume_source_shape },
	{ .name = "secret",
	  .type = SHAPE_OBJECT,
	  .of = &secret_volume_source_shape,
	  .description = "The entries of a Secret as files, in memory." },
	{ .name = "storageos", .type = SHAPE_OBJECT, .of = &storage_os_volume_source_shape },
	{ .name = "vsphereVolume",
	  .type = SHAPE_OBJECT,
	  .of = &vsphere_virtual_disk_volume_source_shape },
	{ 0 },
};

const struct shape volume_shape = {
	.name = "Volume",
	.description =
		"A volume that the containers of a pod can mount; it has exactly one source.",
	.fields = volume_fields,
};
