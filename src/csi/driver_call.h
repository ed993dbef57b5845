/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_call - any RPC to a registered CSI driver, as JSON, for people who debug it
 *
 * Nothing that podvold knows changes by it. The loop thread only.
 */
#pragma once

#include "base/failure.h"

#include <stdint.h>

struct cJSON;
struct csi_drivers;
struct driver_call;

/* Once, on the loop, never before driver_call_start() returned. @tree is the callee's, as
 * docs/api.md tells it; NULL: no memory. */
typedef void driver_call_fn(void *userdata, struct cJSON *tree);

struct driver_call_request {
	const char *driver, *method; /* "csi.example.com", "NodeGetInfo" */
	const struct cJSON *message; /* as csi/csi_json.h reads it; NULL: the empty one */
	uint64_t timeout_usec;
	driver_call_fn *done;
	void *userdata;
};

/**
 * driver_call_start - make any RPC to a registered driver
 * @drivers: NULL: none are served
 *
 * Return: 0; -EINVAL no such method, or no such message; -ENOTCONN no driver of this name is ready;
 * -E2BIG; -ENOBUFS too many calls; -ENOMEM.
 */
int driver_call_start(struct csi_drivers *drivers, const struct driver_call_request *request,
		      struct driver_call **ret, struct failure *reterr);
/* The caller left: done is not called any more; the driver's call is cancelled. Not after it
 * was called. */
void driver_call_cancel(struct driver_call *call);
