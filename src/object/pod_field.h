/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_field - what a fieldRef or resourceFieldRef of a container says, as the text that its
 * variable gets; pure
 */
#ifndef PODVOL_OBJECT_POD_FIELD_H
#define PODVOL_OBJECT_POD_FIELD_H

#include "base/failure.h"

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
 * pod_resource_value - the value of a resourceFieldRef: "limits.memory" of a container
 * @pod:       where the container is looked for when @reference names one
 * @container: what @reference is part of
 *
 * In units of the divisor, rounded up. Only what the container says itself: what the node could
 * give is not known here.
 *
 * Return: 0; -EINVAL no such resource, container or divisor; -ENOMEM.
 */
int pod_resource_value(const struct cJSON *pod, const struct cJSON *container,
		       const struct cJSON *reference, char **ret, struct failure *reterr);

/* A container of any type by name; borrowed; NULL: none. */
const struct cJSON *pod_find_container(const struct cJSON *pod, const char *name);

#endif
