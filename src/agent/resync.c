/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resync - what was lost for want of memory is looked at again, a moment later
 *
 * Where there is no memory to note what has to be done, a resync is due: then every pod is
 * looked at, every volume is dirty, and the ledger is compared with the table, row by row. Costs
 * what a start costs, so it is for what nothing else would bring back. No wake-up otherwise.
 */
#include "agent/parts.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>

enum { RESYNC_USEC = 1000000 };

bool agent_must_look_again(const struct agent *agent)
{
	sd_event_source *source = agent->own.resync;

	return source && sd_event_source_get_enabled(source, NULL) > 0;
}

void agent_look_again(void *userdata)
{
	struct agent *agent = userdata;

	if (!agent->own.resync || agent_must_look_again(agent))
		return;
	(void) sd_event_source_set_time(agent->own.resync, monotonic_usec() + RESYNC_USEC);
	(void) sd_event_source_set_enabled(agent->own.resync, SD_EVENT_ONESHOT);
}

/* ---- the ledger and the table ---- */

/* A row without an entry: its volume is gone. */
static int visit_row(const struct ledger_row *row, void *userdata)
{
	struct agent *agent = userdata;
	const struct actual_volume *volume = actual_find(agent->actual, row->entry.unique_name);
	const struct actual_pod *pod =
		volume && row->entry.pod_uid ? actual_find_pod(volume, row->entry.pod_uid) : NULL;
	enum mount_state state = MOUNT_ABSENT;

	if (pod)
		state = pod->state;
	else if (volume && !row->entry.pod_uid)
		state = volume->device_state;
	if (state != MOUNT_ABSENT)
		return 0;
	return ledger_forget(agent->ledger, row->entry.unique_name, row->entry.pod_uid);
}

static int put_entry(struct agent *agent, const struct actual_volume *volume,
		     const struct actual_pod *pod)
{
	struct ledger_row row;

	agent_ledger_row(volume, pod, &row);
	return row.state == MOUNT_DONE ? ledger_put(agent->ledger, &row) : 0;
}

/* What a running step says of its own row stays: only what is done is written again. */
static int put_entries(struct agent *agent)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	int r = 0;

	for (volume = actual_first(agent->actual); volume && r >= 0; volume = volume->hh.next) {
		r = put_entry(agent, volume, NULL);
		for (pod = volume->pods; pod && r >= 0; pod = pod->hh.next)
			r = put_entry(agent, volume, pod);
	}
	return r;
}

/* The commit is the turn's. */
static int compare_ledger(struct agent *agent)
{
	int r = ledger_walk(agent->ledger, visit_row, agent);

	return r < 0 ? r : put_entries(agent);
}

/* ---- the look ---- */

static int on_resync(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct agent *agent = userdata;

	log_message(LOG_INFO, "out of memory, events lost: full resync");
	if (agent->populator)
		populator_full_pass(agent->populator, monotonic_usec());
	if (compare_ledger(agent) < 0)
		agent_look_again(agent);
	agent_mark_all_dirty(agent);
	agent_request_turn(agent);
	return 0;
}

int agent_open_resync(struct agent *agent)
{
	int r;

	assert(agent && !agent->own.resync);
	r = sd_event_add_time(agent->event, &agent->own.resync, CLOCK_MONOTONIC, UINT64_MAX, 0,
			      on_resync, agent);
	return r < 0 ? r : sd_event_source_set_enabled(agent->own.resync, SD_EVENT_OFF);
}
