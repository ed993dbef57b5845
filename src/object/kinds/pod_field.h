/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_field - what a fieldRef or resourceFieldRef of a container says, as the text that its
 * variable gets; pure
 */
#pragma once

#include "base/failure.h"
#include "object/kinds/pod.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct field;

struct cJSON;

/**
 * pod_field_value - the value of a fieldRef
 * @path: "metadata.name", "metadata.labels['app']", "status.podIP", ...
 * @ret:  "" where the pod has none; to be freed
 *
 * Return: 0; -EINVAL "unsupported fieldPath: ..."; -ENOMEM.
 */
int pod_field_value(const struct cJSON *pod, const char *path, char **ret, struct failure *reterr);

/**
 * pod_file_field_value - the same for a file of a volume
 *
 * There "metadata.labels" and "metadata.annotations" are fields, too: a line key="value" for each,
 * sorted, the value with Go's escapes.
 */
int pod_file_field_value(const struct cJSON *pod, const char *path, char **ret,
			 struct failure *reterr);

/* What a node has for pods; 0: not known. */
struct node_resources {
	int64_t cpu_millis, memory_bytes, ephemeral_storage_bytes;
};

/**
 * pod_resource_value - the value of a resourceFieldRef: "limits.memory" of a container
 * @pod:       where the container is looked for when @reference names one
 * @container: what @reference is part of; NULL in a volume
 * @node:      what a limit that is not set comes to; a request that is not set is then 0. NULL:
 *             what is not set is an error.
 *
 * In units of the divisor, rounded up.
 *
 * Return: 0; -EINVAL no such resource, container or divisor; -ENOMEM.
 */
int pod_resource_value(const struct cJSON *pod, const struct cJSON *container,
		       const struct cJSON *reference, const struct node_resources *node, char **ret,
		       struct failure *reterr);

/* A container of any type by name; borrowed; NULL: none. */
const struct cJSON *pod_find_container(const struct cJSON *pod, const char *name);

/* ---- pod_volume.c: one element of spec.volumes, and what limits a pod ---- */

enum { POD_RESOURCES_MAX = 128 }; /* names in a container's limits or requests */

/* emptyDir: {} where there is no source, and each source's own. Return: 0 or -ENOMEM. */
int pod_volume_set_defaults(struct cJSON *volume);

bool pod_volume_validate(const struct field *volume, const char *pod_name);

void pod_volume_decode(const struct cJSON *volume, const char *pod_name, struct arena *arena,
		       struct pod_volume *ret);

/* Can containers have it as a device. */
bool pod_volume_may_be_block(const struct cJSON *volume);
