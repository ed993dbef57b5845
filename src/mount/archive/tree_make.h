/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_make - fill a directory with entries whose paths are untrusted [worker]
 *
 * All is made beneath one root, by descriptors: no symbolic link on the way is followed, no matter
 * who made it, and no other mount entered. Parents that are missing are made (0755). What stands at
 * a path is replaced, but for a directory: that is kept where one is wanted and refused where not.
 * The times of a directory stay as they were given to it, whatever is made in it afterwards.
 */
#pragma once

#include "mount/bind/attributes.h"

struct tree_maker;

/* @root_fd: borrowed until tree_maker_free(). NULL: no memory. */
struct tree_maker *tree_maker_new(int root_fd);
struct tree_maker *tree_maker_free(struct tree_maker *maker);
void tree_maker_freep(struct tree_maker **maker);
/* Parents that are missing get this mode from now on. */
void tree_maker_set_parent_mode(struct tree_maker *maker, mode_t mode);
/* Extended attributes that the file system did not keep, so far. */
size_t tree_maker_lost(const struct tree_maker *maker);

/**
 * tree_path_clean - "./a//b/" as "a/b"; "" for the root itself
 *
 * Return: 0; -EINVAL it is absolute, empty or has ".." in it; -ENOMEM. @ret is freed with free().
 */
int tree_path_clean(const char *path, char **ret, struct failure *reterr);

/* Does a symbolic link at a clean path lead out of the tree, read by its words alone? */
bool tree_link_leads_out(const char *path, const char *target);

/* All paths are clean. Failures do not name the path. Return: 0; -ELOOP, -ENOTDIR a parent is no
 * directory; -EISDIR a directory stands there; -EXDEV something is mounted there; as the calls. */
int tree_make_directory(struct tree_maker *maker, const char *path,
			const struct attributes *attributes, struct failure *reterr);
int tree_make_symlink(struct tree_maker *maker, const char *path, const char *target,
		      const struct attributes *attributes, struct failure *reterr);
/* A further name of what was made at @original, which must be no directory. */
int tree_make_link(struct tree_maker *maker, const char *path, const char *original,
		   struct failure *reterr);
/* A fifo, socket or device. */
int tree_make_node(struct tree_maker *maker, const char *path, dev_t device,
		   const struct attributes *attributes, struct failure *reterr);
/* An empty file, 0600 and open for writing: a descriptor. Then tree_finish_file(). */
int tree_make_file(struct tree_maker *maker, const char *path, struct failure *reterr);
int tree_finish_file(struct tree_maker *maker, int fd, const struct attributes *attributes,
		     struct failure *reterr);
