/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found - volume directories that are there below the root directory, of any program
 *
 * Kubelet's layout: pods/<uid>/volumes/<plugin>/<name>,
 * pods/<uid>/volumeDevices/<plugin>/<name>, for containers' sub-paths
 * pods/<uid>/volume-subpaths/<name>, and what is staged for all pods of the node below plugins/.
 * Of a CSI volume its vol_data.json is read. Only names and facts are gathered; nothing is changed,
 * no link is followed, no mount is entered, and a volume itself is never opened, so that a dead
 * server behind one cannot stop the start.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct found_volume {
	const char *pod_uid;     /* "": staged for the whole node */
	const char *plugin_name; /* '~' already turned into '/' */
	const char *volume_name; /* of what CSI staged: "<driver>/<hash of the handle>" */
	bool block;     /* below volumeDevices; staged: a global map directory with bind files */
	bool sub_paths; /* below volume-subpaths, which knows no plugin: plugin_name is "" */
	bool is_mount_point; /* or a mount that cannot be examined any more; of CSI its `mount` */
	/* Of the mount there, as mount_mark() has it; 0 none or unknown, and of CSI volumes. */
	uint64_t mount_id, mount_mark;
	char *source; /* of the mount, when it is in /dev; NULL: another, or no takeover */
	/* Of a CSI volume, from its vol_data.json; "" when that cannot be used, for this reason. */
	const char *driver_name, *volume_handle, *problem;
};

struct found_list {
	struct found_volume *volumes;
	size_t count, capacity;
	char **pod_uids; /* every directory below `pods`, with volumes or without */
	size_t pod_count, pod_capacity;
};

enum { FOUND_VOLUMES_MAX = 100000 /* and as many pods */ };

/**
 * found_read - list the pods' directories, their volumes and what is staged [worker, or start-up]
 * @root_fd: the root directory; O_PATH is enough
 * @ret:     to be given to found_list_done(), also when this fails
 *
 * A directory that cannot be read, or that is a mount point where none should be, is logged and
 * passed over; a missing one is normal.
 *
 * Return: 0; 1 there are more than FOUND_VOLUMES_MAX, which @reterr says, and @ret holds the first;
 * -ENOMEM, or why `pods` cannot be read.
 */
int found_read(int root_fd, struct found_list *ret, struct failure *reterr);
/* Frees the names; an empty list is fine. */
void found_list_done(struct found_list *list);
