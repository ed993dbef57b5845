/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain - every managed volume is unmounted, until nothing is left or nothing that is left will go
 *
 * What is in use is not taken away here either: it is reported, and stays.
 */
#include "agent/parts.h"
#include "base/log.h"

#include <assert.h>

enum { DRAIN_ATTEMPTS_MAX = 3 }; /* of one volume */

void agent_drain(struct agent *agent, void (*done)(void *userdata, size_t left), void *userdata)
{
	assert(agent->config->drain);
	agent->notify.drained = done;
	agent->notify.userdata = userdata;
	agent_on_sources_ready(agent);
}

static int find_searching(const struct unstage_view *view, void *userdata)
{
	return view->searching;
}

static int find_hopeful(const struct operation_view *view, void *userdata)
{
	if (view->awaits)
		return drivers_may_come(((const struct agent *) userdata)->drivers);
	return view->running ? view->pace != PACE_STUCK : view->attempts < DRAIN_ATTEMPTS_MAX;
}

static int report_held_back(const struct unstage_view *view, void *userdata)
{
	if (view->failure)
		log_about(LOG_ERR, &(struct log_subject){ .volume = view->unique_name },
			  "the volume keeps its %s: %s", view->keeps, view->failure->text);
	return 0;
}

/* What no operation failed at: it was never begun. */
static void report_held(const struct agent *agent)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	struct failure why;

	for (volume = actual_first(agent->actual); volume; volume = volume->hh.next)
		for (pod = volume->pods; pod; pod = pod->hh.next)
			if (pod_holds_explain(&agent->holds, pod->pod_uid, &why))
				log_about(LOG_ERR,
					  &(struct log_subject){ .pod = pod->pod_key,
								 .pod_uid = pod->pod_uid,
								 .volume = volume->unique_name },
					  "volume '%s' stays mounted: %s", pod->outer_name,
					  why.text);
	(void) unstage_gate_walk(agent->holds.gate, report_held_back, NULL);
}

void agent_report_left(const struct agent *agent)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	for (volume = actual_first(agent->actual); volume; volume = volume->hh.next) {
		for (pod = volume->pods; pod; pod = pod->hh.next)
			log_about(LOG_ERR,
				  &(struct log_subject){ .pod = pod->pod_key,
							 .pod_uid = pod->pod_uid,
							 .volume = volume->unique_name },
				  "volume '%s' was not unmounted in time: it stays mounted at '%s'",
				  pod->outer_name, pod->path);
		if (!volume->pods && volume->device_state != MOUNT_ABSENT)
			log_about(LOG_ERR, &(struct log_subject){ .volume = volume->unique_name },
				  "the device of volume '%s' was not unmounted in time",
				  volume->spec_name);
	}
}

void agent_check_drained(struct agent *agent)
{
	void (*drained)(void *userdata, size_t left) = agent->notify.drained;
	size_t left = actual_count(agent->actual);

	if (!drained || dirty_count(agent->dirty) > 0 || drift_is_looking(agent->mounts.drift))
		return;
	if (left > 0 && (operation_walk(agent->operations, find_hopeful, agent) != 0 ||
			 unstage_gate_walk(agent->holds.gate, find_searching, NULL) != 0))
		return;
	agent->notify.drained = NULL;
	if (left == 0)
		(void) mount_root_undo(&agent->root, NULL);
	else
		report_held(agent);
	drained(agent->notify.userdata, left);
}
