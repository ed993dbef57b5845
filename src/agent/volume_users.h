/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_users - who uses volumes that cannot be unmounted: asked for, told of and shown
 *
 * Only this folder uses it, by parts.h. The asking itself is busy_watch.h.
 */
#pragma once

#include "inuse/busy_watch.h"
#include "inuse/server_probe.h"
#include "operation/operation.h"

struct agent;
struct cJSON;

/* Once the workers run. Return: 0 or -ENOMEM. */
int volume_users_open(struct agent *agent);
/* A step ended; before the tables follow it: a busy volume is looked into, another forgotten. */
void volume_users_note(void *agent, const struct operation_ended *ended);
/* Member "users" of a view, where somebody is known. */
void volume_users_view(const struct agent *agent, struct cJSON *item, const char *unique_name,
		       const char *pod_uid);

enum { USERS_TEXT_BYTES = 900 };
/* "process 12 'sh': ...; process 13 'tail': ...; and 4 more". */
void volume_users_print(const struct busy_holders *holders, char text[USERS_TEXT_BYTES]);
/* To the journal and as an event about the pod, or about the PV where there is no pod. */
void volume_users_tell(struct agent *agent, const struct step_result *about, int priority,
		       const char *reason, const char *text);

/* ---- stuck_policy.c ---- */

/* How this step is to unmount what is in use; asks a server when that matters. */
enum unmount_manner stuck_policy_manner(struct agent *agent, const struct step *step,
					uint64_t now_usec);
/* A step ended: tells when it was done so, and who had it. */
void stuck_policy_note(struct agent *agent, const struct operation_ended *ended);
