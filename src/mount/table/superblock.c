/* SPDX-License-Identifier: Apache-2.0 */
/*
 * superblock - is this the same file system; see superblock.h
 *
 * No call tells a superblock's number of a mount that is in no table: statx tells the inode's,
 * statmount wants a namespace. /proc/self/fdinfo does, of a watch of inotify ("sdev:"). Adding a
 * watch checks permissions, which a network file system may ask its server for; so the type of the
 * file handle, which is made without a server, tells first whether there can be a difference.
 */
#include "mount/table/superblock.h"

#include "base/cleanup.h"
#include "mount/holders/process.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
	HANDLE_BTRFS_FIRST = 0x4d, /* enum fid_type of linux/exportfs.h */
	HANDLE_BTRFS_LAST = 0x4f,
	HANDLE_OVERLAY_FIRST = 0xf8,
	HANDLE_OVERLAY_LAST = 0xfb,
	MINOR_BITS = 20, /* as the kernel prints s_dev */
};

/* File systems without handles (overlay as it is usually mounted, 9p) may differ as well. */
static int may_differ(int fd)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} room = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int type, mount_id;

	if (name_to_handle_at(fd, "", &room.handle, &mount_id, AT_EMPTY_PATH) < 0)
		return errno == EOPNOTSUPP || errno == EOVERFLOW || errno == ENOSYS ||
				       errno == EPERM
			       ? 1
			       : -errno;
	type = room.handle.handle_type;
	return (type >= HANDLE_BTRFS_FIRST && type <= HANDLE_BTRFS_LAST) ||
	       (type >= HANDLE_OVERLAY_FIRST && type <= HANDLE_OVERLAY_LAST);
}

/* "inotify wd:1 ino:100 sdev:2a mask:..." after lines about the descriptor itself. */
static int parse_watch(const char *text, dev_t *ret)
{
	const char *at = strstr(text, " sdev:");
	unsigned long number;

	if (!at || sscanf(at, " sdev:%lx", &number) != 1)
		return -EIO;
	*ret = makedev((unsigned int) (number >> MINOR_BITS),
		       (unsigned int) (number & ((1U << MINOR_BITS) - 1)));
	return 0;
}

/* A watch holds the inode, not the mount. Return: a descriptor; else as the calls. */
static int watch_new(int fd)
{
	cleanup_close int inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const struct fd_path path = fd_path(fd);

	if (inotify_fd < 0 || inotify_add_watch(inotify_fd, path.text, IN_DELETE_SELF) < 0)
		return -errno;
	return TAKE_FD(inotify_fd);
}

static int watch_device(int inotify_fd, dev_t *ret)
{
	char name[64], text[1024];
	int r;

	(void) snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", inotify_fd);
	r = process_read_short(AT_FDCWD, name, text, sizeof(text));
	return r < 0 ? r : parse_watch(text, ret);
}

static int inode_device(int fd, dev_t *ret)
{
	struct statx facts;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &facts) < 0)
		return -errno;
	*ret = makedev(facts.stx_dev_major, facts.stx_dev_minor);
	return 0;
}

int superblock_device_close(int fd, dev_t *ret)
{
	cleanup_close int inotify_fd = -EBADF;
	int r;

	assert(fd >= 0 && ret);
	r = may_differ(fd);
	if (r == 0)
		r = inode_device(fd, ret);
	else if (r > 0)
		r = inotify_fd = watch_new(fd);
	(void) close(fd);
	return inotify_fd < 0 ? r : watch_device(inotify_fd, ret);
}

int superblock_device(int fd, dev_t *ret)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : superblock_device_close(copy, ret);
}
