/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_plan - which mounts and devices each container of a pod is to be given, and by what
 * words
 *
 * Read this header, then format.h: a plan is made of a pod and of what is known of its mounted
 * volumes, and a format writes it down for one container runtime. Both are pure: no system call, no
 * table, no clock; the agent hands in what it looked up, and the sub-paths that were bound.
 *
 * Rules are kubelet's (makeMounts and makeBlockVolumes): a mount is read-only when its volume or
 * the volumeMount is; recursiveReadOnly needs readOnly and no propagation; Bidirectional needs a
 * privileged container. Beyond kubelet, paths are cleaned, two mounts on one path are refused, and
 * parents come before what is mounted below them. Every mount of a pod with hostUsers: false is to
 * be idmapped, as kubelet asks its runtime for.
 */
#pragma once

#include "base/cleanup.h"
#include "base/failure.h"
#include "object/kinds/pod.h"
#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- what goes in: borrowed, read during the call only, but for the pod: as long as the plan ----
 */

/* One volume of the pod, mounted. */
struct container_volume {
	const char *name;  /* outer name: pod.spec.volumes[].name */
	const char *path;  /* absolute, on the host; in block mode of the device itself */
	const char *image; /* reference of an OCI image, which the runtime mounts; NULL: none */
	bool read_only;    /* the volume's own; a container's mount may be on top of that */
	bool relabel;      /* SELinux: files are to get the container's label */
	bool noexec, nosuid,
		nodev; /* of the mount at @path, which a runtime's remount would lose */
	bool block;
	unsigned int major, minor; /* block: of the device */
	bool has_group;
	gid_t group; /* annotation pv.beta.kubernetes.io/gid */
};

/* A sub-path that has been bound for one mount of one container. */
struct container_sub_path {
	const char *container;
	size_t mount;          /* index in the container's volumeMounts */
	const char *host_path; /* what the runtime is to mount */
};

struct container_plan_request {
	const struct object *pod;
	const char *container; /* NULL: all of them */
	const struct container_volume *volumes;
	size_t volume_count;
	const struct container_sub_path *sub_paths;
	size_t sub_path_count;
};

/* ---- what comes out ---- */

enum mount_propagation {
	PROPAGATION_NONE,
	PROPAGATION_HOST_TO_CONTAINER,
	PROPAGATION_BIDIRECTIONAL,
	PROPAGATION_COUNT
};
/* As volumeMounts[].mountPropagation has it. */
const char *mount_propagation_name(enum mount_propagation propagation);
/* As mount(8) and the OCI runtime specification have it: "rprivate", "rslave", "rshared". */
const char *mount_propagation_option(enum mount_propagation propagation);

enum recursive_read_only {
	RECURSIVE_READ_ONLY_DISABLED,
	RECURSIVE_READ_ONLY_IF_POSSIBLE,
	RECURSIVE_READ_ONLY_ENABLED,
	RECURSIVE_READ_ONLY_COUNT
};
/* As volumeMounts[].recursiveReadOnly has it. */
const char *recursive_read_only_name(enum recursive_read_only mode);

struct planned_mount {
	char *name;      /* of the volume in the pod */
	char *host_path; /* "" with an image */
	char *container_path;
	char *image; /* reference of an OCI image; NULL: none */
	/* As the pod has it; "" none. @host_path leads to it already; of an image it is the
	 * runtime's to do. */
	char *sub_path;
	bool read_only;
	enum recursive_read_only recursive_read_only;
	enum mount_propagation propagation;
	bool relabel, noexec, nosuid, nodev;
	/* Ids on the volume are those in the container's user namespace: the runtime maps them. */
	bool idmap;
};

struct planned_device {
	char *name;
	char *host_path, *container_path;
	bool read_only;
	unsigned int major, minor; /* always a block device */
};

struct planned_container {
	char *name;
	const char *type;             /* "init", "sidecar", "regular" or "ephemeral"; static */
	struct planned_mount *mounts; /* parents before children */
	size_t mount_count;
	struct planned_device *devices;
	size_t device_count;
};

/* Ids 0 to @count - 1 in a user namespace are those from @first on, on the host. */
struct id_range {
	uint32_t first, count; /* @count 0: unknown */
};

struct container_plan {
	const struct object *object; /* the pod; borrowed as in the request */
	char *pod;                   /* "namespace/name" */
	char *pod_uid;
	/* Of the pod's sandbox, which is its caller's; for formats that need numbers. */
	struct id_range user_namespace;
	/* Every process needs these beside its own: fsGroup, the pod's, then those of volumes that
	 * are not among them. */
	gid_t *groups;
	size_t group_count;
	struct planned_container *containers; /* in the pod's order: init, regular, ephemeral */
	size_t container_count;
};

/**
 * container_plan_make - what each container is to be given
 * @request: volumes that no container asked for uses may be missing
 * @ret:     owned by the caller; container_plan_free()
 *
 * Return: 0; -ENOENT the pod has no such container; -EINVAL a mount or device cannot be as the pod
 * has it, the text names container and path; -EAGAIN a volume or sub-path is not in the request;
 * -ENOMEM.
 */
int container_plan_make(const struct container_plan_request *request, struct container_plan **ret,
			struct failure *reterr);

/* Accepts NULL and what is half built. Return: NULL. */
struct container_plan *container_plan_free(struct container_plan *plan);
/* For cleanup_container_plan: variables that own a plan. */
void container_plan_free_pointer(struct container_plan **plan);
#define cleanup_container_plan cleanup(container_plan_free_pointer)
