/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount - the only folder that changes mounts, owners and modes, and that creates or removes below
 * the root
 *
 * Everything is done on descriptors: what a pod can influence is opened once, beneath a pinned
 * root, and from then on named by a descriptor and at most one component under it. No function
 * opens a path that another function checked. Functions marked [worker] may block or
 * hang and are never called on the loop.
 *
 * Needs Linux 5.12 for openat2, open_tree, move_mount and mount_setattr; where a seccomp profile or
 * a container takes one of them away the fallback is chosen per call on ENOSYS, and says so once in
 * the log.
 */
#pragma once

#include "base/failure.h"
#include "base/path.h"
#include "mount/filesystem/format.h" /* file systems on devices */
#include "mount/table/mount_table.h" /* what is mounted: facts and table */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- place.c, safe_path.c: what a pod can influence, opened once ---- */

/* A name to be created, mounted on or removed: the parent is pinned, because a descriptor inside a
 * mount would keep it busy; the path is for CSI drivers and people only. */
struct place {
	int parent_fd;
	char *name; /* one component: no '/', not "." or ".." */
	char *path; /* absolute, for people */
};

#define PLACE_EMPTY ((struct place){ .parent_fd = -EBADF })
/* Closes, frees, leaves PLACE_EMPTY; for cleanup(). Any thread; errno stays. */
void place_done(struct place *place);

/* How far a path may lead; see openat2(2). None follows a magic link. */
enum path_policy {
	PATH_NO_SYMLINKS, /* beneath the root, no symbolic link in it, no other mount: our own
			     directories */
	PATH_NO_SYMLINKS_ANY_MOUNT, /* the same, may enter mounts: what plugins and drivers mounted
				       for us */
	PATH_BENEATH, /* symbolic links that stay beneath the root: what users wrote */
};

/**
 * open_beneath - open what is at a path below a directory [worker]
 * @root_fd: the pinned directory
 * @path:    relative; "" is the directory itself
 * @flags:   as open(2); O_CLOEXEC is added. O_PATH for what will be mounted.
 *
 * Return: a descriptor the caller owns; -ENOENT, -ELOOP (a link where none may be), -EXDEV (leads
 * out, or into another mount), else as openat2(2).
 */
int open_beneath(int root_fd, const char *path, int flags, enum path_policy policy,
		 struct failure *reterr);

/**
 * make_directories - mkdir -p beneath a directory, each missing level with exactly @mode [worker]
 * @mode: applied against the umask; existing levels are left as they are
 *
 * No symbolic link is followed and no mount entered (PATH_NO_SYMLINKS). A level that others
 * remove meanwhile is made again, a bounded number of times.
 *
 * Return: O_PATH|O_DIRECTORY descriptor of the last level; or as open_beneath(), -ENOTDIR, -ENOSPC,
 * -EROFS.
 */
int make_directories(int root_fd, const char *path, mode_t mode, struct failure *reterr);

/**
 * place_make - the parents of a path beneath a root, made where missing, and the last component as
 * a name
 * @root_path: for place.path only
 * @mode:      of parents that are made
 * @ret:       to be given to place_done()
 *
 * The last component itself is neither made nor opened. [worker]
 */
int place_make(int root_fd, const char *root_path, const char *path, mode_t mode, struct place *ret,
	       struct failure *reterr);

/* The same without making parents: -ENOENT when one is missing. [worker] */
int place_open(int root_fd, const char *root_path, const char *path, struct place *ret,
	       struct failure *reterr);

/* ---- root.c: the root directory as its own shared mount ---- */

struct lock_holder;
struct users_below;

struct mount_root {
	int fd, directory_fd; /* O_PATH, inside its mount; and the directory below that */
	struct lock_holder *lock;
	char *path; /* absolute, resolved once at start */
};

/**
 * mount_root_open - make the root directory, lock it, make it its own shared mount
 * @path: absolute; made with mode 0750 when missing
 *
 * When it is no mount point and nothing is mounted below it, it is bound onto itself and made
 * shared, so that a bind below costs the same with ten thousand mounts as with ten and drivers'
 * mounts propagate. When something is mounted below already, it is used as it is and that is
 * logged; mounts are never stacked. The lock is an flock on the directory, held until
 * mount_root_done(). Start-up only; blocks.
 *
 * Return: 0; -EBUSY another instance holds the lock (the text names its pid when known); -EPERM no
 * right to mount; else as mkdir, open, mount.
 */
int mount_root_open(const char *path, struct mount_root *ret, struct failure *reterr);

/* Closes and unlocks; mounts stay. mount_root_undo takes the self-bind away and leaves @root open:
 * -EBUSY something is mounted below or in use. */
void mount_root_done(struct mount_root *root);
int mount_root_undo(struct mount_root *root, struct failure *reterr);

/* After others unmounted the root directory: bound again, behind the same descriptors, so that who
 * borrowed them goes on; mounts below are not brought back. Return: 0; -ESTALE another directory is
 * at its path now; else as mount_root_open(). [worker] */
int mount_root_renew(struct mount_root *root, struct failure *reterr);

/* ---- bind.c: attaching and detaching ---- */

/* Attributes of one mount, never of the file system behind it. */
struct mount_attributes {
	uint64_t set;  /* MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | ... */
	int userns_fd; /* with MOUNT_ATTR_IDMAP alone: the map; see mount/bind/idmap.h */
	uint64_t clear;
	uint64_t propagation; /* 0 keep; MS_PRIVATE, MS_SLAVE, MS_SHARED */
	bool own_group; /* with MS_SHARED: not a peer of its source, whose mounts it then lacks */
	bool recursive; /* clone submounts too, and apply to them */
};

/**
 * bind_at - a bind mount between two pinned ends [worker: NFS asks its server even for an open
 * descriptor]
 * @source_fd: any descriptor of a directory, file or device node
 * @target_fd: O_PATH of the directory or file to be covered
 *
 * Looks up no path, and that is what makes it safe: both ends were opened and checked before, and
 * whatever a pod does to their names meanwhile moves nothing. Any number of threads may bind at the
 * same time.
 *
 * With open_tree, mount_setattr and move_mount the mount appears with its attributes already set.
 * The fallback without them covers a read-only bind in an unreachable directory first (bind,
 * remount, move), so that no moment is writable either. There is none for a map (MOUNT_ATTR_IDMAP).
 *
 * Return: 0, else as the calls; nothing is left mounted on failure. With a map: -EINVAL the file
 * system knows none, -EPERM it is mapped already, -ENOSYS a call is missing.
 */
int bind_at(int source_fd, int target_fd, const struct mount_attributes *attributes,
	    struct failure *reterr);

/* The same, and which mount it is now: as in struct mount_facts; 0 after the fallback, which cannot
 * tell without a path look-up. */
int bind_at_with_id(int source_fd, int target_fd, const struct mount_attributes *attributes,
		    uint64_t *ret_mount_id, struct failure *reterr);

/**
 * open_filesystem - a file system instance that is mounted nowhere [worker: as mount_filesystem()]
 * @options:    of the file system, none generic but "ro"
 * @attributes: MOUNT_ATTR_...
 *
 * Return: a descriptor (O_PATH) of its top directory, with which it goes; -EOPNOTSUPP the kernel
 * has no such mounts; -EBUSY it is mounted otherwise with regard to "ro"; else as
 * mount_filesystem().
 */
int open_filesystem(const char *type, const char *source, const char *options, uint64_t attributes,
		    struct failure *reterr);

/**
 * mount_filesystem - a new file system instance on a pinned target [worker: opening a device may
 * hang]
 * @type:    "tmpfs", "ext4", ...
 * @source:  device path or the name shown in the mount table
 * @options: comma separated, as mount(8) -o; generic ones become attributes, the rest goes to the
 * file system; propagation has no effect
 *
 * Runs no mount.TYPE helper.
 *
 * Return: 0; -ENODEV unknown type; -EINVAL bad option (text says which when the kernel tells); else
 * as mount(2).
 */
int mount_filesystem(const char *type, const char *source, const char *options, int target_fd,
		     struct failure *reterr);

/* Has one btrfs file system, that the kernel knows, both devices? [worker] */
bool btrfs_has_devices(dev_t one, dev_t other);

/**
 * unmount_place - take the topmost mount of a place away [worker]
 * @flags: 0 or MNT_DETACH or MNT_FORCE; UMOUNT_NOFOLLOW is added
 *
 * Return: 0; -EINVAL not a mount point; -EBUSY in use; else as umount2(2).
 */
int unmount_place(const struct place *place, int flags, struct failure *reterr);

/* ---- ownership_crew.c: fsGroup ---- */

/* How far a walk is, for who looks from another thread; zeroed by its owner before. */
struct ownership_progress {
	_Atomic uint64_t begun_usec, ended_usec; /* monotonic; 0 not yet */
	_Atomic uint64_t entries, changed;
	/* Entries that the file system holds, an upper bound of what there is to do; 0 unknown. */
	_Atomic uint64_t expected;
};

struct ownership {
	gid_t gid;
	bool read_only_volume; /* mask 0440/0550 instead of 0660/0770 */
	bool on_root_mismatch; /* skip when the root already matches (cases 71 to 76) */
	struct ownership_progress *progress; /* NULL: not wanted */
};

struct ownership_counts {
	uint64_t entries, changed,
		ignored; /* ignored: chown or chmod refused; logged, walk went on */
};

/**
 * ownership_apply - give a tree to a group, the root last of all [worker; may take hours]
 * @root_fd:  O_PATH or readable directory; its mount is never left
 * @cancel:   looked at between entries; may be NULL
 *
 * A tree that is not small is walked by several threads, one of them the caller's; a directory
 * changes after what lies directly in it. The root changes after everything else, so that a walk
 * that was broken off is always noticed; walked again, it touches nothing that it finished before.
 *
 * Symbolic links are changed themselves and never followed; entries that already match are not
 * touched; owner uids never change; bits are only added (spec: plugins, 8).
 *
 * Return: 1 walked; 0 skipped by policy; -ECANCELED; else the readdir or stat error that ended the
 * walk.
 */
int ownership_apply(int root_fd, const struct ownership *ownership, const atomic_bool *cancel,
		    struct ownership_counts *ret, struct failure *reterr);

struct ownership_job;

/**
 * ownership_begin, ownership_finish - the same in two parts, the first one short [worker]
 * @root_fd: borrowed during the call
 * @ret:     what was begun, given to ownership_job_free() in the end; NULL when nothing was
 *
 * So that a volume of some files never waits for the walk through millions of files of another.
 *
 * Return: 1 done, or skipped by policy; ownership_begin() 0: the tree is large, ownership_finish()
 * does the rest; else as ownership_apply().
 */
int ownership_begin(int root_fd, const struct ownership *ownership, const atomic_bool *cancel,
		    struct ownership_job **ret, struct failure *reterr);
int ownership_finish(struct ownership_job *job, const atomic_bool *cancel, struct failure *reterr);
/* Accepts NULL. Return: NULL. */
struct ownership_job *ownership_job_free(struct ownership_job *job);

/* ---- loop_device.c: a read-only loop device as a lock on a bind file ---- */

/* Attach one unless the file has one of podvol's already; @ret_path "/dev/loop7", free with free().
 * @file_path makes the label by which it is known again, also when the file has gone. [worker] */
int loop_device_attach(int file_fd, const char *file_path, char **ret_path, struct failure *reterr);
/* Detach every loop device of podvol's of that file, never a foreign one; none is fine. @file_fd
 * -EBADF: the file is not there any more. [worker] */
int loop_device_detach(int file_fd, const char *file_path, struct failure *reterr);

/* ---- create.c: what plugins make ---- */

/**
 * open_host_path - open what an administrator or a pod's author named on the host [worker]
 * @path:  absolute; symbolic links in it are followed as any program would, magic links of /proc
 *         are not
 * @flags: as open(2); O_CLOEXEC is added. O_PATH for what will be looked at or mounted: it opens
 *         neither device nor FIFO.
 *
 * Such a path is no secret and leads where its author says; what matters is that it is opened once
 * and named by the descriptor from then on.
 *
 * Return: a descriptor the caller owns; -EINVAL not absolute; else as openat2(2).
 */
int open_host_path(const char *path, int flags, struct failure *reterr);

/**
 * make_host_directories - mkdir -p of a path on the host [worker]
 * @path: absolute, as for open_host_path()
 * @mode: of levels that are made; the umask applies
 *
 * Return: O_PATH|O_DIRECTORY descriptor of the last level; -ENOTDIR; -ENOENT a dangling symbolic
 * link is in the way; else as mkdirat(2).
 */
int make_host_directories(const char *path, mode_t mode, struct failure *reterr);

/**
 * make_host_file - an empty file on the host, where nothing is yet [worker]
 * @path: absolute, as for open_host_path(); the parent must exist
 * @mode: the umask applies
 *
 * Never through a dangling symbolic link in the last component. Return: 0; -EEXIST; -ENOENT.
 */
int make_host_file(const char *path, mode_t mode, struct failure *reterr);

/**
 * make_directory - the last component of a place as a directory [worker]
 * @mode:     exactly, against the umask, when it is made; one that exists is left as it is
 * @ret_made: false: it was there, and something may be mounted on it; may be NULL
 *
 * Return: O_PATH|O_DIRECTORY descriptor of it, or of what is mounted there; -ENOTDIR something else
 * is there; else as mkdirat(2).
 */
int make_directory(const struct place *place, mode_t mode, bool *ret_made, struct failure *reterr);

/* The same as an empty file; whatever else is there but a symbolic link is left as it is. */
int make_file(const struct place *place, mode_t mode, bool *ret_made, struct failure *reterr);

/* A symbolic link in place of an older one. Return: 0; -EEXIST something else is there. [worker] */
int make_link(const struct place *place, const char *points_to, struct failure *reterr);

/* Permission bits of what a descriptor (O_PATH too) shows, exactly. [worker] */
int change_mode(int fd, mode_t mode, struct failure *reterr);

/* ---- remove.c: the only place that removes ---- */

/* One rmdir or unlink of a place that is no mount point; never recursive. -ENOTEMPTY keeps data.
 * -ENOENT is 0. */
int remove_directory(const struct place *place, struct failure *reterr);
int remove_file(const struct place *place, struct failure *reterr);

/**
 * remove_empty_parents - rmdir upwards from a place's parent while empty, at most to below @root_fd
 * @path: of the place, relative to @root_fd
 * @stop: how many leading components are kept
 *
 * What is in use, or is foreign, stays with all that is above it. Return: 0; else why one that
 * is empty cannot be removed: called again it goes on there.
 */
int remove_empty_parents(int root_fd, const char *path, unsigned int stop, struct failure *reterr);

/**
 * remove_empty_dir_contents - the one recursive removal: an emptyDir's own content
 * @place: the emptyDir; itself removed too
 *
 * By descriptor, within one mount: a mount point below ends it with -EXDEV, and nothing across it
 * is touched. The limit of its project goes with it; see capacity_limit_project().
 */
int remove_empty_dir_contents(const struct place *place, struct failure *reterr);

/**
 * remove_volume_contents - the other recursive removal: a volume whose claim was deleted
 * @place: its directory; itself removed too, last
 * @mark:  that it must bear; see volume_directory.h
 * @users: a search for the users of all that is below its base path; NULL: it gets one of its own,
 *         as it does when that one does not prove that it has no users
 *
 * Nothing is removed while it, or something in it, is mounted elsewhere (-EBUSY).
 * By descriptor, within one mount: everything below is looked at first, and with a mount point
 * anywhere nothing is removed (-EXDEV). Missing is 0.
 *
 * Return: 0; -EPERM no such mark, nothing is removed; -EXDEV; -ESTALE something else was put
 * in its place meanwhile, which stays; else as the calls. [worker]
 */
int remove_volume_contents(const struct place *place, const char *mark, struct users_below *users,
			   struct failure *reterr);

/* ---- cleanup.c ---- */

/**
 * cleanup_mount_point - umount if mounted, then rmdir: CleanupMountPoint (spec: plugins, 9)
 * [worker]
 *
 * A place that is missing is fine; a corrupted mount is unmounted without being looked at; a
 * directory with something in it, a file with content and a link stay and are -ENOTEMPTY; stacked
 * mounts are all taken away.
 */
int cleanup_mount_point(const struct place *place, struct failure *reterr);
