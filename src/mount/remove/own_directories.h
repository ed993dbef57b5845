/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_directories - which places of the host may be the source of a volume
 *
 * podvold's own directories hold the store, keys and other pods' volumes: a pod that mounts one of
 * them, or a directory above, reads and changes what only root may. Places are compared by device
 * and inode of what was opened, so that neither symbolic links nor bind mounts hide one.
 */
#pragma once

#include "base/failure.h"
#include "mount/path/way_up.h"

#include <stdbool.h>

/* Borrowed texts, constant while volumes are mounted. */
struct own_directories {
	const char *state, *run, *manifests, *root; /* NULL: there is none, as in direct mode */
	const char *allowed; /* "/a,/b": sources lie below; NULL or "": anywhere */
	struct way_asked asked;
};

/* For a check that is asked for now, and made later on a thread. */
struct own_directories own_directories_ask(const struct own_directories *own);

/**
 * own_directories_check - may this be a source? [worker]
 * @fd:       O_PATH descriptor of what @path led to
 * @path:     as its author wrote it, for the message
 * @for_root: inside the root directory is fine, too: drivers of CSI need their sockets there
 *
 * Refused are the four directories, each directory above, and what lies inside; but for "volumes"
 * in the state directory, where podvold makes volumes by default. A directory of the list of
 * allowed ones, and not one below it, is allowed although podvold's directories lie inside.
 *
 * Return: 0; -EPERM with the directory's name; else why that could not be examined.
 */
int own_directories_check(const struct own_directories *own, int fd, const char *path,
			  bool for_root, struct failure *reterr);

/* The same for a path on the host that is looked up here; one that does not exist is judged by the
 * directory in which it would be made. */
int own_directories_check_path(const struct own_directories *own, const char *path, bool for_root,
			       struct failure *reterr);

/* The same by the words of the path alone: nothing is looked up, and nothing that a link or a bind
 * mount hides is seen. @path is absolute. */
int own_directories_check_text(const struct own_directories *own, const char *path, bool for_root,
			       struct failure *reterr);
