/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_path - opening and making directories below a pinned directory
 *
 * Privileged: runs as root on paths that pods can influence. The argument: every look-up is one
 * openat2(2) whose rules the kernel enforces while it walks, or one component at a time without
 * following links; what was opened is used by descriptor and never looked up again. Refuses
 * absolute paths, magic links, and for our own directories symbolic links and other mounts.
 */
#include "mount/path/safe_path.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/syscalls.h"
#include "mount/bind/fallback.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* With ".." in a path the kernel gives up when something was renamed meanwhile. An attacker
 * who renames all the time must not keep a worker here for ever. */
enum { OPEN_ATTEMPTS_MAX = 16 };

/* A teardown removes parents that it left empty, and a set-up beside it may need them. */
enum { MAKE_ATTEMPTS_MAX = 64 };

struct fd_path fd_path(int fd)
{
	struct fd_path path;

	assert(fd >= 0);
	(void) snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

int fd_real_path(int fd, char ret[PATH_MAX])
{
	ssize_t length = readlink(fd_path(fd).text, ret, PATH_MAX);

	if (length < 0)
		return -errno;
	if (length == PATH_MAX)
		return -ENAMETOOLONG;
	ret[length] = '\0';
	return 0;
}

static uint64_t policy_resolve(enum path_policy policy)
{
	switch (policy) {
	case PATH_NO_SYMLINKS:
		return RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
		       RESOLVE_NO_XDEV;
	case PATH_NO_SYMLINKS_ANY_MOUNT:
		return RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	case PATH_BENEATH:
		return RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
	}
	assert(!"a path policy");
	return RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
}

int path_open(int root_fd, const char *path, int flags, enum path_policy policy)
{
	struct open_how how = {
		.flags = (uint64_t) (unsigned int) (flags | O_CLOEXEC),
		.resolve = policy_resolve(policy),
	};

	assert(root_fd >= 0 && path);
	assert(!(flags & (O_CREAT | O_TMPFILE) & ~O_DIRECTORY));

	if (*path == '\0')
		path = ".";
	for (unsigned int attempt = 0; attempt < OPEN_ATTEMPTS_MAX; attempt++) {
		int fd = openat2(root_fd, path, &how, sizeof(how));

		if (fd >= 0)
			return fd;
		if (call_is_missing(-errno, CALL_OPENAT2))
			return path_walk(root_fd, path, flags, policy);
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	/* Any rename or mount of the whole system makes it give up on "..", and there are machines
	 * where there is always one: by hand it only depends on this path. */
	return path_walk(root_fd, path, flags, policy);
}

/* The errors that the rules of openat2 give a meaning of their own. */
static int open_failed(struct failure *reterr, int error, const char *path, enum path_policy policy)
{
	if (error == -EXDEV)
		return failed_plain(reterr, error,
				    "cannot open '%s': it leads out of its directory%s", path,
				    policy == PATH_NO_SYMLINKS ? " or into another mount" : "");
	if (error == -ELOOP && policy != PATH_BENEATH)
		return failed_plain(reterr, error,
				    "cannot open '%s': a symbolic link where none may be", path);
	if (error == -EAGAIN)
		return failed_plain(reterr, error,
				    "cannot open '%s': renamed again and again meanwhile", path);
	return failed(reterr, error, "cannot open '%s'", path);
}

int open_beneath(int root_fd, const char *path, int flags, enum path_policy policy,
		 struct failure *reterr)
{
	int fd = path_open(root_fd, path, flags, policy);

	if (fd < 0)
		return open_failed(reterr, fd, path, policy);
	return fd;
}

/* 1 it holds nothing, 0 it holds something. */
static int is_empty(int fd)
{
	int readable_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_closedir DIR *directory = readable_fd < 0 ? NULL : fdopendir(readable_fd);
	const struct dirent *entry;
	int more;

	if (!directory) {
		int error = -errno;

		(void) close_keep_errno(readable_fd);
		return error;
	}
	while ((more = directory_next(directory, &entry)) > 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return 0;
	return more < 0 ? more : 1;
}

/* mkdir obeys the umask and a setgid parent; callers were promised exactly @mode. A process that
 * may write in the parent may have put another directory in the place of the new one: its mode,
 * which guards what is in it, is not changed. */
static int set_exact_mode(int fd, mode_t mode)
{
	struct stat status;
	int result;

	if (fstat(fd, &status) < 0)
		return -errno;
	if ((status.st_mode & 07777) == mode)
		return 0;
	result = is_empty(fd);
	if (result <= 0)
		return result < 0 ? result : -EAGAIN;
	return change_mode(fd, mode, NULL);
}

/* One level down. *missing: an upper level was made just now, so this one cannot exist. */
static int enter_or_make(int fd, const char *name, mode_t mode, bool *missing)
{
	cleanup_close int child_fd = -EBADF;
	int result;

	if (!*missing) {
		child_fd = path_open(fd, name, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS);
		if (child_fd != -ENOENT)
			return TAKE_FD(child_fd);
		*missing = true;
	}

	if (mkdirat(fd, name, mode) < 0) {
		if (errno != EEXIST)
			return -errno;
		/* Another process made it in between, and its mode is theirs. */
		return path_open(fd, name, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS);
	}

	child_fd = path_open(fd, name, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS);
	if (child_fd < 0)
		return child_fd;
	result = set_exact_mode(child_fd, mode);
	return result < 0 ? result : TAKE_FD(child_fd);
}

static int make_levels(int root_fd, char *path, mode_t mode)
{
	cleanup_close int fd = -EBADF;
	bool missing = false;
	char *rest = path;
	char *name;

	while ((name = strsep(&rest, "/"))) {
		int child_fd;

		if (*name == '\0' || strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0)
			return -EXDEV;
		child_fd = enter_or_make(fd < 0 ? root_fd : fd, name, mode, &missing);
		if (child_fd < 0)
			return child_fd;
		(void) close_keep_errno(fd);
		fd = child_fd;
	}
	return fd < 0 ? path_open(root_fd, ".", O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS)
		      : TAKE_FD(fd);
}

int path_make(int root_fd, const char *path, mode_t mode)
{
	cleanup_free char *copy = strdup(path);

	assert(root_fd >= 0);
	return copy ? make_levels(root_fd, copy, mode) : -ENOMEM;
}

/* In a directory that was removed after it was opened nothing can be made any more. */
static int unless_removed(int opened_fd)
{
	cleanup_close int fd = opened_fd;
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_nlink == 0)
		return -ENOENT;
	return TAKE_FD(fd);
}

int make_directories(int root_fd, const char *path, mode_t mode, struct failure *reterr)
{
	int fd = -ENOENT;

	assert(root_fd >= 0 && path && !(mode & ~07777U));

	for (unsigned int attempt = 0; fd == -ENOENT && attempt < MAKE_ATTEMPTS_MAX; attempt++) {
		/* Mostly all of it exists: one call instead of one per level. */
		fd = unless_removed(
			path_open(root_fd, path, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS));
		if (fd >= 0)
			return fd;
		if (fd != -ENOENT)
			return open_failed(reterr, fd, path, PATH_NO_SYMLINKS);
		if (*path == '/')
			return open_failed(reterr, -EXDEV, path, PATH_NO_SYMLINKS);
		fd = unless_removed(path_make(root_fd, path, mode));
	}
	if (fd == -EXDEV || fd == -ELOOP || fd == -EAGAIN)
		return open_failed(reterr, fd, path, PATH_NO_SYMLINKS);
	if (fd < 0)
		return failed(reterr, fd, "cannot create directory '%s'", path);
	return fd;
}
