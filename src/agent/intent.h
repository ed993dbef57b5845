/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent - what a step notes in the actual table and the ledger before it begins
 *
 * Only this folder uses it, by parts.h. The loop thread only.
 */
#pragma once

#include "reconcile/reconcile.h"

struct agent;

/* From here on there may be a mount, or there may be one no more: the actual table knows the first,
 * the ledger both with the next commit. For a remount it has nothing to note. 0 or -ENOMEM. */
int agent_note_intent(struct agent *agent, const struct step *step);
/* The same for what a step of this entry would leave half done by a kill, committed at once;
 * @userdata is the agent, @pod_uid "" for the whole volume. 0; -ENOSPC, -EIO, -ENOMEM. */
int agent_note_unfinished(void *userdata, const char *unique_name, const char *pod_uid,
			  enum unfinished unfinished, struct failure *reterr);
/* What the ledger keeps of an entry, @pod NULL for the device; borrows from it. */
void agent_ledger_row(const struct actual_volume *volume, const struct actual_pod *pod,
		      struct ledger_row *ret);
