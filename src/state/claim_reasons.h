/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_reasons - why a claim is not bound: the newest event about it that says so
 *
 * The one source for waits, describe, explain-state and a pod's FailedMount: what binds or
 * provisions, podvold or a sidecar, says in an event of the claim why it is Pending. The text is
 * kept while the claim is, also when the event itself had to go. The loop thread only.
 */
#pragma once

#include "state/state.h"
#include "store/store.h"

struct claim_reasons;

/* All is borrowed. */
struct claim_reasons_options {
	sd_event *event;
	int64_t priority;
	struct store *store;
	struct populator *populator; /* looks at the claim again when its reason changes */
};

/* @options is copied. Return: 0; -ENOMEM. */
int claim_reasons_new(const struct claim_reasons_options *options, struct claim_reasons **ret);
/* Before the store goes. Accepts NULL. Return: NULL. */
struct claim_reasons *claim_reasons_free(struct claim_reasons *reasons);

/**
 * claim_reasons_explain - say why a claim is not bound
 * @reasons:   NULL: none is known yet
 * @node_name: this node
 * @claim:     one that is not bound
 * @reterr:    ": REASON" is appended to its text where a reason is known
 *
 * Return: -EINPROGRESS its volume is being provisioned, and no attempt has failed; -EREMOTE it is
 * another node's; else -ENOMEDIUM.
 */
int claim_reasons_explain(const struct claim_reasons *reasons, const char *node_name,
			  const struct object *claim, struct failure *reterr);
