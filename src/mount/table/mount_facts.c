/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_facts - what statx says about a descriptor or a place
 *
 * Two microseconds, exact for bind mounts of one file system, and without a question to a server:
 * attributes may be those the kernel remembers. Never triggers an automount, follows no link.
 */
#include "mount/table/mount_list.h"

#include "base/fnv1a.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

static int read_facts(int fd, const char *name, struct mount_facts *ret)
{
	unsigned int id = mount_ids_are_unique() ? STATX_MNT_ID_UNIQUE : STATX_MNT_ID;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC |
		    (*name ? 0 : AT_EMPTY_PATH);
	struct statx status;

	if (statx(fd, name, flags, STATX_BASIC_STATS | STATX_BTIME | id, &status) < 0)
		return -errno;
	*ret = (struct mount_facts){
		.mount_id = status.stx_mnt_id,
		.is_mount_root = status.stx_attributes & STATX_ATTR_MOUNT_ROOT,
		.device = makedev(status.stx_dev_major, status.stx_dev_minor),
		.inode = status.stx_ino,
		.mode = status.stx_mode,
		.special = makedev(status.stx_rdev_major, status.stx_rdev_minor),
		.bytes = status.stx_size,
		.made_nsec =
			(uint64_t) status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec,
		.uid = status.stx_uid,
		.gid = status.stx_gid,
	};
	return 0;
}

uint64_t mount_mark(uint64_t mount_id, dev_t device, ino_t inode)
{
	uint64_t sum = fnv1a_add(FNV1A_FIRST, mount_id);

	sum = fnv1a_add(sum ^ sum >> 32, device);
	return fnv1a_add(sum ^ sum >> 32, inode) | 1;
}

int place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr)
{
	int result;

	assert(place && place->parent_fd >= 0 && place->name && ret);
	result = read_facts(place->parent_fd, place->name, ret);
	return result < 0 ? failed(reterr, result, "cannot inspect '%s'", place->path) : 0;
}

int fd_facts(int fd, struct mount_facts *ret, struct failure *reterr)
{
	int result;

	assert(fd >= 0 && ret);
	result = read_facts(fd, "", ret);
	return result < 0 ? failed(reterr, result, "cannot inspect an open file") : 0;
}

int name_facts(int directory_fd, const char *name, struct mount_facts *ret)
{
	assert(directory_fd >= 0 && name && *name && ret);
	return read_facts(directory_fd, name, ret);
}

bool is_corrupted_mount_error(int error)
{
	switch (error < 0 ? -error : error) {
	case ENOTCONN:
	case ESTALE:
	case EIO:
	case EACCES:
	case EHOSTDOWN:
	case EWOULDBLOCK:
	case ENODEV:
		return true;
	default:
		return false;
	}
}
