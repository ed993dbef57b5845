/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_list - the two ways to read the kernel's table: by unique ids, and whole as text
 *
 * By ids (listmount, statmount) costs what is asked for; the text (mountinfo) is always all of it.
 * mount_ids_are_unique() says which of the two this process uses; the ids of the one never mix with
 * those of the other.
 */
#pragma once

#include "mount/mount.h"

struct table_entry {
	struct mount_entry entry; /* its strings are in text[] */
	struct table_entry *next; /* in the same bucket of the index */
	char text[];
};

/* A copy with its own strings; NULL when out of memory; free with free(). */
struct table_entry *table_entry_new(const struct mount_entry *fields);

struct table_entries {
	struct table_entry **items; /* in mount order */
	size_t count, room;
};
int table_entries_add(struct table_entries *entries, struct table_entry *taken); /* 0 or -ENOMEM */
void table_entries_done(struct table_entries *entries); /* frees the entries too */

/* Are mount ids the never reused 64-bit ones (and listmount, statmount there)? Asked of the kernel
 * once per process. Any thread. */
bool mount_ids_are_unique(void);

/**
 * mount_list_ids - ids of this namespace's mounts, rising
 * @after:   only those made later than this one; 0 all
 * @ret_ids: free with free(); NULL when there are none
 */
int mount_list_ids(uint64_t after, uint64_t **ret_ids, size_t *ret_count);

/* One mount as it is now; -ENOENT it is gone (or not below our root directory). */
int mount_list_stat(uint64_t mount_id, struct table_entry **ret);

/* Its MOUNT_ATTR_* alone, a microsecond; -ENOENT it is gone. */
int mount_list_attributes(uint64_t mount_id, uint64_t *ret);

/* Each mount from an open mountinfo, in its order; @visit borrows it and ends the walk by what it
 * returns but 0. Return: that; 0; negative errno. */
int mount_list_each(int mountinfo_fd, int (*visit)(void *userdata, const struct mount_entry *entry),
		    void *userdata);

/* All of them. */
int mount_list_read(int mountinfo_fd, struct table_entries *ret);
