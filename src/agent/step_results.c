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
#include "base/clock.h"
#include "base/log.h"
#include "status/view_time.h"
#include "status/status.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* About the pod or its volume, whichever the stage meant; none without the object. */
static void record_stage_events(struct agent *agent, const struct operation_ended *ended)
{
	for (unsigned int i = 0; i < ended->report->event_count; i++) {
		const struct stage_event *event = &ended->report->events[i];
		const struct object *about = event->about_pv ? ended->pv : ended->pod;

		if (about)
			events_record(agent->events, about, event->type, event->reason, event->text,
				      realtime_usec());
	}
}

static const char *failure_reason(const struct operation_ended *ended)
{
	if (ended->result.kind == STEP_PUBLISH && strcmp(ended->name, "map_volume") == 0)
		return "FailedMapVolume";
	if (ended->result.kind == STEP_PUBLISH || ended->result.kind == STEP_STAGE)
		return "FailedMount";
	return NULL; /* teardowns emit no event, as in kubelet */
}

/* What changes from attempt to attempt comes last, where it makes no other event. */
static void print_event(const struct operation_ended *ended, const char *volume,
			char ret[EVENT_TEXT_BYTES])
{
	char attempts[ATTEMPT_TEXT_BYTES];

	attempt_text(ended->attempt, ended->failing_usec, ended->retry_usec, true, attempts);
	(void) snprintf(ret, EVENT_TEXT_BYTES, "volume '%s': %s failed: %s%s (%s)", volume,
			ended->name, ended->report->failure.text,
			advice_clause(ended->result.error), attempts);
}

/* Every failed attempt is reported here and nowhere else: boxes below return, this one handles.
 * @volume: under the name that the pod gives it. */
static void report_failure(struct agent *agent, const struct operation_ended *ended,
			   const struct log_subject *subject, const char *volume)
{
	const char *text = ended->report->failure.text;
	const char *reason = failure_reason(ended);
	char event[EVENT_TEXT_BYTES], attempts[ATTEMPT_TEXT_BYTES];

	if (ended->result.error == -ECANCELED) {
		log_about(LOG_INFO, subject, "%s cancelled: no longer wanted", ended->name);
		return;
	}
	/* What a pod refers to comes from a kube-apiserver after the pod. */
	if (ended->result.error == -EAGAIN && ended->attempt == 1) {
		log_about(LOG_INFO, subject, "%s waits: %s", ended->name, text);
		return;
	}
	print_event(ended, volume, event);
	attempt_text(ended->attempt, ended->failing_usec, ended->retry_usec, false, attempts);
	if (ended->waits)
		log_about(LOG_WARNING, subject, "%s waits for the driver '%s', %s: %s%s",
			  ended->name, ended->report->driver, attempts, text,
			  advice_clause(ended->result.error));
	else
		log_about(LOG_WARNING, subject, "%s failed, %s: %s%s", ended->name, attempts, text,
			  advice_clause(ended->result.error));
	if (reason && ended->pod)
		events_record(agent->events, ended->pod, "Warning", reason, event, realtime_usec());
}

/* The name that the pod gives it; a device is set up for one of its pods. */
static const char *volume_name(const struct agent *agent, const struct operation_ended *ended)
{
	const struct desired_volume *want = desired_find(agent->desired, ended->result.unique_name);
	const struct desired_pod *pod =
		want && ended->pod ? desired_find_pod(want, ended->pod->meta.uid) : NULL;
	const struct actual_volume *volume = actual_find(agent->actual, ended->result.unique_name);

	if (pod && pod->outer_name_count > 0)
		return pod->outer_names[0];
	return volume ? volume->spec_name : ended->result.unique_name;
}

static void report_end(struct agent *agent, const struct operation_ended *ended)
{
	const struct actual_volume *volume = actual_find(agent->actual, ended->result.unique_name);
	const struct actual_pod *pod = volume && ended->result.pod_uid
					       ? actual_find_pod(volume, ended->result.pod_uid)
					       : NULL;
	char key[POD_KEY_BYTES];
	struct log_subject subject = {
		.pod = pod && *pod->pod_key ? pod->pod_key : NULL,
		.pod_uid = ended->result.pod_uid,
		.volume = ended->result.unique_name,
		.plugin = volume ? volume->plugin_name : NULL,
	};

	if (!subject.pod && ended->pod)
		subject.pod = pod_key(ended->pod->pod, key);
	record_stage_events(agent, ended);
	if (ended->result.error < 0)
		report_failure(agent, ended, &subject, volume_name(agent, ended));
	else if (ended->result.took_usec > 0)
		log_about(LOG_INFO, &subject, "%s done in %.1f ms", ended->name,
			  (double) ended->result.took_usec / 1e3);
	else /* a device of a directory is nothing: worth a line only to who looks closely */
		log_about(volume && (ended->result.pod_uid || *volume->device_path) ? LOG_INFO
										    : LOG_DEBUG,
			  &subject, "%s done", ended->name);
}

/* A step that failed and may have done something is to be taken up after a kill.
 */
static enum unfinished left_by(const struct step_result *result, enum mount_state state)
{
	if (result->error == 0)
		return UNFINISHED_NOTHING;
	if (step_takes_down(result->kind))
		return result->touched ? UNFINISHED_TEARDOWN : UNFINISHED_NOTHING;
	return state == MOUNT_UNCERTAIN ? UNFINISHED_SET_UP : UNFINISHED_NOTHING;
}

/* The ledger follows the table: an entry that is gone or absent has no row. */
static void note_result(struct agent *agent, const struct step_result *result)
{
	const struct actual_volume *volume = actual_find(agent->actual, result->unique_name);
	const struct actual_pod *pod =
		volume && result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;
	struct ledger_row row = { .state = MOUNT_ABSENT };

	if (volume && (pod || !result->pod_uid))
		intent_entry_row(volume, pod, &row);
	if (row.state == MOUNT_ABSENT) {
		if (ledger_forget(agent->ledger, result->unique_name, result->pod_uid) < 0)
			agent_resync(agent);
		return;
	}
	row.unfinished = left_by(result, row.state);
	if (ledger_put(agent->ledger, &row) < 0)
		agent_resync(agent);
}

void agent_on_ended(void *userdata, const struct operation_ended *ended)
{
	struct agent *agent = userdata;
	/* Its entry may go. */
	cleanup_free char *name = actual_copy_spec_name(agent->actual, ended->result.unique_name);

	assert(agent && ended && ended->report);
	report_end(agent, ended);
	observers_ending(agent, ended);
	actual_apply(agent->actual, &ended->result);
	note_result(agent, &ended->result);
	observers_ended(agent, ended);
	observers_changed(agent, &(struct volume_change){ ended->result.unique_name,
							  ended->result.pod_uid, name });
	agent_request_turn(agent);
}
