/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_driver_call - the agent makes any RPC to a registered CSI driver, for people who debug it
 *
 * A part of agent.h for the one handler of api/ that needs it. The loop thread only.
 */
#pragma once

#include "csi/driver_call.h"

struct agent;

/* driver_call_start() with the agent's drivers; for driver_call_leave(). */
int agent_call_driver(struct agent *agent, const struct driver_call_request *request,
		      struct driver_call **ret, struct failure *reterr);
