/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_usage - see capacity.h
 */
#include "mount/capacity/capacity.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/mount.h"
#include "mount/ownership/tree_walk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

enum { PORTION = 64 /* entries, between looks at the clock */, BLOCK_BYTES = 512 };

struct tree_count {
	struct tree_walk *walk;
	struct tree_usage usage;
};

int tree_usage_query(int directory_fd, struct tree_usage *ret)
{
	cleanup_close int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct capacity_usage usage;
	int r = fd < 0 ? -errno : capacity_project.read_usage(fd, &usage);

	if (r == 0)
		*ret = (struct tree_usage){ usage.used_bytes, usage.used_inodes };
	return r;
}

/* Of an open directory, O_PATH too; borrowed during the call. */
static int tree_count_new(int directory_fd, struct tree_count **ret)
{
	struct tree_count *count = calloc(1, sizeof(*count));
	int r = count ? tree_walk_new(directory_fd, &count->walk) : -ENOMEM;

	if (r < 0)
		free(count);
	else
		*ret = count;
	return r;
}

int tree_count_open(const char *path, struct tree_count **ret)
{
	struct failure failure;
	cleanup_close int fd = open_host_path(path, O_PATH | O_DIRECTORY, &failure);
	cleanup_close int own_fd = -EBADF;
	struct mount_facts facts;
	int r;

	if (fd < 0)
		return fd;
	own_fd = open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (own_fd >= 0)
		return tree_count_new(own_fd, ret);
	r = fd_facts(fd, &facts, &failure);
	if (r < 0)
		return r;
	return facts.is_mount_root ? -EOPNOTSUPP : tree_count_new(fd, ret);
}

int tree_count_go_on(struct tree_count *count, uint64_t entries_max, struct tree_usage *ret)
{
	struct tree_entry entry;
	int r = 1;

	while (entries_max-- > 0 && (r = tree_walk_next(count->walk, &entry)) > 0) {
		uint64_t names = S_ISDIR(entry.status.stx_mode) ? 1 : entry.status.stx_nlink;

		if (!entry.other_mount)
			count->usage.bytes +=
				entry.status.stx_blocks * BLOCK_BYTES / (names ? names : 1);
		count->usage.inodes++;
	}
	*ret = count->usage;
	return r;
}

struct tree_count *tree_count_free(struct tree_count *count)
{
	if (count)
		tree_walk_free(count->walk);
	free(count);
	return NULL;
}

int tree_usage_count(int directory_fd, uint64_t until_usec, struct tree_usage *ret)
{
	struct tree_count *count;
	int r;

	assert(directory_fd >= 0 && ret);
	if (tree_usage_query(directory_fd, ret) == 0)
		return 0;
	r = tree_count_new(directory_fd, &count);
	if (r < 0)
		return r;
	while ((r = tree_count_go_on(count, PORTION, ret)) > 0 && monotonic_usec() < until_usec)
		;
	tree_count_free(count);
	return r == -ESTALE ? 1 : r;
}
