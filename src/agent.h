/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent - wires the boxes of the picture together on one event loop; knows them all
 *
 * Also answers for api/ what no store holds: the state of volumes, waits, events, operations (node
 * views). The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "container/pod_mounts.h"
#include "csi/driver_call.h"
#include "inuse/inuse.h"
#include "inuse/volume_users_search.h"
#include "object/object.h"
#include "status/mount_waiters.h"
#include "status/statistics.h"
#include "status/volume_events.h"
#include "status/write_check.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct agent;
struct cJSON;
struct config;
struct token_issuer;

/**
 * agent_new - build every box, lock the root directory, rebuild the actual state
 * @event:  borrowed
 * @config: borrowed; must outlive the agent
 *
 * Blocks (start-up only). Return: 0, or why not, in @reterr, one sentence for an operator.
 */
int agent_new(sd_event *event, const struct config *config, struct agent **ret,
	      struct failure *reterr);

/* Stops cleanly; volumes stay mounted. Return: NULL. */
struct agent *agent_free(struct agent *agent);

/**
 * agent_drain - unmount every volume that our ledger knows, then call @done on the loop
 * @done: how many could not be unmounted; each was logged with its reason
 */
void agent_drain(struct agent *agent, void (*done)(void *userdata, size_t left), void *userdata);
/* A drain that a signal ended: an error is logged for each volume that it had not come to. */
void agent_report_left(const struct agent *agent);

/* In place of a loop, with --hand-back: see reconstruct/reconstruct.h. */
int agent_hand_back(struct agent *agent, struct failure *reterr);

/* Borrowed; live as long as the agent. NULL while draining, the second also without keys. */
struct store *agent_store(struct agent *agent);
struct token_issuer *agent_tokens(struct agent *agent);

/* True once every source delivered a complete snapshot. */
bool agent_is_ready(const struct agent *agent);
/* What that waits for: the first volume that was not tried once, and how many more. False: none,
 * and @ret is as it was. */
bool agent_explain_ready(const struct agent *agent, struct failure *ret);
/* Calls @report once, on the loop, when that is so and the first attempt at each volume that could
 * be looked up has ended: mounted or failed. */
void agent_report_ready(struct agent *agent, void (*report)(void *userdata), void *userdata);

/* ---- health ---- */

enum { HEALTH_OK = 1 << 0, HEALTH_READY = 1 << 1 };

struct health_check {
	const char *name;      /* static */
	unsigned int concerns; /* set of HEALTH_ */
	struct failure why;    /* error 0: it is well */
};

/* Whether every source delivered all it has (ready), no operation is stuck and not all threads of
 * set-ups or of teardowns hang (ok). Calls @check for each; cost: the operations under way. */
void agent_check_health(struct agent *agent,
			void (*check)(void *userdata, const struct health_check *check),
			void *userdata);

/* ---- node views: trees owned by the caller; NULL: no memory ---- */

/* {"items": [{pod, podUID, volume, ...}]}, as docs/api.md tells them; of one pod, or of all with
 * @pod NULL. Volumes of pods that are gone but still mounted are there too. */
struct cJSON *agent_view_volumes(struct agent *agent, const struct object *pod);
/* One volume by unique name, PV name or path: an item per pod, with "device" (path, "" none) and
 * "deviceMountPath" beside the members above; no items when unknown. */
struct cJSON *agent_view_volume(struct agent *agent, const char *word);
/* {"items": [...]}: running and backing off. Times are RFC 3339 in all views, "" for none. */
struct cJSON *agent_view_operations(struct agent *agent);
/* {"items": [...]}: the last steps that ended, with their stages. */
struct cJSON *agent_view_steps(struct agent *agent);
/* {"items": [{file, line, kind, namespace, name, text, since}]}: problems, see source/source.h. */
struct cJSON *agent_view_manifests(struct agent *agent);
/* manifest_source_file_of(), for api/, which knows no source. Borrowed until the loop turns. */
const char *agent_manifest_file_of(struct agent *agent, const struct object *object);
/* As in docs/api.md: plugins and drivers (NULL: all), threads, foreign volumes. */
struct cJSON *agent_view_drivers(struct agent *agent, const char *name);
struct cJSON *agent_view_threads(struct agent *agent);
struct cJSON *agent_view_foreign_volumes(struct agent *agent);
/* {"podvol": "0.1.0", "kubernetes": "v1.32.0", ...}: the rest, as name and string. */
struct cJSON *agent_view_version(struct agent *agent);
/* pod_conditions_word(), for tables: a constant; NULL: it has no volumes here. Cost: its volumes.
 */
const char *agent_pod_volumes(struct agent *agent, const struct object *pod);
/* pod_conditions_phase(), pod_conditions_show_phases(), pod_conditions_print(). */
const char *agent_pod_phase(struct agent *agent, const struct object *pod);
bool agent_shows_phases(struct agent *agent);
int agent_pod_print(struct agent *agent, const struct object *pod, char **ret);
/* Could the pod have its volumes on @node (NULL: this one)? As docs/api.md tells it. */
struct cJSON *agent_check(struct agent *agent, const struct object *pod, const struct object *node);
/* Could its containers write, on this node? For write_check_run(). Return: 0; -ENOMEM. */
int agent_check_writes(struct agent *agent, const struct object *pod, struct write_check **ret);

/* ---- how full volumes are ---- */

/* statistics_request(). */
int agent_statistics(struct agent *agent, const struct statistics_about *about, statistics_fn *done,
		     void *userdata, struct statistics_call **ret);

/* ---- what happens to volumes ---- */

/* The last VOLUME_EVENTS_KEPT, oldest first, as docs/api.md tells them. */
struct cJSON *agent_view_volume_events(struct agent *agent);

/* volume_events_watch() of all volumes. */
int agent_watch_volumes(struct agent *agent, uint64_t after, void (*changed)(void *userdata),
			void *userdata, struct volume_watch **ret);

/* ---- holds ---- */

/* pod_holds_add(), pod_holds_remove() and pod_holds_view() of inuse/inuse.h. */
int agent_hold_add(struct agent *agent, const struct hold_request *request,
		   char ret_id[HOLD_ID_BYTES], struct failure *reterr);
int agent_hold_remove(struct agent *agent, const char *pod_uid, const char *id,
		      struct failure *reterr);
struct cJSON *agent_view_holds(struct agent *agent, const char *pod_uid);

/* In Prometheus' text form. Freed with free(); NULL: no memory. */
char *agent_metrics(struct agent *agent);

/* ---- waits ---- */

/* mount_waiters_add() of status/mount_waiters.h. */
int agent_wait_pod(struct agent *agent, const struct mount_wait_request *request,
		   struct mount_wait **ret);

/* ---- mounts of containers: see container/pod_mounts.h ---- */

/* container_mounts_plan(). */
int agent_plan_containers(struct agent *agent, const struct container_mounts_request *request,
			  struct container_mounts_call **ret);

/* ---- driver_call ---- */

/* driver_call_start() with the agent's drivers; for driver_call_cancel(). */
int agent_call_driver(struct agent *agent, const struct driver_call_request *request,
		      struct driver_call **ret, struct failure *reterr);

/* ---- who uses a volume ---- */

/* volume_users_search() of inuse/volume_users_search.h; for volume_users_search_cancel(). */
int agent_search_users(struct agent *agent, const char *volume, volume_users_search_fn *done,
		       void *userdata, struct volume_users_search **ret);

/* ---- force_unstage ---- */

/*
 * An operator lets an unstage go past local users who keep a volume mounted
 *
 * Whom it goes past is said in
 * mount/holders/mount_force.h, and who may ask in api/auth/authorize.c. The loop thread only.
 */

/* unstage_call_new() of inuse/inuse.h; for unstage_call_cancel(). */
int agent_force_unstage(struct agent *agent, const struct unstage_call_request *request,
			struct unstage_call **ret);
