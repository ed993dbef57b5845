/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconstruct - what was there before the start
 *
 * Only this folder uses it, by parts.h. The loop thread only.
 */
#pragma once

#include "plugins/plugin.h"

struct agent;

/* The ledger, and what it and the directories say is there: the actual table is filled, what is not
 * as it should be is told. Start-up only; blocks. Return: 0 or negative errno. */
int agent_open_ledger(struct agent *agent, struct failure *reterr);
/* What was left by the daemon before, as a sentence; "" for nothing. Static. */
const char *agent_unfinished_text(enum unfinished unfinished);
