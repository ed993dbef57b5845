/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_file - a file of podvold's own below the root directory, written and read whole
 *
 * Written beside its place and renamed over it, so that a reader finds the old bytes, the new
 * ones or none, also after a kill at any moment. Read only when it is a plain file of the mount
 * around it; a link, a device or a file too large is refused. All [worker].
 */
#pragma once

#include "mount/mount.h"

/**
 * small_file_write - put bytes at a place, all at once
 * @mode: exactly, against the umask
 *
 * Survives a kill of podvold, not a loss of power: what such files describe is mounts, and they
 * would be gone as well. Return: 0; -EISDIR something else is there; else as open(2), write(2).
 */
int small_file_write(const struct place *place, const char *bytes, size_t length, mode_t mode,
		     struct failure *reterr);

/**
 * small_file_read - its bytes, with a NUL behind them that does not count
 * @ret: to be freed with free()
 *
 * Return: 0; -ENOENT; -EINVAL no plain file; -EFBIG larger than @most; else as openat2(2), read(2).
 */
int small_file_read(const struct place *place, size_t most, char **ret, size_t *ret_length,
		    struct failure *reterr);

/* The file, and what a write that was killed left beside it. What is missing is fine. 0, or as
 * remove_file(). */
int small_file_remove(const struct place *place, struct failure *reterr);
