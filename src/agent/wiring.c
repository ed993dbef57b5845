/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiring - what each box borrows from the agent, and whom its call-backs reach
 *
 * Nothing is decided here. A box outside this folder knows no agent: what it may use and whom it
 * notifies stands in its options, which are filled in here and nowhere else.
 */
#include "agent/parts.h"

#include "base/clock.h"

void agent_record_event(void *userdata, const struct object *about, const char *type,
			const char *reason, const char *text)
{
	struct agent *agent = userdata;

	events_record(agent->events, about, type, reason, text, realtime_usec());
}

static void request_turn(void *userdata)
{
	agent_request_turn(userdata);
}

static void pod_changed(void *userdata, const char *pod_uid)
{
	mount_waiters_pod_changed(((struct agent *) userdata)->waits, pod_uid);
}

int agent_open_drift(struct agent *agent, struct failure *reterr)
{
	const struct drift_options options = {
		.event = agent->event,
		.priority = PRIORITY_TURN - 5,
		.root = &agent->root,
		.heals = &agent->config->drift.heals,
		.actual = agent->actual,
		.desired = agent->desired,
		.dirty = agent->dirty,
		.holds = agent->holds.table,
		.operations = agent->operations,
		.workers = &agent->pools.workers,
		.record = agent_record_event,
		.changed = pod_changed,
		.looked = request_turn,
		.userdata = agent,
	};

	return drift_new(&options, &agent->mounts.drift, reterr);
}
