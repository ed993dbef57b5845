/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_copy - all that is below a directory, and its own attributes, into an empty one [worker]
 *
 * Files share their blocks where the file system can do that. Hard links, holes, owners, modes,
 * times, extended attributes and access lists are kept. Both ends are descriptors: no symbolic link
 * is followed and no mount entered; what is mounted below the source is left out. A tree that is
 * written to meanwhile is copied as it is found, file by file.
 */
#ifndef PODVOL_MOUNT_TREE_COPY_H
#define PODVOL_MOUNT_TREE_COPY_H

#include "base/failure.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How far it is, for who looks from another thread. */
struct copy_progress {
	_Atomic uint64_t entries, bytes; /* bytes: copied, not shared */
};

struct tree_copy {
	int from_fd, to_fd;
	const atomic_bool *cancel;      /* looked at between portions; may be NULL */
	struct copy_progress *progress; /* zeroed by its owner before */
};

/* Return: 0; -ECANCELED; -ENOSPC; else as the calls, with the entry's path. */
int tree_copy(const struct tree_copy *copy, struct failure *reterr);

#endif
