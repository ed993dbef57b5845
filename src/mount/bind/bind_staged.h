/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind_staged - what bind.c offers its neighbours, and the bind that needs only mount(2)
 *
 * For the files of mount/ only.
 */
#pragma once

#include "mount/mount.h"

/**
 * bind_staged - bind_at() with mount(2) alone: bind aside, remount, move
 *
 * Serialised over all processes by a lock; about twelve system calls. Return: as bind_at();
 * -EOPNOTSUPP attributes for a recursive bind, which mount(2) cannot apply to submounts.
 */
int bind_staged(int source_fd, int target_fd, const struct mount_attributes *attributes,
		struct failure *reterr);

/* Attach a detached mount where @target_fd leads. Returns 0 or -errno. */
int attach_tree(int tree_fd, int target_fd);

/* The flags for mount(2) with which a mount keeps its attributes but for those named; asks the
 * file system. Returns 0 or -errno. */
int flags_to_remount(const char *path, const struct mount_attributes *wanted,
		     unsigned long *ret_flags);

/* MOUNT_ATTR_* as the flags of mount(2). Pure. */
unsigned long attributes_to_mount_flags(uint64_t attributes);
