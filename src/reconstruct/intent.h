/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent - what a step is about to do, as the actual table and the ledger keep it for a start after
 * a kill
 *
 * Changes the two tables; begins no step, and commits only what is long and left half done by a
 * kill. The loop thread only.
 */
#pragma once

#include "plugins/plugin.h"
#include "reconcile/reconcile.h"
#include "state/state.h"

/* All is borrowed. */
struct intents {
	const struct plugin_host *host;
	struct actual *actual;
	struct ledger *const *ledger; /* opened later */
};

/* From here on there may be a mount, or there may be one no more: the actual table knows the first,
 * the ledger both with the next commit. For a remount it has nothing to note. 0 or -ENOMEM. */
int intent_note(const struct intents *intents, const struct step *step);
/* The same for what a step of this entry would leave half done by a kill, committed at once;
 * @pod_uid "" for the whole volume. 0; -ENOENT no such entry; -ENOSPC, -EIO, -ENOMEM. */
int intent_note_unfinished(const struct intents *intents, const char *unique_name,
			   const char *pod_uid, enum unfinished unfinished, struct failure *reterr);
/* What the ledger keeps of an entry, @pod NULL for the device; borrows from it. */
void intent_entry_row(const struct actual_volume *volume, const struct actual_pod *pod,
		      struct ledger_row *ret);
/* Rows that could not be written are written, rows without an entry forgotten; the next commit
 * stores it. Return: 0 or -ENOMEM. */
int intent_compare_ledger(const struct intents *intents);
