/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_within - is an open file or directory a directory itself, or below it
 *
 * By file handle, so that the mount by which it was opened does not matter: it may be detached, or
 * show any part of the file system. Looks up no name.
 */
#ifndef PODVOL_MOUNT_FILE_WITHIN_H
#define PODVOL_MOUNT_FILE_WITHIN_H

/**
 * file_within - is it proven [worker]
 * @directory_fd: O_PATH will do
 * @mount_fd:     opened for reading: the root of a mount that shows @directory_fd, or @directory_fd
 *                itself; what that mount does not show cannot be decided
 * @fd:           on the same file system; O_PATH will do
 *
 * Needs CAP_DAC_READ_SEARCH. For what is not a directory the kernel has the way to it in its handle
 * since Linux 6.13 only.
 *
 * Return: 1 it is; 0 it is not; -EOPNOTSUPP a file system without file handles (overlay), -EINVAL a
 * file before Linux 6.13, -ESTALE it was removed or is not below the mount, else as the calls: then
 * it may be.
 */
int file_within(int directory_fd, int mount_fd, int fd);

#endif
