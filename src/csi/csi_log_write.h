/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_log_write - how a call gets into the log: for csi_call.c alone
 */
#ifndef PODVOL_CSI_CSI_LOG_WRITE_H
#define PODVOL_CSI_CSI_LOG_WRITE_H

#include "csi/csi_log.h"

struct csi_log_record;

/* A call begins now. @about may be NULL. The record lives at least until csi_log_end(). Return:
 * NULL without memory, or without a @log: the call is not remembered. */
struct csi_log_record *csi_log_begin(struct csi_log *log, const char *driver, const char *about,
				     enum csi_method method);
/* Once for each begin; @record may be NULL. */
void csi_log_end(struct csi_log *log, struct csi_log_record *record,
		 const struct grpc_result *result);

#endif
