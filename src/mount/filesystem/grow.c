/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grow - ext4 and xfs grow online; see format.h
 *
 * Privileged: CAP_SYS_RESOURCE and CAP_SYS_ADMIN. The size is asked of the device itself.
 */
#include "mount/filesystem/format.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#define XFS_MAGIC 0x58465342

enum { EXT4_SUPERBLOCK = 1024 };

/* Which no header has: so many blocks. */
#define EXT4_RESIZE _IOW('f', 16, uint64_t)

/* Of the xfs library, which is no part of the kernel's headers. */
struct xfs_geometry {
	uint32_t block_size, rt_extent_size, ag_blocks, ag_count, log_blocks, sector_size,
		inode_size, inode_percent;
	uint64_t data_blocks, rt_blocks, rt_extents, log_start;
	uint8_t uuid[16];
	uint32_t stripe_unit, stripe_width;
	int32_t version;
	uint32_t flags, log_sector_size, rt_sector_size, dir_block_size;
};
struct xfs_growth {
	uint64_t blocks;
	uint32_t inode_percent;
};
#define XFS_GEOMETRY _IOR('X', 100, struct xfs_geometry)
#define XFS_GROW     _IOW('X', 110, struct xfs_growth)

static uint32_t get_u32(const uint8_t bytes[4])
{
	return (uint32_t) bytes[0] | (uint32_t) bytes[1] << 8 | (uint32_t) bytes[2] << 16 |
	       (uint32_t) bytes[3] << 24;
}

/* How many blocks there are, of the superblock: statfs leaves out what the file system needs
 * itself. 0: unknown. */
static uint64_t ext4_blocks(int device_fd)
{
	uint8_t low[4], high[4];

	if (pread(device_fd, low, sizeof(low), EXT4_SUPERBLOCK + 0x04) != sizeof(low) ||
	    pread(device_fd, high, sizeof(high), EXT4_SUPERBLOCK + 0x150) != sizeof(high))
		return 0;
	return (uint64_t) get_u32(high) << 32 | get_u32(low);
}

static int grow_ext4(int fd, int device_fd, uint64_t bytes, uint64_t block_bytes)
{
	uint64_t blocks = bytes / block_bytes;

	if (ext4_blocks(device_fd) >= blocks)
		return 0;
	return ioctl(fd, EXT4_RESIZE, &blocks) < 0 ? -errno : 0;
}

static int grow_xfs(int fd, uint64_t bytes)
{
	struct xfs_geometry now;
	struct xfs_growth wanted;

	if (ioctl(fd, XFS_GEOMETRY, &now) < 0)
		return -errno;
	wanted = (struct xfs_growth){ bytes / now.block_size, now.inode_percent };
	if (wanted.blocks <= now.data_blocks)
		return 0;
	return ioctl(fd, XFS_GROW, &wanted) < 0 ? -errno : 0;
}

int filesystem_grow(int mount_fd, int device_fd, struct failure *reterr)
{
	cleanup_close int fd = openat(mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs status;
	uint64_t bytes;
	int result;

	assert(mount_fd >= 0 && device_fd >= 0);
	if (fd < 0 || fstatfs(fd, &status) < 0 || ioctl(device_fd, BLKGETSIZE64, &bytes) < 0)
		return failed(reterr, -errno,
			      "cannot query the sizes of a file system and its device");
	if (status.f_type == EXT4_SUPER_MAGIC)
		result = grow_ext4(fd, device_fd, bytes, (uint64_t) status.f_bsize);
	else if (status.f_type == XFS_MAGIC)
		result = grow_xfs(fd, bytes);
	else
		return failed_plain(reterr, -EOPNOTSUPP,
				    "only ext4 and xfs can be grown while they are mounted");
	return result < 0 ? failed(reterr, result, "cannot grow the file system") : 0;
}
