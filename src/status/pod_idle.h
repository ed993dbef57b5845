/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_idle - pods and volumes of which nothing is mounted, and why
 *
 * Reads; changes nothing.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"

struct desired;

/* Why nothing of the pod is mounted here, whatever else happens: another node's, finished, being
 * deleted. @node: this one's name. False: it is to be mounted. */
bool pod_idle_explain(const struct desired *desired, const char *node, const struct object *pod,
		      struct failure *ret);
/* Why one of its volumes is not: no container uses it. */
bool pod_idle_explain_volume(const struct object *pod, const char *volume, struct failure *ret);
