/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_mounts - the mounts of volumes: their own, what is nested in them, and their copies in other
 * mount namespaces that go together with them
 *
 * A part of busy_holders.h and stuck_unmount.h, which alone include it. Read as text: no path is
 * looked up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct busy_mount {
	uint64_t mount_id, parent_id; /* the reused small ones */
	dev_t device;
	char *mount_point; /* as seen in its namespace */
	char *type;        /* "ext4"; NULL of a copy */
	size_t base;       /* so many bytes of the mount point are the volume's */
	size_t volume;     /* index of the one whose it is */
	bool is_nested;    /* a foreign one in the volume */
	bool is_copy;      /* in another namespace */
};

struct busy_mounts {
	struct busy_mount *list;
	size_t count, capacity;
};

struct busy_query;
/* What is mounted on the mount point of each query, and below its folder; @copies as well. Return:
 * 0; -E2BIG; -ENOMEM; else as the calls. */
int busy_mounts_read(const struct busy_query *queries, size_t count, bool copies,
		     struct busy_mounts *ret);
void busy_mounts_free(struct busy_mounts *mounts);

/* NULL: none of them. */
const struct busy_mount *busy_mounts_find(const struct busy_mounts *mounts, uint64_t mount_id);
/* The innermost of our namespace that a path of it lies in. NULL: none. */
const struct busy_mount *busy_mounts_around(const struct busy_mounts *mounts, const char *path);
bool busy_mounts_has_device(const struct busy_mounts *mounts, dev_t device);

/* A path that lies in @mount as one within the volume; as it is when it does not. */
void busy_mount_name(const struct busy_mount *mount, const char *path, char *name, size_t size);
