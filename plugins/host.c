/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host - what plugins know of the node's hardware and kernel; see plugin.h
 */
#include "plugins/plugin.h"

#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

void plugin_host_measure(struct plugin_host *host)
{
	struct sysinfo info;
	struct statfs fs;

	host->allocatable.cpu_millis = sysconf(_SC_NPROCESSORS_ONLN) * 1000;
	if (sysinfo(&info) == 0)
		host->allocatable.memory_bytes = (int64_t) info.totalram * info.mem_unit;
	if (fstatfs(host->root_fd, &fs) == 0)
		host->allocatable.ephemeral_storage_bytes = (int64_t) fs.f_blocks * fs.f_bsize;
	host->has_selinux = access("/sys/fs/selinux/enforce", F_OK) == 0;
}
