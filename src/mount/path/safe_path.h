/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_path - what the files of mount/ share about opening; the public part is in mount.h
 *
 * Nothing here takes an absolute path.
 */
#pragma once

#include "mount/mount.h"

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>

/* The name by which calls that only take paths reach a descriptor, without a look-up that
 * anybody could redirect: "/proc/self/fd/7". */
struct fd_path {
	char text[sizeof("/proc/self/fd/2147483647")];
};
struct fd_path fd_path(int fd);

/* Where a descriptor leads now, by no link. Return: 0; -ENAMETOOLONG; else as readlink(2). */
int fd_real_path(int fd, char ret[PATH_MAX]);

/* open_beneath() without a text, for walks over many entries. Returns a descriptor or -errno. */
int path_open(int root_fd, const char *path, int flags, enum path_policy policy);

/* One attempt of make_directories(), without a text: a level that others remove is -ENOENT. */
int path_make(int root_fd, const char *path, mode_t mode);

/* path_open() by hand, component by component, for kernels without openat2 (path_walk.c). */
int path_walk(int root_fd, const char *path, int flags, enum path_policy policy);

/* ---- pod_directory.c ---- */

/* The directory of an orphaned pod, removed as far as it is empty.  kubelet's cleanup of orphaned
 * pod directories (spec: volume manager, 7.1), and more careful: what has content is never removed,
 * but for the hosts file that kubelet itself wrote. Volumes are not entered: a directory is removed
 * by rmdir or stays. */

/**
 * pod_directory_clean - remove pods/<uid> with what is empty of it [worker]
 *
 * Checks first, and changes nothing when anything that is to be removed is a mount point or cannot
 * be examined. Then the volumes' directories and the targets of sub-paths go; only when all of them
 * went, what else agents make there: ready files, directories of containers, the hosts file. Each
 * by one rmdir or unlink of a name under a pinned parent; nothing is unmounted.
 *
 * Return: 0 it is gone, or was not there; -EBUSY a mount is in it; -ENOTEMPTY something stays, and
 * the directory with it; else the first error.
 */
int pod_directory_clean(int root_fd, const char *root_path, const char *pod_uid,
			struct failure *reterr);
