/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_usage - how much the files of a directory take, as du(1) counts
 *
 * What is allocated, not how long files are. A directory with a project quota of its own is asked;
 * else its files are counted, without entering a mount. A file with several names then counts in
 * equal shares, so that one whose names are all in the directory counts once.
 */
#ifndef PODVOL_MOUNT_TREE_USAGE_H
#define PODVOL_MOUNT_TREE_USAGE_H

#include <stdint.h>

struct tree_usage {
	uint64_t bytes, inodes;
};

/**
 * tree_usage_count - [worker]
 * @directory_fd: O_PATH too
 * @until_usec:   monotonic: the count ends there, whatever is left; UINT64_MAX never
 *
 * Return: 0; 1 it is more than @ret: the time was over, or the tree was moved meanwhile; else a
 * negative errno and nothing in @ret.
 */
int tree_usage_count(int directory_fd, uint64_t until_usec, struct tree_usage *ret);

#endif
