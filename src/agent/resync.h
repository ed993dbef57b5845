/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resync - a moment after something was lost for want of memory, everything is looked at
 *
 * For what nothing else would bring back: a pod that could not be looked at, a row of the ledger
 * that could not be written, a question that could not be asked.
 */
#pragma once

#include <stdbool.h>

struct agent;

/* A timer that is off. Return: 0 or negative errno. */
int agent_open_resync(struct agent *agent);

/* Have a look in a moment; any number of calls make one. @userdata is the agent. Needs no memory.
 */
void agent_look_again(void *userdata);

/* Is there one to come? Then what seems unwanted may only have been lost. */
bool agent_must_look_again(const struct agent *agent);

/* Watch the store from now on: agent.c's. Return: 0 or -ENOMEM, and there is no watch. */
int agent_watch_store(struct agent *agent);
/* Every wanted and every mounted volume is dirty: sync_loop.c's. */
void agent_mark_all_dirty(struct agent *agent);
