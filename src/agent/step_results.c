/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_results - what comes back from operations: to the journal, the events, the tables, the
 * ledger
 *
 * The table decides what a result means; the ledger follows it with the next commit. Nothing new is
 * started here: that is the turn that each result asks for.
 */
#include "agent/parts.h"

#include "agent/observers.h"
#include "base/cleanup.h"
#include "base/heap_trim.h"
#include "status/status.h"

#include <assert.h>

void agent_on_ended(void *userdata, const struct operation_ended *ended)
{
	struct agent *agent = userdata;
	/* Its entry may go. */
	cleanup_free char *name = actual_copy_spec_name(agent->actual, ended->result.unique_name);

	assert(agent && ended && ended->report);
	step_report(agent->desired, agent->actual, agent->events, ended);
	observers_ending(agent, ended);
	actual_apply(agent->actual, &ended->result);
	if (intent_note_result(&agent->intents, &ended->result) < 0)
		agent_resync(agent);
	observers_ended(agent, ended);
	observers_changed(agent, &(struct volume_change){ ended->result.unique_name,
							  ended->result.pod_uid, name });
	heap_trim_note(agent->own.heap_trim, 1);
	agent_request_turn(agent);
}
