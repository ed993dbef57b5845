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
#include "base/timer.h"

#include <assert.h>

enum { RESYNC_USEC = 1000000 };

bool agent_must_resync(const struct agent *agent)
{
	sd_event_source *source = agent->own.resync;

	return source && timer_is_set(source);
}

void agent_resync(void *userdata)
{
	struct agent *agent = userdata;

	if (!agent->own.resync || agent_must_resync(agent))
		return;
	timer_set_in(agent->own.resync, RESYNC_USEC);
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
	assert(agent && !agent->own.resync);
	return timer_new(agent->event, 0, on_resync, agent, &agent->own.resync);
}
