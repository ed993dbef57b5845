/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts - what the files of this folder share: the agent's boxes; no other box includes it
 *
 * agent.c builds and takes down, sync_loop.c is one turn of the loop (store -> desired -> plan ->
 * ledger -> operations) and the end of a drain, step_results.c what comes back, views.c what is
 * shown, wiring.c opens the boxes outside.
 */
#pragma once

#include "agent.h"
#include "state/claim_reasons.h"
#include "status/copies.h"
#include "cluster/cluster.h"
#include "drift/drift.h"
#include "csinode/drivers.h"
#include "events/events.h"
#include "reconstruct/foreign_volumes.h"
#include "status/status.h"
#include "csinode/own_objects.h"
#include "reconstruct/reconstruct.h"
#include "status/directory_usage.h"
#include "status/size_limits.h"
#include "agent/wiring.h"
#include "provision/volume_directories.h"
#include "inuse/busy_watch.h"
#include "inuse/hold_watch.h"
#include "inuse/inuse.h"
#include "inuse/server_probe.h"
#include "inuse/unstage_gate.h"
#include "csinode/volumes_in_use.h"
#include "config.h"
#include "controller/binding/ephemeral_volumes.h"
#include "controller/snapshot/snapshot_schedule.h"
#include "controller/controller.h"
#include "controller/csi/csi_controller.h"
#include "grpc/grpc.h"
#include "mount/mount.h"
#include "mount/remove/directory_lock.h"
#include "operation/operation.h"
#include "plugins/plugin.h"
#include "reconcile/reconcile.h"
#include "source/source.h"
#include "state/state.h"
#include "status/mount_waiters.h"
#include "status/volume_view.h"
#include "status/pod_conditions.h"
#include "status/statistics.h"
#include "status/view_time.h"
#include "status/volume_events.h"
#include "status/volume_faults.h"
#include "status/volume_links.h"
#include "status/volume_row.h"
#include "store/store.h"
#include "base/failure.h"
#include "object/object.h"
#include <assert.h>
#include <stdbool.h>

struct store;
struct config;

/* Order in the loop, first to last, and why. */
enum agent_priority {
	PRIORITY_SIGNALS = -50, /* stopping must not wait for a burst */
	/* GRPC_PRIORITY: drivers get what was begun, and their answers are results */
	PRIORITY_RESULTS = -20, /* ended operations, before anything decides on old facts */
	PRIORITY_HOLDS = -15,   /* containers that ended, for the same reason */
	PRIORITY_STORE = -10,   /* then what is wanted */
	PRIORITY_API = 0,       /* questions are answered from tables that are up to date */
	PRIORITY_TURN = 10,     /* last: one look at everything that changed in this round */
	PRIORITY_SUBPATHS = 20, /* but for these: a teardown that waited for one goes first */
};
static_assert((int) PRIORITY_SIGNALS < GRPC_PRIORITY && GRPC_PRIORITY < (int) PRIORITY_RESULTS,
	      "calls come before what begins more of them");

struct agent {
	sd_event *event; /* borrowed */
	const struct config *config;

	struct mount_root root;
	struct {
		struct mount_table *table;
		struct drift *drift;          /* what others do to them; NULL in tests */
		struct volume_faults *faults; /* what their file systems say; so, too */
	} mounts;
	struct plugin_host host; /* owns its maps of groups; all else is borrowed */
	struct worker_return *to_loop;
	struct {
		struct worker_pool *workers, *unmounters, *walkers, *statistics;
	} pools;

	struct store *store;
	struct store_watch *watch;
	struct {
		struct manifest_source *manifests;
		struct cluster *cluster; /* in its place, on a node of a cluster */
	};
	struct {
		struct pv_binder *binder;
		struct ephemeral_volumes *ephemeral;
		struct snapshot_schedules *schedules;
		struct claim_reasons *claim_reasons;
		struct volumes_in_use *volumes_in_use;
		struct own_objects *own_objects;
		struct volume_directories *directories; /* the local provisioner */
		struct csi_controllers *csi;            /* NULL: another program does that work */
	} controllers;                                  /* from the store into the store */
	struct populator *populator;

	struct dirty_set *dirty;
	struct desired *desired;
	struct actual *actual;
	struct {
		struct ledger *ledger;
		struct foreign_volumes *foreign_volumes; /* what was there and is not in it */
		struct reconstruct_counts reconstructed;
		struct takeover *takeover; /* unlisted pods that were taken over */
		struct drivers *drivers;   /* CSI; NULL in tests */
	};
	struct inuse holds; /* what keeps volumes mounted */
	struct operations *operations;
	struct plan plan; /* kept between turns for its memory */

	struct events *events;
	struct waits *waits;
	struct pod_mounts pod_mounts; /* calls of container runtimes */
	struct look_up_errors *look_up_errors;
	struct {
		struct reporter reporter; /* what boxes borrow that report */
		struct node_expand_options node_expand;
		struct intents intents;
	};
	struct walks *walks;
	struct {
		struct volume_tables tables; /* what the others read */
		struct volume_view with;
		struct statistics *statistics;
		struct volume_events *events; /* of volumes, not v1.Event */
		struct step_log *steps;
		struct volume_links *links; /* by name, in the run directory */
		struct metrics *metrics;
		struct copies copies;
		struct size_limits *size_limits;         /* NULL in tests */
		struct pod_conditions *pods;             /* so, too */
		struct directory_usage *directory_usage; /* also NULL where none is counted */
	} views;

	sd_event_source *turn; /* enabled once whenever something changed */
	bool sources_complete; /* every source delivered all it has: unmounting is allowed */
	struct {
		struct own_locks locks;
		char *store_dir;               /* NULL while it is drained */
		struct store_opening *opening; /* from its begin to its end */
		bool ledger_failing;           /* said once, until a commit succeeds */
		sd_event_source *resync;       /* NULL until it is made */
		struct heap_trim *heap_trim;
		uint64_t sync_loops; /* turns that are complete */
		struct own_tokens tokens;
	} own;

	struct {
		void (*drained)(void *userdata, size_t left);
		void (*ready)(void *userdata); /* NULL: not waited for */
		void *userdata;
	} notify;
};

/* ---- sync_loop.c ---- */

/* Have a turn soon; any number of calls make one turn. */
void agent_request_turn(struct agent *agent);
/* The turn itself, a deferred event source of PRIORITY_TURN. Return: 0. */
int agent_on_turn(sd_event_source *source, void *userdata);
/* Dirty: a volume whose back-off is over; what a pod has and does not want. */
void agent_on_retry(void *userdata, const char *unique_name);
void agent_mark_entries(struct agent *agent, const char *pod_uid);
/* So is every wanted and every mounted volume. */
void agent_mark_all_dirty(struct agent *agent);
/* When a burst of changes is over; @userdata: the agent. */
void agent_release_changes(void *userdata);

/* While draining: is everything gone, or is nothing left that will go? Then it tells. */
void agent_check_drained(struct agent *agent);

/* Something of a pod changed that those who wait for it, or watch it, may want to see. */
void agent_pod_changed(struct agent *agent, const char *pod_uid);

/* ---- step_results.c ---- */

/* A step ended: reported, applied to the table, noted in the ledger, another turn requested. */
void agent_on_ended(void *userdata, const struct operation_ended *ended);

/* ---- views.c ---- */

/* Frees what only shows: after what it looks at has ended, before the tables go. */
void agent_close_views(struct agent *agent);

/* ---- agent.c ---- */

/* What was unwanted so far may only have been unread: every volume is looked at again. @userdata:
 * the agent. */
void agent_on_sources_ready(void *userdata);
/* Watch the store from now on. Return: 0 or -ENOMEM, and there is no watch. */
int agent_watch_store(struct agent *agent);

/* ---- claim_controllers.c ---- */

/* After the store, the events and the tables. Return: 0 or negative errno. */
int agent_open_claim_controllers(struct agent *agent);
/* Also of what was not opened. */
void agent_close_claim_controllers(struct agent *agent);

/* ---- resync.c ---- */

/*
 * A moment after something was lost for want of memory everything is looked at, for what nothing
 * else would bring back: a pod that could not be looked at, a row of the ledger that could not be
 * written, a question that could not be asked.
 */

/* A timer that is off. Return: 0 or negative errno. */
int agent_open_resync(struct agent *agent);

/* Have a look in a moment; any number of calls make one. @userdata is the agent. Needs no memory.
 */
void agent_resync(void *userdata);

/* Is there one to come? Then what seems unwanted may only have been lost. */
bool agent_must_resync(const struct agent *agent);
