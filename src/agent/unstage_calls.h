/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_calls - what the unstage gate says goes to the journal and the events; calls that force
 * it
 *
 * The calls themselves are in agent_force_unstage.h. Decides nothing: unstage_gate.h does.
 */
#pragma once

struct agent;

/* Makes the gate, once the workers run. Return: 0 or negative errno. */
int unstage_calls_open(struct agent *agent);
