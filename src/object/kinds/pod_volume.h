/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_volume - one element of spec.volumes, and what limits a pod
 *
 * Only src/object/ uses it.
 */
#ifndef PODVOL_OBJECT_POD_VOLUME_H
#define PODVOL_OBJECT_POD_VOLUME_H

#include "object/json/arena.h"
#include "object/kinds/pod.h"
#include "object/schema/field.h"

enum { POD_RESOURCES_MAX = 128 }; /* names in a container's limits or requests */

/* emptyDir: {} where there is no source, and each source's own. Return: 0 or -ENOMEM. */
int pod_volume_set_defaults(struct cJSON *volume);

int pod_volume_validate(const struct cJSON *volume, const char *pod_name, const struct field *field,
			struct violations *found);

void pod_volume_decode(const struct cJSON *volume, const char *pod_name, struct arena *arena,
		       struct pod_volume *ret);

/* Can containers have it as a device. */
bool pod_volume_may_be_block(const struct cJSON *volume);

#endif
