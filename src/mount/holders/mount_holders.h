/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_holders - which processes in other mount namespaces, or in this one, keep a file system
 * mounted
 *
 * A container that was made while a volume was mounted has a mount of its own; unmounting the
 * host's takes nothing from it, but unstaging or detaching the device afterwards does. So before
 * that every other mount namespace is searched for the superblock, by its device number. A mount
 * that the kernel takes away together with its original, because it is there by propagation, is no
 * reason to wait; nor is one that shows another part of the file system than that. A namespace is
 * found by its processes, threads, descriptors, or a mount of its file, and counts as seen after a
 * thread entered it and read all of its mounts. A mount that was detached (umount -l) is in no
 * namespace and seen through who has something open there.
 *
 * In our own namespace every other mount of it counts: by the time that a device is taken away
 * podvold has unmounted its own. As in kubelet, what lies below "plugins/kubernetes.io" does not,
 * since that is another volume over the same file system.
 *
 * Not seen: a detached mount that only a process has mapped that hangs in the kernel; one below
 * another detached mount where nothing is open; another device over the same data (a snapshot); and
 * before Linux 6.12 namespaces kept by a mount elsewhere or a descriptor in a socket.
 */
#pragma once

#include "base/failure.h"
#include "mount/holders/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In which manner. */
enum mount_held {
	HELD_BY_PROCESS,    /* that is in the namespace */
	HELD_BY_DESCRIPTOR, /* of a process, of the namespace */
	HELD_BY_MOUNT,      /* of the namespace's file, at @kept_at; pid 0 */
	HELD_DETACHED,      /* a process has @where open, by a mount that is in no namespace */
	HELD_UNSEEN,     /* the namespace has it, and who keeps that may not be looked at; pid 0 */
	HELD_HERE,       /* mounted at @where in our own namespace, too; pid 0 */
	HELD_UNREAD,     /* unknown: @unread namespaces of @owner were not read, this one too */
	HELD_UNSEARCHED, /* nor what @unread processes of @owner have open */
};

struct mount_passed;

/* A directory that is asked about: a detached mount counts when what a process has open there is in
 * it, as mount_holders.h decides. */
struct mount_directory {
	int fd;
	int mount_fd; /* the root of its mount, opened for reading */
};

/* One file system that is asked about, and who has it. */
struct mount_holder {
	const char *mount_point; /* where this namespace has it; NULL: @device says what it is */
	dev_t device;            /* of the superblock; with a mount point found by the search */
	const char *root; /* without a mount point: only who has this directory of @device mounted,
			     or something in it; in our own namespace every such mount counts. NULL:
			     all of it */
	const struct mount_directory *directory; /* with @root: the same, open; NULL otherwise */
	const char *sub_paths_of;                /* uid of a pod whose sub-paths
						    podvold bound, and unmounts; NULL: none */
	bool elsewhere;                          /* mounts of our own namespace do not count */
	const void *volume; /* of several mounts of one volume the same: what another namespace has
			       at the place of one is judged by that one alone; NULL: none */
	/* With @root; NULL, or called with what each mount of it shows, in place of a report: who
	 * has anything of it open counts as ever. A negative errno ends the search. */
	int (*note_shown)(void *userdata, const char *root);
	void *shown_userdata;
	struct mount_passed *passed; /* not NULL: the search is forced, see mount_force.h, and this
					says what it went past */

	bool found; /* the members below tell of one of those who have it */
	enum mount_held how;
	pid_t pid;
	int pid_fd;                  /* the caller closes it; -EBADF: there is no pidfd_open */
	uint64_t mount_namespace;    /* inode of /proc/PID/ns/mnt */
	char command[COMMAND_BYTES]; /* its "comm" */
	uid_t uid;                   /* of the process, real */
	bool has_owner;              /* are the next two known? */
	uint64_t user_namespace;     /* of the mount namespace, right below our own; 0: our own */
	uid_t owner;                 /* who made that user namespace */
	size_t unread;               /* namespaces: of @owner, for HELD_DETACHED of all;
					processes for HELD_UNSEARCHED */
	int undecided;   /* HELD_DETACHED of a @directory: why it is unknown whether @where is in
			    it; 0: it is. HELD_UNSEARCHED: why; 0: its owner has too much open */
	char where[512]; /* as the process sees it; cut when it is longer */
	char kept_at[256];
};

/**
 * mount_holders_search - look through the mount namespaces of all processes [worker]
 * @holders: what is looked for; all of them in one pass
 *
 * A mount point where nothing is mounted is found nowhere. Cost: as busy_holders_search(), 0.1 ms
 * for each other namespace, and 4 microseconds for each mount of it.
 *
 * A local user's namespaces beyond OWNER_NAMESPACES_MAX, or beyond MOUNT_TABLE_BYTES_MAX of tables,
 * are not read and hold every volume that is asked about. So do processes of one whose processes
 * have more open than OWNER_OPEN_USEC_MAX can read, or OPEN_USEC_MAX with other users', and one of
 * which that cannot be read by another error than podvold's own.
 *
 * A task that a security module hides is none of that when the kernel lists all mount namespaces
 * (Linux 6.12), for then its namespace was read as well; only what it has open of a detached mount
 * is not seen.
 *
 * Return: 0, or the number of such tasks, only after every namespace was seen and every other task
 * was seen or is proven to be gone (ENOENT, ESRCH); else why something could not be seen: the
 * caller keeps what it protects, and tries again. After an error nothing is found.
 */
int mount_holders_search(struct mount_holder *holders, size_t count, struct failure *reterr);

/* Mount namespaces of one local user that one search reads. */
enum { OWNER_NAMESPACES_MAX = 4096 };
/* Of a processor, for what processes have open: those of one local user, and all of them; root has
 * as much as all users. */
enum {
	OWNER_OPEN_USEC_MAX = 4000000,
	OPEN_USEC_MAX = 20000000,
};

enum { MOUNT_HOLDER_TEXT_BYTES = 1024 };
/* "process 12 'sh' has it mounted at '/in' in mount namespace 4026532". */
void mount_holder_print(const struct mount_holder *holder, char text[MOUNT_HOLDER_TEXT_BYTES]);

/* A mount in another namespace that the kernel takes away together with an original here. */
struct mount_copy {
	uint64_t mount_id; /* the reused small one */
	size_t of;         /* index of the original */
	dev_t device;
	char where[512];
};

/**
 * mount_holders_copies - the other half of that search: a user of one of these keeps the original
 * from being unmounted [worker]
 * @mount_points: in our namespace; the uppermost mount of each counts
 * @ret:          free with free()
 *
 * Return: 0, else as mount_holders_search().
 */
int mount_holders_copies(const char *const *mount_points, size_t count, struct mount_copy **ret,
			 size_t *ret_count, struct failure *reterr);

/* ---- directory_users.c: is a directory, or something in it, mounted somewhere ---- */

/* As a bind mount, in this mount namespace or in any other that mount_holders.h finds; or as a
 * detached mount, by what a process has open there. So it is when a pod's mount point is
 * removed: the kernel detaches the copies that other namespaces have on it. A mount below the
 * directory is not asked for here, nor who has files of it open through a mount of the whole
 * file system. */

/* One directory, as a search asks about it: for searches of many in one pass. */
struct directory_query {
	struct mount_directory directory; /* both descriptors are the question's */
	dev_t device;
	uint64_t mount_id;              /* of the mount that it lies in, */
	char *mount_root, *mount_point; /* and what and where that is */
	uint64_t wide_id; /* of the mount that shows most of the file system, with the */
	char *wide_point; /* directory in it, and where that is */
	char *root;       /* what a bind mount of it would show */
};

/**
 * directory_query_open - what a bind mount of a directory would show [worker]
 * @fd:   taken, also after a failure
 * @like: where this one lies in the same mount, the table of mounts is not read again; NULL: none
 * @ret:  for directory_query_done(), also after a failure
 *
 * Return: 0 or a negative errno.
 */
int directory_query_open(int fd, const struct directory_query *like, struct directory_query *ret,
			 struct failure *reterr);
/* Borrows the question. */
void directory_query_run(const struct directory_query *question, struct mount_holder *holder);
/* Fine for one that is zero. */
void directory_query_done(struct directory_query *question);

/**
 * directory_users_check - is it proven that it is mounted nowhere [worker]
 * @fd: of the directory, O_PATH will do
 *
 * Cost: as mount_holders_search().
 *
 * Return: 0 only when that is proven; -EBUSY, and @reterr names who has it; else what could not be
 * seen: the remover keeps the data then, and tries again.
 */
int directory_users_check(int fd, struct failure *reterr);

/* ---- file_within.c: is an open file or directory a directory itself, or below it ---- */

/* By file handle, so that the mount by which it was opened does not matter: it may be
 * detached, or show any part of the file system. Looks up no name. */

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
