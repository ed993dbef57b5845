/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_dir - watch a directory with inotify and read its files on a thread
 *
 * Every event about a name is a reason to look at that name, at once or when it was quiet for the
 * settling time; only what is found then counts, so the order and the number of events do not
 * matter. An overflow, a lost or changed directory, or a swapped ConfigMap link is a reason to list
 * the whole directory. One job is under way at a time. What is found is handed on; nothing is
 * decided here. Nothing is polled, but for what could not be read for want of descriptors or memory
 * or because a disk or a server failed: that brings no event when it works again, so it is tried
 * again after a second, later every 30 seconds.
 */
#pragma once

#include "source/manifest_part.h"

#include <systemd/sd-event.h>

struct manifest_listed {
	struct manifest_identity identity;
	char *name;
};

/* One look at the whole directory. */
struct manifest_listing {
	int error;    /* 0, or why the directory cannot be read */
	bool is_same; /* device and inode as at the listing before; true at the first one */
	size_t count;
	size_t left_out; /* beyond MANIFEST_FILES_MAX */
	const struct manifest_listed *files;
	const struct failure *failure;
};

struct manifest_dir_callbacks {
	void (*listed)(const struct manifest_listing *listing, void *userdata);
	/* The hash of a text of this file that need not be parsed, or 0. NULL: always 0. */
	uint64_t (*known_text)(const char *name, void *userdata);
	/* Of a file that is not parsed to its end yet; NULL: not wanted. The part is the caller's.
	 */
	void (*part)(const struct manifest_part *part, void *userdata);
	/* The file stays the directory's; one that vanished has is_present false. */
	void (*read)(struct manifest_file *file, void *userdata);
	/* Nothing is under way or due. */
	void (*idle)(void *userdata);
	void *userdata;
};

struct manifest_dir;

/**
 * manifest_dir_new - start watching; the first listing begins with the loop
 * @path:        need not exist; its nearest existing parent is watched for it
 * @node_name:   for pods that name none; borrowed
 * @settle_usec: quiet time of a file that is being written
 * @callbacks:   copied; called on the loop, never from within these functions
 *
 * Return: 0; -ENOMEM, -EMFILE.
 */
int manifest_dir_new(sd_event *event, const char *path, const char *node_name, uint64_t settle_usec,
		     const struct manifest_dir_callbacks *callbacks, struct manifest_dir **ret);
struct manifest_dir *manifest_dir_free(struct manifest_dir *dir);

/* Look at this file. No memory: the directory is listed later instead. */
void manifest_dir_check(struct manifest_dir *dir, const char *name);
/* List the directory after a while, ever longer ones: what was looked at could not be used. */
void manifest_dir_list_later(struct manifest_dir *dir);

/* Is nothing under way or due? A listing that was put off after an error is not due yet. */
bool manifest_dir_is_idle(const struct manifest_dir *dir);
