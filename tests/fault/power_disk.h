/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_disk - a disk in memory for SQLite, which remembers every change and what was synced when
 *
 * It is SQLite's default file system (VFS) while it is in use. power_replay.h makes of what it
 * remembers the disks that a power loss may leave. It promises no more than a real one: what was
 * not synced may be lost, and a name is safe only once its directory was synced, which SQLite does
 * with the first sync of a journal or log that it made. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DISK_NAMES = 3,         /* store.db, store.db-journal, store.db-wal */
	DISK_CONTENTS_MAX = 64, /* files that there ever were: one made again is another one */
};

enum disk_change_kind {
	DISK_WRITE,
	DISK_TRUNCATE,
	DISK_SYNC,
	DISK_SYNC_FAILED, /* what was not synced before is lost for good, without a second report
			   */
	DISK_MAKE,        /* a name for new content */
	DISK_REMOVE,      /* of a name */
	DISK_SYNC_NAMES,
	DISK_CHANGE_KINDS
};

struct disk_change {
	enum disk_change_kind kind;
	int content;           /* -1: DISK_SYNC_NAMES */
	int name;              /* of DISK_MAKE, DISK_REMOVE */
	size_t offset, length; /* of DISK_WRITE; DISK_TRUNCATE: @length is the new size */
	uint8_t *bytes;
};

/* One file's bytes. */
struct disk_content {
	uint8_t *bytes;
	size_t size, allocated;
};

struct power_disk {
	struct disk_content contents[DISK_CONTENTS_MAX];
	int content_count;
	int names[DISK_NAMES]; /* which content has this name; -1 none */
	struct disk_change *changes;
	size_t change_count, change_room;
	size_t syncs;
	size_t failing_sync; /* the how manieth sync fails; 0: none */
};

/* With a store.db without bytes, whose name is not synced yet. Never NULL. */
struct power_disk *power_disk_new(void);
struct power_disk *power_disk_free(struct power_disk *disk);

/* From now on SQLite's default; NULL: its own again. */
void power_disk_use(struct power_disk *disk);

/* For those who make disks. */
void disk_content_write(struct disk_content *content, size_t offset, const uint8_t *bytes,
			size_t length);
void disk_content_truncate(struct disk_content *content, size_t size);

/* Says it in a line, to find what went wrong. */
void power_disk_describe(const struct power_disk *disk, size_t change, char *text, size_t size);
