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

bool agent_must_resync(const struct agent *agent)
{
	sd_event_source *source = agent->own.resync;

	return source && sd_event_source_get_enabled(source, NULL) > 0;
}

void agent_resync(void *userdata)
{
	struct agent *agent = userdata;

	if (!agent->own.resync || agent_must_resync(agent))
		return;
	(void) sd_event_source_set_time(agent->own.resync, monotonic_usec() + RESYNC_USEC);
	(void) sd_event_source_set_enabled(agent->own.resync, SD_EVENT_ONESHOT);
}

/* ---- the resync ---- */

static int on_resync(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct agent *agent = userdata;

	log_message(LOG_INFO, "out of memory, events lost: full resync");
	if (agent->populator)
		populator_full_pass(agent->populator, monotonic_usec());
	if (intent_compare_ledger(&agent->intents) < 0)
		agent_resync(agent);
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
