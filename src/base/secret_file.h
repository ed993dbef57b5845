/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_file - small files that only root may read: a key, a token
 *
 * A file is there as a whole or not at all, whenever the machine stops. What others could have read
 * or written is no secret and is refused, never repaired. Blocks on the disk: start-up, or a
 * worker.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>

enum { SECRET_FILE_BYTES = 65536 };

/**
 * secret_directory_open - the directory that holds them
 *
 * Return: a descriptor, the caller's; -EPERM it is another user's, or group or others may write in
 * it; else what open(2) gave.
 */
int secret_directory_open(const char *path, struct failure *reterr);

/**
 * secret_file_read - read a whole file
 * @directory_fd: or AT_FDCWD with an absolute path, for a file that an operator named
 * @ret:          the caller's, given to secret_text_free(); NUL-terminated, without NULs inside
 *
 * Return: 0; -ENOENT; -EPERM group or others may read or write it, or it is another user's; -EINVAL
 * it is no regular file, is empty, too long or holds a NUL; -ENOMEM; else what a system call gave.
 */
int secret_file_read(int directory_fd, const char *name, char **ret, struct failure *reterr);

/**
 * secret_file_write - put a new file in place, mode 0600
 *
 * On disk when it returns. Return: 0; else what a system call gave, and the old state is untouched;
 * but for the very last call, which flushes the directory: the new file is then in place, and a
 * power loss may take it back.
 */
int secret_file_write(int directory_fd, const char *name, const char *text, struct failure *reterr);

/* Overwrites and frees. @text may be NULL. Return: NULL. */
char *secret_text_free(char *text);
