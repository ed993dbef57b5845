/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_reasons - why a claim is not bound: the newest event about it that says so
 *
 * The one source for waits, describe, explain-state and a pod's FailedMount: whoever binds or
 * provisions, podvold or a sidecar, says in an event of the claim why it is Pending. The text is
 * kept while the claim is, also when the event itself had to go. The loop thread only.
 */
#pragma once

#include "store/store.h"

struct claim_reasons;

struct agent;

/* Tells the agent's populator when a reason changes. Return: 0; -ENOMEM. */
int claim_reasons_new(struct agent *agent, struct claim_reasons **ret);
/* Before the store goes. Accepts NULL. Return: NULL. */
struct claim_reasons *claim_reasons_free(struct claim_reasons *reasons);

/**
 * claim_reasons_explain - say why a claim is not bound
 * @agent:  a struct agent; its reasons may not be there yet
 * @claim:  one that is not bound
 * @reterr: ": REASON" is appended to its text where a reason is known
 *
 * Return: -EINPROGRESS its volume is being provisioned, and no attempt has failed; else -EAGAIN.
 */
int claim_reasons_explain(void *agent, const struct object *claim, struct failure *reterr);
