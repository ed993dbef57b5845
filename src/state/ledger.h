/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger - the actual state as it survives a kill: intents before steps, results after (SQLite in
 * the run directory, WAL, synchronous off)
 *
 * It lives in the run directory because what it describes lives in the kernel and vanishes with it;
 * another boot id or mount namespace id in its header means it is empty. A row says "there may be a
 * mount" from before the first step until a teardown succeeded. Writes are collected and committed
 * once per turn of the loop; a commit that fails keeps steps from starting. The loop thread only.
 */
#pragma once

#include "state/actual.h"

#include "base/uuid.h"
#include "state/holds.h"

struct sqlite3;
struct ledger;

/**
 * ledger_open - open run_dir/ledger.db, or begin a new one
 *
 * A ledger of another boot or namespace is emptied. One that is damaged, or newer than this
 * program, is moved aside as ledger.db.unreadable-<time> and reported in @reterr with a return of
 * 1: what it knew must then be found on disk.
 *
 * Return: 0 as it was or new; 1 a new one, after damage; negative errno.
 */
int ledger_open(const char *run_dir, struct ledger **ret, struct failure *reterr);

/* What a ledger's rows are true for: they describe one mount namespace of one boot. */
struct ledger_identity {
	char boot_id[UUID_BYTES]; /* /proc/sys/kernel/random/boot_id */
	uint64_t mount_namespace; /* inode of /proc/self/ns/mnt */
};

/* The same for an identity that the caller knows. */
int ledger_open_as(const char *run_dir, const struct ledger_identity *identity, struct ledger **ret,
		   struct failure *reterr);
/* Closes the file; what was queued and not committed is lost. Accepts NULL. Return: NULL. */
struct ledger *ledger_free(struct ledger *ledger);

struct ledger_row {
	struct actual_entry entry; /* plugin NULL: the reader looks it up by plugin_name */
	enum mount_state state;    /* of the pod, or of the device when entry.pod_uid is NULL */
	const char *device_path, *device_mount_path;
	/* entry.mount_mark and entry.served are those of the step that ended; entry.mount_id is not
	 * kept. */
	/* A step of this row has begun and its result is not here: what a kill now leaves half
	 * done. */
	enum unfinished unfinished;
};

/* Queue a row (by unique name and pod uid) or its removal for the next commit; the last word on a
 * row within a turn is what is stored. Texts are copied, NULL becomes "". 0 or -ENOMEM. */
int ledger_put(struct ledger *ledger, const struct ledger_row *row);
/* The same for a row that goes; unknown rows are passed over. 0 or -ENOMEM. */
int ledger_forget(struct ledger *ledger, const char *unique_name, const char *pod_uid);

/* All of this turn in one transaction; 0 when there is nothing. -ENOSPC, -EIO: nothing of it is
 * stored, the rows stay queued for the next commit. */
int ledger_commit(struct ledger *ledger, struct failure *reterr);

/* Gives back memory that the next commits can do without: after a burst of them. */
void ledger_release_memory(struct ledger *ledger);

/* All committed rows, sorted by unique name, the device's row before those of its pods.
 * entry.plugin is NULL, entry.pod_uid NULL for a device. A row may be copied: its texts live until
 * the next walk, commit or ledger_free(). Return: 0, what @visit returned when that was not 0, or a
 * negative errno. */
int ledger_walk(struct ledger *ledger, int (*visit)(const struct ledger_row *row, void *userdata),
		void *userdata);

/* ---- ledger_holds.c: holds in the ledger's file, so that they survive a kill ---- */

/*
 * Unlike rows of volumes they are written at once, each in a transaction of its own: who posted
 * a hold starts a container on the answer. Another boot means there are none.
 */

/* Store a hold with all its members, in place of one with the same id. Return: 0; -ENOSPC, -EIO:
 * it is not stored. */
int ledger_put_hold(struct ledger *ledger, const struct hold *hold, struct failure *reterr);

/* It is no more; unknown ids are passed over. Return: 0; -ENOSPC, -EIO: it is there still. */
int ledger_forget_hold(struct ledger *ledger, const char *id, struct failure *reterr);

/* All of them, by id; borrowed for the call. Return: 0, what @visit returned when that was not 0,
 * or a negative errno. */
int ledger_walk_holds(struct ledger *ledger, int (*visit)(const struct hold *hold, void *userdata),
		      void *userdata);

/* For ledger.c: are the rows whole? 0, -EUCLEAN, or another negative errno. */
int ledger_check_holds(struct sqlite3 *database, struct failure *reterr);

/* What was left by the daemon before, as a sentence; "" for nothing. Static. */
const char *unfinished_text(enum unfinished unfinished);
