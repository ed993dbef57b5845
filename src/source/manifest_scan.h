/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_scan - find, watch and list the directory; may block, so a worker does it
 *
 * Nothing is kept open between two jobs: that would keep the directory's file system from being
 * unmounted. Device, inode and time of birth tell a directory from the one that took its place (and
 * maybe its inode number).
 */
#pragma once

#include "source/manifest_dir.h"

#include <stdint.h>
#include <sys/inotify.h>

struct manifest_directory_id {
	uint64_t device, inode;
	int64_t born_sec; /* 0 where the file system does not know */
	uint32_t born_nsec;
};

/* The directory as it was seen last, and where a new one would show. */
struct manifest_place {
	const char *path;  /* borrowed */
	bool is_known;     /* it was seen */
	bool others_write; /* every local user may make files in it */
	struct manifest_directory_id id;
	int directory_watch; /* -1: not watched now */
	int parent_watch;    /* of the nearest directory above that exists; -1 */
	char awaited[256];   /* the name in there that leads to the path */
};

/* Does an event of the parent's watch concern us? */
bool manifest_place_is_concerned(const struct manifest_place *place,
				 const struct inotify_event *event);

/**
 * manifest_place_open - open the directory if it still is the one that was seen last
 *
 * Return: its descriptor; -ESTALE another one, or none, is there. Blocks.
 */
int manifest_place_open(const struct manifest_place *place);

struct manifest_scan {
	struct manifest_place place; /* what to use from now on */
	struct failure failure;      /* error 0: listed */
	bool is_same;
	struct manifest_listed *files;
	size_t count, room, left_out;
};

/**
 * manifest_scan_directory - watch first, then list, so that nothing falls between
 * @before: the place so far
 * @ret:    to be given to manifest_scan_done(), also after a failure; its place is then still the
 *          one that was seen last
 */
void manifest_scan_directory(const struct manifest_place *before, int inotify_fd,
			     struct manifest_scan *ret);
void manifest_scan_done(struct manifest_scan *scan);
