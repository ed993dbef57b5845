/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hung_operations - what is said of operations that take long, and of threads that hang
 *
 * Once in the journal and as an event for each stage, once more when the operation is stuck. Views
 * tell the same whenever they are asked.
 */
#include "status/status.h"

#include "base/clock.h"
#include "base/log.h"
#include "events/events.h"
#include "object/json/json.h"
#include "status/view_time.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

/* The pod of an unmount may have left the store: then its volume's object tells. What has the pod's
 * uid in its name may be no PersistentVolume, though there is one that is called as it is. */
static const struct object *reported_object(const struct reporter *reporter,
					    const struct operation_view *view,
					    const struct actual_volume *volume)
{
	if (view->pod || !volume || !*reporter->store)
		return view->pod;
	if (*view->pod_uid && strstr(view->unique_name, view->pod_uid))
		return NULL;
	return store_get(*reporter->store, KIND_PERSISTENT_VOLUME, "", volume->spec_name);
}

static void report(const struct reporter *reporter, const struct operation_view *view,
		   const struct actual_volume *volume, const char *text)
{
	const struct object *about = reported_object(reporter, view, volume);
	bool is_stuck = view->pace == PACE_STUCK, has_failed = view->attempts > 0;
	char event[EVENT_TEXT_BYTES], since[VIEW_TIME_BYTES];

	if (!about)
		return;
	view_print_clock(has_failed ? view->failing_usec : view->since_usec, since);
	(void) snprintf(
		event, sizeof(event),
		"%s %s at '%s'%s%s%s" EVENT_ATTEMPT "%u, %s since %s, next when it returns)",
		view->name, is_stuck ? "is stuck" : "is slow", view->stage, *text ? ": " : "", text,
		slow_advice(view), view->attempts + 1, has_failed ? "failing" : "running", since);
	reporter->record(reporter->userdata, about, "Warning",
			 is_stuck ? "FailedMount" : "SlowOperation", event);
}

void hung_operations_report(const struct reporter *reporter, const struct operation_view *view)
{
	const struct actual_volume *volume =
		actual_find(reporter->tables->actual, view->unique_name);
	const struct actual_pod *pod = volume ? actual_find_pod(volume, view->pod_uid) : NULL;
	char key[POD_KEY_BYTES];
	struct log_subject subject = {
		.pod = pod && *pod->pod_key ? pod->pod_key
		       : view->pod          ? pod_key(view->pod->pod, key)
					    : NULL,
		.pod_uid = *view->pod_uid ? view->pod_uid : NULL,
		.volume = view->unique_name,
		.plugin = volume ? volume->plugin_name : NULL,
	};
	double seconds = (double) (monotonic_usec() - view->since_usec) / 1e6;
	char text[SLOW_TEXT_BYTES];

	slow_text(view, text);
	if (view->pace == PACE_STUCK)
		log_about(LOG_ERR, &subject,
			  "%s is stuck at '%s' for %.0f s: what it did is uncertain, and nothing "
			  "else "
			  "is done to the volume until it returns%s%s%s",
			  view->name, view->stage, seconds, *text ? "; " : "", text,
			  slow_advice(view));
	else
		log_about(LOG_WARNING, &subject,
			  "%s is at '%s' for %.0f s, next when it returns%s%s%s", view->name,
			  view->stage, seconds, *text ? "; " : "", text, slow_advice(view));
	report(reporter, view, volume, text);
}

/* ---- threads ---- */

void hung_threads_report(void *userdata, const struct worker_counts *counts)
{
	if (counts->all_hang)
		log_message(LOG_ERR,
			    "all %u %s threads hang (worker-threads-max): what needs one waits "
			    "until one comes back, %u jobs now",
			    counts->threads_max, counts->name, counts->queued);
	else
		log_message(LOG_NOTICE,
			    "one of the %s threads came back: what waited goes on; %u of %u "
			    "still hang",
			    counts->name, counts->set_aside, counts->threads_max);
}

void threads_explain_hang(struct worker_pool *pool, struct failure *ret)
{
	struct worker_counts counts;

	worker_pool_count(pool, &counts);
	if (counts.all_hang)
		(void) failed_plain(ret, -EBUSY, "all %u %s threads hang, and %u jobs wait",
				    counts.threads_max, counts.name, counts.queued);
}

void threads_view_add(struct cJSON *items, const char *name, struct worker_pool *pool)
{
	struct worker_counts counts;
	struct cJSON *item;

	if (!pool)
		return;
	item = json_add_object(items, NULL);
	worker_pool_count(pool, &counts);
	(void) json_set_string(item, "pool", name);
	(void) json_set_int(item, "threads", counts.threads);
	(void) json_set_int(item, "threadsMax", counts.threads_max);
	(void) json_set_int(item, "running", counts.running);
	(void) json_set_int(item, "hanging", counts.set_aside);
	(void) json_set_int(item, "waiting", counts.queued);
	(void) json_set_bool(item, "allHang", counts.all_hang);
}
