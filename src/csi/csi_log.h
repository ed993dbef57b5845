/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_log - the last calls to drivers: what describe and metrics tell of them
 *
 * A ring of calls, newest last, each with driver, method, volume, when, how long, code and text;
 * never a message's contents. Counts by driver, method and code for kubelet's metric
 * csi_operations_seconds. Bounded; the loop thread only.
 */
#pragma once

#include "csi/csi_call.h"

enum {
	CSI_LOG_ENTRIES = 4096,
};

struct csi_log_entry {
	const char *driver, *about; /* about "" when it was for no volume */
	enum csi_method method;
	uint64_t began_usec; /* monotonic */
	uint64_t took_usec;  /* 0 while it runs */
	bool running;
	enum grpc_code code;
	const char *text; /* as in struct grpc_result; "": none */
};

int csi_log_new(struct csi_log **ret);
struct csi_log *csi_log_free(struct csi_log *log); /* after the calls; accepts NULL */

/* The calls for this volume (@about) or of this driver, NULL: any, newest first. A value other than
 * 0 ends the walk and is returned. */
int csi_log_walk(const struct csi_log *log, const char *driver, const char *about,
		 int (*visit)(const struct csi_log_entry *entry, void *userdata), void *userdata);

/* Sums for metrics: one row for each driver, method and code that was seen. */
struct csi_log_sum {
	const char *driver;
	enum csi_method method;
	enum grpc_code code;
	uint64_t count, total_usec;
	uint64_t buckets[13]; /* of kubelet's bounds: .1 .25 .5 1 2.5 5 10 15 25 50 120 300 600 s;
				 cumulative */
};
int csi_log_walk_sums(const struct csi_log *log,
		      int (*visit)(const struct csi_log_sum *sum, void *userdata), void *userdata);

/* ---- how a call gets into the log: for csi_call.c alone ---- */

struct csi_log_record;

/* A call begins now. @about may be NULL. The record lives at least until csi_log_end(). Return:
 * NULL without memory, or without a @log: the call is not remembered. */
struct csi_log_record *csi_log_begin(struct csi_log *log, const char *driver, const char *about,
				     enum csi_method method);
/* Once for each begin; @record may be NULL. */
void csi_log_end(struct csi_log *log, struct csi_log_record *record,
		 const struct grpc_result *result);
