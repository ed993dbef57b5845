/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind - the table of kinds; see kind.h
 */
#include "object/kind.h"

#include "base/cleanup.h"
#include "object/kinds.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Ended by NULL. */
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A row: its code is found by @prefix, and what is left out is false or NULL. */
#define ROW(id, prefix, name_, singular_, plural_, api, text, ...)                                 \
	[KIND_##id] = { .kind = KIND_##id,                                                         \
			.name = name_,                                                             \
			.singular = singular_,                                                     \
			.plural = plural_,                                                         \
			api,                                                                       \
			.description = text,                                                       \
			.schema = &prefix##_schema,                                                \
			.columns = prefix##_columns,                                               \
			__VA_ARGS__ }
#define API(group_, version_, package)                                                             \
	.group = group_, .version = version_, .schema_package = package
#define CORE             API("", "v1", "io.k8s.api.core.v1")
#define STORAGE          API("storage.k8s.io", "v1", "io.k8s.api.storage.v1")
#define SNAPSHOT         API("snapshot.storage.k8s.io", "v1", "io.k8s.storage.snapshot.v1")
#define GROUP_SNAPSHOT   API("groupsnapshot.storage.k8s.io", "v1", "io.k8s.storage.groupsnapshot.v1")
#define COORDINATION     API("coordination.k8s.io", "v1", "io.k8s.api.coordination.v1")
#define CERTIFICATES     API("certificates.k8s.io", "v1beta1", "io.k8s.api.certificates.v1beta1")
#define DEFAULTS(prefix) .set_defaults = prefix##_set_defaults
#define VALID(prefix)    .validate = prefix##_validate
#define FIXED(prefix)    .fixed = prefix##_fixed
#define UPDATE(prefix)   .validate_update = prefix##_validate_update
#define DECODE(prefix)   .decode = prefix##_decode
#define BINDS(prefix)    .decode_binding = prefix##_decode_binding
#define DERIVES(p, type) .derive = p##_derive, .derived_bytes = sizeof(struct type)
#define PROTECTS(prefix, finalizer)                                                                \
	.protection_finalizer = finalizer, .note_protection = prefix##_note_protection

static const struct kind_row rows[] = {
	ROW(POD, pod, "Pod", "pod", "pods", CORE,
	    "Containers that share volumes and a life on one node.", DEFAULTS(pod), VALID(pod),
	    UPDATE(pod), DECODE(pod), .namespaced = true, .short_names = NAMES("po"),
	    .categories = NAMES("all"), .has_status = true, .returns_deleted = true,
	    .initial_phase = "Pending"),
	ROW(PERSISTENT_VOLUME, persistent_volume, "PersistentVolume", "persistentvolume",
	    "persistentvolumes", CORE, "Storage that exists on its own, whatever pods come and go.",
	    DEFAULTS(persistent_volume), VALID(persistent_volume), UPDATE(persistent_volume),
	    DECODE(persistent_volume), BINDS(persistent_volume),
	    DERIVES(persistent_volume, persistent_volume),
	    PROTECTS(persistent_volume, FINALIZER_VOLUME), .short_names = NAMES("pv"),
	    .has_status = true, .returns_deleted = true, .initial_phase = "Pending"),
	ROW(PERSISTENT_VOLUME_CLAIM, claim, "PersistentVolumeClaim", "persistentvolumeclaim",
	    "persistentvolumeclaims", CORE,
	    "A request for storage, which a persistent volume answers.", DEFAULTS(claim),
	    VALID(claim), UPDATE(claim), DECODE(claim), BINDS(claim),
	    DERIVES(claim, persistent_volume_claim), PROTECTS(claim, FINALIZER_CLAIM),
	    .namespaced = true, .short_names = NAMES("pvc"), .has_status = true,
	    .returns_deleted = true, .initial_phase = "Pending"),
	ROW(STORAGE_CLASS, storage_class, "StorageClass", "storageclass", "storageclasses", STORAGE,
	    "How volumes are provisioned for claims of this class.", DEFAULTS(storage_class),
	    VALID(storage_class), FIXED(storage_class), DECODE(storage_class),
	    .short_names = NAMES("sc"), .returns_deleted = true),
	ROW(CONFIG_MAP, config_map, "ConfigMap", "configmap", "configmaps", CORE,
	    "Settings that pods read as files or variables.", VALID(config_map), UPDATE(config_map),
	    .namespaced = true, .short_names = NAMES("cm")),
	ROW(SECRET, secret, "Secret", "secret", "secrets", CORE,
	    "Passwords, keys and the like, for root and for pods that name it.", DEFAULTS(secret),
	    VALID(secret), FIXED(secret), UPDATE(secret), .namespaced = true, .secret = true),
	ROW(NODE, node, "Node", "node", "nodes", CORE,
	    "A machine that runs pods; podvold maintains the one with its own name.", VALID(node),
	    UPDATE(node), DECODE(node), .short_names = NAMES("no"), .has_status = true),
	ROW(NAMESPACE, namespace, "Namespace", "namespace", "namespaces", CORE,
	    "A scope for names: objects in different namespaces may have the same name.",
	    DEFAULTS(namespace), VALID(namespace), .short_names = NAMES("ns"), .has_status = true),
	ROW(EVENT, event, "Event", "event", "events", CORE,
	    "Something that happened to an object; the oldest is removed first.", VALID(event),
	    .namespaced = true, .short_names = NAMES("ev"), .durability = KIND_UNSYNCED),
	ROW(SERVICE_ACCOUNT, service_account, "ServiceAccount", "serviceaccount", "serviceaccounts",
	    CORE, "The identity that the processes of a pod have.", .namespaced = true,
	    .short_names = NAMES("sa"), .returns_deleted = true),
	ROW(CSI_DRIVER, csi_driver, "CSIDriver", "csidriver", "csidrivers", STORAGE,
	    "What a CSI driver supports and expects to be passed.", DEFAULTS(csi_driver),
	    VALID(csi_driver), FIXED(csi_driver), DECODE(csi_driver), .returns_deleted = true),
	ROW(CSI_NODE, csi_node, "CSINode", "csinode", "csinodes", STORAGE,
	    "The CSI drivers that are registered on a node.", VALID(csi_node), UPDATE(csi_node),
	    .returns_deleted = true),
	ROW(VOLUME_ATTACHMENT, volume_attachment, "VolumeAttachment", "volumeattachment",
	    "volumeattachments", STORAGE,
	    "The intent to attach a volume to a node, and its status.", VALID(volume_attachment),
	    FIXED(volume_attachment), DECODE(volume_attachment), .has_status = true,
	    .returns_deleted = true),
	ROW(CSI_STORAGE_CAPACITY, csi_storage_capacity, "CSIStorageCapacity", "csistoragecapacity",
	    "csistoragecapacities", STORAGE,
	    "How much a CSI driver can still provision of a class in a part of the topology.",
	    VALID(csi_storage_capacity), FIXED(csi_storage_capacity), .namespaced = true),
	ROW(VOLUME_SNAPSHOT, volume_snapshot, "VolumeSnapshot", "volumesnapshot", "volumesnapshots",
	    SNAPSHOT, "A request for a snapshot of a claim's volume, or for one that exists.",
	    VALID(volume_snapshot), FIXED(volume_snapshot), DECODE(volume_snapshot),
	    .namespaced = true, .short_names = NAMES("vs"), .has_status = true),
	ROW(VOLUME_SNAPSHOT_CLASS, volume_snapshot_class, "VolumeSnapshotClass",
	    "volumesnapshotclass", "volumesnapshotclasses", SNAPSHOT,
	    "How snapshots of this class are taken.", VALID(volume_snapshot_class),
	    DECODE(volume_snapshot_class), .short_names = NAMES("vsclass", "vsclasses")),
	ROW(VOLUME_SNAPSHOT_CONTENT, volume_snapshot_content, "VolumeSnapshotContent",
	    "volumesnapshotcontent", "volumesnapshotcontents", SNAPSHOT,
	    "A snapshot that exists in a storage system.", VALID(volume_snapshot_content),
	    FIXED(volume_snapshot_content), UPDATE(volume_snapshot_content),
	    DECODE(volume_snapshot_content), .short_names = NAMES("vsc", "vscs"),
	    .has_status = true),
	ROW(VOLUME_GROUP_SNAPSHOT, volume_group_snapshot, "VolumeGroupSnapshot",
	    "volumegroupsnapshot", "volumegroupsnapshots", GROUP_SNAPSHOT,
	    "A request for snapshots of several claims' volumes at one moment.",
	    VALID(volume_group_snapshot), FIXED(volume_group_snapshot), DECODE(volume_snapshot),
	    .namespaced = true, .short_names = NAMES("vgs"), .has_status = true),
	ROW(VOLUME_GROUP_SNAPSHOT_CLASS, volume_group_snapshot_class, "VolumeGroupSnapshotClass",
	    "volumegroupsnapshotclass", "volumegroupsnapshotclasses", GROUP_SNAPSHOT,
	    "How group snapshots of this class are taken.", VALID(volume_snapshot_class),
	    DECODE(volume_snapshot_class), .short_names = NAMES("vgsclass", "vgsclasses")),
	ROW(VOLUME_GROUP_SNAPSHOT_CONTENT, volume_group_snapshot_content,
	    "VolumeGroupSnapshotContent", "volumegroupsnapshotcontent",
	    "volumegroupsnapshotcontents", GROUP_SNAPSHOT,
	    "A group snapshot that exists in a storage system.",
	    VALID(volume_group_snapshot_content), FIXED(volume_group_snapshot_content),
	    DECODE(volume_snapshot_content), .short_names = NAMES("vgsc", "vgscs"),
	    .has_status = true),
	ROW(LEASE, lease, "Lease", "lease", "leases", COORDINATION,
	    "Who holds a role and until when; kept in memory.", VALID(lease), .namespaced = true,
	    .durability = KIND_VOLATILE),
	ROW(CLUSTER_TRUST_BUNDLE, cluster_trust_bundle, "ClusterTrustBundle", "clustertrustbundle",
	    "clustertrustbundles", CERTIFICATES, "Authorities that all pods may trust, in PEM.",
	    VALID(cluster_trust_bundle), UPDATE(cluster_trust_bundle), DECODE(cluster_trust_bundle),
	    .has_signer_name = true),
	ROW(VOLUME_ATTRIBUTES_CLASS, volume_attributes_class, "VolumeAttributesClass",
	    "volumeattributesclass", "volumeattributesclasses", STORAGE,
	    "What a driver can modify of existing volumes.", VALID(volume_attributes_class),
	    FIXED(volume_attributes_class), .short_names = NAMES("vac")),
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

const char *kind_api_version(const struct kind_row *row, char buffer[API_VERSION_BYTES])
{
	(void) snprintf(buffer, API_VERSION_BYTES, "%s%s%s", row->group, *row->group ? "/" : "",
			row->version);
	return buffer;
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

bool kind_is_foreign(const char *name)
{
	static const char *const names[] = {
		"APIService",
		"CertificateSigningRequest",
		"ClusterRole",
		"ClusterRoleBinding",
		"ControllerRevision",
		"CronJob",
		"CustomResourceDefinition",
		"DaemonSet",
		"Deployment",
		"EndpointSlice",
		"Endpoints",
		"FlowSchema",
		"HorizontalPodAutoscaler",
		"Ingress",
		"IngressClass",
		"Job",
		"LimitRange",
		"MutatingWebhookConfiguration",
		"NetworkPolicy",
		"PodDisruptionBudget",
		"PodTemplate",
		"PriorityClass",
		"PriorityLevelConfiguration",
		"ReplicaSet",
		"ReplicationController",
		"ResourceQuota",
		"Role",
		"RoleBinding",
		"RuntimeClass",
		"Service",
		"StatefulSet",
		"ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding",
		"ValidatingWebhookConfiguration",
	};

	assert(name);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}
