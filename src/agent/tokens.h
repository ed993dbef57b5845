/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens - service accounts' tokens: the issuer of this node, and when volumes need new ones
 *
 * Only this folder uses it, by parts.h.
 */
#pragma once

#include "agent.h"
#include "operation/renewals.h"
#include "operation/operation.h"

/* Empty while draining and in tests. */
struct own_tokens {
	struct token_issuer *issuer;
	struct renewals *renewals;
};

/* A daemon that only unmounts issues none; nor does one whose keys cannot be read, which is
 * reported and stops nothing else. Return: 0 or negative errno. */
int agent_open_tokens(struct agent *agent, struct failure *reterr);
void agent_close_tokens(struct agent *agent);
/* A step ended: it said when its volume is due again, or took the volume away. */
void agent_note_renewal(void *agent, const struct operation_ended *ended);
/* An object was written, or is there at the start. */
void agent_tokens_object_changed(struct agent *agent, const struct object *object);
