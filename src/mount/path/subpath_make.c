/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath_make - directories that are missing in a volume: kubelet's SafeMakeDir; see subpath.h
 *
 * Privileged: runs as root in a tree whose owner may change it at any moment. The argument: what
 * exists is found by one walk that cannot leave the volume; what is missing is made one name at a
 * time under the descriptor of the level above, and entered without following a link. Refuses to
 * make anything through a link that leads nowhere.
 */
#include "mount/path/safe_path.h"
#include "mount/path/subpath.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

/* A process that removes what we make must not keep a worker here for ever. */
enum { MAKE_ATTEMPTS_MAX = 16 };

int subpath_check(const char *sub_path, struct failure *reterr)
{
	assert(sub_path);
	if (*sub_path == '/')
		return failed_plain(reterr, -EINVAL,
				    "error SubPath `%s` must not be an absolute path", sub_path);
	if (path_has_backstep(sub_path))
		return failed_plain(reterr, -EINVAL,
				    "unable to provision SubPath `%s`: must not contain '..'",
				    sub_path);
	return 0;
}

/* The longest beginning of @path that exists, opened; @ret_rest: what comes after it. @path is cut
 * to try, and whole again afterwards. */
static int open_longest(int volume_fd, char *path, const char **ret_rest)
{
	char *end = path + strlen(path);
	int fd;

	for (;;) {
		char kept = *end;

		*end = '\0';
		fd = path_open(volume_fd, path, O_PATH | O_DIRECTORY, PATH_BENEATH);
		*end = kept;
		if (fd != -ENOENT || end == path)
			break;
		do
			end--;
		while (end > path && *end != '/');
	}
	*ret_rest = end;
	return fd;
}

/* Links are followed in what exists only: path_make() follows none. */
static int make_once(int volume_fd, char *path, mode_t mode)
{
	cleanup_close int fd = -EBADF;
	const char *rest;

	fd = open_longest(volume_fd, path, &rest);
	if (fd < 0 || *rest == '\0')
		return TAKE_FD(fd);
	return path_make(fd, rest, mode);
}

static int make_failed(int error, const char *path, struct failure *reterr)
{
	switch (error) {
	case -EROFS:
		return failed_plain(reterr, error,
				    "'%s' does not exist in the volume, which is read-only", path);
	case -EXDEV:
		return failed_plain(reterr, error, "'%s' leads out of the volume", path);
	case -ELOOP:
		return failed_plain(reterr, error,
				    "cannot create '%s': a symbolic link in it leads nowhere or in "
				    "a circle",
				    path);
	default:
		return failed(reterr, error, "cannot create '%s' in the volume", path);
	}
}

int subpath_make_directories(int volume_fd, const char *path, mode_t mode, struct failure *reterr)
{
	cleanup_free char *copy = NULL;
	int fd = -ENOENT, r;

	assert(volume_fd >= 0 && path && !(mode & ~07777U));
	r = subpath_check(path, reterr);
	if (r < 0)
		return r;
	copy = strdup(path);
	if (!copy)
		return failed(reterr, -ENOMEM, "cannot create '%s' in the volume", path);

	for (unsigned int attempt = 0; fd == -ENOENT && attempt < MAKE_ATTEMPTS_MAX; attempt++)
		fd = make_once(volume_fd, copy, mode);
	return fd < 0 ? make_failed(fd, path, reterr) : fd;
}
