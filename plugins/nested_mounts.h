/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested_mounts - where containers mount something else inside a volume; pure
 *
 * A read-only volume cannot get such directories from the container runtime, so they are made with
 * it (kubelet: MakeNestedMountpoints; cases 151 to 154).
 */
#pragma once

#include "object/kinds/pod.h"

/**
 * nested_mounts - the directories that a volume needs for other mounts
 * @visit: gets each relative path once for each container, never one below another; a value other
 *         than 0 ends the walk
 *
 * Return: 0, what @visit returned; -EINVAL a container mounts the volume above its root; -ENOMEM.
 */
int nested_mounts(const struct pod *pod, const char *volume_name,
		  int (*visit)(const char *path, void *userdata), void *userdata,
		  struct failure *reterr);
