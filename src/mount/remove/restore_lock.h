/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_lock - a volume's directory is not mounted while it is filled
 *
 * The volume's lock (volume_lock.h) together with a mark on the directory (VOLUME_PARTIAL_MARK).
 * The lock goes with its process, however that ends, so that nothing has to be taken back after a
 * kill; the mark spares every other mount the search for a lock. On a file system that keeps no
 * such marks no mount is held back.
 */
#pragma once

#include "base/failure.h"

/* Of the mark: the lock is held, and nothing was written yet. */
#define RESTORE_CLAIMED "claimed"

/**
 * restore_lock_take - from now on it is not mounted
 * @fd:          of the directory, readable
 * @path:        for texts
 * @ret_lock_fd: for volume_lock_release(); what has a copy holds the lock as well
 *
 * Return: 0; -EBUSY it is being restored, copied or removed; else as the calls.
 */
int restore_lock_take(int fd, const char *path, int *ret_lock_fd, struct failure *reterr);

/* Nothing was written after all: the mark goes, if it says so. */
void restore_lock_end(int fd);

/**
 * restore_lock_check - may this directory be mounted? [worker]
 * @fd: O_PATH will do
 *
 * One call where none was restored. A restore that was broken off excludes no one: its volume
 * holds a part, which only its owner can judge.
 *
 * Return: 0; -EBUSY it is being restored, @reterr names the process where it is known.
 */
int restore_lock_check(int fd, const char *path, struct failure *reterr);
