/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_path - may volumes be made in this directory, or could others exchange them?
 *
 * Whoever may write in a base path may put a directory of their own, or a link, in the place of a
 * volume's; whoever may write above it may do so with the base path. Looks at owners, modes and
 * access lists; changes nothing.
 */
#ifndef PODVOL_MOUNT_BASE_PATH_H
#define PODVOL_MOUNT_BASE_PATH_H

#include "base/failure.h"

/**
 * base_path_check - root alone may write in it, and rename it or what is above it [worker]
 * @fd:   of the directory, O_PATH will do
 * @path: as its author wrote it, for the message
 *
 * Where others may make names, a sticky directory of root's will do, such as /tmp: what stands at a
 * volume's place is judged by itself. Return: 0; -EPERM, and @reterr says which directory and why;
 * else as the calls.
 */
int base_path_check(int fd, const char *path, struct failure *reterr);

#endif
