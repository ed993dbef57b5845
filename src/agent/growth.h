/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth - what a step made larger is told to the volume's claim
 */
#ifndef PODVOL_AGENT_GROWTH_H
#define PODVOL_AGENT_GROWTH_H

struct agent;
struct operation_ended;

/* A step ended, however; nothing is done where nothing grew. */
void agent_note_growth(struct agent *agent, const struct operation_ended *ended);

#endif
