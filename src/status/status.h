/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status - what is reported of volumes, and the words for it
 *
 * Each box reads tables that it borrows and changes none; views are made by volume_view.h, waits
 * answered by mount_waiters.h. The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"
#include "operation/operation.h"
#include "status/volume_row.h"

#include <stdbool.h>
#include <stdio.h>
#include <systemd/sd-event.h>

struct actual;
struct cJSON;
struct claim_statistics;
struct copies;
struct desired;
struct events;
struct look_up_errors;
struct metrics;
struct renewals;
struct statistics;
struct step_log;
struct store;
struct walks;
struct worker_counts;
struct worker_pool;

/* ---- reporter ---- */

/*
 * What the boxes borrow that report about volumes on their own: tables to look at, a
 * loop for their timers, and a way to record events.
 * Filled in by its owner; changes nothing that it lends.
 */

struct reporter {
	sd_event *event;
	const struct volume_tables *tables;
	struct store *const *store; /* made later; NULL in a drain */
	void (*record)(void *userdata, const struct object *about, const char *type,
		       const char *reason, const char *text);
	bool (*is_behind)(void *userdata); /* objects are still being asked for */
	void *userdata;
};

/* ---- advice.c ---- */

/*
 * One thing to do about an error, for who is on call.
 * The one source for views, waits, events and the journal. Pure. The error's own text says what
 * happened; this says what ends it, and names nothing that the text does not.
 */

/**
 * advice_for - what to do about the failure of a set-up or a look-up
 * @error: negative errno, as in struct failure
 *
 * Return: an imperative without a full stop; static; "" where waiting is all there is to do.
 */
const char *advice_for(int error);
/* The same behind the error's text: "; to do: free space". "" as well. */
const char *advice_clause(int error);

/* ---- claim_statistics.c ---- */

/*
 * How full the volumes of claims are, for Prometheus, by kubelet's names.
 * A reader of /metrics gets what was found out last: no scrape waits for a driver or a server,
 * and a driver that hangs is not asked once a scrape.
 */

/* @statistics is borrowed. Return: 0 or -ENOMEM. */
int claim_statistics_new(struct statistics *statistics, struct claim_statistics **ret);
/* No one may be waiting for statistics any more. Accepts NULL. Return: NULL. */
struct claim_statistics *claim_statistics_free(struct claim_statistics *claims);

/* Which claim an item of the statistics is about: "namespace" and "claim"; nothing where it is
 * none. */
void claim_statistics_name(struct cJSON *item, const struct volume_row *row);

/* What is known; asks again for the next one when that is a minute old. */
void claim_statistics_print(struct claim_statistics *claims, FILE *file);

/* ---- condition.c ---- */

/*
 * One condition in the status of a pod or a claim, written to the store.
 * Made again from the object that is there when the write's turn comes, so it takes nothing else
 * away. A write that fails is logged and not repeated: the next change of the fact writes again.
 */

/**
 * condition_write - replace the condition @type of an object
 * @about: the object as it is stored; of any kind that has status.conditions
 * @type:  a constant
 * @text:  its message, copied; "" takes the condition away
 *
 * Never blocks. An object that is gone by then needs no condition.
 */
void condition_write(struct store *store, const struct object *about, const char *type,
		     const char *text);

/* ---- database_sizes.c ---- */

/* @store, @store_dir: NULL in a drain. */
void metrics_print_databases(FILE *file, const struct store *store, const char *store_dir,
			     const char *run_dir);

/* ---- hung_operations.c ---- */

/* Operations that take long, and threads that hang: reported once for each stage. Ends nothing. */

/* An operation takes long: the journal, and an event of its pod or PersistentVolume. */
void hung_operations_report(const struct reporter *reporter, const struct operation_view *view);

/* All threads of a pool hang, or no longer; of worker_pool_on_hang(). @userdata is not used. */
void hung_threads_report(void *userdata, const struct worker_counts *counts);
/* Why a pool does nothing more, when all of its threads hang; else @ret is not written. */
void threads_explain_hang(struct worker_pool *pool, struct failure *ret);
/* Append a pool's row to @items; none for a @pool of NULL. */
void threads_view_add(struct cJSON *items, const char *name, struct worker_pool *pool);

/* ---- look_up_errors.c ---- */

/*
 * Reports pods whose volumes cannot be looked up, once that has stood for a moment, not before.
 */

/* With a timer; @reporter is borrowed. Return: 0 or negative errno. */
int look_up_errors_new(const struct reporter *reporter, struct look_up_errors **ret);
/* Forgets what was not reported yet. Accepts NULL. Return: NULL. */
struct look_up_errors *look_up_errors_free(struct look_up_errors *errors);
/* The pod was looked up; if that failed it is reported in a moment, unless it heals before. */
void look_up_errors_note(struct look_up_errors *errors, const struct object *pod);
/* Since when the pod's errors stand, monotonic; 0: it has none to report. Accepts NULL. */
uint64_t look_up_errors_since(const struct look_up_errors *errors, const char *pod_uid);

/* ---- metrics.c ---- */

/* How long operations take and how many volumes there are, in Prometheus' form. */

/* @tables is borrowed. Return: 0 or -ENOMEM. */
int metrics_new(const struct volume_tables *tables, struct metrics **ret);
/* Accepts NULL. Return: NULL. */
struct metrics *metrics_free(struct metrics *metrics);

/* A hook of an observer of steps, before the tables follow: @metrics is a struct metrics. */
void metrics_note(void *metrics, const struct operation_ended *ended);
/* So many mounts were taken away although they were in use. */
void metrics_note_enforced(struct metrics *metrics, bool lazy, unsigned int count);

void metrics_print_volumes(const struct metrics *metrics, FILE *file);
void metrics_print_walks(const struct metrics *metrics, FILE *file);
void metrics_print_enforced(const struct metrics *metrics, FILE *file);

/* ---- node_expand.c ---- */

/*
 * Writes the outcome of a volume's expansion to its claim (KEP-1790).
 * Hooks of an observer of steps. It grows nothing: plugins do.
 */

/* All is borrowed. */
struct node_expand_options {
	const struct reporter *reporter;
	struct renewals *const *renewals; /* set-ups to be repeated; made later */
};

/* A step was begun; nothing is done where nothing is to grow, or the outcome is known already.
 * @with: a struct node_expand_options, as below. */
void node_expand_step_started(void *with, const struct step *step);
/* A step ended, however; nothing is done where nothing grew, and nothing should have. */
void node_expand_step_ended(void *with, const struct operation_ended *ended);

/* ---- operation_text.c ---- */

/*
 * How it is with an operation, in words: its pace, what it waits for, how far it is.
 * Reads what is counted anyhow, and the stack of a thread that takes long.
 */

enum { SLOW_TEXT_BYTES = 256 };
/* "thread 3658 waits in request_wait_answer < fuse_do_getattr": of one that takes long, else "". */
void slow_text(const struct operation_view *view, char ret[SLOW_TEXT_BYTES]);
/* advice_clause() of such an operation; "" while its pace is usual. */
const char *slow_advice(const struct operation_view *view);
/* "running", "slow", "uncertain, stuck", "waiting for its retry". */
const char *operation_state_name(const struct operation_view *view);

enum { PROGRESS_TEXT_BYTES = 160 };
/* Is a walk under way, or begun and waiting for its device? */
bool progress_runs(const struct operation_view *view);
/* "120000 of at most 200041 entries, 410000 a second, 0.2 s left at most"; "" while no long walk is
 * under way. */
void progress_text(const struct operation_view *view, uint64_t now_usec,
		   char ret[PROGRESS_TEXT_BYTES]);

/* ---- pod_idle.c ---- */

/* Pods and volumes of which nothing is mounted, and why. */

/* Why nothing of the pod is mounted here, whatever else happens: another node's, finished, being
 * deleted. @node: this one's name. False: it is to be mounted. */
bool pod_idle_explain(const struct desired *desired, const char *node, const struct object *pod,
		      struct failure *ret);
/* Why one of its volumes is not: no container uses it. */
bool pod_idle_explain_volume(const struct object *pod, const char *volume, struct failure *ret);

/* ---- progress.c ---- */

/* Events about long walks and copies: the first after some seconds, then now and then, none while
 * there are none. Both are borrowed, and @copies expects them from now on. Return: 0 or negative
 * errno. */
int walks_new(const struct reporter *reporter, struct copies *copies, struct walks **ret);
/* Accepts NULL. Return: NULL. */
struct walks *walks_free(struct walks *walks);
/* A step may lead to one: look after a while. Cheap. Accepts NULL. */
void walks_expect(struct walks *walks);

/* ---- step_log.c ---- */

/* The last STEP_LOG_KEPT steps that ended, with their stages; in memory: a restart forgets them. */

enum { STEP_LOG_KEPT = 1024 };

/* @actual is borrowed. Return: 0 or -ENOMEM. */
int step_log_new(const struct actual *actual, struct step_log **ret);
/* Accepts NULL. Return: NULL. */
struct step_log *step_log_free(struct step_log *log);

/* A hook of an observer of steps, before the tables follow: @log is a struct step_log. */
void step_log_note(void *log, const struct operation_ended *ended);

/* {"items": [...]}, oldest first, as docs/api.md has them. The caller's; NULL: no memory. */
struct cJSON *step_log_view(const struct step_log *log);

/* ---- step_report.c ---- */

/* To the journal, and as events of its pod or volume. Before the tables follow. */
void step_report(const struct desired *desired, const struct actual *actual, struct events *events,
		 const struct operation_ended *ended);
