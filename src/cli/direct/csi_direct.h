/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_direct - one RPC to a CSI driver's socket, from this process, with no daemon
 *
 * For drivers that are debugged. Blocks, and shows nothing of what is sent: it may hold secrets.
 */
#pragma once

#include "base/failure.h"

#include <stdint.h>

struct cJSON;

/* Where and what. */
struct csi_direct {
	const char *endpoint; /* absolute path of a socket */
	const char *method;   /* "NodeGetInfo" */
	const char *text;     /* JSON; "" the empty message */
	uint64_t timeout_usec;
};

/**
 * csi_direct_call - call and wait
 * @ret: as the daemon answers, see docs/api.md; freed with json_free()
 *
 * Blocks. Return: 0 whatever the driver answered; -EINVAL no such method, or no such message;
 * -E2BIG; -ENOMEM; as sd_event_new().
 */
int csi_direct_call(const struct csi_direct *direct, struct cJSON **ret, struct failure *reterr);
