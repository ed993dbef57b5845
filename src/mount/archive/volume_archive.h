/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_archive - what is in a volume as a tar stream (pax), and back
 *
 * Kept: types, names (any bytes but NUL), owners and groups by number, modes, times, extended
 * attributes, POSIX access lists, hard links, holes, devices. Not kept: sockets, which no archive
 * can restore, and what is mounted below, which is another volume's. libarchive writes and reads
 * the format; what is done with a path stands in tree_make.h. All functions block [worker].
 */
#pragma once

#include "base/failure.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_state;

struct archive_counts {
	uint64_t entries, bytes;     /* bytes: of contents, without holes */
	size_t left_out;             /* sockets and mount points */
	size_t changed;              /* files that were cut off while they were read */
	size_t privileges;           /* setuid bits, security.*, trusted.* left out by a restore */
	size_t devices, links_out;   /* for a restore's report */
	size_t lost;                 /* attributes that the file system does not keep */
	uint64_t unchanged, removed; /* of an increment: since its base */
};

/* Of an increment: an archive of what changed since a base, with two members of podvold's own. They
 * bear the attribute INCREMENT_MARK, which no entry of a volume can have: first the digest of the
 * base's state (tree_state.h), at last that of the volume, and what was removed. */
#define INCREMENT_MARK "trusted.podvol.increment"
#define INCREMENT_HEAD "head"
#define INCREMENT_END  "end"
#define INCREMENT_PATH "./.podvol-increment"
#define INCREMENT_TEXT "podvol increment 1\n" /* then digests, as "base DIGEST\n" */

enum {
	REMOVED_LIST_BYTES_MAX = 256 * 1024 * 1024, /* of one increment */
	ARCHIVE_PARTS_MAX = 4096,
};

/* A file of a backup of several parts. */
struct archive_part {
	int fd; /* a regular file's: parts are read twice */
	const char *name;
};

struct archive_request {
	int root_fd;                                           /* of the volume's directory */
	int stream_fd;                                         /* of the archive: written or read */
	bool allow_devices, allow_links_out, allow_privileges; /* restored as well */
	bool allow_content;      /* into a directory that is not empty, where files are replaced */
	struct tree_state *base; /* written is what changed since that; NULL: all */
	const struct archive_part *parts; /* read instead of the stream */
	size_t part_count;
	const atomic_bool *cancel; /* looked at between portions; may be NULL */
	/* After each entry and portion; may be NULL. */
	void (*progress)(void *userdata, const struct archive_counts *counts);
	/* A sentence about one entry that is not as it was; may be NULL. */
	void (*note)(void *userdata, const char *path, const char *text);
	void *userdata;
};

/**
 * volume_archive_write - write the archive of a volume
 *
 * Files that change meanwhile are as they are found; one that shrinks is filled up with zeros and
 * counted.
 *
 * Return: 0; -EUCLEAN the volume was restored in part only; -ECANCELED; -EPIPE the reader is gone;
 * as the calls. What was written is no whole archive then.
 */
int volume_archive_write(const struct archive_request *request, struct archive_counts *ret,
			 struct failure *reterr);

/**
 * archive_parts_read - the state that a full backup and its increments, in order, lead to
 *
 * Reads all parts, and refuses what does not follow from the one before: nothing was written then.
 *
 * Return: 0; -EBADMSG with the part's name: it is damaged, cut off, or another part belongs
 * before it; -ESPIPE it is no regular file; -ECANCELED; as the calls.
 */
int archive_parts_read(const struct archive_request *request, struct tree_state **ret,
		       struct failure *reterr);

/**
 * volume_archive_read - fill a volume from an archive, or from a full backup and its increments
 *
 * Several parts are all read and checked before the first entry is written.
 *
 * The volume bears a mark (VOLUME_PARTIAL_MARK) while it is not finished, so that it is not taken
 * for whole after a kill; the same call then starts over, and replaces what is there.
 *
 * Return: 0; -ENOTEMPTY; -EBADMSG it is no tar archive, or one that was cut off; -EINVAL, -ELOOP,
 * ... an entry that is refused, by name; -ECANCELED; as the calls.
 */
int volume_archive_read(const struct archive_request *request, struct archive_counts *ret,
			struct failure *reterr);
