/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind - attaching one directory, file or device node at another, and taking it away
 *
 * Privileged: CAP_SYS_ADMIN. The argument: both ends are descriptors, so a pod that swaps a
 * directory for a symbolic link moves nothing; the clone is detached until it has its attributes,
 * so a read-only volume is never writable. No function here looks a path up.
 */
#include "mount/bind/bind_staged.h"
#include "mount/bind/fallback.h"
#include "mount/path/safe_path.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mount.h>

static int clone_source(int source_fd, bool recursive)
{
	unsigned int flags = AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
	int fd = open_tree(source_fd, "", flags | (recursive ? (unsigned int) AT_RECURSIVE : 0));

	return fd < 0 ? -errno : fd;
}

static int set_attributes(int tree_fd, const struct mount_attributes *attributes)
{
	struct mount_attr attr = {
		.attr_set = attributes->set,
		.attr_clr = attributes->clear,
		.propagation = attributes->propagation == MS_SHARED ? MS_SHARED : 0,
		.userns_fd =
			attributes->set & MOUNT_ATTR_IDMAP ? (uint64_t) attributes->userns_fd : 0,
	};
	unsigned int flags = AT_EMPTY_PATH | (attributes->recursive ? AT_RECURSIVE : 0U);

	if (!attr.attr_set && !attr.attr_clr && !attr.propagation)
		return 0;
	/* A clone of a shared mount is its peer; only one that left the group gets another. */
	if (attributes->own_group) {
		struct mount_attr leave = { .propagation = MS_PRIVATE };

		if (mount_setattr(tree_fd, "", flags, &leave, sizeof(leave)) < 0)
			return -errno;
	}
	return mount_setattr(tree_fd, "", flags, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

/* Attaching below a shared mount makes the new mount shared, so leaving the group comes after. */
static int set_propagation(int tree_fd, const struct mount_attributes *attributes)
{
	struct mount_attr attr = { .propagation = attributes->propagation };
	unsigned int flags = AT_EMPTY_PATH | (attributes->recursive ? AT_RECURSIVE : 0U);

	if (attr.propagation == 0 || attr.propagation == MS_SHARED)
		return 0;
	return mount_setattr(tree_fd, "", flags, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int attach_tree(int tree_fd, int target_fd)
{
	unsigned int flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;

	assert(tree_fd >= 0 && target_fd >= 0);
	return move_mount(tree_fd, "", target_fd, "", flags) < 0 ? -errno : 0;
}

/* Without the newer calls. None of the older ones gives a mount a map. */
static int bind_otherwise(int source_fd, int target_fd, const struct mount_attributes *attributes,
			  struct failure *reterr)
{
	if (attributes->set & MOUNT_ATTR_IDMAP)
		return failed(reterr, -ENOSYS, "cannot map groups in a bind mount");
	return bind_staged(source_fd, target_fd, attributes, reterr);
}

/* The descriptor of the clone is one of the attached mount now: no path is looked up. */
static uint64_t id_of_tree(int tree_fd)
{
	struct mount_facts facts;

	return fd_facts(tree_fd, &facts, NULL) < 0 ? 0 : facts.mount_id;
}

int bind_at(int source_fd, int target_fd, const struct mount_attributes *attributes,
	    struct failure *reterr)
{
	return bind_at_with_id(source_fd, target_fd, attributes, NULL, reterr);
}

int bind_at_with_id(int source_fd, int target_fd, const struct mount_attributes *attributes,
		    uint64_t *ret_mount_id, struct failure *reterr)
{
	static const struct mount_attributes none = { 0 };
	cleanup_close int tree_fd = -EBADF;
	int result;

	assert(source_fd >= 0 && target_fd >= 0);
	if (!attributes)
		attributes = &none;
	if (ret_mount_id)
		*ret_mount_id = 0;

	tree_fd = clone_source(source_fd, attributes->recursive);
	if (tree_fd < 0 && call_is_missing(tree_fd, CALL_OPEN_TREE))
		return bind_otherwise(source_fd, target_fd, attributes, reterr);
	if (tree_fd < 0)
		return failed(reterr, tree_fd, "cannot clone the source of the bind mount");

	result = set_attributes(tree_fd, attributes);
	if (call_is_missing(result, CALL_MOUNT_SETATTR))
		return bind_otherwise(source_fd, target_fd, attributes, reterr);
	if (result < 0)
		return failed(reterr, result, "cannot set the attributes of the bind mount");

	result = attach_tree(tree_fd, target_fd);
	if (call_is_missing(result, CALL_MOVE_MOUNT))
		return bind_otherwise(source_fd, target_fd, attributes, reterr);
	if (result < 0)
		return failed(reterr, result, "cannot attach the bind mount to its target");

	result = set_propagation(tree_fd, attributes);
	if (result < 0) {
		/* Our descriptor keeps it busy, so only a detach takes it away again. */
		(void) umount2(fd_path(tree_fd).text, MNT_DETACH);
		return failed(reterr, result, "cannot set the propagation of the bind mount");
	}
	if (ret_mount_id)
		*ret_mount_id = id_of_tree(tree_fd);
	return 0;
}

int unmount_place(const struct place *place, int flags, struct failure *reterr)
{
	char path[sizeof(struct fd_path) + NAME_MAX + 2];
	int length;

	assert(place && place->parent_fd >= 0 && place->name);
	assert(!(flags & ~(MNT_DETACH | MNT_FORCE)));

	/* Through the parent's descriptor: one through the mount itself would keep it busy. */
	length = snprintf(path, sizeof(path), "%s/%s", fd_path(place->parent_fd).text, place->name);
	if (length < 0 || (size_t) length >= sizeof(path))
		return failed(reterr, -ENAMETOOLONG, "cannot unmount '%s'", place->path);
	if (umount2(path, flags | UMOUNT_NOFOLLOW) < 0)
		return failed(reterr, -errno, "cannot unmount '%s'", place->path);
	return 0;
}
