/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain - see inuse.h
 */
#include "inuse/inuse.h"

#include "base/log.h"
#include "inuse/unstage_gate.h"
#include "operation/operation.h"

enum { DRAIN_ATTEMPTS_MAX = 3 }; /* of one volume */

static int find_searching(const struct unstage_view *view, void *userdata)
{
	return view->searching;
}

static int find_hopeful(const struct operation_view *view, void *userdata)
{
	if (view->awaits)
		return *(const bool *) userdata;
	return view->running ? view->pace != PACE_STUCK : view->attempts < DRAIN_ATTEMPTS_MAX;
}

bool drain_is_over(const struct inuse *inuse, bool drivers_may_come)
{
	if (actual_count(inuse->with.actual) == 0)
		return true;
	return operation_walk(*inuse->with.operations, find_hopeful, &drivers_may_come) == 0 &&
	       unstage_gate_walk(inuse->gate, find_searching, NULL) == 0;
}

static int report_held_back(const struct unstage_view *view, void *userdata)
{
	if (view->failure)
		log_about(LOG_ERR, &(struct log_subject){ .volume = view->unique_name },
			  "the volume keeps its %s: %s", view->keeps, view->failure->text);
	return 0;
}

void drain_report_held(const struct inuse *inuse)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	struct failure why;

	for (volume = actual_first(inuse->with.actual); volume; volume = volume->hh.next)
		for (pod = volume->pods; pod; pod = pod->hh.next)
			if (pod_holds_explain(inuse, pod->pod_uid, &why))
				log_about(LOG_ERR,
					  &(struct log_subject){ .pod = pod->pod_key,
								 .pod_uid = pod->pod_uid,
								 .volume = volume->unique_name },
					  "volume '%s' stays mounted: %s", pod->outer_name,
					  why.text);
	(void) unstage_gate_walk(inuse->gate, report_held_back, NULL);
}

void drain_report_left(const struct actual *actual)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	for (volume = actual_first(actual); volume; volume = volume->hh.next) {
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
