/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_copy - snapshots of local volumes, and volumes that are filled from others
 *
 * A snapshot is a directory of its own beside the volumes: marked like one, of mode 0700, with what
 * was in the volume in "data" below. Where the volume is a subvolume of btrfs that is a snapshot of
 * it, of one moment; else a copy, whose files share their blocks where the file system can do that.
 *
 * Of a volume in an image the files are copied as well, and not the image: so what was taken of one
 * kind of volume can fill any other, larger or smaller. Nor need its file system be frozen, as that
 * would outlive a process that is killed meanwhile, and stop the pods for good.
 *
 * Safe to repeat after a kill at any point: what is not finished says so by a mark and is begun
 * again, what is finished is left as it is. The source is locked meanwhile (flock, shared), so that
 * it is neither removed nor restored. All functions [worker], and may take hours.
 */
#pragma once

#include "mount/remove/volume_directory.h"
#include "base/failure.h"

#include <sys/stat.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What is copied: a volume's directory, or a snapshot of one. */
struct volume_source {
	const char *base_path, *name, *mark;
	bool is_snapshot;
	const char *capacity; /* of a volume: a word of capacity.h, as its object says; NULL none */
	/* Of a volume: to be proven before, else -EBUSY; then nothing may change while it is
	 * copied, and what is made of it is used by none before it is settled and this says 0 once
	 * more. */
	bool is_unused;
};

struct copy_watch {
	const atomic_bool *cancel;
	struct copy_progress *progress;
	bool is_whole; /* as of struct tree_copy; set here for an unused source */
};

struct volume_snapshot_facts {
	int64_t creation_nsec; /* real time */
	bool is_atomic;        /* of one moment */
};

/* Return: 0; -EBUSY the source is being removed or restored; -ENOENT, -EPERM it is not there, or
 * does not bear its mark; -ECANCELED; -ENOSPC; else as the calls. */
int volume_snapshot_take(const struct volume_directory *directory,
			 const struct volume_source *source, const struct copy_watch *watch,
			 struct volume_snapshot_facts *ret, struct failure *reterr);

/* Of one that is there. Return: 0; -ENOENT; -EPERM it is none, or not finished. */
int volume_snapshot_sync(const struct volume_directory *directory,
			 struct volume_snapshot_facts *ret, struct failure *reterr);

/* A volume's directory with what is in the source, of its owner and mode. One that is filled is
 * left as it is; from an unused source it is filled again when that was changed since, settled or
 * not. As volume_directory_make() and volume_snapshot_take(); -EBUSY the source is changed again
 * and again. */
int volume_directory_make_filled(const struct volume_directory *directory,
				 const struct volume_source *source, const struct copy_watch *watch,
				 struct failure *reterr);

/* From now on it may be used, and is no longer taken back with what is in it: a mark says so, for
 * who finds it after a kill. Safe to repeat.
 * Return: 0; as the calls. */
int volume_directory_settle(const struct volume_directory *directory, struct failure *reterr);

/* Takes such a one back, with what was copied. @is_unused: also when it is settled, since it is
 * known that it was never used. Return: -EALREADY it is settled, and stays; else as
 * volume_directory_unmake() and volume_directory_remove(). */
int volume_directory_unmake_filled(const struct volume_directory *directory, bool is_unused,
				   struct failure *reterr);

/* ---- link_table.c ---- */

/* Which path a file with several names was met at first, while a tree is walked.
 *
 * A file is forgotten when all its names were met. */

struct link_table;

/* Empty; NULL is one, too. */
void link_table_freep(struct link_table **table);

/**
 * link_table_meet - a file was met
 * @ret: the path it was met at first; NULL: this is the first one. Valid until the next call.
 *
 * Files with one name cost nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int link_table_meet(struct link_table **table, const struct stat *status, const char *path,
		    const char **ret);

/* ---- tree_copy.c ---- */

/* All that is below a directory, and its own attributes, into an empty one [worker].
 *
 * Files share their blocks where the file system can do that. Hard links, holes, owners,
 * modes, times, extended attributes and access lists are kept. Both ends are descriptors: no
 * symbolic link is followed and no mount entered; what is mounted below the source is left
 * out. A tree that is written to meanwhile is copied as it is found, file by file. */

/* How far it is, for who looks from another thread. */
struct copy_progress {
	_Atomic uint64_t entries, bytes; /* bytes: copied, not shared */
};

struct tree_copy {
	int from_fd, to_fd;
	const atomic_bool *cancel;      /* looked at between portions; may be NULL */
	struct copy_progress *progress; /* zeroed by its owner before */
	bool is_whole;                  /* what a mount hides is not left out, but -EBUSY */
};

/* Return: 0; -ECANCELED; -ENOSPC; -EBUSY; else as the calls, with the entry's path. */
int tree_copy(const struct tree_copy *copy, struct failure *reterr);

/* ---- tree_print.c ---- */

/* Was anything in a tree changed? Two numbers of it differ then [worker].
 *
 * Made of names, inodes, owners, modes, sizes and times of all entries, of which the kernel alone
 * sets ctime. No content is read. What a process writes through a mapping is seen when the file
 * system was synced before the first number; on tmpfs it is not. */

struct tree_print {
	uint64_t number;
	char *late; /* the path of an entry that was changed at @since or later; NULL: none was */
};

/* Now; what was changed in the same tick of the clock counts as late, too. */
struct timespec tree_print_since(void);
/* Return: 0, @ret is given to tree_print_done(); -ECANCELED; else as the calls. */
int tree_print(int root_fd, const struct timespec *since, const atomic_bool *cancel,
	       struct tree_print *ret, struct failure *reterr);
void tree_print_done(struct tree_print *print);
