/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_answer - what a call came to, as a tree for people who debug a driver
 *
 * The daemon sends it, podvolctl prints it; a call without a daemon makes the same one.
 */
#ifndef PODVOL_CSI_CSI_ANSWER_H
#define PODVOL_CSI_CSI_ANSWER_H

#include "csi/csi_call.h"

struct cJSON;

/* {"method", "code": 5, "codeName": "NotFound", "message", "fromDriver", "sent",
 * "tookMicroseconds", "reply": {...}}; without reply unless the code is 0. NULL: no memory. */
struct cJSON *csi_answer(enum csi_method method, const struct csi_reply *reply);

#endif
