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
