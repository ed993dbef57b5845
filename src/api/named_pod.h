/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named_pod - the pod that a path below podvol/v1/pods means
 *
 * By namespace and name, by name alone (namespace "default") or by uid. A pod that left the store
 * is known as long as volumes of it are mounted. The loop thread only.
 */
#pragma once

#include "api/exchange.h"

enum { NAMED_POD_UID_BYTES = 128 };

struct named_pod {
	char name_space[64];
	char name[254];
	char uid[NAMED_POD_UID_BYTES];
	bool is_stored;
};

/**
 * named_pod_find - podvol/v1/pods/[NAMESPACE/]WORD/... as a pod
 * @tail: how many segments of the path come after the pod's: 1 for .../mount
 * @ret:  what was asked for, also when it is unknown; then without a uid
 *
 * Return: false when it is unknown.
 */
bool named_pod_find(struct exchange *exchange, size_t tail, struct named_pod *ret);

/* Answers that there is no such pod. */
void named_pod_refuse(struct exchange *exchange, const struct named_pod *pod);
/* Answers that what was asked of it failed; @why may be NULL. */
void named_pod_failed(struct exchange *exchange, const struct named_pod *pod, int error,
		      const struct failure *why);
/* Answers that it was done. */
void named_pod_done(struct exchange *exchange, int status, const struct named_pod *pod,
		    const char *message);

/* Looked up again each time, because a pod may go between question and answer; NULL: not stored. */
const struct object *named_pod_object(struct agent *agent, const struct named_pod *pod);
