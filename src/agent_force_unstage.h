/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_force_unstage - an operator lets an unstage go past local users who keep a volume mounted
 *
 * A part of agent.h for the one handler of api/ that needs it. Whom it goes past is said in
 * mount/holders/mount_force.h, and who may ask in api/auth/authorize.c. The loop thread only.
 */
#pragma once

#include "agent.h"

/* unstage_call_new() of inuse/inuse.h; for unstage_call_leave(). */
int agent_force_unstage(struct agent *agent, const struct unstage_call_request *request,
			struct unstage_call **ret);
