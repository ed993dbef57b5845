/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_compare - what has become of mounts that were known, and which others there are
 *
 * After a report of mount_watch.h that something changed. Asks by id where ids are unique
 * (statmount, listmount), else reads mountinfo once; never looks a path up, so no dead server can
 * stall it. Changes nothing but by mount_set_back(), which restores the attributes of one mount.
 */
#pragma once

#include "mount/table/mount_list.h"

#include <sys/mount.h> /* MOUNT_ATTR_* */

/* What of a mount's attributes others may take or give by a remount; the times of access are no
 * danger and are left out. */
#define MOUNT_ATTR_WATCHED                                                                         \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

enum mount_fate {
	MOUNT_UNSEEN, /* not looked at */
	MOUNT_THERE,
	MOUNT_SAME, /* there, with the attributes that were expected */
	MOUNT_GONE,
	MOUNT_MOVED, /* to another place; only mount_compare_all() tells */
};

/* Without pointers: a table of thousands is copied for a thread at once. */
struct known_mount {
	uint64_t mount_id;
	uint64_t place;      /* where it was mounted: mount_place_sum() */
	uint64_t attributes; /* of MOUNT_ATTR_WATCHED, when it is there */
	enum mount_fate fate;
	bool expects; /* before: those are in @attributes */
};

/* Of a mount point. Another place with the same sum would be taken for this one: only root moves
 * mounts, and loses nothing but a report by that. */
uint64_t mount_place_sum(const char *path);

/* Of MOUNT_ATTR_WATCHED, as they were when the entry was read. */
uint64_t mount_attributes_of(const struct mount_entry *entry);

/* Are they there, and with which attributes? A microsecond for each where ids are unique. [worker]
 * Return: 0; negative errno. */
int mount_look_at_known(struct known_mount *known, size_t count, struct failure *reterr);

/**
 * mount_compare_all - the same for every mount there is [worker]
 * @known:      their places are compared, too
 * @root_path:  absolute
 * @ret_others: mounts that are not known, in mount order: those at the root directory, below it,
 * and those on a directory above it that came after @root_id; for table_entries_done()
 * @root_id:    of the root directory's own mount, which is not among them
 *
 * Return: 0; negative errno.
 */
int mount_compare_all(struct known_mount *known, size_t count, const char *root_path,
		      uint64_t root_id, struct table_entries *ret_others, struct failure *reterr);

/* Mounts by their ids; those that are gone by now are left out. Only where ids are unique. [worker]
 * Return: 0; negative errno. */
int mount_compare_ids(const uint64_t *ids, size_t count, struct table_entries *ret,
		      struct failure *reterr);

/**
 * mount_set_back - give a mount the attributes that it had [worker]
 * @mount_id:   must be what is on top at @place
 * @attributes: of MOUNT_ATTR_WATCHED, all of them
 *
 * Return: 0; -ESTALE another mount is there; else as mount_setattr(2) or mount(2).
 */
int mount_set_back(const struct place *place, uint64_t mount_id, uint64_t attributes,
		   struct failure *reterr);
