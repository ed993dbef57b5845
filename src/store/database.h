/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database - the SQLite file of the embedded store: open, load, commit groups; all of it blocks
 *
 * One connection, used by one thread at a time: the loop's until the writer starts, the writer's
 * until it ended. It knows rows, not objects: what may be written is decided elsewhere.
 *
 * WAL with synchronous=FULL: one fsync per group. NORMAL would also survive a kill, but a power
 * loss would then take back answered writes, and a uid or a binding that a driver has already seen
 * would be forgotten or given a second time. Groups make the price one sync, not one per object.
 * What a power loss leaves of a sector is its old or its new bytes: file systems rely on it, too.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct database;

/**
 * database_open - open or make the file and lock it for this process
 * @path:   made with mode 0600 when absent; never overwritten
 * @syncs:  false: NORMAL, for rows that a power loss may take. They need a file of their own: in
 *          one log, a sync that fails would lose them from between synced rows, and all that follow
 * @ret:    owned by the caller
 * @reterr: names @path
 *
 * Return: 0; -EUCLEAN damaged or no store; -EPROTO made by a newer podvol; -EBUSY another
 * process has it; -EACCES, -ENOSPC, -EIO, -ENOMEM.
 */
int database_open(const char *path, bool syncs, struct database **ret, struct failure *reterr);

/* Remove every row; blocks. Return: 0, or as database_commit(). */
int database_clear(struct database *database, struct failure *reterr);

/* Closes; what was committed stays. Return: NULL. */
struct database *database_close(struct database *database);

/* One stored row; strings borrowed for the time of the call. */
struct database_row {
	const char *kind; /* "PersistentVolumeClaim" */
	const char *name_space, *name;
	const char *json;
	size_t json_length;
};

/**
 * database_load - every row, in the order of the file
 * @visit: a value other than 0 ends the walk and is returned
 * @ret_resource_version: the newest committed one
 *
 * Return: 0, what @visit returned, or as database_open(): also when the index has another count.
 */
int database_load(struct database *database,
		  int (*visit)(const struct database_row *row, void *userdata), void *userdata,
		  uint64_t *ret_resource_version, struct failure *reterr);

/* One write of a group. Everything is borrowed, and the text is what it is at the commit. */
struct database_write {
	const char *kind;
	const char *name_space, *name;
	const struct object *object; /* NULL: removes the row */
};

/**
 * database_commit - all of these writes or none
 * @writes:           NULL when @count is 0: only the version is kept
 * @resource_version: what database_load() will give; never less than the newest among the writes
 *
 * After a failure nothing of the group is there and the next group may succeed (a disk may have
 * space again). A disk that fails to sync may still hold the group after a restart: -EIO is then
 * all that can be said.
 *
 * Return: 0; -ENOSPC, -EIO, -EUCLEAN, -ENOMEM.
 */
int database_commit(struct database *database, const struct database_write *writes, size_t count,
		    uint64_t resource_version, struct failure *reterr);

/* Copy the log into the file when it is long; blocks. What fails is tried after the next commit. */
void database_checkpoint(struct database *database);

/* Is it recorded that @program (not 0) checked rows with the sum *@ret_sum? */
bool database_checked(struct database *database, uint64_t program, uint64_t *ret_sum);

/* Record it, instead of all that was recorded before; a failure leaves that. */
void database_note_check(struct database *database, uint64_t program, uint64_t sum);
