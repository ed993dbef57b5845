/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create - directories, files and links that plugins make; see mount.h
 *
 * Below the root directory everything is made under a pinned parent, by one name, and opened
 * without following it. Host paths (hostPath, local.path) are different: their author may
 * name any place of the host, through any link. They are opened once, without magic links, which
 * would mean this process's own descriptors and not the author's.
 *
 * Nothing here removes or replaces anything but a symbolic link that podvol made.
 */
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/syscalls.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* Open one step of a host path. The fallback where a seccomp profile refuses openat2 follows magic
 * links, as kubelet does. */
static int open_step(int dir_fd, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t) (flags | O_CLOEXEC),
				.resolve = RESOLVE_NO_MAGICLINKS };
	int fd = openat2(dir_fd, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		fd = openat(dir_fd, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A relative path would mean the daemon's working directory, which is not meant. */
static int check_absolute(const char *path, struct failure *reterr)
{
	assert(path);
	if (path[0] != '/')
		return failed_plain(reterr, -EINVAL, "path '%s' is not absolute", path);
	return 0;
}

int open_host_path(const char *path, int flags, struct failure *reterr)
{
	int r = check_absolute(path, reterr);

	if (r < 0)
		return r;

	assert(!(flags & O_CREAT));
	r = open_step(AT_FDCWD, path, flags);
	if (r < 0)
		return failed(reterr, r, "cannot open '%s'", path);
	return r;
}

/* Enter one level, made when missing. */
static int make_step(int dir_fd, const char *name, mode_t mode)
{
	int fd = open_step(dir_fd, name, O_PATH | O_DIRECTORY);

	if (fd != -ENOENT)
		return fd;
	if (mkdirat(dir_fd, name, mode) < 0 && errno != EEXIST)
		return -errno;
	return open_step(dir_fd, name, O_PATH | O_DIRECTORY);
}

/* One level after the other, each opened once: a name that is swapped meanwhile changes nothing. */
int make_host_directories(const char *path, mode_t mode, struct failure *reterr)
{
	cleanup_free char *copy = NULL;
	cleanup_close int fd = -EBADF;
	char *rest, *name;
	int r;

	r = check_absolute(path, reterr);
	if (r < 0)
		return r;

	copy = strdup(path);
	if (!copy)
		return failed(reterr, -ENOMEM, "cannot make '%s'", path);
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failed(reterr, -errno, "cannot open '/'");

	rest = copy;
	while ((name = strsep(&rest, "/"))) {
		int next;

		if (name[0] == '\0')
			continue;
		next = make_step(fd, name, mode);
		if (next < 0)
			return failed(reterr, next, "cannot create directory '%s' of '%s'", name,
				      path);
		(void) close(fd);
		fd = next;
	}
	return TAKE_FD(fd);
}

/* O_EXCL: what is there already is never opened for writing. */
int make_host_file(const char *path, mode_t mode, struct failure *reterr)
{
	cleanup_close int parent_fd = -EBADF, fd = -EBADF;
	cleanup_free char *parent = NULL;
	const char *name;
	int r;

	r = check_absolute(path, reterr);
	if (r < 0)
		return r;

	name = strrchr(path, '/') + 1;
	if (name[0] == '\0')
		return failed_plain(reterr, -EISDIR, "path '%s' ends in a slash", path);
	parent = strndup(path, (size_t) (name - path));
	if (!parent)
		return failed(reterr, -ENOMEM, "cannot make '%s'", path);
	parent_fd = open_host_path(parent, O_PATH | O_DIRECTORY, reterr);
	if (parent_fd < 0)
		return parent_fd;

	fd = openat(parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return failed(reterr, -errno, "cannot make file '%s'", path);
	return 0;
}

int change_mode(int fd, mode_t mode, struct failure *reterr)
{
	char name[64];

	assert(fd >= 0);
	if (fchmodat2(fd, "", mode, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return failed(reterr, -errno, "cannot change the mode to %04o", mode);

	/* fchmod() refuses O_PATH descriptors; the magic link leads to the very same inode. */
	(void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (chmod(name, mode) < 0)
		return failed(reterr, -errno, "cannot change the mode to %04o", mode);
	return 0;
}

/* What was just made has the wanted mode but for the umask: set that. */
static int mend_mode(int fd, mode_t mode, struct failure *reterr)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return failed(reterr, -errno, "cannot inspect what was made");
	if ((st.st_mode & 07777) == mode)
		return 0;
	return change_mode(fd, mode, reterr);
}

int make_directory(const struct place *place, mode_t mode, bool *ret_made, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	bool made;
	int r;

	assert(place && place->parent_fd >= 0);

	made = mkdirat(place->parent_fd, place->name, mode) == 0;
	if (!made && errno != EEXIST)
		return failed(reterr, -errno, "cannot create directory '%s'", place->path);
	fd = openat(place->parent_fd, place->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return failed(reterr, -errno, "cannot open directory '%s'", place->path);
	if (made) {
		r = mend_mode(fd, mode, reterr);
		if (r < 0)
			return r;
	}

	if (ret_made)
		*ret_made = made;
	return TAKE_FD(fd);
}

int make_file(const struct place *place, mode_t mode, bool *ret_made, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	struct stat st;
	bool made;
	int r;

	assert(place && place->parent_fd >= 0);

	fd = openat(place->parent_fd, place->name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	made = fd >= 0;
	if (made) {
		r = mend_mode(fd, mode, reterr);
		if (r < 0)
			return r;
		(void) close(TAKE_FD(fd));
	} else if (errno != EEXIST) {
		return failed(reterr, -errno, "cannot make file '%s'", place->path);
	}

	fd = openat(place->parent_fd, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return failed(reterr, -errno, "cannot open file '%s'", place->path);
	if (S_ISLNK(st.st_mode))
		return failed(reterr, -ELOOP, "cannot make file '%s'", place->path);

	if (ret_made)
		*ret_made = made;
	return TAKE_FD(fd);
}

int make_link(const struct place *place, const char *points_to, struct failure *reterr)
{
	char old[PATH_MAX];
	ssize_t length;

	assert(place && place->parent_fd >= 0 && points_to);

	length = readlinkat(place->parent_fd, place->name, old, sizeof(old));
	if (length >= 0) {
		if ((size_t) length == strlen(points_to) &&
		    memcmp(old, points_to, (size_t) length) == 0)
			return 0;
		if (unlinkat(place->parent_fd, place->name, 0) < 0)
			return failed(reterr, -errno, "cannot replace the link '%s'", place->path);
	}
	if (symlinkat(points_to, place->parent_fd, place->name) < 0)
		return failed(reterr, -errno, "cannot create the link '%s'", place->path);
	return 0;
}
