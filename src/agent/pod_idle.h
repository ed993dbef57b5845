/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_idle - pods and volumes of which nothing is mounted, and why
 *
 * Only this folder uses it, by parts.h. Reads; changes nothing.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"

struct agent;

/* Why nothing of the pod is mounted here, whatever else happens: another node's, finished, being
 * deleted. False: it is to be mounted. */
bool agent_explain_idle_pod(const struct agent *agent, const struct object *pod,
			    struct failure *ret);
/* Why one of its volumes is not: no container uses it. */
bool agent_explain_unused(const struct object *pod, const char *volume, struct failure *ret);
