/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directory - directories that are volumes: made below a base path, and taken away again
 *
 * The base path is an administrator's and opened as it is; what is below it is reached by
 * descriptors, without symbolic links, and never in another mount. Each directory bears a mark (an
 * extended attribute that only root can write) with the uid of its volume. What does not bear the
 * mark of the volume that is spoken of is never removed, whatever a path says: not what stood there
 * before, not what was put in its place, not what another volume has. A file system that keeps
 * no such marks is refused. All functions [worker].
 */
#pragma once

#include "base/failure.h"
#include "mount/remove/own_directories.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct users_below;

#define VOLUME_DIRECTORY_MARK "trusted.podvol.volume"

enum { VOLUME_MARK_BYTES = 129 }; /* a uid is of at most 128 */

enum volume_mark { VOLUME_MARK_NONE, VOLUME_MARK_OURS, VOLUME_MARK_OTHER };
/* Whose mark a directory bears; what cannot be read counts as another's. */
enum volume_mark volume_mark_of(int fd, const char *mark);

struct volume_directory {
	const char *base_path; /* absolute, not "/" */
	const char *name;      /* below it; may have levels */
	const char *mark;      /* the volume's uid */
	const char *capacity;  /* how its size is enforced: a word of capacity.h; NULL none */
	uint64_t bytes;        /* that size; for making and growing */
	const char *fs_type;   /* of an image that is filled; NULL the usual one */
	const struct own_directories *own; /* no place for a new volume; NULL: any is one */
	struct users_below *users;         /* for removing: who uses what is below the base path;
						    NULL: it is searched for */
};

struct volume_order {
	const char *const *base_paths; /* made (0755) where missing */
	size_t count;
	const char *name;     /* below each; one where something else stands already is passed over
			       */
	const char *capacity; /* a word of capacity.h; a base path that cannot do it is passed over
			       */
	uint64_t bytes; /* that have to be free; of those that have them the one with the most is
			   chosen */
	const struct own_directories *own; /* a base path where a volume would be no source is
					    * passed over; NULL: none is */
	bool is_named; /* the base path is not made, and base_path_check_named() is asked */
};

struct volume_choice {
	size_t index;
	const char *capacity; /* the word that CAPACITY_AUTO became; static */
	uint64_t room_bytes;  /* that were free */
};

/**
 * volume_directory_choose - which base path has room for a volume
 *
 * Return: 0; -ENOSPC none has room, @reterr says how much there is; -EEXIST; -EOPNOTSUPP the
 * capacity cannot be enforced; else why the last one cannot be used.
 */
int volume_directory_choose(const struct volume_order *wish, struct volume_choice *ret,
			    struct failure *reterr);

/**
 * volume_directory_make - make and mark it; safe to repeat
 * @mode: exactly; levels above it are 0755
 *
 * One that is there already is taken only when it is empty and bears this mark or none.
 *
 * Return: 0; -EPERM it would be no source of a volume (own_directories.h), and nothing is made;
 * -EEXIST something else is there; -EOPNOTSUPP no marks can be kept there; else as the
 * calls. What was made is gone again after a failure.
 */
int volume_directory_make(const struct volume_directory *directory, mode_t mode,
			  struct failure *reterr);

/* Take back what was made and never used: one rmdir, and before it an image that holds nothing.
 * Missing is fine. Return: 0; -ENOTEMPTY; -EPERM it does not bear the mark; else as the calls. */
int volume_directory_unmake(const struct volume_directory *directory, struct failure *reterr);

struct place;

/* One that is there and bears the mark: a readable descriptor; @ret_place is given to place_done(),
 * also after a failure. Return: -ENOENT; -EPERM it does not bear the mark; else as the calls. */
int volume_directory_open(const struct volume_directory *directory, struct place *ret_place,
			  struct failure *reterr);
/* Of one that is being filled, by a restore or a copy; until all is on disk. */
#define VOLUME_PARTIAL_MARK "trusted.podvol.restore"
/* Not while it was only claimed (restore_lock.h). */
bool volume_directory_is_partial(int fd);

/**
 * volume_directory_grow - allow it a larger size; safe to repeat
 *
 * The directory, which must bear the mark, says how its size is enforced. What has an image is
 * larger only when its device and file system are resized as well, which happens where it is
 * mounted.
 *
 * Return: 0; -ENOSPC; -EOPNOTSUPP its size is not enforced; -EPERM; else as the calls.
 */
int volume_directory_grow(const struct volume_directory *directory, struct failure *reterr);

/**
 * volume_directory_remove - remove it with all that is in it; safe to repeat
 *
 * Only for a volume whose claim was deleted under policy Delete. Nothing is removed while anything
 * is mounted on it or below it.
 *
 * Return: 0, also when it is gone; -EPERM it does not bear the mark; -EXDEV something is mounted
 * there; -ENOENT the base path is missing, -ENODEV it is none in which a volume was ever made, and
 * this one is not there: both are so while its disk is not mounted; else as the calls.
 */
int volume_directory_remove(const struct volume_directory *directory, struct failure *reterr);

/* ---- base_path.c ---- */

/* May volumes be made in this directory, or could others exchange them?
 *
 * A user who may write in a base path may put a directory of their own, or a link, in the place
 * of a volume's; one who may write above it may do so with the base path. Looks at owners,
 * modes and access lists; changes nothing. */

/**
 * base_path_check - root alone may write in it, and rename it or what is above it [worker]
 * @fd:   of the directory, O_PATH will do
 * @path: as its author wrote it, for the message
 *
 * Where others may make names, a sticky directory of root's will do, such as /tmp: what stands at a
 * volume's place is judged by itself. Return: 0; -EPERM, and @reterr says which directory and why;
 * else as the calls.
 */
int base_path_check(int fd, const char *path, struct failure *reterr);

/**
 * base_path_check_named - is all of a path there, and outside of volumes [worker]
 * @path: absolute, as its author wrote it
 *
 * Nothing on the way may be a symbolic link, or bear the mark of a volume or a snapshot, also of
 * one without an object. Return: 0; -ENOENT, -ENOTDIR, -EEXIST, and @reterr names the directory;
 * else as the calls.
 */
int base_path_check_named(const char *path, struct failure *reterr);
