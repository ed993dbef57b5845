/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_table - what is mounted, as the kernel says it; part of mount.h
 *
 * Facts are asked of the kernel each time and exact; the table is a cache that is only used to find
 * candidates. Nothing here changes anything.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct place;

/* Facts of one descriptor or place, by statx: microseconds, exact for bind mounts. [worker] */
struct mount_facts {
	uint64_t mount_id; /* unique where the kernel has it (6.8), else the reused small one */
	bool is_mount_root;
	dev_t device; /* st_dev: no mount's device is compared with it, see superblock.h */
	ino_t inode;
	mode_t mode;
	dev_t special;      /* st_rdev */
	uint64_t bytes;     /* of a regular file */
	uint64_t made_nsec; /* 0: the file system does not say */
	uid_t uid;
	gid_t gid;
};

/* Tells a mount from any other that may take its place: its id, which before Linux 6.8 is used
 * again, and the directory that it shows. Never 0. Pure. */
uint64_t mount_mark(uint64_t mount_id, dev_t device, ino_t inode);

/* Never triggers an automount, never asks a server (AT_STATX_DONT_SYNC). Return 0; -ENOENT; -ESTALE
 * and kin. */
int place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr);
int fd_facts(int fd, struct mount_facts *ret, struct failure *reterr);
/* The same of a name in a directory; it is not followed. */
int name_facts(int directory_fd, const char *name, struct mount_facts *ret);

/* statx errors that mean "its server is gone": unmount without further tests. Pure. */
bool is_corrupted_mount_error(int error);

struct mount_entry {
	uint64_t mount_id, parent_id;
	dev_t device;                        /* major:minor of the superblock */
	const char *root;                    /* within the file system */
	const char *mount_point;             /* absolute */
	const char *type, *source, *options; /* per-mount options: "rw,nosuid" */
};

/**
 * struct mount_table - a cache of the kernel's table of this namespace; any thread
 *
 * One mutex inside, the only one in podvol: workers and the loop both ask, and it holds nothing
 * of the callers'. Refreshing costs what changed where the kernel has listmount and statmount with
 * sources (6.13), one read of mountinfo elsewhere if anything changed: 4 microseconds for each
 * mount there is.
 */
struct mount_table;
/* Empty until the first refresh. Return: 0; negative errno. */
int mount_table_new(struct mount_table **ret, struct failure *reterr);
/* Any thread, when no other uses it. Accepts NULL. Return: NULL. */
struct mount_table *mount_table_free(struct mount_table *table);

/* Bring the cache up to date. [worker, or start-up] */
int mount_table_refresh(struct mount_table *table, struct failure *reterr);

/* Walk the entries in mount order, after a refresh; @visit must not call back into the table. A
 * mount that was moved since it was first seen may still have its old place and options here. */
int mount_table_walk(struct mount_table *table,
		     int (*visit)(const struct mount_entry *entry, void *userdata), void *userdata);

/**
 * mount_table_references - other mounts that show the same directory of the same file system
 * @fd:     the directory or device node's directory asked about
 * @prefix: only mount points that begin with this text, trailing slash included ("" all); case 59
 * @visit:  called for each; its result other than 0 ends the walk
 *
 * Looks for new mounts first, and asks for each that it hands out again; so it costs microseconds,
 * but where refreshing means to read mountinfo as much as that: ask only when the answer matters
 * (fsGroup). The mount that @fd itself was reached through is left out. [worker]
 *
 * Return: 0, -ENOENT, or what @visit returned.
 */
int mount_table_references(struct mount_table *table, int fd, const char *prefix,
			   int (*visit)(const struct mount_entry *entry, void *userdata),
			   void *userdata, struct failure *reterr);

/* Where a descriptor's directory is within its file system. */
struct mount_origin {
	dev_t device; /* of the file system, as the table has it: see struct mount_entry */
	char *path;   /* absolute; freed with free() */
};
/* Return: 0; -ENOENT the descriptor's mount is not in the table. [worker] */
int mount_table_origin(struct mount_table *table, int fd, struct mount_origin *ret,
		       struct failure *reterr);

/**
 * mount_table_overlaps - other mounts that show a directory, one above it or one below it
 *
 * As mount_table_references() otherwise; a walk over all entries. [worker]
 */
int mount_table_overlaps(struct mount_table *table, int fd, const char *prefix,
			 int (*visit)(const struct mount_entry *entry, void *userdata),
			 void *userdata, struct failure *reterr);
