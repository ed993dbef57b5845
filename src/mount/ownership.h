/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership - the walk behind ownership_apply(), one entry at a time
 *
 * For ownership.c and its tests, which look between the steps.
 */
#ifndef PODVOL_MOUNT_OWNERSHIP_H
#define PODVOL_MOUNT_OWNERSHIP_H

#include "mount/mount.h"

struct ownership_walk;

/* @root_fd is borrowed until the end; @ownership is copied. Return: 0 or a negative errno. */
int ownership_walk_new(int root_fd, const struct ownership *ownership, struct ownership_walk **ret);
struct ownership_walk *ownership_walk_free(struct ownership_walk *walk);

/* One entry. Return: 1 more to do, 0 done, or the error that ended the walk. [worker] */
int ownership_step(struct ownership_walk *walk, struct ownership_counts *counts);

/* Does the root match, so that OnRootMismatch skips the walk? False too when it cannot be told. */
bool ownership_root_matches(int root_fd, const struct ownership *ownership);

#endif
