/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_direct - a directory as a tar stream and back, in this process
 *
 * The bytes go from the file system to the pipe and never through the daemon: its loop has better
 * things to do, its memory stays its own, and a tar that takes hours ends with who waits for
 * it. The volume is held by a lock on its directory, which the daemon asks for before it removes or
 * mounts one: shared by backups, alone for a restore (mount/remove/restore_lock.h).
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in mount/archive/volume_archive.h. */
struct archive_summary {
	uint64_t entries, bytes;
	size_t left_out, changed, devices, links_out, lost, privileges;
	uint64_t unchanged, removed;
};

struct archive_direct {
	const char *directory; /* absolute */
	bool is_snapshot;      /* a snapshot's: what was in the volume is in "data" below */
	const char *base;      /* of a snapshot that a backup is compared with; or NULL */
	const char *run_dir;   /* podvold's, where volumes are locked */
	/* Files of a full backup and its increments: what a backup is compared with, and what a
	 * restore reads instead of the stream. */
	char *const *parts;
	size_t part_count;
	int stream_fd;
	bool allow_devices, allow_links_out, allow_privileges, allow_content, allow_used;
	/* Of a restore, NULL: none. Called with the volume locked, so that no pod can
	 * begin to use it after the answer. Return: 0; a negative errno refuses. */
	int (*check_unwanted)(void *userdata, struct failure *reterr);
	/* Ends with -ECANCELED soon after SIGINT or SIGTERM. */
	void (*progress)(void *userdata, const struct archive_summary *so_far);
	void (*note)(void *userdata, const char *path, const char *text);
	void *userdata;
};

/* Both block and need root. Return: 0; -EBUSY being restored, or mounted somewhere;
 * else as volume_archive_write() and volume_archive_read(). */
int archive_direct_backup(const struct archive_direct *direct, struct archive_summary *ret,
			  struct failure *reterr);
/* @ret_begun: the volume was changed. */
int archive_direct_restore(const struct archive_direct *direct, struct archive_summary *ret,
			   bool *ret_begun, struct failure *reterr);
