/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_caller - the calls to one driver for one step of one volume
 *
 * One time limit for all of them, as kubelet has it: from the first call on, the question what the
 * driver can do included. What a failed call says about the world is decided here, so that every
 * step says the same: final, uncertain, or transient. A stage of the loop starts a call and ends
 * when it is answered. The loop thread only.
 */
#pragma once

#include "csi/csi_call.h"
#include "plugins/plugin.h"

#define CSI_TIME_LIMIT_USEC (120ULL * 1000 * 1000)

/* Bits of csi_caller.capabilities. */
#define CSI_CAN(name) (1U << CSI__V1__NODE_SERVICE_CAPABILITY__RPC__TYPE__##name)

struct csi_caller {
	struct csi_drivers *drivers; /* NULL: no driver can be called */
	const char *driver, *about;  /* borrowed: name, unique name of the volume */
	uint64_t deadline_usec;      /* monotonic; 0 before the first call */
	uint32_t capabilities;       /* CSI_CAN(STAGE_UNSTAGE_VOLUME) | ... of this step */
	/* Set by a stage whose final failure another stage is to clean up after: the call then ends
	 * well, and what it said is here. */
	bool keeps_final;
	const struct failure *final; /* kept; NULL: there was none */
	/* Of the last call that failed. */
	enum grpc_code code;
	enum error_class error_class;

	/* The call under way. */
	struct csi_call *call;
	struct stage_report *report;
	void (*finish)(void *token, int result);
	void *token;
	enum csi_method method;
	/* After an answer: 1 another call was started, which ends the stage; else what the stage
	 * ends with. NULL: STAGE_NEXT. */
	int (*then)(void *data, const ProtobufCMessage *reply);
	void *data;
};

/* How a stage is to be ended. */
struct csi_stage_end {
	struct stage_report *report;
	void (*finish)(void *token, int result);
	void *token;
};

/**
 * csi_caller_start - query the driver's capabilities
 * @then: NULL: the stage ends with the answer
 *
 * A failure is transient: nothing was said about the volume. Return: as of a stage's start().
 */
int csi_caller_start(struct csi_caller *caller, const struct csi_stage_end *end,
		     int (*then)(void *data, const ProtobufCMessage *reply), void *data);

/**
 * csi_caller_call - call the driver
 * @end:     NULL inside of @then of another call: that one's
 * @message: packed before this returns
 *
 * Return: as of a stage's start(). What could not be started is transient; -ENOTCONN when the
 * driver is not registered.
 */
int csi_caller_call(struct csi_caller *caller, enum csi_method method,
		    const ProtobufCMessage *message, const struct csi_stage_end *end,
		    int (*then)(void *data, const ProtobufCMessage *reply), void *data);

/* A step that is freed while a call is under way. */
void csi_caller_done(struct csi_caller *caller);
