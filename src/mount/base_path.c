/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_path - may volumes be made in this directory; see volume_directory.h
 */
#include "mount/remove/volume_directory.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* The bits of the group are a mask then, for users and groups that the list names. */
static bool has_access_list(int fd)
{
	const struct fd_path link = fd_path(fd);

	return getxattr(link.text, "system.posix_acl_access", NULL, 0) >= 0 ||
	       (errno != ENODATA && errno != EOPNOTSUPP);
}

/* In a sticky directory they may make names, and touch no other user's. */
static bool others_write(int fd, const struct stat *status)
{
	if (status->st_mode & S_ISVTX)
		return false;
	return (status->st_mode & S_IWOTH) ||
	       ((status->st_mode & S_IWGRP) && (status->st_gid != 0 || has_access_list(fd)));
}

static int refuse(int fd, const char *path, const struct stat *status, bool is_base,
		  struct failure *reterr)
{
	char real[PATH_MAX];

	if (fd_real_path(fd, real) < 0)
		real[0] = '\0';
	return failed_plain(reterr, -EPERM,
			    "base path '%s': others than root may write in %s%s%s%s (uid %u, gid "
			    "%u, mode %04o): they could exchange volumes; give it to root, mode "
			    "0755",
			    path, is_base ? "it" : "'", is_base ? "" : real, is_base ? "" : "'",
			    is_base ? "" : " above it", (unsigned int) status->st_uid,
			    (unsigned int) status->st_gid, (unsigned int) status->st_mode & 07777);
}

int base_path_check(int fd, const char *path, struct failure *reterr)
{
	cleanup_close int at_fd = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat status, below = { .st_ino = 0 };
	bool is_base = true;

	assert(fd >= 0 && path);
	for (;;) {
		int above_fd;

		if (at_fd < 0 || fstat(at_fd, &status) < 0)
			return failed(reterr, -errno, "cannot inspect base path '%s'", path);
		if (!is_base && status.st_dev == below.st_dev && status.st_ino == below.st_ino)
			return 0; /* "/" */
		if (status.st_uid != 0 || others_write(at_fd, &status))
			return refuse(at_fd, path, &status, is_base, reterr);
		above_fd = openat(at_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		(void) close_keep_errno(at_fd);
		at_fd = above_fd;
		below = status;
		is_base = false;
	}
}

static int check_level(int fd, const char *path, size_t length, struct failure *reterr)
{
	const struct fd_path link = fd_path(fd);

	if (getxattr(link.text, VOLUME_DIRECTORY_MARK, NULL, 0) >= 0)
		return failed_plain(reterr, -EEXIST,
				    "'%.*s' is the directory of a volume or a snapshot",
				    (int) length, path);
	if (errno != ENODATA && errno != EOPNOTSUPP)
		return failed(reterr, -errno, "cannot inspect '%.*s'", (int) length, path);
	return 0;
}

int base_path_check_named(const char *path, struct failure *reterr)
{
	cleanup_close int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *rest = path;
	int r = fd < 0 ? failed(reterr, -errno, "cannot open '/'") : 0;

	assert(path[0] == '/');
	while (r == 0 && *(rest += strspn(rest, "/"))) {
		size_t length = strcspn(rest, "/");
		char name[NAME_MAX + 1];
		int next;

		if (length > NAME_MAX)
			return failed(reterr, -ENAMETOOLONG, "cannot open '%.100s'", path);
		memcpy(name, rest, length);
		name[length] = '\0';
		rest += length;
		next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return failed(reterr, -errno,
				      "'%.*s' must be a directory, and no symbolic link",
				      (int) (rest - path), path);
		(void) close(fd);
		fd = next;
		r = check_level(fd, path, (size_t) (rest - path), reterr);
	}
	return r;
}
