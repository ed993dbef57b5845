/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer - the thread that owns the database and commits one group at a time
 *
 * Hand over, wait for the event descriptor, take the result, hand over the next. The group's memory
 * belongs to the thread meanwhile; nothing else is shared. A checkpoint that is due follows the
 * result: it delays the next group at most.
 */
#pragma once

#include "store/database.h"

#include <stdbool.h>

struct group;
struct writer;

/* Both are borrowed, and the thread's until writer_free(). @unsynced: of rows that are not synced;
 * NULL: they are in memory only. Return: 0; -ENOMEM, -EMFILE, -EAGAIN. */
int writer_new(struct database *database, struct database *unsynced, struct writer **ret);

/* Waits for the running group and ends the thread. Return: NULL. */
struct writer *writer_free(struct writer *writer);

/* Readable when a group is over. */
int writer_event_fd(const struct writer *writer);

struct writer_group {
	void (*prepare)(struct group *group); /* called first; NULL: the writes are as they are */
	struct group *group;
	bool commits; /* there are writes, or the version has to be kept */
	const struct database_write *writes;
	size_t count;
	uint64_t resource_version;
	/* After the others, when they were stored. What the disk refuses of these is logged once.
	 */
	const struct database_write *unsynced;
	size_t unsynced_count;
};

/* Start a group, as database_commit(). Only when none runs and the last result was taken. Its
 * arrays are borrowed until then. */
void writer_start(struct writer *writer, const struct writer_group *group);

/**
 * writer_take_result - how the group ended
 * @wait:       block until it ended
 * @ret_error:  0 or as database_commit()
 * @ret_reason: filled on failure
 *
 * Return: true when one had ended.
 */
bool writer_take_result(struct writer *writer, bool wait, int *ret_error,
			struct failure *ret_reason);
