/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiring - opens the boxes outside this folder with what they borrow from the agent
 */
#pragma once

#include "agent.h"
#include "base/failure.h"
#include "controller/controller.h"
#include "object/kinds/persistent_volume.h"
#include "object/object.h"
#include "operation/operation.h"
#include "operation/renewals.h"
#include "plugins/plugin.h"
#include "state/state.h"

struct agent;
struct operation_view;

/* A v1.Event about an object; @userdata is the agent. */
void agent_record_event(void *userdata, const struct object *about, const char *type,
			const char *reason, const char *text);

/* One of the operations takes long; @userdata is the agent. */
void agent_on_slow(void *userdata, const struct operation_view *view);

/* intent_note_unfinished(), with the agent. */
int agent_note_unfinished(void *userdata, const char *unique_name, const char *pod_uid,
			  enum unfinished unfinished, struct failure *reterr);

/* What views and reports are made of, once there are tables. */
void agent_fill_options(struct agent *agent);

/* What all controllers are given; once there is a store. */
struct controller_options agent_controller_options(struct agent *agent);
/* Questions of controllers; @userdata is the agent. May something of this volume be mounted, be
 * about to be, or have been left here by another agent? */
bool agent_uses_volume(void *userdata, const struct persistent_volume *volume);
/* Does a pod want it, mounted or not? */
bool agent_wants_volume(void *userdata, const struct persistent_volume *volume);

/* Each fills in its member of the agent. Return: 0 or negative errno. */
int agent_open_drift(struct agent *agent, struct failure *reterr);
int agent_open_pod_conditions(struct agent *agent);
int agent_open_statistics(struct agent *agent);
/* views.c: counts the files of directories, where the configuration has it. After the above. */
int agent_open_directory_usage(struct agent *agent);
int agent_open_volume_faults(struct agent *agent, struct failure *reterr);
int agent_open_mount_waiters(struct agent *agent);
int agent_open_pod_mounts(struct agent *agent);
int agent_open_drivers(struct agent *agent);
/* The ledger, what was there before the start, and the takeover. */
int agent_open_ledger(struct agent *agent, struct failure *reterr);
/* Last: the start did not fail, and what was taken over is kept. */
int agent_end_hand_back(struct agent *agent, struct failure *reterr);
int agent_open_directories(struct agent *agent, struct failure *reterr);
int agent_open_claim_reasons(struct agent *agent);
/* claim_reasons_explain(), with the agent. */
int agent_explain_claim(void *userdata, const struct object *claim, struct failure *reterr);
/* pod_holds_must_wait(), with the agent. */
bool agent_pod_must_wait(void *userdata, const struct object *pod);
int agent_open_csi_controllers(struct agent *agent, struct failure *reterr);
int agent_open_volumes_in_use(struct agent *agent, struct failure *reterr);

/* ---- cluster_mode.c ---- */

/*
 * What differs on a node of a cluster: where objects come from, and who controls
 * them
 *
 * The store has a directory of its own then, below the state directory: objects of a node alone and
 * those of a cluster never meet. The loop thread only.
 */

bool cluster_mode(const struct agent *agent);
/* Not where other provisioners of the cluster do. */
bool cluster_mode_makes_volumes(const struct agent *agent);

/* agent->own.store_dir, made when absent. Return: 0 or negative errno. */
int cluster_mode_make_directory(struct agent *agent, struct failure *reterr);

/* Begin to mirror, when there is a cluster: after the store, before the populator looks. Return: as
 * cluster_new(). */
int cluster_mode_open(struct agent *agent, struct failure *reterr);

/* populator_options.uses; @userdata is the agent. */
void cluster_mode_uses(void *userdata, const struct object_reference *reference, bool is_used);
/* object_finder.is_unknown; so, too. */
bool cluster_mode_is_unknown(void *userdata, const struct object_reference *reference);
/* reporter.is_behind; so, too. */
bool cluster_mode_is_behind(void *userdata);
/* volumes_in_use_options.attachment; so, too. */
void cluster_mode_attachment(void *userdata, const char *name, bool is_used);
/* The same of a CSIStorageCapacity of this node. */
void cluster_mode_capacity(void *userdata, const char *name, bool is_used);

/* ---- wiring.c: service accounts' tokens ---- */

/* The issuer of this node, and when volumes need new ones. Empty while draining and in tests. */
struct own_tokens {
	struct token_issuer *issuer;
	struct renewals *renewals;
};

/* A daemon that only unmounts issues none; nor does one whose keys cannot be read, which is
 * reported and stops nothing else. Return: 0 or negative errno. */
int agent_open_tokens(struct agent *agent, struct failure *reterr);
void agent_close_tokens(struct agent *agent);
