/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grow - make a mounted file system as large as its device
 *
 * By the file system's own call and no program: ext4 and xfs. Never smaller.
 */
#ifndef PODVOL_MOUNT_GROW_H
#define PODVOL_MOUNT_GROW_H

#include "base/failure.h"

/**
 * filesystem_grow - while it is mounted and in use; safe to repeat [worker]
 * @mount_fd:  a directory in it, O_PATH too
 * @device_fd: its device, readable
 *
 * Return: 0, also when it is so large already; -EOPNOTSUPP another kind of file system; else as the
 * calls.
 */
int filesystem_grow(int mount_fd, int device_fd, struct failure *reterr);

#endif
