/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_paths - podvold's own directories are refused as sources when an object is written
 *
 * As text, for whoever writes the object to hear of it at once. What links and bind mounts lead to
 * is seen when the volume is mounted: mount/remove/own_directories.h.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"

/* A store_check_fn for new pods and persistent volumes; @userdata is the agent. */
int agent_check_source_paths(void *userdata, const struct object *object, struct failure *why);
