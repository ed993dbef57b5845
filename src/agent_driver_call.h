/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_driver_call - the agent makes any RPC to a registered CSI driver, for people who debug it
 *
 * The loop thread only.
 */
#pragma once

#include "base/failure.h"

#include <stdint.h>

struct agent;
struct cJSON;
struct agent_driver_call;

/* Once, on the loop, never before agent_call_driver() returned. @tree is the callee's, as
 * docs/api.md tells it; NULL: no memory. */
typedef void agent_driver_call_fn(void *userdata, struct cJSON *tree);

struct agent_driver_request {
	const char *driver, *method; /* "csi.example.com", "NodeGetInfo" */
	const struct cJSON *message; /* as csi/csi_json.h reads it; NULL: the empty one */
	uint64_t timeout_usec;
	agent_driver_call_fn *done;
	void *userdata;
};

/**
 * agent_call_driver - make any RPC to a registered driver
 *
 * Return: 0; -EINVAL no such method, or no such message; -ENOTCONN no driver of this name is ready;
 * -E2BIG; -ENOBUFS too many calls; -ENOMEM.
 */
int agent_call_driver(struct agent *agent, const struct agent_driver_request *request,
		      struct agent_driver_call **ret, struct failure *reterr);
/* The caller left: done is not called any more; the driver's call is cancelled. Not after it was
 * called. */
void agent_driver_call_leave(struct agent_driver_call *call);
