/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_reader - one tar stream, entry by entry [worker]
 *
 * For archive_read.c, which has it, and archive_parts.c alone. Nothing that the archive says is
 * believed; see archive_read.c.
 */
#pragma once

#include "mount/archive/volume_archive.h"

#include <archive.h>
#include <archive_entry.h>

struct attributes;
struct tree_maker;

struct archive_reader {
	const struct archive_request *request;
	int stream_fd;
	struct archive_counts counts;
	struct archive *archive;
	struct tree_maker *maker; /* NULL: nothing is restored */
	char *buffer;
	size_t zeros; /* with which the stream ended so far */
	int stream_error;
};

void archive_reader_done(struct archive_reader *reader);

/* Begins a stream; the one before is closed. Return: 0; -EBADMSG; -ENOMEM; as the calls. */
int archive_reader_open(struct archive_reader *reader, int stream_fd, struct failure *reterr);

/* The next entry, valid until the next call. Return: 1; 0 the end, and that is there; -EBADMSG; as
 * read(2). */
int archive_reader_next(struct archive_reader *reader, struct archive_entry **ret,
			struct failure *reterr);

/* Its path below the volume, clean; freed with free(). Return: 0; -EILSEQ; -EINVAL; -ENOMEM. */
int archive_reader_path(struct archive_entry *entry, char **ret, struct failure *reterr);

/* All that the archive has of them. For attributes_done(). Return: 0; -EINVAL; -ENOMEM. */
int archive_reader_attributes(struct archive_entry *entry, struct attributes *ret,
			      struct failure *reterr);

/* A block of the file at hand. Return: 1; 0 no more; -EBADMSG; as read(2). */
int archive_reader_block(struct archive_reader *reader, const void **ret, size_t *ret_length,
			 uint64_t *ret_offset, struct failure *reterr);

/* Which of podvold's own members of an increment it is: a value of INCREMENT_MARK, with its length;
 * NULL: an entry of the volume. */
const char *archive_reader_mark(struct archive_entry *entry, size_t *ret_length);

/* Restores the entry at hand; a hard link is refused where its original is not there. Failures do
 * not name it. */
int archive_reader_restore(struct archive_reader *reader, struct archive_entry *entry,
			   const char *path, struct failure *reterr);

/* ---- archive_parts.c ---- */

/* What a restore would refuse midway. Return: 0; -EPERM, with the entry's name; -ENOMEM. */
int archive_parts_check(const struct archive_request *request, const struct tree_state *state,
			struct failure *reterr);

/* Into reader->request's volume, what archive_parts_read() said. As volume_archive_read(). */
int archive_parts_restore(struct archive_reader *reader, const struct tree_state *state,
			  struct failure *reterr);
