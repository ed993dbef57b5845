/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity - volumes made of a directory that cannot grow beyond their size
 *
 * Three ways behind one table: a subvolume of btrfs whose quota group has a limit, a directory of
 * xfs or ext4 with a project of its own, and an image file in the directory that is mounted through
 * a loop device. Quotas are never switched on here: that concerns a whole file system, which is an
 * administrator's; where they are off a quota is refused, and the text says what to do. All
 * functions [worker].
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stdint.h>

/* How it is asked for, and kept in the volume. */
#define CAPACITY_NONE  "none"
#define CAPACITY_QUOTA "quota"
#define CAPACITY_IMAGE "image"
#define CAPACITY_AUTO  "auto" /* quota where quotas are on, else image */

/* Of an image, in the volume's directory. */
#define CAPACITY_IMAGE_NAME "volume.img"

struct capacity_usage {
	uint64_t limit_bytes, used_bytes;
	uint64_t used_inodes; /* 0: not counted */
};

/* Descriptors are of the volume's own directory, readable, but for check(); paths are for texts. */
struct capacity_method {
	const char *word; /* CAPACITY_QUOTA or CAPACITY_IMAGE */
	/* Can it be enforced below this directory? Return: 0; -EOPNOTSUPP and what is missing. */
	int (*check)(int base_fd, const char *path, struct failure *reterr);
	/* Is this directory limited so? */
	bool (*is_in_force)(int fd);
	/* The volume's directory, of mode 0 or to be given that at once. NULL: mkdir. Return: 0;
	 * -EEXIST; else as the call. */
	int (*make_directory)(int parent_fd, const char *name);
	/* No larger than this from now on; safe to repeat, also to grow. An image never shrinks.
	 * Return: 0; -ENOSPC; else as the calls. */
	int (*set_limit)(int fd, const char *path, uint64_t bytes, struct failure *reterr);
	/* Without looking at a single file. Return: 0; -ENODATA there is no limit; else as the
	 * calls. NULL: statfs tells. */
	int (*read_usage)(int fd, struct capacity_usage *ret);
	/* What podvol made that has to go before an unused directory can. NULL: nothing. Return: 0;
	 * -EBUSY; else as the calls. */
	int (*unmake)(int fd, const char *path, struct failure *reterr);
	/* May the directory's content be removed or moved now? NULL: yes. Return: 0; -EBUSY. */
	int (*check_unused)(int fd, const char *path, struct failure *reterr);
	/* Remove this very directory in one call, with all that is in it; @parent_fd is readable.
	 * NULL: entry by entry, as after any failure. Return: 0; else as the call. */
	int (*destroy)(int parent_fd, int fd);
	/* What is known of a directory outside of it: a number, and what to do with that once the
	 * directory is gone, with a descriptor of its parent. Failures do no harm. NULL:
	 * nothing. */
	uint64_t (*number)(int fd);
	void (*forget)(int parent_fd, uint64_t number);
};

/**
 * capacity_find - the method that does what a word asks for below a directory
 * @ret: NULL for CAPACITY_NONE
 *
 * Return: 0; -EOPNOTSUPP it cannot be done there; -EINVAL no such word.
 */
int capacity_find(const char *word, int base_fd, const char *path,
		  const struct capacity_method **ret, struct failure *reterr);

/* By which of them is this directory limited, as it is found? NULL: by none. */
const struct capacity_method *capacity_of(int fd);

/**
 * capacity_grow_at - allow a volume a larger size, by its own path; safe to repeat
 * @path: of the directory, or of its image; not trusted
 * @mark: that the directory must bear
 *
 * Return: 0; -EPERM; -ENOSPC; -EOPNOTSUPP its size is not enforced; else as the calls.
 */
int capacity_grow_at(const char *path, const char *mark, uint64_t bytes, struct failure *reterr);

/* Of a volume's directory or anything in it: how much its quota allows, and how much of that is
 * used. Return: 0; -ENODATA it has no quota that the file system does not show anyhow. */
int capacity_quota_usage(const char *path, struct capacity_usage *ret);

/**
 * capacity_limit_project - limit a new directory by a project of its own
 * @fd: of the directory, readable and without content
 *
 * A directory that is in a project already, an administrator's on all that is around it, stays in
 * that. Safe to repeat. The project goes with the directory, see remove_empty_dir_contents().
 *
 * Return: 0; -EOPNOTSUPP the file system has no project quotas, or they are off; -EBUSY it is in
 * another project; else as the calls.
 */
int capacity_limit_project(int fd, const char *path, uint64_t bytes, struct failure *reterr);

/**
 * capacity_image_open - the image of a volume whose directory bears its mark
 * @path: of the image, "/BASE/NAME/volume.img"; not trusted
 * @mark: the volume's uid
 *
 * Return: a descriptor (O_RDWR) the caller owns; -ENOENT; -EPERM no such mark; else as openat2(2).
 */
int capacity_image_open(const char *path, const char *mark, struct failure *reterr);
/* The image in a volume's directory, which was seen to bear its mark: O_RDWR, the caller's. Return:
 * -ENOENT. */
int capacity_image_of(int fd);
/* Take all of its blocks again, since mkfs and fstrim give them back. Return: 0; -ENOSPC. */
int capacity_image_reserve(int image_fd);

extern const struct capacity_method capacity_btrfs, capacity_project, capacity_image;

/* ---- tree_usage.c: how much the files of a directory take, as du(1) counts ---- */

/* What is allocated, not how long files are. A directory with a project quota of its own is
 * asked; else its files are counted, without entering a mount. A file with several names then
 * counts in equal shares, so that one whose names are all in the directory counts once. */

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

/* What the project quota of a directory says; nothing is counted. Return: 0; else it has none.
 * [worker] */
int tree_usage_query(int directory_fd, struct tree_usage *ret);

/* The same count in portions, each of which may be another thread's. */
struct tree_count;

/* Of a directory of the host, by a mount of its own that is in no namespace: neither what is
 * mounted at @path nor what it lies on is kept from being unmounted. Return: 0 or negative errno;
 * -EOPNOTSUPP there are no such mounts here, and @path is a mount point, which would be kept.
 * [worker] */
int tree_count_open(const char *path, struct tree_count **ret);
/* At most @entries_max entries more; @ret is what was counted until now. Return: 1 there is more; 0
 * it was counted; -ESTALE the tree was moved meanwhile; else negative errno. [worker] */
int tree_count_go_on(struct tree_count *count, uint64_t entries_max, struct tree_usage *ret);
/* [worker] Accepts NULL. Return: NULL. */
struct tree_count *tree_count_free(struct tree_count *count);
