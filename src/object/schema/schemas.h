/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schemas - the schemas that more than one file names, and where each is
 *
 * Only src/object/ uses it. Schemas are Kubernetes' types, field by field: kubectl refuses what
 * our OpenAPI does not know, so a field that nothing here acts upon is there as well.
 */
#pragma once

#include "object/schema/schema_rows.h"

/* Packages of schemas outside "io.k8s.api.core.v1". */
#define SCHEMA_META         "io.k8s.apimachinery.pkg.apis.meta.v1"
#define SCHEMA_STORAGE      "io.k8s.api.storage.v1"
#define SCHEMA_SNAPSHOT     "io.k8s.storage.snapshot.v1"
#define SCHEMA_GROUP        "io.k8s.storage.groupsnapshot.v1"
#define SCHEMA_COORDINATION "io.k8s.api.coordination.v1"
#define SCHEMA_CERTIFICATES "io.k8s.api.certificates.v1beta1"

/* The first fields of every kind. */
#define SCHEMA_HEAD                                                                                \
	STRING("apiVersion", 0, "Group and version of the kind."),                                 \
		STRING("kind", 0, "What it is."),                                                  \
		OBJECT(object_meta_schema, "metadata", 0, "Names, labels, versions and times.")

/* schema_meta.c */
extern const struct schema object_meta_schema, label_selector_schema;
/* schema_reference.c */
extern const struct schema object_reference_schema, local_object_reference_schema,
	secret_reference_schema, typed_local_object_reference_schema, typed_object_reference_schema,
	node_selector_term_schema, node_selector_schema, topology_selector_term_schema,
	object_field_selector_schema, resource_field_selector_schema;
/* schema_container.c */
extern const struct schema resource_requirements_schema, app_armor_profile_schema,
	se_linux_options_schema, seccomp_profile_schema, windows_security_context_options_schema,
	container_schema, ephemeral_container_schema;
/* schema_pod_status.c */
extern const struct schema pod_status_schema;
/* schema_volume.c */
extern const struct schema host_path_volume_source_schema, nfs_volume_source_schema, volume_schema;
/* schema_foreign_source.c */
extern const struct schema aws_elastic_block_store_volume_source_schema,
	azure_disk_volume_source_schema, azure_file_volume_source_schema,
	azure_file_persistent_volume_source_schema, ceph_fs_volume_source_schema,
	ceph_fs_persistent_volume_source_schema, cinder_volume_source_schema,
	cinder_persistent_volume_source_schema, fc_volume_source_schema, flex_volume_source_schema,
	flex_persistent_volume_source_schema, flocker_volume_source_schema,
	gce_persistent_disk_volume_source_schema, git_repo_volume_source_schema,
	glusterfs_volume_source_schema, glusterfs_persistent_volume_source_schema,
	image_volume_source_schema, iscsi_volume_source_schema,
	iscsi_persistent_volume_source_schema, photon_persistent_disk_volume_source_schema,
	portworx_volume_source_schema, quobyte_volume_source_schema, rbd_volume_source_schema,
	rbd_persistent_volume_source_schema, scale_io_volume_source_schema,
	scale_io_persistent_volume_source_schema, storage_os_volume_source_schema,
	storage_os_persistent_volume_source_schema, vsphere_virtual_disk_volume_source_schema;
/* schema_persistent_volume.c */
extern const struct schema persistent_volume_spec_schema;
/* schema_claim.c */
extern const struct schema persistent_volume_claim_spec_schema;
