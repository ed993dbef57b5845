/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_lock - one podvold to a directory: root, state and run directory
 *
 * An flock on the directory itself, by whatever name it is reached. It goes with the process at
 * once, also when one of its threads hangs: see base/lock_holder.h.
 */
#ifndef PODVOL_MOUNT_DIRECTORY_LOCK_H
#define PODVOL_MOUNT_DIRECTORY_LOCK_H

#include "base/failure.h"
#include "base/lock_holder.h"

/**
 * directory_lock - lock a directory, or say who has it [start-up]
 * @fd:   of the directory; O_PATH will do; stays the caller's
 * @kind: "root": of which kind of directory the text speaks
 *
 * Return: 0; -EBUSY another process has it (the text names its pid when known); else as open(2),
 * flock(2) and lock_holder_new().
 */
int directory_lock(int fd, const char *kind, const char *path, struct lock_holder **ret,
		   struct failure *reterr);

#endif
