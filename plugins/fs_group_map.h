/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs_group_map - a pod that asks for its fsGroup as a map of the mount, and whether it gets it
 *
 * Optional and off by default: the pod asks by an annotation, the node has to allow it. Whatever is
 * in the way is told as an event, and the files are walked instead, as Kubernetes does it.
 */
#ifndef PODVOL_PLUGINS_FS_GROUP_MAP_H
#define PODVOL_PLUGINS_FS_GROUP_MAP_H

#include "plugins/plugin.h"

/**
 * fs_group_map_open - the map with which files of one group appear as another's [worker]
 * @idmapped_later: the pod has hostUsers: false, and the kernel idmaps a mount only once
 * @report:         gets the event when there is none
 *
 * Return: a descriptor the caller owns, for bind_at(); -EBADF the files have to be walked.
 */
int fs_group_map_open(const struct plugin_host *host, const char *volume_name, gid_t from, gid_t to,
		      bool idmapped_later, struct stage_report *report);

/* The mount was refused with the map. Any thread. */
void fs_group_map_refused(const char *volume_name, const struct failure *why,
			  struct stage_report *report);

#endif
