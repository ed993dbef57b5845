/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow - what is said of operations that take long, and of threads that hang
 *
 * Once in the journal for each stage, once more when the operation is stuck, then with an event of
 * its pod. Views tell the same whenever they are asked.
 */
#include "agent/parts.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_stack.h"

#include <assert.h>
#include <stdio.h>

void slow_text(const struct operation_view *view, char ret[SLOW_TEXT_BYTES])
{
	char stack[THREAD_STACK_BYTES];

	assert(view && ret);
	*ret = '\0';
	if (!view->running || view->pace == PACE_USUAL)
		return;
	if (view->tool_pid > 0) {
		(void) snprintf(ret, SLOW_TEXT_BYTES, "process %d runs", view->tool_pid);
		return;
	}
	if (view->waits_for_thread) {
		(void) snprintf(ret, SLOW_TEXT_BYTES,
				"waits for a thread: all of them are at work or hang");
		return;
	}
	thread_stack_read(view->thread_id, stack);
	if (*stack)
		(void) snprintf(ret, SLOW_TEXT_BYTES, "thread %d waits in %s", view->thread_id,
				stack);
	else if (view->thread_id > 0)
		(void) snprintf(ret, SLOW_TEXT_BYTES, "thread %d", view->thread_id);
}

const char *operation_state_name(const struct operation_view *view)
{
	static const char *const paces[] = {
		[PACE_USUAL] = "running",
		[PACE_SLOW] = "slow",
		[PACE_STUCK] = "uncertain, stuck",
	};

	assert(view);
	return view->running ? paces[view->pace] : "waiting for its retry";
}

static void tell_pod(struct agent *agent, const struct operation_view *view, const char *text)
{
	char event[EVENT_TEXT_BYTES];

	if (!view->pod)
		return;
	(void) snprintf(event, sizeof(event), "%s is stuck at '%s': %s", view->name, view->stage,
			text);
	events_record(agent->events, view->pod, "Warning", "FailedMount", event, realtime_usec());
}

void agent_on_slow(void *userdata, const struct operation_view *view)
{
	struct agent *agent = userdata;
	const struct actual_volume *volume = actual_find(agent->actual, view->unique_name);
	const struct actual_pod *pod = volume ? actual_find_pod(volume, view->pod_uid) : NULL;
	struct log_subject subject = {
		.pod = pod && *pod->pod_key ? pod->pod_key : NULL,
		.pod_uid = *view->pod_uid ? view->pod_uid : NULL,
		.volume = view->unique_name,
		.plugin = volume ? volume->plugin_name : NULL,
	};
	double seconds = (double) (monotonic_usec() - view->since_usec) / 1e6;
	char text[SLOW_TEXT_BYTES];

	slow_text(view, text);
	if (view->pace == PACE_STUCK) {
		log_about(LOG_ERR, &subject,
			  "%s is stuck at '%s' for %.0f s: what it did is uncertain, and nothing "
			  "else "
			  "is done to the volume until it returns; %s",
			  view->name, view->stage, seconds, text);
		tell_pod(agent, view, text);
	} else {
		log_about(LOG_WARNING, &subject, "%s is at '%s' for %.0f s; %s", view->name,
			  view->stage, seconds, text);
	}
	waits_pod_changed(agent->waits, view->pod_uid);
}
