/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_btrfs - a volume is a subvolume whose quota group has a limit; see capacity.h
 *
 * With simple quotas (Linux 6.7) the limit is on a group of its own above the subvolume's, which
 * subvolumes that are made in the volume belong to as well. With the older ones it is on the
 * subvolume's own group, and such subvolumes would escape it; for two groups those quotas would
 * have to be counted again. What is used and allowed is read from sysfs.
 */
#include "mount/capacity/capacity.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

enum { SUBVOLUME_INODE = 256, LEVEL_SHIFT = 48 };

static bool is_btrfs(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && status.f_type == BTRFS_SUPER_MAGIC;
}

static bool is_subvolume(int fd)
{
	struct stat status;

	return is_btrfs(fd) && fstat(fd, &status) == 0 && status.st_ino == SUBVOLUME_INODE;
}

/* Of the subvolume that the descriptor lies in; 0: unknown. (BTRFS_IOC_GET_SUBVOL_INFO does
 * not know a new one before it is on disk.) */
static uint64_t subvolume_of(int fd)
{
	struct btrfs_ioctl_ino_lookup_args args = { .objectid = SUBVOLUME_INODE };

	return ioctl(fd, BTRFS_IOC_INO_LOOKUP, &args) == 0 ? args.treeid : 0;
}

/* ---- sysfs ---- */

/* The directory of quota groups; it is there while quotas are on. Return: a descriptor; -ENOENT. */
static int open_groups(int fd)
{
	struct btrfs_ioctl_fs_info_args info = { 0 };
	char path[128];
	const uint8_t *id = info.fsid;
	int groups;

	if (ioctl(fd, BTRFS_IOC_FS_INFO, &info) < 0)
		return -errno;
	(void) snprintf(path, sizeof(path),
			"/sys/fs/btrfs/"
			"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x/"
			"qgroups",
			id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9],
			id[10], id[11], id[12], id[13], id[14], id[15]);
	groups = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return groups < 0 ? -errno : groups;
}

/* Without the end of the line; "" when it cannot be read. */
static void read_word(int groups_fd, const char *path, char *ret, size_t size)
{
	cleanup_close int fd = openat(groups_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, ret, size - 1);

	ret[length < 0 ? 0 : length] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

static bool is_simple(int groups_fd)
{
	char mode[16];

	read_word(groups_fd, "mode", mode, sizeof(mode));
	return strcmp(mode, "squota") == 0;
}

static uint64_t read_number(int groups_fd, unsigned int level, uint64_t number, const char *what)
{
	char path[96], text[32];

	(void) snprintf(path, sizeof(path), "%u_%llu/%s", level, (unsigned long long) number, what);
	read_word(groups_fd, path, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* ---- groups ---- */

static int change_group(int fd, uint64_t group, bool create)
{
	struct btrfs_ioctl_qgroup_create_args args = { .create = create, .qgroupid = group };

	if (ioctl(fd, BTRFS_IOC_QGROUP_CREATE, &args) == 0)
		return 0;
	return create && errno == EEXIST ? 0 : -errno;
}

static int change_member(int fd, uint64_t member, uint64_t group, bool assign)
{
	struct btrfs_ioctl_qgroup_assign_args args = { .assign = assign,
						       .src = member,
						       .dst = group };

	if (ioctl(fd, BTRFS_IOC_QGROUP_ASSIGN, &args) >= 0)
		return 0;
	return assign && errno == EEXIST ? 0 : -errno;
}

static uint64_t upper_group(uint64_t subvolume)
{
	return (uint64_t) 1 << LEVEL_SHIFT | subvolume;
}

/* ---- the method ---- */

static int btrfs_check(int base_fd, const char *path, struct failure *reterr)
{
	cleanup_close int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int groups_fd = -EBADF;

	if (fd < 0 || !is_btrfs(fd))
		return -ENOTTY;
	groups_fd = open_groups(fd);
	if (groups_fd >= 0)
		return 0;
	return failed_plain(reterr, -EOPNOTSUPP,
			    "quotas are off on the btrfs at '%s': an administrator has to switch "
			    "them on (btrfs quota enable)",
			    path);
}

static bool btrfs_is_in_force(int fd)
{
	return is_subvolume(fd);
}

/* Closed until its mark is there: the kernel makes it by the umask, which becomes this
 * thread's own for a moment. */
static int btrfs_make_directory(int parent_fd, const char *name)
{
	struct btrfs_ioctl_vol_args args = { .fd = 0 };
	mode_t mask = 0;
	bool is_own;
	int result;

	if (strlen(name) > BTRFS_PATH_NAME_MAX)
		return -ENAMETOOLONG;
	(void) strncpy(args.name, name, sizeof(args.name) - 1);
	is_own = unshare(CLONE_FS) == 0;
	if (is_own)
		mask = umask(0777);
	result = ioctl(parent_fd, BTRFS_IOC_SUBVOL_CREATE, &args) < 0 ? -errno : 0;
	if (is_own)
		(void) umask(mask);
	return result;
}

/* One level up, because in a volume that is full not even its limit can be changed. */
static int limit_group(int fd, int groups_fd, uint64_t number, uint64_t bytes)
{
	struct btrfs_ioctl_qgroup_limit_args args = { .qgroupid = number };
	cleanup_close int parent_fd = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = parent_fd < 0 ? -errno : 0;

	if (result == 0 && is_simple(groups_fd)) {
		args.qgroupid = upper_group(number);
		result = change_group(parent_fd, args.qgroupid, true);
		if (result == 0)
			result = change_member(parent_fd, number, args.qgroupid, true);
	}
	args.lim.flags = BTRFS_QGROUP_LIMIT_MAX_RFER;
	args.lim.max_rfer = bytes;
	if (result == 0 && ioctl(parent_fd, BTRFS_IOC_QGROUP_LIMIT, &args) < 0)
		result = -errno;
	return result;
}

static int btrfs_set_limit(int fd, const char *path, uint64_t bytes, struct failure *reterr)
{
	cleanup_close int groups_fd = open_groups(fd);
	uint64_t number = subvolume_of(fd);
	int result;

	if (groups_fd < 0 || number == 0)
		return failed_plain(reterr, -EOPNOTSUPP, "quotas were switched off at '%s'", path);
	result = limit_group(fd, groups_fd, number, bytes);
	return result < 0 ? failed(reterr, result, "cannot limit '%s'", path) : 0;
}

static int btrfs_read_usage(int fd, struct capacity_usage *ret)
{
	cleanup_close int groups_fd = -EBADF;
	uint64_t number;

	if (!is_btrfs(fd))
		return -ENODATA;
	number = subvolume_of(fd);
	groups_fd = open_groups(fd);
	if (groups_fd < 0 || number == 0)
		return -ENODATA;
	for (unsigned int level = 0; level < 2; level++) {
		ret->limit_bytes = read_number(groups_fd, level, number, "max_referenced");
		ret->used_bytes = read_number(groups_fd, level, number, "referenced");
		ret->used_inodes = 0;
		if (ret->limit_bytes > 0)
			return 0;
	}
	return -ENODATA;
}

/* By its number and not by its name, which another may bear by now. */
static int btrfs_destroy(int parent_fd, int fd)
{
	struct btrfs_ioctl_vol_args_v2 args = { .flags = BTRFS_SUBVOL_SPEC_BY_ID };

	args.subvolid = subvolume_of(fd);
	if (!is_subvolume(fd) || args.subvolid == 0)
		return -EOPNOTSUPP;
	return ioctl(parent_fd, BTRFS_IOC_SNAP_DESTROY_V2, &args) < 0 ? -errno : 0;
}

static uint64_t btrfs_number(int fd)
{
	return subvolume_of(fd);
}

/* The subvolume's own group goes with it, in newer kernels; podvol made the one above. */
static void btrfs_forget(int parent_fd, uint64_t number)
{
	cleanup_close int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int groups_fd = fd < 0 ? -EBADF : open_groups(fd);

	if (groups_fd < 0 || !is_simple(groups_fd))
		return;
	(void) change_member(fd, number, upper_group(number), false);
	(void) change_group(fd, upper_group(number), false);
}

const struct capacity_method capacity_btrfs = {
	.word = CAPACITY_QUOTA,
	.check = btrfs_check,
	.is_in_force = btrfs_is_in_force,
	.make_directory = btrfs_make_directory,
	.set_limit = btrfs_set_limit,
	.read_usage = btrfs_read_usage,
	.destroy = btrfs_destroy,
	.number = btrfs_number,
	.forget = btrfs_forget,
};
