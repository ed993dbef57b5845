/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiring - opens the boxes outside this folder with what they borrow from the agent
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"

struct agent;

/* A v1.Event about an object; @userdata is the agent. */
void agent_record_event(void *userdata, const struct object *about, const char *type,
			const char *reason, const char *text);

/* What views are made of, once there are tables. */
void agent_lend_tables(struct agent *agent);

/* Each fills in its member of the agent. Return: 0 or negative errno. */
int agent_open_drift(struct agent *agent, struct failure *reterr);
int agent_open_statistics(struct agent *agent);
int agent_open_mount_waiters(struct agent *agent);
