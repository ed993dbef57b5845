/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_users - is a directory mounted somewhere; see mount_holders.h
 *
 * A bind mount shows device and path within the file system, the same in every namespace. So what
 * is found out first is what a bind of our directory would show; who has that is mount_holders'.
 */
#include "mount/holders/mount_holders.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* What a bind mount of the directory would show. */
struct origin {
	dev_t device;
	char root[PATH_MAX];
	char mount_point[PATH_MAX];
	uint64_t mount_id;
};

/* @path: as this namespace names it. Return: 0; -ENAMETOOLONG. */
static int take_origin(const struct mountinfo_line *mount, const char *path, struct origin *ret)
{
	size_t prefix = strcmp(mount->mount_point, "/") == 0 ? 0 : strlen(mount->mount_point);
	const char *root = strcmp(mount->root, "/") == 0 ? "" : mount->root;
	int length = snprintf(ret->root, sizeof(ret->root), "%s%s", root, path + prefix);

	if (length == 0)
		length = snprintf(ret->root, sizeof(ret->root), "/");
	ret->device = mount->device;
	ret->mount_id = mount->mount_id;
	(void) snprintf(ret->mount_point, sizeof(ret->mount_point), "%s", mount->mount_point);
	return length > 0 && length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Return: 0; -ESTALE its mount is in no table. */
static int find_mount(uint64_t mount_id, const char *path, struct origin *ret)
{
	cleanup_close int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *table = NULL;
	int r = proc_fd < 0 ? -errno : process_mounts(proc_fd, MOUNT_TABLE_BYTES_MAX, &table);

	for (const char *line = table; r >= 0 && *line; line = table_next_line(line)) {
		cleanup_free char *copy = table_copy_line(line);
		struct mountinfo_line mount;

		if (!copy)
			return -ENOMEM;
		if (mountinfo_parse(copy, &mount) == 0 && mount.mount_id == mount_id)
			return take_origin(&mount, path, ret);
	}
	return r < 0 ? r : -ESTALE;
}

static int find_origin(int fd, struct origin *ret)
{
	char path[PATH_MAX];
	const struct fd_path link = fd_path(fd);
	ssize_t length = readlink(link.text, path, sizeof(path) - 1);
	struct statx status;

	if (length < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
		return -errno;
	path[length] = '\0';
	return find_mount(status.stx_mnt_id, path, ret);
}

/* Where another mount is on top of it, the directory itself. Return: a descriptor. */
static int open_mount(int directory_fd, const struct origin *origin)
{
	cleanup_close int fd = open(origin->mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statx status;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0 ||
	    status.stx_mnt_id != origin->mount_id) {
		(void) close_keep_errno(fd);
		fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return fd < 0 ? -errno : TAKE_FD(fd);
}

int directory_users_check(int fd, struct failure *reterr)
{
	cleanup_free struct origin *origin = calloc(1, sizeof(*origin));
	cleanup_close int mount_fd = -EBADF;
	struct mount_directory directory = { .fd = fd };
	struct mount_holder holder = { .pid_fd = -EBADF };
	char text[MOUNT_HOLDER_TEXT_BYTES];
	int r;

	assert(fd >= 0);
	r = origin ? find_origin(fd, origin) : -ENOMEM;
	if (r >= 0)
		r = mount_fd = open_mount(fd, origin);
	if (r < 0)
		return failed(reterr, r, "cannot tell whether it is mounted");
	holder.device = origin->device;
	holder.root = origin->root;
	directory.mount_fd = mount_fd;
	holder.directory = &directory;
	r = mount_holders_search(&holder, 1, reterr);
	if (r < 0 || !holder.found)
		return r;
	(void) close_keep_errno(holder.pid_fd);
	if (holder.how == HELD_HERE)
		return failed_plain(reterr, -EBUSY, "it is mounted at '%s'", holder.where);
	mount_holder_print(&holder, text);
	return failed_plain(reterr, -EBUSY, "%s", text);
}
