/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout - where volumes lie below the root directory: kubelet's own paths, so that stock CSI
 * drivers run unmodified and a node can be taken over and handed back
 *
 * Pure text. Names that would lead elsewhere ("..", "a/b", "") are refused, because pod uids and
 * volume names come from manifests and, after a restart, from directory names.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

/* One component of a path that leads nowhere else. */
bool layout_is_component(const char *name);

/**
 * layout_pod_path - "pods/<pod uid>/<folder>/<plugin, '/' as '~'>/<volume>"
 * @folder: "volumes", "volumeDevices" or "plugins"
 * @volume: inner name; NULL for the directory that holds them
 * @ret:    relative to the root directory; freed with free()
 *
 * Return: 0; -EINVAL a name is no single component; -ENOMEM.
 */
int layout_pod_path(const char *pod_uid, const char *folder, const char *plugin, const char *volume,
		    char **ret, struct failure *reterr);

/* "<base>/<name>" with the same check of @name. @base is trusted. */
int layout_child(const char *base, const char *name, char **ret, struct failure *reterr);

/* "<root directory>/<relative>"; NULL when out of memory or @relative is NULL. */
char *layout_absolute(const char *root_dir, const char *relative);
