/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_index - which paths lie in which, as a table that follows changes
 *
 * So that whether a volume's directory is nobody else's costs the depth of its path and not the
 * number of volumes. Paths are compared part by part as local_paths_touch() does.
 */
#ifndef PODVOL_CONTROLLER_PATH_INDEX_H
#define PODVOL_CONTROLLER_PATH_INDEX_H

#include <stdbool.h>

struct path_entry;

struct path_index {
	struct path_entry *table;
	bool is_incomplete; /* there was no memory: it can tell nothing */
};

void path_index_done(struct path_index *index);

/* Of each path as often as it is somebody's. */
void path_index_add(struct path_index *index, const char *path);
void path_index_remove(struct path_index *index, const char *path);

/* Of a path that was added once: does no other lie there, above or below? False when it cannot be
 * told. */
bool path_index_is_alone(const struct path_index *index, const char *path);

#endif
