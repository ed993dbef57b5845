/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directory - directories that are volumes: made below a base path, and taken away again
 *
 * The base path is an administrator's and opened as it is; what is below it is reached by
 * descriptors, without symbolic links, and never in another mount. Each directory bears a mark (an
 * extended attribute that only root can write) with the uid of its volume. What does not bear the
 * mark of the volume that is spoken of is never removed, whatever a path says: not what stood there
 * before, not what somebody put in its place, not what another volume has. A file system that keeps
 * no such marks is refused. All functions [worker].
 */
#ifndef PODVOL_MOUNT_VOLUME_DIRECTORY_H
#define PODVOL_MOUNT_VOLUME_DIRECTORY_H

#include "base/failure.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VOLUME_DIRECTORY_MARK "trusted.podvol.volume"

enum { VOLUME_MARK_BYTES = 128 };

enum volume_mark { VOLUME_MARK_NONE, VOLUME_MARK_OURS, VOLUME_MARK_OTHER };
/* Whose mark a directory bears; what cannot be read counts as another's. */
enum volume_mark volume_mark_of(int fd, const char *mark);

struct volume_directory {
	const char *base_path; /* absolute, not "/" */
	const char *name;      /* below it; may have levels */
	const char *mark;      /* the volume's uid */
};

/**
 * volume_directory_choose - which base path has room for a volume
 * @base_paths: made (0755) where missing
 * @name:       below each; one where something else stands already is passed over
 * @bytes:      that have to be free; of those that have them the one with the most is chosen
 *
 * Return: 0; -ENOSPC none has room, @reterr says how much there is; -EEXIST; else why the last one
 * cannot be used.
 */
int volume_directory_choose(const char *const *base_paths, size_t count, const char *name,
			    uint64_t bytes, size_t *ret_index, struct failure *reterr);

/**
 * volume_directory_make - make and mark it; safe to repeat
 * @mode: exactly; levels above it are 0755
 *
 * One that is there already is taken only when it is empty and bears this mark or none.
 *
 * Return: 0; -EEXIST something else is there; -EOPNOTSUPP no marks can be kept there; else as the
 * calls. What was made is gone again after a failure.
 */
int volume_directory_make(const struct volume_directory *directory, mode_t mode,
			  struct failure *reterr);

/* Take back what was made and never used: one rmdir. Missing is fine. Return: 0; -ENOTEMPTY; -EPERM
 * it does not bear the mark; else as the calls. */
int volume_directory_unmake(const struct volume_directory *directory, struct failure *reterr);

/**
 * volume_directory_remove - remove it with all that is in it; safe to repeat
 *
 * Only for a volume whose claim was deleted under policy Delete. Nothing is removed while anything
 * is mounted on it or below it.
 *
 * Return: 0, also when it is gone; -EPERM it does not bear the mark; -EXDEV something is mounted
 * there; -ENOENT the base path is missing; else as the calls.
 */
int volume_directory_remove(const struct volume_directory *directory, struct failure *reterr);

#endif
