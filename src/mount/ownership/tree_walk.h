/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_walk - every entry below a directory, children before their directory, the root last
 *
 * By descriptors: no path is built, no symbolic link followed, no mount entered. At most
 * TREE_OPEN_MAX directories are open however deep the tree is; those above are closed and opened
 * again by "..", which must then lead to the same directory (a tree that was moved meanwhile ends
 * the walk with -ESTALE). Memory is bounded by the depth, not by the size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum {
	TREE_OPEN_MAX = 32,
	TREE_DEPTH_MAX = 65536, /* directories within directories; deeper is -ENAMETOOLONG */
};

struct tree_entry {
	int parent_fd;    /* readable; -EBADF for the root and what comes before its children */
	const char *name; /* within the parent; NULL for the root */
	int fd; /* O_PATH, of what status shows, when tree_walk_open_first(); else -EBADF */
	int directory_fd; /* readable, of a directory whose children came before; else -EBADF */
	bool before;      /* a directory whose children come next: tree_walk_directories_first() */
	bool too_deep;    /* a directory that the walk does not go into: tree_walk_limit() */
	bool other_mount; /* something is mounted on this name: its own entry is hidden beneath */
	bool guarded;     /* only root can rename or replace what the parent holds: the parent is
			     root's, and neither group nor others may write to it */
	struct statx status; /* type, mode, owner, group, blocks, links: of a moment ago */
};

struct tree_walk;

/**
 * tree_walk_new - begin at a directory
 * @root_fd: O_PATH or readable; borrowed during the call only
 *
 * Return: 0; -ENOTDIR; else as open.
 */
int tree_walk_new(int root_fd, struct tree_walk **ret);

/* May another thread walk this directory? True: the descriptor is theirs, and this walk leaves out
 * the directory and everything below it. */
typedef bool tree_offer_fn(void *userdata, int directory_fd);
/* Asked for every directory below the root, before the walk goes down into it. */
void tree_walk_offer(struct tree_walk *walk, tree_offer_fn *offer, void *userdata);

/* From the next entry on, each that is no directory is opened (O_PATH) before it is looked at: what
 * has to be opened anyhow is then looked at once. A hint: one that is mounted on is not opened. */
void tree_walk_open_first(struct tree_walk *walk, bool open_first);

/* From the next entry on, each directory but the root is given out before its children as well. */
void tree_walk_directories_first(struct tree_walk *walk);

/* At most so many levels, the root's included: a directory below them is given out as too_deep,
 * and its content left out. @depth: up to TREE_DEPTH_MAX. */
void tree_walk_limit(struct tree_walk *walk, size_t depth);

/* The path of the entry given out last, below the root: "a/b", "" for the root; NULL: no memory.
 * Freed with free(). */
char *tree_walk_path(const struct tree_walk *walk, const struct tree_entry *entry);

struct tree_walk *tree_walk_free(struct tree_walk *walk);
void tree_walk_freep(struct tree_walk **walk);

/**
 * tree_walk_next - the next entry
 * @ret: valid until the next call; its descriptors stay the walk's
 *
 * An entry that vanished since its directory was read is passed over; a directory that cannot be
 * opened or read ends the walk.
 *
 * Return: 1 an entry, 0 the end, or a negative errno.
 */
int tree_walk_next(struct tree_walk *walk, struct tree_entry *ret);
