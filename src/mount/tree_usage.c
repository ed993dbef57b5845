/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_usage - see capacity.h
 */
#include "mount/capacity/capacity.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/ownership/tree_walk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

enum { CLOCK_EVERY = 64 /* entries */, BLOCK_BYTES = 512 };

/* Return: 0; -ENODATA it has no project quota of its own. */
static int ask_quota(int directory_fd, struct tree_usage *ret)
{
	cleanup_close int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct capacity_usage usage;
	int r = fd < 0 ? -errno : capacity_project.read_usage(fd, &usage);

	if (r == 0)
		*ret = (struct tree_usage){ usage.used_bytes, usage.used_inodes };
	return r;
}

int tree_usage_count(int directory_fd, uint64_t until_usec, struct tree_usage *ret)
{
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct tree_entry entry;
	uint64_t count = 0;
	int r;

	assert(directory_fd >= 0 && ret);
	if (ask_quota(directory_fd, ret) == 0)
		return 0;
	r = tree_walk_new(directory_fd, &walk);
	if (r < 0)
		return r;
	*ret = (struct tree_usage){ .bytes = 0 };
	while ((r = tree_walk_next(walk, &entry)) > 0) {
		uint64_t names = S_ISDIR(entry.status.stx_mode) ? 1 : entry.status.stx_nlink;

		if (!entry.other_mount)
			ret->bytes += entry.status.stx_blocks * BLOCK_BYTES / (names ? names : 1);
		ret->inodes++;
		if (++count % CLOCK_EVERY == 0 && monotonic_usec() >= until_usec)
			return 1;
	}
	return r == -ESTALE ? 1 : r;
}
