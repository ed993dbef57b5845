/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_within - is an open file or directory a directory itself, or below it; see mount_holders.h
 *
 * The file is opened once more through a mount that shows the directory: then the kernel names both
 * by paths of that mount.
 */
#include "mount/holders/mount_holders.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#ifndef AT_HANDLE_CONNECTABLE
#define AT_HANDLE_CONNECTABLE 0x002 /* linux/fcntl.h, Linux 6.13 */
#endif

/* Return: 1, 0; -ESTALE the directory was renamed meanwhile; else as the calls. */
static int compare_paths(int directory_fd, int fd)
{
	char directory[PATH_MAX], again[PATH_MAX], path[PATH_MAX];
	int r = fd_real_path(directory_fd, directory);

	if (r >= 0)
		r = fd_real_path(fd, path);
	if (r >= 0)
		r = fd_real_path(directory_fd, again);
	if (r < 0)
		return r;
	if (strcmp(directory, again) != 0)
		return -ESTALE;
	return strcmp(path, directory) == 0 || path_is_below(path, directory);
}

int file_within(int directory_fd, int mount_fd, int fd)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} room = { .handle.handle_bytes = MAX_HANDLE_SZ };
	cleanup_close int shown_fd = -EBADF;
	struct stat directory, file;
	const struct fd_path path = fd_path(fd);
	int mount_id, flags = AT_SYMLINK_FOLLOW;

	assert(directory_fd >= 0 && mount_fd >= 0 && fd >= 0);
	if (fstat(directory_fd, &directory) < 0 || fstat(fd, &file) < 0)
		return -errno;
	if (file.st_dev == directory.st_dev && file.st_ino == directory.st_ino)
		return 1;
	if (!S_ISDIR(file.st_mode))
		flags |= AT_HANDLE_CONNECTABLE;
	if (name_to_handle_at(AT_FDCWD, path.text, &room.handle, &mount_id, flags) < 0)
		return -errno;
	shown_fd = open_by_handle_at(mount_fd, &room.handle, O_PATH | O_CLOEXEC);
	return shown_fd < 0 ? -errno : compare_paths(directory_fd, shown_fd);
}
