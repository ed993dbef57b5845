/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_writer - files of a volume that change all at once: Kubernetes' atomic writer by
 * descriptors
 *
 * The files lie in a directory named after the time; "..data" is a link to it, and each name that
 * people see is a link through "..data". A change is a new directory and one rename of that link,
 * so that a reader sees all old files or all new ones, and who has the old directory open keeps
 * it (spec: plugins, 5.1; cases 162 to 178).
 *
 * Beyond Kubernetes' writer: a change of mode or owner alone is written, too; what a kill left
 * behind is cleaned away by the next write; no path is looked up twice.
 */
#pragma once

#include "mount/files/payload.h"

#include <stdbool.h>
#include <sys/types.h>

struct atomic_write {
	int directory_fd;              /* of the volume; readable */
	const char *path;              /* of the volume, for messages */
	const struct payload *payload; /* finished */
	bool has_group; /* fsGroup: files get it and 0440, as in a read-only volume */
	gid_t group;
};

/**
 * atomic_write - let the volume show these files and no others [worker]
 *
 * A failure leaves what was visible before. Names that are not the writer's (directories for nested
 * mounts, a foreign file) stay.
 *
 * Return: 1 written; 0 it shows them already (missing links are made again); -EEXIST a foreign
 * name is in the way; else as the calls.
 */
int atomic_write(const struct atomic_write *write, struct failure *reterr);

/**
 * atomic_read - what a volume shows now under one path, for what is kept rather than made again
 * [worker]
 * @bytes_max: of the file; at least 1
 * @ret:       NUL-terminated, to be overwritten and freed by the caller; NULL when it shows none:
 *             no such volume or file, no plain file, an empty or a longer one, one that holds a NUL
 *
 * Return: 0; -ENOMEM; else as the calls.
 */
int atomic_read(int directory_fd, const char *path, size_t bytes_max, char **ret);

/**
 * atomic_write_wipe - overwrite the writer's own files with zeros, before the volume is unmounted
 * [worker]
 *
 * For secrets in memory, when they are read no more. Goes on past what cannot be opened.
 *
 * Return: 0, or the first error.
 */
int atomic_write_wipe(int directory_fd, const char *path, struct failure *reterr);

/* ---- atomic_compare.c ---- */

/* Does a directory hold exactly a payload's files; for atomic_writer.c alone. */

enum { ATOMIC_DIRECTORY_MODE = 0755 }; /* of the directories that the writer makes */

/* Bytes, modes, owners and groups, and nothing else below the directory. Reads as much as the
 * files hold. Return: 1 it does, 0 it does not (also when it cannot be read). [worker] */
int atomic_compare(int directory_fd, const struct atomic_write *write);
