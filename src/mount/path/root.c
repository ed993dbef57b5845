/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root - the root directory: made, locked, and a shared mount of its own
 *
 * Start-up only, on a path that the administrator configured. Refuses a second instance by an flock
 * on the directory itself, which both find whether or not the directory was bound onto itself in
 * between, because it is the same inode. Never stacks: a directory that is a mount point already,
 * or has mounts below it, is used as it is.
 */
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "mount/path/safe_path.h"
#include "mount/remove/directory_lock.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

enum { ROOT_MODE = 0750 };

/* mkdir -p of what the administrator configured; links in it are theirs and are followed. */
static int make_root(const char *path)
{
	cleanup_free char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, ROOT_MODE) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(copy, ROOT_MODE) < 0 && errno != EEXIST ? -errno : 0;
}

static int open_root(const char *path, struct failure *reterr)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result;

	if (fd >= 0)
		return fd;
	if (errno != ENOENT)
		return failed(reterr, -errno, "cannot open root directory '%s'", path);
	result = make_root(path);
	if (result < 0)
		return failed(reterr, result, "cannot create root directory '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? failed(reterr, -errno, "cannot open root directory '%s'", path) : fd;
}

/* What the kernel calls it: entries of the mount table are compared with this. */
static char *resolved_path(int fd)
{
	char path[PATH_MAX];

	return fd_real_path(fd, path) < 0 ? NULL : strdup(path);
}

/* What the mount table says about a directory. */
struct root_mounts {
	const char *path;
	bool self_bound; /* onto itself, by this process or by one before it */
	bool below;
	dev_t device;
	char *file_system_path; /* where the directory is in its file system, seen from above */
};

/* Entries come in mount order: what covers the directory comes before what is mounted on it. */
static int check_entry(const struct mount_entry *entry, void *userdata)
{
	struct root_mounts *mounts = userdata;
	size_t length = strlen(entry->mount_point);

	if (path_is_below(entry->mount_point, mounts->path)) {
		mounts->below = true;
	} else if (strcmp(entry->mount_point, mounts->path) == 0) {
		mounts->self_bound = mounts->file_system_path && entry->device == mounts->device &&
				     strcmp(entry->root, mounts->file_system_path) == 0;
	} else if (path_is_below(mounts->path, entry->mount_point)) {
		const char *rest = mounts->path + (length == 1 ? 0 : length);
		const char *root = strcmp(entry->root, "/") == 0 ? "" : entry->root;

		free(mounts->file_system_path);
		mounts->file_system_path = NULL;
		mounts->device = entry->device;
		mounts->file_system_path = new_text("%s%s", root, rest);
	}
	return 0;
}

/* A table of its own, because it is asked before there is an agent. */
static int check_mounts(const char *path, struct root_mounts *ret, struct failure *reterr)
{
	struct root_mounts mounts = { .path = path };
	struct mount_table *table;
	int result = mount_table_new(&table, reterr);

	if (result < 0)
		return result;
	result = mount_table_refresh(table, reterr);
	if (result == 0)
		result = mount_table_walk(table, check_entry, &mounts);
	free(mounts.file_system_path);
	mounts.file_system_path = NULL;
	(void) mount_table_free(table);
	if (result == 0)
		*ret = mounts;
	return result;
}

/* Asked at each start: the whole table is read only before it is bound. */
static int is_mount(const char *path, struct failure *reterr)
{
	cleanup_close int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct mount_facts facts;
	int r = fd < 0 ? failed(reterr, -errno, "cannot open root directory '%s'", path)
		       : fd_facts(fd, &facts, reterr);

	return r < 0 ? r : facts.is_mount_root;
}

/* Bind it onto itself unless it is a mount already or would hide mounts below. */
static int bind_root(struct mount_root *root, struct failure *reterr)
{
	/* In the group of the mount around it, as a plain clone is, it would pass every mount on to
	 * that one: each would be there twice, the second one beneath, unreachable. */
	static const struct mount_attributes shared = { .propagation = MS_SHARED,
							.own_group = true };
	struct root_mounts mounts;
	int result = is_mount(root->path, reterr);

	if (result != 0)
		return result < 0 ? result : 0;
	result = check_mounts(root->path, &mounts, reterr);
	if (result < 0)
		return result;
	if (mounts.below) {
		log_message(LOG_NOTICE,
			    "something is mounted below '%s' already: it is used as it is, not "
			    "made a mount of its own",
			    root->path);
		return 0;
	}

	result = bind_at(root->directory_fd, root->directory_fd, &shared, reterr);
	if (result == -EPERM)
		return failed_plain(reterr, result,
				    "no right to mount: podvold needs CAP_SYS_ADMIN");
	if (result < 0)
		return failure_prefix(reterr, "root directory '%s'", root->path);
	return 0;
}

/* Through the path once more: that leads into the mount on top. It must be what was locked. */
static int enter_root(struct mount_root *root, struct failure *reterr)
{
	struct stat locked, entered;

	root->fd = open(root->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root->fd < 0 || fstat(root->fd, &entered) < 0 || fstat(root->directory_fd, &locked) < 0)
		return failed(reterr, -errno, "cannot open root directory '%s'", root->path);
	if (entered.st_dev != locked.st_dev || entered.st_ino != locked.st_ino)
		return failed_plain(reterr, -ESTALE,
				    "root directory '%s' was replaced while it was opened",
				    root->path);
	return 0;
}

int mount_root_open(const char *path, struct mount_root *ret, struct failure *reterr)
{
	struct mount_root root = { .fd = -EBADF, .directory_fd = -EBADF };
	int result;

	assert(path && ret);
	if (*path != '/')
		return failed_plain(reterr, -EINVAL, "root directory '%s' is not an absolute path",
				    path);
	root.directory_fd = open_root(path, reterr);
	if (root.directory_fd < 0)
		return root.directory_fd;

	root.path = resolved_path(root.directory_fd);
	result = root.path ? 0 : failed(reterr, -ENOMEM, "cannot resolve '%s'", path);
	if (result == 0 && strcmp(root.path, "/") == 0)
		result = failed_plain(reterr, -EINVAL, "'/' cannot be the root directory");
	if (result == 0)
		result = directory_lock(root.directory_fd, "root", root.path, &root.lock, reterr);
	if (result == 0)
		result = bind_root(&root, reterr);
	if (result == 0)
		result = enter_root(&root, reterr);
	if (result < 0) {
		mount_root_done(&root);
		return result;
	}
	*ret = root;
	return 0;
}

void mount_root_done(struct mount_root *root)
{
	root->fd = close_keep_errno(root->fd);
	root->lock = lock_holder_free(root->lock);
	root->directory_fd = close_keep_errno(root->directory_fd);
	free(root->path);
	root->path = NULL;
}

/* The root directory as a name under its parent, for the unmount. */
static int root_place(const struct mount_root *root, struct place *ret, struct failure *reterr)
{
	cleanup_close int slash_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *parent = strdup(root->path);
	struct place place = PLACE_EMPTY;

	if (slash_fd < 0 || !parent)
		return failed(reterr, -ENOMEM, "cannot open '/'");
	*strrchr(parent, '/') = '\0';
	place.parent_fd = open_beneath(slash_fd, parent[0] ? parent + 1 : "", O_PATH | O_DIRECTORY,
				       PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	if (place.parent_fd < 0)
		return place.parent_fd;
	place.name = strdup(strrchr(root->path, '/') + 1);
	place.path = strdup(root->path);
	if (!place.name || !place.path) {
		place_done(&place);
		return failed(reterr, -ENOMEM, "cannot keep '%s'", root->path);
	}
	*ret = place;
	return 0;
}

/* A process that came after the one that bound it locked it inside the mount. */
static bool is_entered(const struct mount_root *root)
{
	struct mount_facts locked, entered;

	return fd_facts(root->directory_fd, &locked, NULL) == 0 &&
	       fd_facts(root->fd, &entered, NULL) == 0 && locked.mount_id == entered.mount_id;
}

/* Descriptors inside keep the mount busy, the lock's too; both are taken again, whatever came of
 * it. Another process may lock the directory in between, and we are about to end anyway. */
static int unmount_root(struct mount_root *root, const struct place *place, struct failure *reterr)
{
	bool relock = is_entered(root);
	int result, again = 0;

	root->fd = close_keep_errno(root->fd);
	if (relock) {
		root->lock = lock_holder_free(root->lock);
		root->directory_fd = close_keep_errno(root->directory_fd);
	}
	result = unmount_place(place, 0, reterr);
	if (result < 0)
		reterr = NULL; /* the first failure is the one that matters */

	if (relock) {
		root->directory_fd = open_root(root->path, reterr);
		again = root->directory_fd < 0 ? root->directory_fd
					       : directory_lock(root->directory_fd, "root",
								root->path, &root->lock, reterr);
	}
	if (again == 0)
		again = enter_root(root, reterr);
	return result < 0 ? result : again;
}

int mount_root_undo(struct mount_root *root, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct root_mounts mounts;
	int result;

	assert(root && root->path);
	result = check_mounts(root->path, &mounts, reterr);
	if (result < 0 || !mounts.self_bound)
		return result;
	if (mounts.below)
		return failed_plain(reterr, -EBUSY,
				    "something is mounted below '%s': it stays a mount",
				    root->path);
	result = root_place(root, &place, reterr);
	return result < 0 ? result : unmount_root(root, &place, reterr);
}

/* ---- unmounted by others ---- */

/* What is at the path now: still the directory that was locked? */
static int open_again(const struct mount_root *root, struct mount_root *ret, struct failure *reterr)
{
	struct stat locked, found;

	ret->directory_fd = open(root->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ret->directory_fd < 0 || fstat(ret->directory_fd, &found) < 0 ||
	    fstat(root->directory_fd, &locked) < 0)
		return failed(reterr, -errno, "cannot open root directory '%s'", root->path);
	if (found.st_dev != locked.st_dev || found.st_ino != locked.st_ino)
		return failed_plain(reterr, -ESTALE,
				    "the file system of the root directory '%s' was unmounted: "
				    "mount it and restart podvold",
				    root->path);
	return 0;
}

/* A lock that was taken inside the mount that is gone would keep that alive. */
static int lock_again(struct mount_root *root, int directory_fd, struct failure *reterr)
{
	root->lock = lock_holder_free(root->lock);
	if (dup3(directory_fd, root->directory_fd, O_CLOEXEC) < 0)
		return failed(reterr, -errno, "cannot keep root directory '%s'", root->path);
	return directory_lock(root->directory_fd, "root", root->path, &root->lock, reterr);
}

int mount_root_renew(struct mount_root *root, struct failure *reterr)
{
	struct mount_root fresh = { .fd = -EBADF, .directory_fd = -EBADF };
	bool relock;
	int r;

	assert(root && root->fd >= 0 && root->path);
	fresh.path = root->path; /* borrowed */
	r = open_again(root, &fresh, reterr);
	if (r == 0)
		r = bind_root(&fresh, reterr);
	if (r == 0)
		r = enter_root(&fresh, reterr);
	relock = is_entered(root);
	if (r == 0 && dup3(fresh.fd, root->fd, O_CLOEXEC) < 0)
		r = failed(reterr, -errno, "cannot keep root directory '%s'", root->path);
	if (r == 0 && relock)
		r = lock_again(root, fresh.directory_fd, reterr);
	(void) close_keep_errno(fresh.fd);
	(void) close_keep_errno(fresh.directory_fd);
	return r;
}
