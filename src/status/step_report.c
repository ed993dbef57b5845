/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_report - a step that ended, in the journal and in events of its pod or volume
 *
 * Every attempt is reported here and nowhere else: the boxes below return, this one handles.
 * Changes no table.
 */
#include "status/status.h"

#include "base/clock.h"
#include "base/log.h"
#include "events/events.h"
#include "status/view_time.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* About the pod or its volume, whichever the stage meant; none without the object. */
static void record_stage_events(struct events *events, const struct operation_ended *ended)
{
	for (unsigned int i = 0; i < ended->report->event_count; i++) {
		const struct stage_event *event = &ended->report->events[i];
		const struct object *about = event->about_pv ? ended->pv : ended->pod;

		if (about)
			events_record(events, about, event->type, event->reason, event->text,
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

/* @volume: under the name that the pod gives it. */
static void record_failure(struct events *events, const struct operation_ended *ended,
			   const struct object *pod, const char *volume)
{
	const char *reason = failure_reason(ended);
	char event[EVENT_TEXT_BYTES];

	if (!reason || !pod)
		return;
	print_event(ended, volume, event);
	events_record(events, pod, "Warning", reason, event, realtime_usec());
}

/* A device is set up once for all pods that want it: each gets the event. @fallback:
 * the volume's name where no pod that wants it names it. */
static void record_failures(const struct desired *desired, struct events *events,
			    const struct operation_ended *ended, const char *fallback)
{
	const struct desired_volume *want = desired_find(desired, ended->result.unique_name);
	const struct desired_pod *pod;

	if (want && ended->result.kind == STEP_STAGE) {
		for (pod = want->pods; pod; pod = pod->hh.next)
			record_failure(events, ended, pod->pod, pod->outer_names[0]);
		return;
	}
	pod = want && ended->pod ? desired_find_pod(want, ended->pod->meta.uid) : NULL;
	record_failure(events, ended, ended->pod, pod ? pod->outer_names[0] : fallback);
}

/* Return: is it worth an event? */
static bool log_failure(const struct operation_ended *ended, const struct log_subject *subject)
{
	const char *text = ended->report->failure.text;
	char attempts[ATTEMPT_TEXT_BYTES];

	if (ended->result.needs_stage) {
		log_about(LOG_DEBUG, subject, "%s waits: %s", ended->name, text);
		return false;
	}
	if (ended->result.error == -ECANCELED) {
		log_about(LOG_INFO, subject, "%s: %s", ended->name, text);
		return false;
	}
	/* What a pod refers to comes from a kube-apiserver after the pod. */
	if (ended->result.error == -EAGAIN && ended->attempt == 1) {
		log_about(LOG_INFO, subject, "%s waits: %s", ended->name, text);
		return false;
	}
	attempt_text(ended->attempt, ended->failing_usec, ended->retry_usec, false, attempts);
	if (ended->waits)
		log_about(LOG_WARNING, subject, "%s waits for the driver '%s', %s: %s%s",
			  ended->name, ended->report->driver, attempts, text,
			  advice_clause(ended->result.error));
	else
		log_about(LOG_WARNING, subject, "%s failed, %s: %s%s", ended->name, attempts, text,
			  advice_clause(ended->result.error));
	return true;
}

static void log_success(const struct operation_ended *ended, const struct log_subject *subject,
			const struct actual_volume *volume)
{
	if (ended->result.took_usec > 0)
		log_about(LOG_INFO, subject, "%s done in %.1f ms", ended->name,
			  (double) ended->result.took_usec / 1e3);
	else /* a device of a directory is nothing: logged for debugging only */
		log_about(volume && (ended->result.pod_uid || *volume->device_path) ? LOG_INFO
										    : LOG_DEBUG,
			  subject, "%s done", ended->name);
}

void step_report(const struct desired *desired, const struct actual *actual, struct events *events,
		 const struct operation_ended *ended)
{
	const struct actual_volume *volume = actual_find(actual, ended->result.unique_name);
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

	assert(ended && ended->report);
	if (!subject.pod && ended->pod)
		subject.pod = pod_key(ended->pod->pod, key);
	record_stage_events(events, ended);
	if (ended->result.error == 0)
		log_success(ended, &subject, volume);
	else if (log_failure(ended, &subject))
		record_failures(desired, events, ended,
				volume ? volume->spec_name : ended->result.unique_name);
}
