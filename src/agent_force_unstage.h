/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_force_unstage - an operator lets an unstage go past local users who keep a volume mounted
 *
 * A part of agent.h for the one handler of api/ that needs it. Whom it goes past is said in
 * mount/holders/mount_force.h, and who may ask in api/auth/authorize.c. The loop thread only.
 */
#pragma once

#include "agent.h"

struct agent_force_call;

/* Once, on the loop, never before agent_force_unstage() returned. 0: the unstage goes on; -EBUSY
 * somebody has it who is never passed; -ECANCELED podvold stops; else why nobody knows. @text: one
 * sentence, also of what it went past. */
typedef void agent_force_fn(void *userdata, int error, const char *text);

/* Strings are copied. */
struct agent_force_request {
	const char *volume; /* unique name, PV name or path of the device's mount */
	const char *by;     /* who asks, for the journal */
	agent_force_fn *done;
	void *userdata;
};

/**
 * agent_force_unstage - let the unstage of a volume that is held back go past local users' holders
 *
 * See mount/holders/mount_force.h for whom. It counts for one unstage. Return: 0; -ENOENT no such
 * volume is held back; -EBUSY it is being forced already; -ENOMEM.
 */
int agent_force_unstage(struct agent *agent, const struct agent_force_request *request,
			struct agent_force_call **ret);
/* The caller left: done is not called any more. Not after it was called. */
void agent_force_leave(struct agent_force_call *call);
