/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_scan - find, watch and list the directory; may block, so a worker does it
 *
 * A place is kept open while it is ours: its inode number is then not given to a directory that
 * replaces it, so that device and inode tell the two apart.
 */
#ifndef PODVOL_SOURCE_MANIFEST_SCAN_H
#define PODVOL_SOURCE_MANIFEST_SCAN_H

#include "source/manifest_dir.h"

#include <sys/inotify.h>

/* The directory as it was opened last, and where a new one would show. */
struct manifest_place {
	const char *path;    /* borrowed */
	int directory_fd;    /* -EBADF: never seen */
	int directory_watch; /* -1: not watched now */
	dev_t device;
	ino_t inode;
	int parent_watch;  /* of the nearest directory above that exists; -1 */
	char awaited[256]; /* the name in there that leads to the path */
};

/* Does an event of the parent's watch concern us? */
bool manifest_place_is_concerned(const struct manifest_place *place,
				 const struct inotify_event *event);

/* Does the path still lead to the open directory? Blocks. */
bool manifest_place_is_current(const struct manifest_place *place);

struct manifest_scan {
	struct manifest_place place; /* what to use from now on */
	struct failure failure;      /* error 0: listed */
	bool is_same;
	struct manifest_listed *files;
	size_t count, room, left_out;
};

/**
 * manifest_scan_directory - watch first, then list, so that nothing falls between
 * @before: the place so far; when the directory cannot be opened it stays open in @ret
 * @ret:    to be given to manifest_scan_done(), also after a failure; the descriptor of its place
 *          is the caller's, and is @before's when that is still the directory
 */
void manifest_scan_directory(const struct manifest_place *before, int inotify_fd,
			     struct manifest_scan *ret);
void manifest_scan_done(struct manifest_scan *scan);

#endif
