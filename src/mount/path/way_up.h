/* SPDX-License-Identifier: Apache-2.0 */
/*
 * way_up - the directories above one, up to "/", by device and inode
 *
 * A bind mount of a directory keeps both numbers, and so does a link: two ways that meet the same
 * place lead into the same directory.
 *
 * A burst of volumes asks for the same ways again and again, so a memory has the last ones. A way
 * is recalled only for who asked before it was begun to be read: they see all that happened before
 * they asked, as if they had read it themselves at that moment. A directory that is moved after
 * that moment could as well be moved after a look of their own.
 */
#pragma once

#include "mount/mount.h"

#include <stdatomic.h>

struct way_level {
	uint64_t mount_id;
	dev_t device;
	ino_t inode;
	uint64_t made_nsec; /* as in struct mount_facts */
};

/* Constant once it was found; any thread. */
struct way_up {
	atomic_uint references;
	uint64_t read_usec; /* when its oldest part was begun to be read; monotonic */
	char *path;         /* by which it was found; NULL: by a descriptor */
	size_t count;       /* at least 1: the directory itself, then each above */
	struct way_level *levels;
};

struct way_memory;

int way_memory_new(struct way_memory **ret);
/* Accepts NULL. Return: NULL. */
struct way_memory *way_memory_free(struct way_memory *memory);

/* Who asks, and since when. */
struct way_asked {
	struct way_memory *memory; /* NULL: nothing is recalled */
	uint64_t usec;             /* monotonic; 0: nothing is recalled */
};

/**
 * way_up_find - [worker]
 * @directory_fd: O_PATH is enough
 * @ret:          a reference
 *
 * Return: 0; -ENOMEM, -ENAMETOOLONG; else as statx(2).
 */
int way_up_find(const struct way_asked *asked, int directory_fd, struct way_up **ret);

/* The same of a directory of the host by its path; a recalled one is not looked up again. *ret is
 * NULL where nothing is at @path. */
int way_up_find_path(const struct way_asked *asked, const char *path, struct way_up **ret,
		     struct failure *reterr);

/* Accepts NULL. Return: NULL. */
struct way_up *way_up_unref(struct way_up *way);

static inline void way_up_unrefp(struct way_up **way)
{
	(void) way_up_unref(*way);
}

/* Is that place the directory or above it? */
bool way_up_has(const struct way_up *way, dev_t device, ino_t inode);
