/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes - the shapes that more than one file names, and where each is
 *
 * Only src/object/ uses it. Shapes are Kubernetes' types, field by field: kubectl refuses what
 * our OpenAPI does not know, so a field that nobody here acts upon is there as well.
 */
#ifndef PODVOL_OBJECT_SHAPES_H
#define PODVOL_OBJECT_SHAPES_H

#include "object/shape_rows.h"

/* Packages of shapes outside "io.k8s.api.core.v1". */
#define SHAPE_META         "io.k8s.apimachinery.pkg.apis.meta.v1"
#define SHAPE_STORAGE      "io.k8s.api.storage.v1"
#define SHAPE_SNAPSHOT     "io.k8s.storage.snapshot.v1"
#define SHAPE_COORDINATION "io.k8s.api.coordination.v1"
#define SHAPE_CERTIFICATES "io.k8s.api.certificates.v1beta1"

/* The first fields of every kind. */
#define SHAPE_HEAD                                                                                 \
	STRING("apiVersion", 0, "Group and version of the kind."),                                 \
		STRING("kind", 0, "What it is."),                                                  \
		OBJECT(object_meta_shape, "metadata", 0, "Names, labels, versions and times.")

/* shape_meta.c */
extern const struct shape object_meta_shape, label_selector_shape;
/* shape_reference.c */
extern const struct shape object_reference_shape, local_object_reference_shape,
	secret_reference_shape, typed_local_object_reference_shape, typed_object_reference_shape,
	node_selector_term_shape, node_selector_shape, topology_selector_term_shape,
	object_field_selector_shape, resource_field_selector_shape;
/* shape_container.c */
extern const struct shape resource_requirements_shape, app_armor_profile_shape,
	se_linux_options_shape, seccomp_profile_shape, windows_security_context_options_shape,
	container_shape, ephemeral_container_shape;
/* shape_pod_status.c */
extern const struct shape pod_status_shape;
/* shape_volume.c */
extern const struct shape host_path_volume_source_shape, nfs_volume_source_shape, volume_shape;
/* shape_foreign_source.c */
extern const struct shape aws_elastic_block_store_volume_source_shape,
	azure_disk_volume_source_shape, azure_file_volume_source_shape,
	azure_file_persistent_volume_source_shape, ceph_fs_volume_source_shape,
	ceph_fs_persistent_volume_source_shape, cinder_volume_source_shape,
	cinder_persistent_volume_source_shape, fc_volume_source_shape, flex_volume_source_shape,
	flex_persistent_volume_source_shape, flocker_volume_source_shape,
	gce_persistent_disk_volume_source_shape, git_repo_volume_source_shape,
	glusterfs_volume_source_shape, glusterfs_persistent_volume_source_shape,
	image_volume_source_shape, iscsi_volume_source_shape, iscsi_persistent_volume_source_shape,
	photon_persistent_disk_volume_source_shape, portworx_volume_source_shape,
	quobyte_volume_source_shape, rbd_volume_source_shape, rbd_persistent_volume_source_shape,
	scale_io_volume_source_shape, scale_io_persistent_volume_source_shape,
	storage_os_volume_source_shape, storage_os_persistent_volume_source_shape,
	vsphere_virtual_disk_volume_source_shape;
/* shape_persistent_volume.c */
extern const struct shape persistent_volume_spec_shape;
/* shape_claim.c */
extern const struct shape persistent_volume_claim_spec_shape;

#endif
