/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation - one step of a plan being done: stages on threads, one deadline, one cancellation, one
 * back-off
 *
 * Knows no plugin: it asks the step's plugin for a list of stages and runs it. At most one
 * operation per key; keys and back-off are kubelet's (spec: volume manager, 5): volume alone for
 * stage and unstage, volume and pod otherwise; but publishes of a device-mountable volume, for
 * which kubelet has one key, run one at a time and back off by pod. The loop thread only; stages
 * run where they say.
 */
#pragma once

#include "base/worker.h"
#include "object/select/selector.h"
#include "operation/attempt.h"
#include "operation/io_slot.h"
#include "reconcile/reconcile.h"

struct operations;
struct operation_view;

/* kubelet's */
enum { BACK_OFF_FIRST_USEC = 500000, BACK_OFF_MAX_USEC = 122 * 1000000 };

struct operation_ended {
	struct step_result result;
	const char *name; /* "volume_mount", "unmount_device", ...; metrics label and back-off
			     identity */
	const struct object *pod; /* NULL for teardowns; borrowed */
	const struct object *pv;  /* NULL when there is none; borrowed */
	const struct stage_report *report;
	unsigned int attempt;            /* from 1 */
	uint64_t failing_usec;           /* monotonic: when the first of these attempts failed */
	uint64_t begun_usec;             /* monotonic: operation_submit() */
	uint64_t ran_usec;               /* from then on */
	const struct stage_time *stages; /* that began, the first ones; borrowed */
	size_t stage_count;
	uint64_t retry_usec; /* monotonic; when it will be tried again; 0 after success, when it
			      was cancelled, and when it waits */
	/* For the driver in @report: until operation_retry_now(), operation_tear_down_now() or
	 * operation_cancel(). */
	bool waits;
};

struct operations_options {
	sd_event *event;
	const struct plugin_host *host;
	const struct labels *node_labels; /* beside those of the Node object */
	const struct actual *actual;      /* read for the ReadWriteOncePod check */
	struct object_finder objects;     /* for the plugins' slots */
	struct worker_pool *workers, *walkers;
	struct worker_pool *unmounters; /* the workers of teardowns; NULL: @workers are */
	uint64_t back_off_first_usec, back_off_max_usec; /* 500 ms and 2 m 2 s; factor 2 */
	/* A step ended; apply it to the tables. On the loop. */
	void (*ended)(void *userdata, const struct operation_ended *ended);
	/* Before a stage begins that a kill would leave half done, which it does only when this
	 * returns 0. pod_uid "" for the whole volume. On the loop; NULL: no such notes are kept.
	 */
	int (*note)(void *userdata, const char *unique_name, const char *pod_uid,
		    enum unfinished unfinished, struct failure *reterr);
	/* What podvold itself does after the plugin's stages, on the same threads; @ret is empty.
	 * On the loop; NULL: nothing. */
	void (*stages_after)(void *userdata, const struct step *step, struct stage_list *ret);
	/* A back-off is over: the volume is worth another look. On the loop. */
	void (*retry)(void *userdata, const char *unique_name);
	/* One stage takes long, and later once more, when the operation is stuck. On the loop;
	 * NULL: not reported. */
	void (*slow)(void *userdata, const struct operation_view *view);
	uint64_t slow_usec, limit_usec; /* 0: never */
	void *userdata;
};

/* @options is copied, what it points to is borrowed. Starts nothing. Return: 0 or negative errno.
 */
int operations_new(const struct operations_options *options, struct operations **ret);
/* No stage of a set-up begins any more: what hangs and answers while the pools close mounts
 * nothing. A teardown goes on. Before worker_pool_free(). Accepts NULL. */
void operations_stop(struct operations *operations);
/* Waits for nothing: worker_pool_free() and worker_return_free() come first, so that the last
 * results are reported. A stage that is stuck on a thread even then is left behind. Return: NULL.
 */
struct operations *operations_free(struct operations *operations);

/**
 * operation_may_start - would operation_submit() refuse this step?
 * @step: STEP_FORGET too: it must wait for whatever still runs on its key, but heeds no back-off
 *
 * Changes nothing; lets the caller write an intent only for what will start.
 *
 * Return: 0; -EBUSY, -EAGAIN as operation_submit().
 */
int operation_may_start(struct operations *operations, const struct step *step, uint64_t now_usec);

/**
 * operation_submit - start one step of a plan
 * @step:     copied; may point into tables that change after this call. Not STEP_FORGET.
 * @now_usec: monotonic clock, microseconds; compared with the back-off of this volume
 *
 * Never blocks. How the step ended arrives later, through options.ended. A publish first passes the
 * checks of section 4.2 that need no system call (mount options, node affinity, ReadWriteOncePod);
 * one that fails is an operation that ended with a transient error.
 *
 * Return: 0 started; -EBUSY an operation with a matching key runs; -EAGAIN it is backing off;
 * -ENOMEM.
 */
int operation_submit(struct operations *operations, const struct step *step, uint64_t now_usec);

/* The want has gone: stages that look at it end early, and a failed one is forgotten. Concerns the
 * publish of this pod, or the stage of the volume when @pod_uid is NULL or "". */
void operation_cancel(struct operations *operations, const char *unique_name, const char *pod_uid);

/* What kept this volume from being set up may be gone: no stage or publish of it that failed, or
 * runs now and will fail, backs off. The caller has the volume looked at again; options.retry does
 * so for those that run. */
void operation_retry_now(struct operations *operations, const char *unique_name);

/* Call options.retry for this volume once, one first back-off from now (or at once, from inside
 * this call, when there is no memory even for that): a step could not begin for want of memory or
 * of the ledger. Calling it again before that changes nothing. */
void operation_retry_later(struct operations *operations, const char *unique_name,
			   uint64_t now_usec);

/* A failed teardown is worth another try before its back-off is over: options.retry is called for
 * it soon. Nothing happens while one runs, or when none failed. */
void operation_tear_down_now(struct operations *operations, const char *unique_name,
			     const char *pod_uid, uint64_t now_usec);

/* Is what runs as fast as such things are? */
enum operation_pace {
	PACE_USUAL,
	PACE_SLOW,  /* at one stage for longer than options.slow_usec, and no sign of life */
	PACE_STUCK, /* no sign of life for options.limit_usec: what it did is uncertain, and its key
		       stays taken until it returns, so that there are never two of them */
};

/* What is known about an operation. Borrowed until the loop turns. */
struct operation_view {
	const char *unique_name, *pod_uid; /* pod_uid "" for the whole volume */
	enum step_kind kind;
	const char *name;      /* operation name */
	const char *stage;     /* of the running one; else of the one that failed */
	const char *failed_at; /* the stage, or the CSI call in it, that @failure is of; or NULL */
	bool running;
	uint64_t since_usec;   /* monotonic: when the stage, or the wait for the next try, began */
	unsigned int attempts; /* failed ones so far */
	uint64_t failing_usec; /* monotonic: when the first of them failed; 0: none did */
	uint64_t retry_usec;   /* monotonic; 0 while running, and while it waits */
	const char *awaits;    /* the CSI driver that it waits for; NULL none */
	const struct failure *failure; /* of the last attempt; NULL when there was none */
	const struct object *pod;      /* NULL for teardowns */
	enum operation_pace pace;
	int thread_id;          /* of the running stage; 0 unknown */
	int tool_pid;           /* of a mkfs or fsck that runs: it has a limit of its own */
	bool waits_for_thread;  /* every thread is at work, or hangs */
	bool waits_for_source;  /* the set-up of another volume changes it: see source_lock.h */
	bool waits_for_io_slot; /* other long stages use the device: see io_slot.h */
	const struct ownership_progress *progress; /* of a long walk; begun_usec 0: none */
};
/**
 * operation_find - the operation of a pod's volume that runs or backs off
 * @pod_uid: "" or NULL: the one of the whole volume
 *
 * A record of failure is kept until a success, a cancellation, or until it was not submitted again:
 * one more delay after options.retry was called.
 *
 * Return: false when there is none, and @ret is not written.
 */
bool operation_find(struct operations *operations, const char *unique_name, const char *pod_uid,
		    struct operation_view *ret);

/* The operation that keeps every other one of this pod's volume from starting: it runs on another
 * pod's mount of the volume, or on the whole volume. As operation_find(). */
bool operation_in_way(struct operations *operations, const char *unique_name, const char *pod_uid,
		      struct operation_view *ret);

/* All of them; a value other than 0 ends the walk and is returned. */
int operation_walk(struct operations *operations,
		   int (*visit)(const struct operation_view *view, void *userdata), void *userdata);
