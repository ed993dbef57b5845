/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_users - who uses volumes that cannot be unmounted: asked for, told of and shown
 *
 * Only this folder uses it, by parts.h. The asking itself is busy_watch.h.
 */
#ifndef PODVOL_AGENT_VOLUME_USERS_H
#define PODVOL_AGENT_VOLUME_USERS_H

#include "agent/busy_watch.h"
#include "operation/operation.h"

struct agent;
struct cJSON;

/* Once the workers run. Return: 0 or -ENOMEM. */
int volume_users_open(struct agent *agent);
/* A step ended; before the tables follow it: a busy volume is looked into, another forgotten. */
void volume_users_note(struct agent *agent, const struct operation_ended *ended);
/* Member "users" of a view, where somebody is known. */
void volume_users_view(const struct agent *agent, struct cJSON *item, const char *unique_name,
		       const char *pod_uid);

#endif
