/* SPDX-License-Identifier: Apache-2.0 */
/*
 * empty_dir - what an emptyDir's medium means; pure, and shared with the volumes that will be
 * written into one (configMap, secret, projected)
 */
#pragma once

#include "base/failure.h"
#include "plugins/plugin.h"
#include "plugins/scratch.h"

#include <stdint.h>

/**
 * empty_dir_memory_size - how large a tmpfs may grow, in bytes
 * @pod:               its containers' memory limits bound it; NULL none
 * @allocatable_bytes: of the node; 0 unknown
 *
 * The smallest of node, pod limit (when every container has one) and sizeLimit. Return: 0 when
 * nothing bounds it.
 */
int64_t empty_dir_memory_size(const struct pod *pod, const struct pod_volume *source,
			      int64_t allocatable_bytes);
