/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiring - opens the boxes outside this folder with what they borrow from the agent
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"
#include "object/kinds/persistent_volume.h"
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
void agent_lend_tables(struct agent *agent);

/* Questions of controllers; @userdata is the agent. May something of this volume be mounted, be
 * about to be, or have been left here by another agent? Have all sources of objects delivered all
 * they have? */
bool agent_uses_volume(void *userdata, const struct persistent_volume *volume);
bool agent_has_all_sources(void *userdata);

/* Each fills in its member of the agent. Return: 0 or negative errno. */
int agent_open_drift(struct agent *agent, struct failure *reterr);
int agent_open_statistics(struct agent *agent);
int agent_open_volume_faults(struct agent *agent, struct failure *reterr);
int agent_open_mount_waiters(struct agent *agent);
int agent_open_pod_mounts(struct agent *agent);
int agent_open_drivers(struct agent *agent);
/* The ledger, what was there before the start, and the takeover. */
int agent_open_ledger(struct agent *agent, struct failure *reterr);
int agent_open_directories(struct agent *agent, struct failure *reterr);
int agent_open_claim_reasons(struct agent *agent);
/* claim_reasons_explain(), with the agent. */
int agent_explain_claim(void *userdata, const struct object *claim, struct failure *reterr);
/* pod_holds_must_wait(), with the agent. */
bool agent_pod_must_wait(void *userdata, const struct object *pod);
int agent_open_csi_controllers(struct agent *agent, struct failure *reterr);
int agent_open_volumes_in_use(struct agent *agent, struct failure *reterr);
