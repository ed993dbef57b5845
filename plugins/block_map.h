/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_map - what every plugin's block mode shares: bind file, link and lock (spec: plugins,
 * 10)
 *
 * Global: the device node bound over the regular file <global map path>/<pod uid>. Pod: a symbolic
 * link <pod map path>/<volume> to the device. Lock: a read-only loop device on the bind file, so
 * that the kernel cannot give the device number to another device. Undone in reverse. All [worker].
 */
#pragma once

#include "base/failure.h"

struct plugin_host;

struct block_map {
	const struct plugin_host *host;
	const char *global_map_path; /* relative to the root directory */
	const char *pod_map_path;    /* relative: "pods/<uid>/volumeDevices/<plugin~>" */
	const char *volume_name, *pod_uid;
};

/**
 * block_map_device - bind file, link and lock of one pod
 * @device_path: absolute, of the device node; symbolic links are followed
 *
 * What is there already and right is kept, so a repetition after a crash ends the same.
 *
 * Return: 0; -EINVAL not absolute; -ENOTBLK no block device; -EBUSY the bind file shows another
 * device; else as the calls. After a failure anything of the three may be there.
 */
int block_map_device(const struct block_map *map, const char *device_path, struct failure *reterr);

/* Lock, link, bind file, in this order; what is missing is passed over, and what stands in the
 * link's place but is no link is left alone. 0, or as the calls. */
int block_unmap_device(const struct block_map *map, struct failure *reterr);

/**
 * block_tear_down_device - the global map path goes, and the device must be free
 * @global_map_path: relative to the root directory; missing is fine
 * @device_path:     "" unknown: no test
 *
 * Return: 0; -EBUSY a bind file remains below the global map path, or the device is open.
 */
int block_tear_down_device(const struct plugin_host *host, const char *global_map_path,
			   const char *device_path, struct failure *reterr);

/* May the device be opened exclusively? 0 also when there is no such device; -EBUSY. */
int block_device_check_free(const char *device_path, struct failure *reterr);
