/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_lock - one restore, copy or removal of a volume's directory at a time
 *
 * An flock on a file in podvold's run directory, which no pod reaches, named by device and inode of
 * the volume's directory: so podvold and podvolctl find the same one by whatever path, and in
 * whatever mount namespace, they see the volume. A lock on the directory itself could be taken by
 * any container that has it. It goes with its process, however that ends; the file says which
 * process that is.
 */
#pragma once

#include "base/failure.h"

enum volume_lock_kind {
	VOLUME_LOCK_SHARED,    /* it is read: backups, copies */
	VOLUME_LOCK_EXCLUSIVE, /* it is written or removed */
};

/**
 * volume_locks_open - where this process finds the locks [start-up]
 * @run_dir: podvold's; the directory for them is made in it, for root alone
 *
 * Once; a later call replaces the directory. Return: 0; -EPERM others than root may write there;
 * else as mkdir(2) and open(2).
 */
int volume_locks_open(const char *run_dir, struct failure *reterr);

/**
 * volume_lock_take - lock a volume's directory, or say which process has it
 * @fd:     of the directory, O_PATH will do
 * @path:   for texts
 * @ret_fd: what holds the lock; for volume_lock_release()
 *
 * Return: 0; -EBUSY: @reterr names the process that has it; -ENOLCK before volume_locks_open();
 * else as the calls.
 */
int volume_lock_take(int fd, enum volume_lock_kind kind, const char *path, int *ret_fd,
		     struct failure *reterr);

/* Its file goes with the last one that has it. -EBADF is fine. Return: -EBADF. */
int volume_lock_release(int lock_fd);

/* Releases what a variable holds. */
void volume_lock_releasep(int *lock_fd);
