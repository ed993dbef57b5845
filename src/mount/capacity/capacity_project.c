/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_project - a volume is a project of xfs or ext4, and that has a limit; see capacity.h
 *
 * One interface for both: generic quotas answer to the commands of xfs as well. The directory bears
 * the project's number, which what is made in it inherits, and is asked for it: nothing else
 * remembers. Numbers are taken from a range of their own, so that an administrator's projects are
 * never touched. A number is free when no inode and no block has it, and only then loses its limit:
 * one whose limit a kill left is taken again. statfs in the volume shows limit and use.
 */
#include "mount/capacity/capacity.h"

#include "base/cleanup.h"
#include "base/syscalls.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/quota.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { BASIC_BLOCK_BYTES = 512, NUMBERS_TRIED_MAX = 1024 };
#define NUMBER_FIRST 0x70000000u
#define NUMBER_COUNT 0x0fffff00u
#define XFS_MAGIC    0x58465342
#define COMMAND(x)   QCMD(x, PRJQUOTA)

static bool is_ours(uint32_t number)
{
	return number >= NUMBER_FIRST && number < NUMBER_FIRST + NUMBER_COUNT;
}

static uint32_t read_project(int fd)
{
	struct fsxattr attributes = { 0 };

	return ioctl(fd, FS_IOC_FSGETXATTR, &attributes) == 0 ? attributes.fsx_projid : 0;
}

/* What is above it may be in a project, too, which what is made in it inherits: that is not its
 * own. Return: 0 none of its own. */
static uint32_t own_project(int fd)
{
	uint32_t number = read_project(fd);
	cleanup_close int above_fd =
		is_ours(number) ? openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;

	return above_fd >= 0 && read_project(above_fd) != number ? number : 0;
}

static int read_quota(int fd, uint32_t number, struct fs_disk_quota *ret)
{
	*ret = (struct fs_disk_quota){ .d_version = FS_DQUOT_VERSION };
	return quotactl_fd((unsigned int) fd, COMMAND(Q_XGETQUOTA), number, ret) < 0 ? -errno : 0;
}

static int write_limit(int fd, uint32_t number, uint64_t bytes)
{
	struct fs_disk_quota quota = {
		.d_version = FS_DQUOT_VERSION,
		.d_flags = FS_PROJ_QUOTA,
		.d_fieldmask = FS_DQ_BHARD | FS_DQ_BSOFT,
		.d_id = number,
		.d_blk_hardlimit = (bytes + BASIC_BLOCK_BYTES - 1) / BASIC_BLOCK_BYTES,
	};

	return quotactl_fd((unsigned int) fd, COMMAND(Q_XSETQLIM), number, &quota) < 0 ? -errno : 0;
}

static int project_check(int base_fd, const char *path, struct failure *reterr)
{
	cleanup_close int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fs_quota_statv state = { .qs_version = FS_QSTATV_VERSION1 };
	struct statfs status;

	if (fd < 0 || fstatfs(fd, &status) < 0 ||
	    (status.f_type != XFS_MAGIC && status.f_type != EXT4_SUPER_MAGIC))
		return -ENOTTY;
	if (quotactl_fd((unsigned int) fd, COMMAND(Q_XGETQSTATV), 0, &state) == 0 &&
	    state.qs_flags & FS_QUOTA_PDQ_ENFD)
		return 0;
	return failed_plain(reterr, -EOPNOTSUPP,
			    "project quotas are off on the file system at '%s': an administrator "
			    "has to switch them on (mount option prjquota; of ext4 also tune2fs -O "
			    "project -Q prjquota)",
			    path);
}

static bool project_is_in_force(int fd)
{
	return own_project(fd) != 0;
}

static bool is_unused(const struct fs_disk_quota *quota)
{
	return quota->d_bcount == 0 && quota->d_icount == 0;
}

/* One that nothing has, beginning at the directory's own inode. Return: 0; -EUSERS. */
static int find_number(int fd, uint32_t *ret)
{
	struct fs_disk_quota quota;
	struct stat status;
	int result;

	if (fstat(fd, &status) < 0)
		return -errno;
	for (uint64_t i = 0; i < NUMBERS_TRIED_MAX; i++) {
		uint32_t number = NUMBER_FIRST + (uint32_t) ((status.st_ino + i) % NUMBER_COUNT);

		result = read_quota(fd, number, &quota);
		if (result < 0 && result != -ENOENT && result != -ESRCH)
			return result;
		*ret = number;
		if (result < 0 || is_unused(&quota))
			return 0;
	}
	return -EUSERS;
}

static int give_number(int fd, uint32_t *ret)
{
	struct fsxattr attributes;
	int result = find_number(fd, ret);

	if (result < 0)
		return result;
	if (ioctl(fd, FS_IOC_FSGETXATTR, &attributes) < 0)
		return -errno;
	attributes.fsx_projid = *ret;
	attributes.fsx_xflags |= FS_XFLAG_PROJINHERIT;
	return ioctl(fd, FS_IOC_FSSETXATTR, &attributes) < 0 ? -errno : 0;
}

/* From the look whether a number is free until something has it, or it has no limit. */
static pthread_mutex_t numbers = PTHREAD_MUTEX_INITIALIZER;

/* The directory has its number before the number has a limit, so that a kill leaves none that
 * no directory has. */
static int project_set_limit(int fd, const char *path, uint64_t bytes, struct failure *reterr)
{
	uint32_t number;
	int result = 0;

	(void) pthread_mutex_lock(&numbers);
	number = own_project(fd);
	if (number == 0)
		result = give_number(fd, &number);
	if (result == 0)
		result = write_limit(fd, number, bytes);
	(void) pthread_mutex_unlock(&numbers);
	return result < 0 ? failed(reterr, result, "cannot limit '%s' by a project quota", path)
			  : 0;
}

int capacity_limit_project(int fd, const char *path, uint64_t bytes, struct failure *reterr)
{
	uint32_t number;
	int result;

	assert(fd >= 0 && path && bytes > 0);
	result = project_check(fd, path, reterr);
	if (result == -ENOTTY)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "the file system at '%s' has no project quotas", path);
	if (result < 0)
		return result;
	number = read_project(fd);
	if (number != 0 && own_project(fd) == 0)
		return failed_plain(reterr, -EBUSY, "'%s' is in project %u, and stays in it", path,
				    number);
	return project_set_limit(fd, path, bytes, reterr);
}

static int project_read_usage(int fd, struct capacity_usage *ret)
{
	struct fs_disk_quota quota;
	uint32_t number = own_project(fd);
	int result = number != 0 ? read_quota(fd, number, &quota) : -ENODATA;

	if (result < 0)
		return result == -ENOENT || result == -ESRCH ? -ENODATA : result;
	ret->limit_bytes = quota.d_blk_hardlimit * BASIC_BLOCK_BYTES;
	ret->used_bytes = quota.d_bcount * BASIC_BLOCK_BYTES;
	ret->used_inodes = quota.d_icount;
	return ret->limit_bytes > 0 ? 0 : -ENODATA;
}

static uint64_t project_number(int fd)
{
	return own_project(fd);
}

/* What is deleted and still open has its number until it is closed, and a program of the pod can
 * have given the directory another volume's: those keep their limit. */
static void project_forget(int parent_fd, uint64_t number)
{
	cleanup_close int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fs_disk_quota quota;

	if (fd < 0 || !is_ours((uint32_t) number))
		return;
	(void) pthread_mutex_lock(&numbers);
	if (read_quota(fd, (uint32_t) number, &quota) == 0 && is_unused(&quota))
		(void) write_limit(fd, (uint32_t) number, 0);
	(void) pthread_mutex_unlock(&numbers);
}

const struct capacity_method capacity_project = {
	.word = CAPACITY_QUOTA,
	.check = project_check,
	.is_in_force = project_is_in_force,
	.set_limit = project_set_limit,
	.read_usage = project_read_usage,
	.number = project_number,
	.forget = project_forget,
};
