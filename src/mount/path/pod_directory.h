/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_directory - the directory of a pod that nobody knows any more, taken away as far as it is
 * empty
 *
 * kubelet's cleanup of orphaned pod directories (spec: volume manager, 7.1), and more careful: what
 * has content is never removed, but for the hosts file that kubelet itself wrote. Volumes are not
 * looked into: a directory is removed by rmdir or stays.
 */
#ifndef PODVOL_MOUNT_POD_DIRECTORY_H
#define PODVOL_MOUNT_POD_DIRECTORY_H

#include "mount/mount.h"

/**
 * pod_directory_clean - remove pods/<uid> with what is empty of it [worker]
 *
 * Looks first, and touches nothing when anything that is to be removed is a mount point or cannot
 * be examined. Then the volumes' directories and the targets of sub-paths go; only when all of them
 * went, what else agents make there: ready files, directories of containers, the hosts file. Each
 * by one rmdir or unlink of a name under a pinned parent; nothing is unmounted.
 *
 * Return: 0 it is gone, or was not there; -EBUSY a mount is in it; -ENOTEMPTY something stays, and
 * the directory with it; else the first error.
 */
int pod_directory_clean(int root_fd, const char *root_path, const char *pod_uid,
			struct failure *reterr);

#endif
