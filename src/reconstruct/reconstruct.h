/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconstruct - what was there before the start
 *
 * Reads the ledger and the directories below the root; mounts, unmounts and removes nothing. The
 * loop thread only.
 */
#pragma once

#include "reconstruct/foreign_volumes.h"
#include "plugins/plugin.h"
#include "reconcile/reconcile.h"
#include "state/state.h"

struct config;
struct ledger;

/* How a start went, for /metrics. */
struct reconstruct_counts {
	size_t volumes;  /* of pods that were tried: of the ledger, found and to be taken over */
	size_t failures; /* of these: not understood, or of an unknown plugin; left alone */
};

/* By kubelet's names. What kubelet cleans by force is left alone here: those counters stay 0. */
void reconstruct_print_metrics(const struct reconstruct_counts *counts, FILE *file);

/* All is borrowed. */
struct reconstruct_options {
	const struct config *config;
	const struct mount_root *root;
	const struct plugin_host *host;
	struct actual *actual; /* is filled */
	struct foreign_volumes_options foreign;
	/* Set as soon as they are made, also when the rest fails: their owner frees them. */
	struct ledger **ledger;
	struct foreign_volumes **foreign_volumes;
	struct reconstruct_counts *counts; /* is written */
};

/* The ledger, and what it and the directories say is there: the actual table is filled, what is not
 * as it should be is reported. Start-up only; blocks. Return: 0 or negative errno. */
int reconstruct(const struct reconstruct_options *options, struct failure *reterr);

/* Right after that, before any step: the ledger forgets every volume, and all stay as they are.
 * Return: 0; -EBUSY: steps that are half done, each logged, and nothing is forgotten; another
 * negative errno. */
int reconstruct_hand_back(const struct actual *actual, struct ledger *ledger, const char *state_dir,
			  struct failure *reterr);
/* Before anything is mounted or unmounted: refused after a hand-back (-EBUSY), unless this is a
 * takeover. */
int reconstruct_check_mark(const struct config *config, struct failure *reterr);
/* When nothing of the start can fail any more: the ledger has what was taken over, and only then
 * does the hand-back end. Nothing where this is no takeover. */
int reconstruct_remove_mark(const struct config *config, struct ledger *ledger,
			    struct failure *reterr);

/* ---- intent.c: what a step is about to do, as the actual table and the ledger keep it for a start
 * after a kill ---- */

/* All is borrowed. */
struct intents {
	const struct plugin_host *host;
	struct actual *actual;
	struct ledger *const *ledger; /* opened later */
};

/* Did a step of before the start that ended well serve exactly what this one would, and was what it
 * mounted there at the start? Then nothing is left to do, as long as it still is there. */
bool intent_is_served(const struct intents *intents, const struct step *step);
/* From here on there may be a mount, or there may be one no more: the actual table knows the first,
 * the ledger both with the next commit. For a remount it has nothing to note. 0 or -ENOMEM. */
int intent_note(const struct intents *intents, const struct step *step);
/* The same for what a step of this entry would leave half done by a kill, committed at once;
 * @pod_uid "" for the whole volume. 0; -ENOENT no such entry; -ENOSPC, -EIO, -ENOMEM. */
int intent_note_unfinished(const struct intents *intents, const char *unique_name,
			   const char *pod_uid, enum unfinished unfinished, struct failure *reterr);
/* The ledger follows the table after a step: an entry that is gone or absent has no row. 0 or
 * -ENOMEM. */
int intent_note_result(const struct intents *intents, const struct step_result *result);
/* Rows that could not be written are written, rows without an entry forgotten; the next commit
 * stores it. Return: 0 or -ENOMEM. */
int intent_compare_ledger(const struct intents *intents);
