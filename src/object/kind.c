/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind - the table of kinds; see kind.h
 */
#include "object/kind.h"

#include "base/cleanup.h"
#include "object/kinds.h"

#include <assert.h>
#include <string.h>

/* Ended by NULL. */
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct kind_row rows[] = {
	[KIND_POD] = {
		.kind = KIND_POD,
		.name = "Pod",
		.plural = "pods",
		.singular = "pod",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.short_names = NAMES("po"),
		.categories = NAMES("all"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "Containers that share volumes and a life on one node.",
		.has_status = true,
		.shape = &pod_shape,
		.set_defaults = pod_set_defaults,
		.validate = pod_validate,
		.validate_update = pod_validate_update,
		.decode = pod_decode,
		.columns = pod_columns,
	},
	[KIND_PERSISTENT_VOLUME] = {
		.kind = KIND_PERSISTENT_VOLUME,
		.name = "PersistentVolume",
		.plural = "persistentvolumes",
		.singular = "persistentvolume",
		.group = "",
		.version = "v1",
		.short_names = NAMES("pv"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "Storage that exists on its own, whatever pods come and go.",
		.has_status = true,
		.shape = &persistent_volume_shape,
		.set_defaults = persistent_volume_set_defaults,
		.validate = persistent_volume_validate,
		.validate_update = persistent_volume_validate_update,
		.decode = persistent_volume_decode,
		.columns = persistent_volume_columns,
	},
	[KIND_PERSISTENT_VOLUME_CLAIM] = {
		.kind = KIND_PERSISTENT_VOLUME_CLAIM,
		.name = "PersistentVolumeClaim",
		.plural = "persistentvolumeclaims",
		.singular = "persistentvolumeclaim",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.short_names = NAMES("pvc"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "A request for storage, which a persistent volume answers.",
		.has_status = true,
		.shape = &claim_shape,
		.set_defaults = claim_set_defaults,
		.validate = claim_validate,
		.validate_update = claim_validate_update,
		.decode = claim_decode,
		.columns = claim_columns,
	},
	[KIND_STORAGE_CLASS] = {
		.kind = KIND_STORAGE_CLASS,
		.name = "StorageClass",
		.plural = "storageclasses",
		.singular = "storageclass",
		.group = "storage.k8s.io",
		.version = "v1",
		.short_names = NAMES("sc"),
		.schema_package = "io.k8s.api.storage.v1",
		.description = "How volumes are made for the claims that name this class.",
		.shape = &storage_class_shape,
		.set_defaults = storage_class_set_defaults,
		.validate = storage_class_validate,
		.validate_update = storage_class_validate_update,
		.decode = storage_class_decode,
		.columns = storage_class_columns,
	},
	[KIND_CONFIG_MAP] = {
		.kind = KIND_CONFIG_MAP,
		.name = "ConfigMap",
		.plural = "configmaps",
		.singular = "configmap",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.short_names = NAMES("cm"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "Settings that pods read as files or variables.",
		.shape = &config_map_shape,
		.columns = config_map_columns,
	},
	[KIND_SECRET] = {
		.kind = KIND_SECRET,
		.name = "Secret",
		.plural = "secrets",
		.singular = "secret",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.schema_package = "io.k8s.api.core.v1",
		.description = "Passwords, keys and the like, for root and for pods that name it.",
		.secret = true,
		.shape = &secret_shape,
		.columns = secret_columns,
	},
	[KIND_NODE] = {
		.kind = KIND_NODE,
		.name = "Node",
		.plural = "nodes",
		.singular = "node",
		.group = "",
		.version = "v1",
		.short_names = NAMES("no"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "A machine that runs pods; podvold keeps the one of its own name.",
		.has_status = true,
		.shape = &node_shape,
		.columns = node_columns,
	},
	[KIND_NAMESPACE] = {
		.kind = KIND_NAMESPACE,
		.name = "Namespace",
		.plural = "namespaces",
		.singular = "namespace",
		.group = "",
		.version = "v1",
		.short_names = NAMES("ns"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "A room of names: objects in different ones may be called the same.",
		.has_status = true,
		.shape = &namespace_shape,
		.columns = namespace_columns,
	},
	[KIND_EVENT] = {
		.kind = KIND_EVENT,
		.name = "Event",
		.plural = "events",
		.singular = "event",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.short_names = NAMES("ev"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "Something that happened to an object; kept in memory, the oldest is forgotten first.",
		.in_memory = true,
		.shape = &event_shape,
		.columns = event_columns,
	},
	[KIND_SERVICE_ACCOUNT] = {
		.kind = KIND_SERVICE_ACCOUNT,
		.name = "ServiceAccount",
		.plural = "serviceaccounts",
		.singular = "serviceaccount",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.short_names = NAMES("sa"),
		.schema_package = "io.k8s.api.core.v1",
		.description = "The identity that the processes of a pod have.",
		.shape = &service_account_shape,
		.columns = service_account_columns,
	},
	[KIND_CSI_DRIVER] = {
		.kind = KIND_CSI_DRIVER,
		.name = "CSIDriver",
		.plural = "csidrivers",
		.singular = "csidriver",
		.group = "storage.k8s.io",
		.version = "v1",
		.schema_package = "io.k8s.api.storage.v1",
		.description = "What a CSI driver can do and wants to be told.",
		.shape = &csi_driver_shape,
		.columns = csi_driver_columns,
	},
	[KIND_CSI_NODE] = {
		.kind = KIND_CSI_NODE,
		.name = "CSINode",
		.plural = "csinodes",
		.singular = "csinode",
		.group = "storage.k8s.io",
		.version = "v1",
		.schema_package = "io.k8s.api.storage.v1",
		.description = "The CSI drivers that are registered on a node.",
		.shape = &csi_node_shape,
		.columns = csi_node_columns,
	},
	[KIND_VOLUME_ATTACHMENT] = {
		.kind = KIND_VOLUME_ATTACHMENT,
		.name = "VolumeAttachment",
		.plural = "volumeattachments",
		.singular = "volumeattachment",
		.group = "storage.k8s.io",
		.version = "v1",
		.schema_package = "io.k8s.api.storage.v1",
		.description = "The wish to have a volume attached to a node, and what came of it.",
		.has_status = true,
		.shape = &volume_attachment_shape,
		.columns = volume_attachment_columns,
	},
	[KIND_CSI_STORAGE_CAPACITY] = {
		.kind = KIND_CSI_STORAGE_CAPACITY,
		.name = "CSIStorageCapacity",
		.plural = "csistoragecapacities",
		.singular = "csistoragecapacity",
		.group = "storage.k8s.io",
		.version = "v1",
		.namespaced = true,
		.schema_package = "io.k8s.api.storage.v1",
		.description = "How much a CSI driver can still make of a class in a part of the topology.",
		.shape = &csi_storage_capacity_shape,
		.columns = csi_storage_capacity_columns,
	},
	[KIND_VOLUME_SNAPSHOT] = {
		.kind = KIND_VOLUME_SNAPSHOT,
		.name = "VolumeSnapshot",
		.plural = "volumesnapshots",
		.singular = "volumesnapshot",
		.group = "snapshot.storage.k8s.io",
		.version = "v1",
		.namespaced = true,
		.short_names = NAMES("vs"),
		.schema_package = "io.k8s.storage.snapshot.v1",
		.description = "A request for a snapshot of a claim's volume, or for one that exists.",
		.has_status = true,
		.shape = &volume_snapshot_shape,
		.columns = volume_snapshot_columns,
	},
	[KIND_VOLUME_SNAPSHOT_CLASS] = {
		.kind = KIND_VOLUME_SNAPSHOT_CLASS,
		.name = "VolumeSnapshotClass",
		.plural = "volumesnapshotclasses",
		.singular = "volumesnapshotclass",
		.group = "snapshot.storage.k8s.io",
		.version = "v1",
		.short_names = NAMES("vsclass", "vsclasses"),
		.schema_package = "io.k8s.storage.snapshot.v1",
		.description = "How snapshots are made that name this class.",
		.shape = &volume_snapshot_class_shape,
		.columns = volume_snapshot_class_columns,
	},
	[KIND_VOLUME_SNAPSHOT_CONTENT] = {
		.kind = KIND_VOLUME_SNAPSHOT_CONTENT,
		.name = "VolumeSnapshotContent",
		.plural = "volumesnapshotcontents",
		.singular = "volumesnapshotcontent",
		.group = "snapshot.storage.k8s.io",
		.version = "v1",
		.short_names = NAMES("vsc", "vscs"),
		.schema_package = "io.k8s.storage.snapshot.v1",
		.description = "A snapshot that exists in a storage system.",
		.has_status = true,
		.shape = &volume_snapshot_content_shape,
		.columns = volume_snapshot_content_columns,
	},
	[KIND_LEASE] = {
		.kind = KIND_LEASE,
		.name = "Lease",
		.plural = "leases",
		.singular = "lease",
		.group = "coordination.k8s.io",
		.version = "v1",
		.namespaced = true,
		.schema_package = "io.k8s.api.coordination.v1",
		.description = "Who holds a role and until when; kept in memory.",
		.in_memory = true,
		.shape = &lease_shape,
		.columns = lease_columns,
	},
};

static_assert(ARRAY_SIZE(rows) == KIND_COUNT, "one row per kind");

const struct kind_row *kind_row(enum object_kind kind)
{
	assert((unsigned int) kind < KIND_COUNT);
	return &rows[kind];
}

/* "v1" is the version of group "", "storage.k8s.io/v1" of the group before the slash. */
static bool is_version_of(const struct kind_row *row, const char *api_version)
{
	size_t length = strlen(row->group);

	if (length == 0)
		return strcmp(api_version, row->version) == 0;
	return strncmp(api_version, row->group, length) == 0 && api_version[length] == '/' &&
	       strcmp(api_version + length + 1, row->version) == 0;
}

const struct kind_row *kind_by_name(const char *api_version, const char *name)
{
	assert(api_version && name);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name) == 0 && is_version_of(&rows[i], api_version))
			return &rows[i];
	}
	return NULL;
}
