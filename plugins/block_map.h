/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_map - what every plugin's block mode shares: bind file, link and lock (spec: plugins,
 * 10)
 *
 * Global: the device node bound over the regular file <global map path>/<pod uid>. Pod: a symbolic
 * link <pod map path>/<volume> to the device. Lock: a read-only loop device on the bind file, so
 * that the kernel cannot give the device number to another device. Undone in reverse. All [worker].
 */
#ifndef PODVOL_PLUGINS_BLOCK_MAP_H
#define PODVOL_PLUGINS_BLOCK_MAP_H

#include "base/failure.h"

struct plugin_host;

struct block_map {
	const struct plugin_host *host;
	const char *global_map_path; /* relative to the root directory */
	const char *pod_map_path;    /* relative: "pods/<uid>/volumeDevices/<plugin~>" */
	const char *volume_name, *pod_uid;
};

int block_map_device(const struct block_map *map, const char *device_path, struct failure *reterr);
int block_unmap_device(const struct block_map *map, struct failure *reterr);
/* -EBUSY while a bind file remains below the global map path, or the device is open. */
int block_tear_down_device(const struct plugin_host *host, const char *global_map_path,
			   const char *device_path, struct failure *reterr);

#endif
