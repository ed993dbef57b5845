/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_compare - does a directory hold exactly a payload's files; for atomic_writer.c alone
 */
#ifndef PODVOL_MOUNT_ATOMIC_COMPARE_H
#define PODVOL_MOUNT_ATOMIC_COMPARE_H

#include "mount/files/atomic_writer.h"

enum { ATOMIC_DIRECTORY_MODE = 0755 }; /* of the directories that the writer makes */

/* Bytes, modes, owners and groups, and nothing else below the directory. Reads as much as the
 * files hold. Return: 1 it does, 0 it does not (also when it cannot be read). [worker] */
int atomic_compare(int directory_fd, const struct atomic_write *write);

#endif
