/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod - what of a v1.Pod concerns volumes, decoded
 *
 * Strings are "" where absent, arrays NULL with count 0; all live as long as the object they came
 * from.
 */
#pragma once

#include "object/kinds/csi_source.h"
#include "object/object.h"

#include <sys/types.h>

enum volume_source_kind {
	SOURCE_EMPTY_DIR,
	SOURCE_HOST_PATH,
	SOURCE_CLAIM,     /* persistentVolumeClaim */
	SOURCE_EPHEMERAL, /* ephemeral: a claim named <pod>-<volume> */
	SOURCE_CONFIG_MAP,
	SOURCE_SECRET,
	SOURCE_DOWNWARD_API,
	SOURCE_PROJECTED,
	SOURCE_CSI,
	SOURCE_NFS,
	SOURCE_FLEX,  /* flexVolume */
	SOURCE_IMAGE, /* image: of an OCI registry */
	SOURCE_OTHER, /* known by its key alone; without a plugin for it it is valid, not mounted */
	SOURCE_KIND_COUNT
};

/* Of the pod's namespace. */
struct pod_volume_object {
	enum object_kind kind;
	bool optional; /* it need not exist */
	const char *name;
};

/* One clusterTrustBundle of a projected volume. */
struct pod_trust_bundle {
	const char *name;                      /* "": those of a signer */
	const char *signer_name;               /* "" with a name */
	const struct label_selector *selector; /* NULL: matches none */
};

struct pod_volume_field {
	const char *name, *value;
};

struct pod_volume {
	const char *name; /* the outer name */
	enum volume_source_kind source;
	const char *source_key; /* "hostPath", as the manifest has it */

	const char *host_path;      /* SOURCE_HOST_PATH */
	const char *host_path_type; /* "" unset */

	const char *medium; /* SOURCE_EMPTY_DIR: "", "Memory", "HugePages", "HugePages-2Mi", ... */
	bool has_size_limit;
	int64_t size_limit_bytes; /* saturated at INT64_MAX */

	const char *claim_name; /* SOURCE_CLAIM; for SOURCE_EPHEMERAL derived */
	bool claim_read_only;

	const struct csi_source *csi;          /* SOURCE_CSI; else NULL */
	const struct nfs_source *nfs;          /* SOURCE_NFS; else NULL */
	const struct flex_source *flex;        /* SOURCE_FLEX; else NULL */
	const char *image;                     /* SOURCE_IMAGE: its reference */
	const struct pod_volume_field *fields; /* of a source that is BY_SCHEMA */
	size_t field_count;

	/* SOURCE_CONFIG_MAP, SOURCE_SECRET, SOURCE_PROJECTED: what the files come from */
	const struct pod_volume_object *objects;
	size_t object_count;
	bool shows_pod;  /* SOURCE_DOWNWARD_API, SOURCE_PROJECTED: fields of the pod itself */
	bool has_tokens; /* SOURCE_PROJECTED: tokens of the service account */
	const struct pod_trust_bundle *trust_bundles; /* SOURCE_PROJECTED, in their order */
	size_t trust_bundle_count;
};

/* A field of a source that is BY_SCHEMA, as text: "64Mi", "true". Return: "" where absent. */
const char *pod_volume_field(const struct pod_volume *volume, const char *name);

struct pod_volume_mount {
	const char *name; /* of the pod_volume */
	const char *mount_path, *sub_path, *sub_path_expr;
	bool read_only;
	const char *recursive_read_only; /* "", "Disabled", "IfPossible", "Enabled" */
	const char *mount_propagation;   /* "", "None", "HostToContainer", "Bidirectional" */
};

struct pod_volume_device {
	const char *name;
	const char *device_path;
};

struct huge_page_request {
	const char *page_size; /* "2Mi", as in hugepages-2Mi */
	int64_t bytes;
};

enum container_type { CONTAINER_INIT, CONTAINER_REGULAR, CONTAINER_EPHEMERAL };

struct pod_container {
	const char *name;
	enum container_type type;
	bool sidecar;    /* an init container with restartPolicy Always */
	bool privileged; /* securityContext.privileged */
	const struct pod_volume_mount *mounts;
	size_t mount_count;
	const struct pod_volume_device *devices;
	size_t device_count;
	int64_t memory_limit_bytes;            /* 0: none */
	int64_t ephemeral_storage_limit_bytes; /* 0: none */
	const struct huge_page_request *huge_pages;
	size_t huge_page_count;
	bool has_run_as_user;
	uid_t run_as_user; /* the container's, else the pod's */
};

/* Kubernetes knows two values of fsGroupChangePolicy and refuses others, so that podvol's, "Idmap",
 * is an annotation: see docs/ownership.md. */
#define POD_FS_GROUP_ANNOTATION "podvol.io/fs-group-change-policy"

enum fs_group_change_policy { FS_GROUP_CHANGE_ALWAYS, FS_GROUP_CHANGE_ON_ROOT_MISMATCH };

struct pod {
	const struct object *object; /* the pod's own object; not a reference */
	const char *node_name;
	int64_t priority;                 /* spec.priority: the scheduler's queue goes by it */
	const char *service_account_name; /* "default" where the pod names none */
	/* seLinuxOptions of its containers; "" unknown, or not the same for all of them. */
	const char *selinux_user, *selinux_level;
	const char *phase;                       /* "" when there is no status */
	const char *reason;                      /* status.reason */
	unsigned int ready_count, restart_count; /* over status.containerStatuses */
	const char *address;                     /* status.podIP */
	const char *nominated_node_name;         /* status.nominatedNodeName */
	unsigned int readiness_gate_count, readiness_gates_passed;
	const struct pod_volume *volumes;
	size_t volume_count;
	const struct pod_container *containers; /* init, regular, ephemeral in this order */
	size_t container_count;
	int64_t memory_limit_bytes;    /* resources.limits.memory of the pod itself; 0: none */
	int64_t memory_overhead_bytes; /* overhead.memory */
	bool has_fs_group;
	gid_t fs_group;
	enum fs_group_change_policy fs_group_change_policy;
	bool fs_group_idmap; /* rather a map of the mount than any change, where that can be */
	bool user_namespace; /* spec.hostUsers: false */
	const gid_t *supplemental_groups;
	size_t supplemental_group_count;
	bool containers_terminated; /* status says that every container ended (phase Succeeded or
				       Failed, or each container status terminated) */
};

/* How a pod uses one of its volumes, over all containers. */
struct pod_volume_use {
	bool mounted;   /* in some volumeMounts */
	bool as_device; /* in some volumeDevices */
};
struct pod_volume_use pod_volume_use(const struct pod *pod, const char *volume_name);

/* The one user that all containers run as; false: they differ, or one of them names none. */
bool pod_fs_user(const struct pod *pod, uid_t *ret);

/* "namespace/name" in a buffer of the caller. */
#define POD_KEY_BYTES (64 + 254)
const char *pod_key(const struct pod *pod, char buffer[POD_KEY_BYTES]);
