/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_expand - writes the outcome of a volume's expansion to its claim (KEP-1790)
 */
#pragma once

struct agent;
struct operation_ended;
struct step;

/* A step was begun; nothing is done where nothing is to grow, or the outcome is known already. */
void agent_note_growth_begins(void *agent, const struct step *step);
/* A step ended, however; nothing is done where nothing grew, and nothing should have. */
void agent_note_growth(void *agent, const struct operation_ended *ended);
