/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_unmount - unmount a volume that is in use
 *
 * Only where the administrator says so, and never silently: the caller tells of it. It touches the
 * volume's own mounts alone: while a foreign mount is nested in one, nothing is done. The
 * content is not touched at all; what happens to those who use it is said at the two manners.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

enum unmount_manner {
	/* Busy ones stay. */
	UNMOUNT_WAIT,
	/* MNT_DETACH: gone from the table of mounts, here and where it is a propagated copy;
	 * those who use it keep what they have until they let go of it. */
	UNMOUNT_LAZY,
	/* MNT_FORCE: a file system with a server gives up what it waits for: pending calls get an
	 * error, and what was not written yet is lost, on each of its mounts. Another file system
	 * does not care, and its mount stays. */
	UNMOUNT_FORCE,
};

struct stuck_volume {
	const char *mount_point; /* absolute, below the root */
	const char *folder;      /* what is mounted below it counts, too; NULL: none */
	bool memory_only; /* what else is mounted on @mount_point is not the volume's: it stays */
};

/**
 * stuck_unmount - unmount plainly, and where that is EBUSY in @manner [worker]
 * @root_fd, @root_path: the pinned root; mounts elsewhere are left alone
 * @ret_used: how many mounts needed @manner, also when it did not help
 *
 * Return: 0; -EBUSY something is mounted in the volume, or it is in use even so; else as
 * umount2(2).
 */
int stuck_unmount(int root_fd, const char *root_path, const struct stuck_volume *volume,
		  enum unmount_manner manner, unsigned int *ret_used, struct failure *reterr);
