/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_system_fault - what a mounted file system says of its own errors
 *
 * ext4 counts them in its superblock, until fsck; btrfs for each of its devices; xfs shuts down and
 * answers everything with EIO; others turn read-only. Looks, and changes nothing.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { FILE_SYSTEM_FAULT_BYTES = 160 };

struct file_system_fault {
	uint64_t id;       /* of the file system: statfs's; 0 unknown */
	bool is_read_only; /* the mount or the file system */
	uint64_t errors;   /* recorded, where the kind of file system counts them */
	bool has_device;   /* its own: neither in memory nor behind a server */
	bool is_reported;  /* the kernel reports errors of this kind: fault_watch.h */
	char text[FILE_SYSTEM_FAULT_BYTES]; /* what is wrong, as a sentence's end; "": nothing */
};

/**
 * file_system_fault_check - [worker]
 * @directory_fd:     in it, O_PATH too
 * @was_read_only:    so it was mounted: that it is read-only is no fault
 *
 * Return: 0; negative errno when it cannot be found out, and @ret says nothing.
 */
int file_system_fault_check(int directory_fd, bool was_read_only, struct file_system_fault *ret);

/* Which file system a mount is of. */
struct file_system_identity {
	uint64_t id;     /* as above; clones of one file system share it; 0 unknown */
	uint64_t device; /* as the mount has it */
	bool is_read_only;
};

/* [worker] @device: of the directory, as in struct stat. Return: .id 0 when it cannot be found out.
 */
struct file_system_identity file_system_identify(int directory_fd, uint64_t device);

/* statfs(2)'s and fanotify's f_fsid as one number. */
uint64_t file_system_id(const int fsid[2]);

/* The kernel's name of a block device: "loop7". Return: 0; negative errno. [worker] */
int block_device_name(dev_t device, char ret[NAME_MAX + 1]);
