/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs_group_map - a pod that asks for its fsGroup as a map of the mount; see local.h
 */
#include "plugins/local.h"

#include "mount/bind/idmap.h"

#include <assert.h>
#include <errno.h>

void fs_group_map_refused(const char *volume_name, const struct failure *why,
			  struct stage_report *report)
{
	assert(volume_name && why && report);
	stage_event_add(
		report, false, "Warning", "VolumeIdmapRefused",
		"volume '%s': changing the group of each file, without an id-mapped mount: %s",
		volume_name, why->text);
}

int fs_group_map_open(const struct plugin_host *host, const char *volume_name, gid_t from, gid_t to,
		      bool idmapped_later, struct stage_report *report)
{
	struct failure failure = { 0 };
	int fd;

	if (idmapped_later)
		fd = failed_plain(&failure, -EPERM,
				  "the pod has hostUsers: false, so its runtime idmaps the mount");
	else if (host->idmaps)
		fd = idmap_exchange(host->idmaps, from, to, &failure);
	else
		fd = failed_plain(&failure, -EPERM,
				  "podvold's option idmapped-fs-group does not allow a map");
	if (fd >= 0)
		return fd;
	fs_group_map_refused(volume_name, &failure, report);
	return -EBADF;
}
