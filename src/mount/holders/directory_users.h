/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_users - is a directory, or something in it, mounted somewhere
 *
 * As a bind mount, in this mount namespace or in any other that mount_holders.h finds; or as a
 * detached mount, by what a process has open there. So it is when a pod's mount point is removed:
 * the kernel detaches the copies that other namespaces have on it. A mount below the directory is
 * not asked for here, nor who has files of it open through a mount of the whole file system.
 */
#ifndef PODVOL_MOUNT_DIRECTORY_USERS_H
#define PODVOL_MOUNT_DIRECTORY_USERS_H

#include "base/failure.h"

/**
 * directory_users_check - is it proven that it is mounted nowhere [worker]
 * @fd: of the directory, O_PATH will do
 *
 * Cost: as mount_holders_search().
 *
 * Return: 0 only when that is proven; -EBUSY, and @reterr names who has it; else what could not be
 * seen: whoever removes keeps the data then, and tries again.
 */
int directory_users_check(int fd, struct failure *reterr);

#endif
