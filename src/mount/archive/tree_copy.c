/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_copy - all that is below a directory into an empty one; see volume_copy.h
 */
#include "mount/archive/volume_copy.h"

#include "base/cleanup.h"
#include "mount/archive/file_copy.h"
#include "mount/archive/tree_make.h"
#include "mount/bind/attributes.h"
#include "mount/ownership/tree_walk.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>

struct copier {
	const struct tree_copy *copy;
	struct tree_maker *maker;
	struct link_table *links;
};

static void copier_done(struct copier *copier)
{
	tree_maker_freep(&copier->maker);
	link_table_freep(&copier->links);
}

static int copy_file(struct copier *copier, int fd, const char *path,
		     const struct attributes *attributes, struct failure *reterr)
{
	const struct fd_path by_name = fd_path(fd);
	cleanup_close int from_fd =
		open(by_name.text, O_RDONLY | O_NOATIME | O_NONBLOCK | O_CLOEXEC);
	cleanup_close int to_fd = -EBADF;
	int r;

	if (from_fd < 0)
		return failed(reterr, -errno, "cannot open it");
	to_fd = tree_make_file(copier->maker, path, reterr);
	if (to_fd < 0)
		return to_fd;
	r = file_copy(from_fd, to_fd, copier->copy->cancel, &copier->copy->progress->bytes, reterr);
	return r < 0 ? r : tree_finish_file(copier->maker, to_fd, attributes, reterr);
}

static int copy_symlink(struct copier *copier, int fd, const struct stat *status, const char *path,
			const struct attributes *attributes, struct failure *reterr)
{
	cleanup_free char *target = calloc(1, (size_t) status->st_size + 2);
	ssize_t length = target ? readlinkat(fd, "", target, (size_t) status->st_size + 1) : -1;

	if (length <= 0)
		return failed(reterr, target ? -errno : -ENOMEM, "cannot read the link");
	return tree_make_symlink(copier->maker, path, target, attributes, reterr);
}

static int copy_entry(struct copier *copier, int fd, const char *path, struct failure *reterr)
{
	cleanup(attributes_done) struct attributes attributes = { .extended = NULL };
	const char *original = NULL;
	struct stat status;
	int r;

	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect it");
	r = attributes_read(fd, &attributes, reterr);
	if (r == 0 && link_table_meet(&copier->links, &status, path, &original) < 0)
		r = failed(reterr, -ENOMEM, "cannot remember its names");
	if (r < 0)
		return r;
	atomic_fetch_add(&copier->copy->progress->entries, 1);
	if (original)
		return tree_make_link(copier->maker, path, original, reterr);
	if (S_ISDIR(status.st_mode))
		return tree_make_directory(copier->maker, path, &attributes, reterr);
	if (S_ISREG(status.st_mode))
		return copy_file(copier, fd, path, &attributes, reterr);
	if (S_ISLNK(status.st_mode))
		return copy_symlink(copier, fd, &status, path, &attributes, reterr);
	r = tree_make_node(copier->maker, path, status.st_rdev, &attributes, reterr);
	if (r == -EPERM)
		return failed_plain(reterr, r, "it is a device, and devices may not be made");
	return r;
}

static int copy_walked(struct copier *copier, const struct tree_walk *walk,
		       const struct tree_entry *entry, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int r;

	if ((entry->other_mount && !copier->copy->is_whole) ||
	    (entry->directory_fd >= 0 && !entry->before))
		return 0; /* a directory came before its children */
	path = tree_walk_path(walk, entry);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot keep a path");
	if (entry->other_mount)
		r = failed_plain(reterr, -EBUSY, "something is mounted on it: unmount it");
	else
		r = copy_entry(copier, entry->before ? entry->directory_fd : entry->fd, path,
			       reterr);
	return r < 0 ? failure_prefix(reterr, "'%.100s'", path) : 0;
}

int tree_copy(const struct tree_copy *copy, struct failure *reterr)
{
	cleanup(copier_done) struct copier copier = { .copy = copy };
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct tree_entry entry;
	int r = tree_walk_new(copy->from_fd, &walk);

	assert(copy->to_fd >= 0 && copy->progress && reterr);
	copier.maker = tree_maker_new(copy->to_fd);
	if (r < 0 || !copier.maker)
		return failed(reterr, r < 0 ? r : -ENOMEM, "cannot begin to copy");
	tree_walk_open_first(walk, true);
	tree_walk_directories_first(walk);
	while ((r = tree_walk_next(walk, &entry)) > 0) {
		if (copy->cancel && atomic_load(copy->cancel))
			return failed_plain(reterr, -ECANCELED, "the copy was interrupted");
		r = copy_walked(&copier, walk, &entry, reterr);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return failed(reterr, r, "cannot read what is to be copied");
	r = copy_entry(&copier, copy->from_fd, "", reterr);
	if (r == 0 && tree_maker_lost(copier.maker) > 0)
		r = failed_plain(reterr, -EOPNOTSUPP,
				 "%zu extended attributes cannot be kept in the copy",
				 tree_maker_lost(copier.maker));
	return r;
}
