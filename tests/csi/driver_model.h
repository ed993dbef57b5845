/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_model - a CSI driver inside of the test's process, behind csi_drivers_call()
 *
 * It really mounts (a bind of a volume's directory), keeps CSI's books on what is staged and
 * published, and breaks in every way a driver can: an error before or after it acted, an answer
 * long before the act, a death. A call that CSI forbids goes to model.violated(). The books are
 * kept as the caller must count: a stage or publish counts from its beginning until an answer that
 * the caller heard takes it back; it is sure once the caller heard OK. As tests/csi/rules.py.
 */
#pragma once

#include "csi/csi_drivers.h"

enum {
	MODEL_VOLUMES_MAX = 8,
	MODEL_TARGETS_MAX = 32,
	MODEL_CALLS_MAX = 32,
	MODEL_PATH_BYTES = 256,
};

/* Something that was staged (by volume) or published (by target). */
struct model_mount {
	char volume[96], path[MODEL_PATH_BYTES];
	uint64_t arguments; /* a hash; 0 unknown */
	bool block;
	bool is_used; /* this slot */
	bool is_sure; /* the caller heard OK */
};

/* A call that has come and is not over. */
struct model_call {
	struct csi_call_request request; /* its message is not kept */
	char volume[96], path[MODEL_PATH_BYTES], from[MODEL_PATH_BYTES];
	bool is_used, block, read_only;
	bool is_heard;            /* its caller waits for the answer */
	bool is_blocked;          /* by one without a caller: will be ABORTED */
	bool was_there, was_sure; /* what it is about, when it came */
	unsigned int number;
};

/* How a call goes on. */
enum model_outcome {
	MODEL_WORKS,
	MODEL_FAILS_BEFORE, /* with a code, having done nothing */
	MODEL_FAILS_AFTER,  /* with a code; a final one takes back what was done */
	MODEL_TOO_LATE,     /* the caller gives up, the driver goes on */
	MODEL_NEVER_SENT,   /* the connection failed before a byte */
	MODEL_DIES_BEFORE,
	MODEL_DIES_AFTER,
	MODEL_OUTCOME_COUNT
};

struct driver_model {
	bool is_there;         /* registered */
	uint32_t capabilities; /* bits as csi_driver.node_capabilities */
	const char *storage;   /* directory of the volumes' directories; absolute */
	struct model_mount staged[MODEL_VOLUMES_MAX], published[MODEL_TARGETS_MAX];
	struct model_call calls[MODEL_CALLS_MAX];
	unsigned int call_count; /* so far */
	void (*violated)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};
extern struct driver_model model;

/* Nothing staged, nothing under way, registered. */
void model_begin(void);
/* How many calls are under way; those without a waiting caller included. */
unsigned int model_count_calls(void);
/* The @position-th of them. */
struct model_call *model_call_at(unsigned int position);
/* It goes on; the caller is answered inside of this, unless it has gone. */
void model_finish(struct model_call *call, enum model_outcome outcome, enum grpc_code code);
/* The daemon was killed: the answers reach no caller. */
void model_caller_died(void);
/* The driver was killed: what it was doing is not done any more, who waits hears of it. */
void model_died(void);
/* May this process make device nodes, for volumes that are raw? */
bool model_can_make_devices(void);
/* Is anything in the books? */
bool model_is_empty(void);
