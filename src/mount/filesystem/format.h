/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format - kubelet's FormatAndMount; part of mount.h
 *
 * What is on a device decides: nothing at all is formatted, a file system is checked, anything else
 * is left alone.
 */
#pragma once

#include "base/failure.h"
#include "mount/filesystem/tool.h"

enum format_error {
	FORMAT_OK,
	FORMAT_GET_DISK_FORMAT_FAILED,
	FORMAT_UNFORMATTED_READ_ONLY,
	FORMAT_FAILED,
	FORMAT_HAS_FILESYSTEM_ERRORS,
	FORMAT_FILESYSTEM_MISMATCH,
	FORMAT_MOUNT_FAILED,
};

struct format_request {
	const char *device_path; /* opened once; tools and kernel get the node in /dev of the number
				    it had then */
	const char *type;        /* "" means ext4 */
	const char *options;     /* comma separated, "ro" among them for a read-only volume; may be
				    NULL */
	int target_fd;
	struct tool_terms tools;
};

/**
 * format_and_mount - probe, fsck or mkfs, mount; spec: plugins, 9 [worker; may take hours]
 * @ret_error: which kind of failure; FORMAT_OK on success
 *
 * Never formats a device on which libblkid finds anything at all: a file system, a partition table,
 * a RAID or LVM signature, or two that contradict each other; nor one that is open elsewhere.
 *
 * A check of ext2, ext3 and ext4 ends early when it is cancelled, because e2fsck stops where
 * nothing is half written; no other check does, and no mkfs: half a file system may show a
 * signature, and would never be formatted again. At the end of its time each of them is ended:
 * -ETIMEDOUT.
 */
int format_and_mount(const struct format_request *request, enum format_error *ret_error,
		     struct failure *reterr);

/* Make a file system as format_and_mount() does, and leave what is there. Return: 0; as above.
 * [worker; may take hours] */
int format_blank(const char *device_path, const char *type, struct failure *reterr);

/* Would format_and_mount() format it? 1 yes: nothing at all is found on it; 0 no. It may be filled
 * meanwhile, so this answer is for notes alone. [worker] */
int format_is_due(const char *device_path, struct failure *reterr);

/* ---- device_probe.c: what libblkid finds on an open block device; reads only ---- */

/* The same low-level probing as `blkid -p`: superblocks and partition tables, no cache, no
 * udev. */

enum { PROBE_CONTENT_BYTES = 64 };

/* What is said of a partition table, as kubelet says it. */
#define PROBE_PARTITIONS "unknown data, probably partitions"

/**
 * device_probe - what is on it? [worker]
 * @fd:          open for reading
 * @ret_content: "ext4", "LVM2_member", "crypto_LUKS", ... or PROBE_PARTITIONS; "" when nothing
 *
 * A superblock with a bad checksum counts as found.
 *
 * Return: 1 something, 0 nothing at all; -ENOTUNIQ signatures that contradict each other; -EIO and
 * kin when it cannot be read.
 */
int device_probe(int fd, char ret_content[PROBE_CONTENT_BYTES]);

/* ---- grow.c: make a mounted file system as large as its device ---- */

/* By the file system's own call and no program: ext4 and xfs. Never smaller. */

/**
 * filesystem_grow - while it is mounted and in use; safe to repeat [worker]
 * @mount_fd:  a directory in it, O_PATH too
 * @device_fd: its device, readable
 *
 * Return: 0, also when it is so large already; -EOPNOTSUPP another kind of file system; else as the
 * calls.
 */
int filesystem_grow(int mount_fd, int device_fd, struct failure *reterr);
