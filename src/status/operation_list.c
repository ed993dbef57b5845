/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_list - operations as the API shows them; see volume_view.h
 */
#include "status/volume_view.h"

#include "base/clock.h"
#include "object/json/json.h"
#include "status/status.h"
#include "status/view_time.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

struct collection {
	const struct volume_view *with;
	struct cJSON *items;
};

void operation_list_add_names(struct cJSON *item, const struct actual *actual,
			      const struct desired *desired, const char *unique_name,
			      const char *pod_uid)
{
	const struct actual_volume *have = actual_find(actual, unique_name);
	const struct desired_volume *want = desired_find(desired, unique_name);
	const struct actual_pod *have_pod = have ? actual_find_pod(have, pod_uid) : NULL;
	const struct desired_pod *want_pod = want ? desired_find_pod(want, pod_uid) : NULL;
	const char *volume = have ? have->spec_name : "", *pod = "";
	char key[POD_KEY_BYTES];

	if (have_pod) {
		volume = have_pod->outer_name;
		pod = have_pod->pod_key;
	} else if (want_pod) {
		volume = want_pod->outer_name_count > 0 ? want_pod->outer_names[0] : volume;
		pod = pod_key(want_pod->pod->pod, key);
	} else if (!*pod_uid && want && HASH_COUNT(want->pods) == 1) {
		/* A device is set up for its pods: of one the pod is named. */
		pod = pod_key(want->pods->pod->pod, key);
	}
	(void) json_set_string(item, "uniqueName", unique_name);
	(void) json_set_string(item, "pod", pod);
	(void) json_set_string(item, "podUID", pod_uid);
	(void) json_set_string(item, "volume", volume);
}

void operation_list_add_pace(struct cJSON *item, const struct operation_view *view)
{
	char text[SLOW_TEXT_BYTES];

	(void) json_set_string(item, "operation", operation_state_name(view));
	slow_text(view, text);
	if (*text)
		(void) json_set_string(item, "waitsFor", text);
	if (view->tool_pid > 0)
		(void) json_set_int(item, "process", view->tool_pid);
	if (view->running && view->thread_id > 0)
		(void) json_set_int(item, "thread", view->thread_id);
}

static int add_view(const struct operation_view *view, void *userdata)
{
	struct collection *collection = userdata;
	const struct volume_view *with = collection->with;
	const struct volume_tables *tables = with->tables;
	struct cJSON *item = json_add_object(collection->items, NULL);
	char progress[PROGRESS_TEXT_BYTES];

	progress_text(view, monotonic_usec(), progress);
	operation_list_add_names(item, tables->actual, tables->desired, view->unique_name,
				 view->pod_uid);
	(void) json_set_string(item, "step", view->name);
	(void) json_set_string(item, "stage", view->stage ?: "");
	(void) json_set_bool(item, "running", view->running);
	operation_list_add_pace(item, view);
	(void) json_set_int(item, "attempts", view->attempts);
	view_set_time(item, "since", view->since_usec);
	view_set_time(item, "failingSince", view->failing_usec);
	view_set_time(item, "nextRetry", view->retry_usec);
	(void) json_set_string(item, "progress", progress);
	(void) json_set_string(item, "error", view->failure ? view->failure->text : "");
	with->describe(with->userdata, VIEW_OPERATION, item, view->unique_name, view->pod_uid);
	return 0;
}

void operation_list_fill(const struct volume_view *with, struct cJSON *items)
{
	struct collection collection = { with, items };

	assert(with && items);
	(void) operation_walk(*with->tables->operations, add_view, &collection);
}

/* ---- what waits for an operation ---- */

/* A mount that is as it should be waits for nothing. */
static bool needs_step(const struct volume_tables *tables, const char *unique_name,
		       const char *pod_uid)
{
	const struct desired_volume *want = desired_find(tables->desired, unique_name);
	const struct actual_volume *have = actual_find(tables->actual, unique_name);
	const struct actual_pod *pod = have ? actual_find_pod(have, pod_uid) : NULL;
	bool is_wanted = want && desired_find_pod(want, pod_uid);

	return is_wanted != (pod && pod->state == MOUNT_DONE);
}

bool operation_list_explain(void *box, const char *unique_name, const char *pod_uid,
			    const char *name, struct failure *ret)
{
	const struct volume_tables *tables = box;
	const struct actual_volume *have = actual_find(tables->actual, unique_name);
	const struct actual_pod *other = NULL;
	char text[SLOW_TEXT_BYTES], key[POD_KEY_BYTES] = "";
	struct operation_view view;

	if (!needs_step(tables, unique_name, pod_uid) ||
	    !operation_in_way(*tables->operations, unique_name, pod_uid, &view))
		return false;
	slow_text(&view, text);
	other = have ? actual_find_pod(have, view.pod_uid) : NULL;
	(void) snprintf(key, sizeof(key), "%s", other ? other->pod_key : "");
	if (view.pod)
		(void) pod_key(view.pod->pod, key);
	(void) failed_plain(ret, -EBUSY,
			    "volume '%s': waits for '%s'%s%s%s of the same volume, at '%s' for "
			    "%.0f s%s%s%s",
			    name, view.name, *key ? " of pod '" : "", key, *key ? "'" : "",
			    view.stage, (double) (monotonic_usec() - view.since_usec) / 1e6,
			    *text ? "; " : "", text, slow_advice(&view));
	return true;
}

static int find_stuck(const struct operation_view *view, void *userdata)
{
	char text[SLOW_TEXT_BYTES];

	if (!view->running || view->pace != PACE_STUCK)
		return 0;
	slow_text(view, text);
	(void) failed_plain(userdata, -EBUSY, "%s of '%s' is stuck at '%s' for %.0f s; %s",
			    view->name, view->unique_name, view->stage,
			    (double) (monotonic_usec() - view->since_usec) / 1e6, text);
	return 1;
}

void operation_list_explain_stuck(struct operations *operations, struct failure *ret)
{
	(void) operation_walk(operations, find_stuck, ret);
}
