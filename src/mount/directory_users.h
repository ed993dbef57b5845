/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_users - is a directory, or something in it, mounted somewhere
 *
 * As a bind mount, in this mount namespace or in one that some process is in: then somebody looks
 * at what is in it by another name. A mount below the directory is not asked for here, and what
 * only holds open files of it cannot be seen.
 */
#ifndef PODVOL_MOUNT_DIRECTORY_USERS_H
#define PODVOL_MOUNT_DIRECTORY_USERS_H

#include "base/failure.h"

/**
 * directory_users_check - nobody has it mounted [worker]
 * @fd: of the directory, O_PATH will do
 *
 * Costs one look at each process, and the mounts of each namespace.
 *
 * Return: 0; -EBUSY, and @reterr says where and in whose namespace; -ENOMEM; else as the calls.
 * Processes that end meanwhile, or may not be looked at, are passed over.
 */
int directory_users_check(int fd, struct failure *reterr);

#endif
