/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_path - what the files of mount/ share about opening; the public part is in mount.h
 *
 * Nothing here takes an absolute path.
 */
#ifndef PODVOL_MOUNT_SAFE_PATH_H
#define PODVOL_MOUNT_SAFE_PATH_H

#include "mount/mount.h"

#include <stdint.h>
#include <sys/stat.h>

/* The name by which calls that only take paths reach a descriptor, without a look-up that
 * anybody could redirect: "/proc/self/fd/7". */
struct fd_path {
	char text[sizeof("/proc/self/fd/2147483647")];
};
struct fd_path fd_path(int fd);

/* open_beneath() without a text, for walks over many entries. Returns a descriptor or -errno. */
int path_open(int root_fd, const char *path, int flags, enum path_policy policy);

/* One attempt of make_directories(), without a text: a level that somebody removes is -ENOENT. */
int path_make(int root_fd, const char *path, mode_t mode);

/* path_open() by hand, component by component, for kernels without openat2 (path_walk.c). */
int path_walk(int root_fd, const char *path, int flags, enum path_policy policy);

#endif
