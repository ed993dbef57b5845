/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct - one volume mounted and unmounted by its plugin, in this process, with no daemon
 *
 * For rescue and for scripts: what a PersistentVolume says (source, file system, mount options) is
 * done by the same stages as the daemon's. There is no pod, so no ownership is changed, and nothing
 * is remembered: what is mounted afterwards is the target and nothing else.
 */
#pragma once

#include "base/failure.h"

#include <limits.h>

struct object;

/* The one PersistentVolume of a file, as direct_mount() reads it: a new reference. */
int direct_read_volume(const char *file, const struct object **ret, struct failure *reterr);

/* Where a descriptor really is: "" when that is unknown. */
void direct_real_path(int fd, char ret[PATH_MAX]);

/**
 * direct_mount - mount the one PersistentVolume of a file at a target
 * @file:     a manifest with exactly one PersistentVolume; other objects in it are passed over; "-"
 *            reads standard input
 * @target:   an existing directory (a file, where the volume is one) on which nothing is mounted
 * @root_dir: of a daemon that may run; NULL means the default. Where the target lies below it, its
 *            lock is held meanwhile.
 *
 * Blocks. Needs root. On failure nothing is left mounted.
 *
 * Return: 0; -EINVAL not one PersistentVolume, or one in block mode; -EBUSY the target is mounted
 * already, or a daemon uses the root directory; -EOPNOTSUPP the plugin needs a daemon; else as the
 * plugin's stages.
 */
int direct_mount(const char *file, const char *target, const char *root_dir,
		 struct failure *reterr);

/**
 * direct_unmount - take the topmost mount of a target away, also a foreign one
 *
 * The target itself stays. Return: 0; -EINVAL nothing is mounted there; -EBUSY in use, or a daemon
 * uses the root directory that it lies below; else as umount2(2).
 */
int direct_unmount(const char *target, const char *root_dir, struct failure *reterr);
