/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_holders - which processes in other mount namespaces, or who in ours, keep a file system
 * mounted
 *
 * A container that was made while a volume was mounted has a mount of its own; unmounting the
 * host's takes nothing from it, but unstaging or detaching the device afterwards does. So before
 * that every other mount namespace is searched for the superblock, by its device number. A mount
 * that the kernel takes away together with ours, because it is there by propagation, is no reason
 * to wait; nor is one that shows another part of the file system than ours. A namespace is seen
 * through its processes and their threads, through descriptors of it, and through a mount of its
 * file in our namespace. A mount that was detached (umount -l) is in no namespace and seen through
 * whoever has something open there.
 *
 * In our own namespace every other mount of it counts: by the time that a device is taken away
 * podvold has unmounted its own. As in kubelet, what lies below "plugins/kubernetes.io" does not,
 * since that is another volume over the same file system.
 *
 * Not seen: a detached mount of a volume that is a directory of a larger file system, namespaces
 * kept by a mount in another namespace or by a descriptor on its way through a socket, another
 * device over the same data (a partition, a snapshot), and of a detached mount what only a process
 * has mapped that hangs in the kernel. Changes nothing.
 */
#ifndef PODVOL_MOUNT_MOUNT_HOLDERS_H
#define PODVOL_MOUNT_MOUNT_HOLDERS_H

#include "base/failure.h"
#include "mount/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOUNT_NAMESPACES_MAX = 8192 }; /* looked into; more are an error */

/* In which manner. */
enum mount_held {
	HELD_BY_PROCESS,    /* that is in the namespace */
	HELD_BY_DESCRIPTOR, /* of a process, of the namespace */
	HELD_BY_MOUNT,      /* of the namespace's file, at @kept_at; pid 0 */
	HELD_DETACHED,      /* a process has @where open, by a mount that is in no namespace */
	HELD_HERE,          /* mounted at @where in our own namespace, too; pid 0 */
};

/* One file system that is asked about, and who has it. */
struct mount_holder {
	const char *mount_point; /* where this namespace has it; NULL: @device says what it is */
	dev_t device;            /* of the superblock; with a mount point found by the search */

	bool found; /* the members below tell of one of those who have it */
	enum mount_held how;
	pid_t pid;
	int pid_fd;                  /* the caller closes it; -EBADF: there is no pidfd_open */
	uint64_t mount_namespace;    /* inode of /proc/PID/ns/mnt */
	char command[COMMAND_BYTES]; /* its "comm" */
	char where[FAILURE_TEXT_BYTES / 2]; /* as the process sees it; cut when it is longer */
	char kept_at[FAILURE_TEXT_BYTES / 4];
};

/**
 * mount_holders_search - look through the mount namespaces of all processes [worker]
 * @holders: what is looked for; all of them in one pass
 *
 * A mount point where nothing is mounted is found nowhere. Cost: as busy_holders_search(), and 4
 * microseconds for each mount of each other namespace.
 *
 * Return: 0; the number of processes that may not be looked at (CAP_SYS_PTRACE); -E2BIG a limit
 * above; -ENOMEM; else as the calls. After an error nothing is found.
 */
int mount_holders_search(struct mount_holder *holders, size_t count, struct failure *reterr);

enum { MOUNT_HOLDER_TEXT_BYTES = FAILURE_TEXT_BYTES };
/* "process 12 'sh' has it mounted at '/in' in mount namespace 4026532". */
void mount_holder_print(const struct mount_holder *holder, char text[MOUNT_HOLDER_TEXT_BYTES]);

/* A mount in another namespace that the kernel takes away together with one of ours. */
struct mount_copy {
	uint64_t mount_id; /* the reused small one */
	size_t of;         /* index of ours */
	dev_t device;
	char where[FAILURE_TEXT_BYTES / 2];
};

/**
 * mount_holders_copies - the other half of that search: whoever uses one of these keeps ours from
 * being unmounted [worker]
 * @mount_points: in our namespace; the uppermost mount of each counts
 * @ret:          free with free()
 *
 * Return: 0, else as mount_holders_search().
 */
int mount_holders_copies(const char *const *mount_points, size_t count, struct mount_copy **ret,
			 size_t *ret_count, struct failure *reterr);

#endif
