/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_make - fill a directory with entries whose paths are untrusted; see tree_make.h
 */
#include "mount/archive/tree_make.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum { LEVEL_MODE = 0755, FILE_MODE = 0600, DIRECTORY_MODE = 0700 };

struct tree_maker {
	int root_fd;
	char *parent; /* the last one, kept open: its children mostly come together */
	int parent_fd;
	mode_t parent_mode; /* of one that is missing */
	size_t lost;
};

struct tree_maker *tree_maker_new(int root_fd)
{
	struct tree_maker *maker = calloc(1, sizeof(*maker));

	assert(root_fd >= 0);
	if (!maker)
		return NULL;
	maker->root_fd = root_fd;
	maker->parent_fd = -EBADF;
	maker->parent_mode = LEVEL_MODE;
	return maker;
}

void tree_maker_set_parent_mode(struct tree_maker *maker, mode_t mode)
{
	maker->parent_mode = mode;
}

struct tree_maker *tree_maker_free(struct tree_maker *maker)
{
	if (!maker)
		return NULL;
	(void) close_keep_errno(maker->parent_fd);
	free(maker->parent);
	free(maker);
	return NULL;
}

void tree_maker_freep(struct tree_maker **maker)
{
	*maker = tree_maker_free(*maker);
}

size_t tree_maker_lost(const struct tree_maker *maker)
{
	return maker->lost;
}

/* ---- paths ---- */

int tree_path_clean(const char *path, char **ret, struct failure *reterr)
{
	cleanup_free char *clean = NULL;
	size_t used = 0;

	assert(path && ret);
	if (path[0] == '\0')
		return failed_plain(reterr, -EINVAL, "it has no name");
	if (path[0] == '/')
		return failed_plain(reterr, -EINVAL, "its path is absolute");
	if (path_has_backstep(path))
		return failed_plain(reterr, -EINVAL, "its path has '..' in it");
	clean = malloc(strlen(path) + 1);
	if (!clean)
		return failed(reterr, -ENOMEM, "cannot keep its path");
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length > 0 && !(length == 1 && path[0] == '.')) {
			if (used > 0)
				clean[used++] = '/';
			memcpy(clean + used, path, length);
			used += length;
		}
		path += length;
		path += *path == '/';
	}
	clean[used] = '\0';
	*ret = TAKE_PTR(clean);
	return 0;
}

bool tree_link_leads_out(const char *path, const char *target)
{
	long depth = 0;

	if (target[0] == '/')
		return true;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		depth++;
	while (*target) {
		size_t length = strcspn(target, "/");

		if (length == 2 && target[0] == '.' && target[1] == '.')
			depth--;
		else if (length > 0 && !(length == 1 && target[0] == '.'))
			depth++;
		if (depth < 0)
			return true;
		target += length;
		target += *target == '/';
	}
	return false;
}

/* The kernel takes no path of PATH_MAX bytes, but trees can be deeper: one portion at a time. */
static int open_below(int root_fd, const char *path, int flags)
{
	cleanup_close int fd = -EBADF;
	char portion[PATH_MAX];

	while (strlen(path) >= sizeof(portion)) {
		size_t length = sizeof(portion) - 1;
		int next;

		while (length > 0 && path[length] != '/')
			length--;
		memcpy(portion, path, length);
		portion[length] = '\0';
		if (length == 0)
			return -ENAMETOOLONG;
		next = path_open(fd < 0 ? root_fd : fd, portion, O_PATH | O_DIRECTORY,
				 PATH_NO_SYMLINKS);
		if (next < 0)
			return next;
		(void) close_keep_errno(fd);
		fd = next;
		path += length + 1;
	}
	return path_open(fd < 0 ? root_fd : fd, path, flags, PATH_NO_SYMLINKS);
}

/* The last level of a path that exists; the root at least. Cuts @path to it. */
static int open_deepest(int root_fd, char *path)
{
	for (;;) {
		int fd = open_below(root_fd, path, O_PATH | O_DIRECTORY);
		char *slash = strrchr(path, '/');

		if (fd != -ENOENT || path[0] == '\0')
			return fd;
		*(slash ? slash : path) = '\0';
	}
}

/* Missing levels are made; the one above them keeps its times. */
static int open_directories(const struct tree_maker *maker, const char *path,
			    struct failure *reterr)
{
	int fd = open_below(maker->root_fd, path, O_PATH | O_DIRECTORY);
	cleanup_free char *copy = fd == -ENOENT ? strdup(path) : NULL;
	cleanup_close int above = copy ? open_deepest(maker->root_fd, copy) : -EBADF;
	struct timespec times[2];
	struct stat status;

	if (fd >= 0)
		return fd;
	if (above < 0) /* it says why */
		return make_directories(maker->root_fd, path, maker->parent_mode, reterr);
	if (fstat(above, &status) < 0)
		return failed(reterr, -errno, "cannot inspect its directory");
	fd = path_make(above, path + strlen(copy), maker->parent_mode);
	if (fd < 0)
		return failed(reterr, fd, "cannot create directory '%s'", path);
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	(void) utimensat(AT_FDCWD, fd_path(above).text, times, 0);
	return fd;
}

/* The directory that holds a path, open, and the name in it. Return: borrowed, or an error. */
static int open_parent(struct tree_maker *maker, const char *path, const char **ret_name,
		       struct failure *reterr)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t) (slash - path) : 0;
	cleanup_free char *parent = strndup(path, length);
	cleanup_close int fd = -EBADF;

	assert(path[0] != '\0' && path[0] != '/');
	*ret_name = slash ? slash + 1 : path;
	if (!parent)
		return failed(reterr, -ENOMEM, "cannot keep its path");
	if (!slash)
		return maker->root_fd;
	if (maker->parent && strcmp(maker->parent, parent) == 0)
		return maker->parent_fd;
	fd = open_directories(maker, parent, reterr);
	if (fd < 0)
		return fd;
	free(maker->parent);
	(void) close_keep_errno(maker->parent_fd);
	maker->parent = TAKE_PTR(parent);
	maker->parent_fd = TAKE_FD(fd);
	return maker->parent_fd;
}

/* ---- making ---- */

/* Where something is about to be made; the directory's times come back when it is. */
struct spot {
	int fd; /* borrowed */
	const char *name;
	struct stat parent;
	uint64_t mount_id;
};

/* A file's remains, as of an archive that has it twice or was restored in part. */
static int clear(const struct spot *spot, struct failure *reterr)
{
	struct statx status;

	if (statx(spot->fd, spot->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_TYPE | STATX_MNT_ID, &status) < 0)
		return errno == ENOENT ? 0 : failed(reterr, -errno, "cannot inspect it");
	if (S_ISDIR(status.stx_mode))
		return failed_plain(reterr, -EISDIR, "a directory exists there");
	if (status.stx_mnt_id != spot->mount_id)
		return failed_plain(reterr, -EXDEV, "something is mounted there");
	if (unlinkat(spot->fd, spot->name, 0) < 0)
		return failed(reterr, -errno, "cannot replace what exists there");
	return 0;
}

static int find_spot(struct tree_maker *maker, const char *path, struct spot *ret,
		     struct failure *reterr)
{
	struct statx status;

	ret->fd = open_parent(maker, path, &ret->name, reterr);
	if (ret->fd < 0)
		return ret->fd;
	if (fstat(ret->fd, &ret->parent) < 0 ||
	    statx(ret->fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
		return failed(reterr, -errno, "cannot inspect its directory");
	ret->mount_id = status.stx_mnt_id;
	return 0;
}

static int begin(struct tree_maker *maker, const char *path, struct spot *ret,
		 struct failure *reterr)
{
	int r = find_spot(maker, path, ret, reterr);

	return r < 0 ? r : clear(ret, reterr);
}

static int end(const struct spot *spot, struct failure *reterr)
{
	const struct timespec times[2] = { spot->parent.st_atim, spot->parent.st_mtim };
	const struct fd_path path = fd_path(spot->fd);

	if (utimensat(AT_FDCWD, path.text, times, 0) < 0)
		return failed(reterr, -errno, "cannot set the times of its directory");
	return 0;
}

/* What was just made. */
static int finish(struct tree_maker *maker, const struct spot *spot,
		  const struct attributes *attributes, struct failure *reterr)
{
	cleanup_close int fd =
		path_open(spot->fd, spot->name, O_PATH | O_NOFOLLOW, PATH_NO_SYMLINKS);
	int r;

	if (fd < 0)
		return failed(reterr, fd, "cannot open it");
	r = attributes_apply(fd, attributes, &maker->lost, reterr);
	return r < 0 ? r : end(spot, reterr);
}

/* One that is there already is kept; anything else is replaced. */
static int ensure_directory(const struct spot *spot, struct failure *reterr)
{
	struct stat status;
	int r;

	if (mkdirat(spot->fd, spot->name, DIRECTORY_MODE) == 0)
		return 0;
	if (errno != EEXIST)
		return failed(reterr, -errno, "cannot make it");
	if (fstatat(spot->fd, spot->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(status.st_mode))
		return 0;
	r = clear(spot, reterr);
	if (r == 0 && mkdirat(spot->fd, spot->name, DIRECTORY_MODE) < 0)
		return failed(reterr, -errno, "cannot make it");
	return r;
}

int tree_make_directory(struct tree_maker *maker, const char *path,
			const struct attributes *attributes, struct failure *reterr)
{
	struct spot spot;
	int r;

	assert(maker && path && attributes);
	if (path[0] == '\0')
		return attributes_apply(maker->root_fd, attributes, &maker->lost, reterr);
	r = find_spot(maker, path, &spot, reterr);
	if (r == 0)
		r = ensure_directory(&spot, reterr);
	return r < 0 ? r : finish(maker, &spot, attributes, reterr);
}

int tree_make_symlink(struct tree_maker *maker, const char *path, const char *target,
		      const struct attributes *attributes, struct failure *reterr)
{
	struct spot spot;
	int r = begin(maker, path, &spot, reterr);

	if (r < 0)
		return r;
	if (symlinkat(target, spot.fd, spot.name) < 0)
		return failed(reterr, -errno, "cannot make it");
	return finish(maker, &spot, attributes, reterr);
}

int tree_make_link(struct tree_maker *maker, const char *path, const char *original,
		   struct failure *reterr)
{
	cleanup_close int fd = open_below(maker->root_fd, original, O_PATH | O_NOFOLLOW);
	struct stat status;
	struct spot spot;
	int r;

	if (fd < 0)
		return failed(reterr, fd, "cannot find '%s', which it is a link to", original);
	if (fstat(fd, &status) < 0 || S_ISDIR(status.st_mode))
		return failed_plain(reterr, -EISDIR, "'%s', which it is a link to, is a directory",
				    original);
	if (strcmp(path, original) == 0)
		return 0;
	r = begin(maker, path, &spot, reterr);
	if (r < 0)
		return r;
	if (linkat(AT_FDCWD, fd_path(fd).text, spot.fd, spot.name, AT_SYMLINK_FOLLOW) < 0)
		return failed(reterr, -errno, "cannot link it to '%s'", original);
	return end(&spot, reterr);
}

int tree_make_node(struct tree_maker *maker, const char *path, dev_t device,
		   const struct attributes *attributes, struct failure *reterr)
{
	struct spot spot;
	int r = begin(maker, path, &spot, reterr);

	if (r < 0)
		return r;
	if (mknodat(spot.fd, spot.name, (attributes->mode & S_IFMT) | FILE_MODE, device) < 0)
		return failed(reterr, -errno, "cannot make it");
	return finish(maker, &spot, attributes, reterr);
}

int tree_make_file(struct tree_maker *maker, const char *path, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	struct spot spot;
	int r = begin(maker, path, &spot, reterr);

	if (r < 0)
		return r;
	fd = openat(spot.fd, spot.name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    FILE_MODE);
	if (fd < 0)
		return failed(reterr, -errno, "cannot make it");
	r = end(&spot, reterr);
	return r < 0 ? r : TAKE_FD(fd);
}

int tree_finish_file(struct tree_maker *maker, int fd, const struct attributes *attributes,
		     struct failure *reterr)
{
	return attributes_apply(fd, attributes, &maker->lost, reterr);
}
