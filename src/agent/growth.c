/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth - a volume was made larger on this node: its claim says so from now on; see growth.h
 *
 * What the claim says is what the next set-up compares with, so that a volume grows once. A write
 * that is refused, because somebody else wrote the claim meanwhile, is logged by the store, and the
 * next set-up grows the volume once more, which changes nothing.
 */
#include "agent/growth.h"

#include "agent/parts.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "object/json.h"

#include <assert.h>
#include <string.h>

static bool is_of_resize(const char *type)
{
	return strcmp(type, "FileSystemResizePending") == 0 ||
	       strcmp(type, "NodeResizeError") == 0 || strcmp(type, "Resizing") == 0;
}

/* The conditions that asked for this go as well. */
static int set_capacity(struct cJSON *tree, void *userdata)
{
	struct cJSON *status = json_ensure_object(tree, "status");
	struct cJSON *capacity = status ? json_ensure_object(status, "capacity") : NULL;
	cleanup_json struct cJSON *kept = json_new_array();

	if (!capacity || !kept)
		return -ENOMEM;
	for (const struct cJSON *item = json_first(json_get(status, "conditions")); item;
	     item = json_next(item))
		if (!is_of_resize(json_string(json_get(item, "type"), "")))
			(void) json_set(kept, NULL, json_copy(item));
	json_remove(status, "conditions");
	json_remove(status, "allocatedResourceStatuses");
	if (json_count(kept) > 0)
		(void) json_set(status, "conditions", TAKE_PTR(kept));
	return json_set_string(capacity, "storage", userdata);
}

void agent_note_growth(struct agent *agent, const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	const struct desired_volume *want = desired_find(agent->desired, result->unique_name);
	const struct desired_pod *pod =
		want && result->pod_uid ? desired_find_pod(want, result->pod_uid) : NULL;
	cleanup_object const struct object *changed = NULL;
	cleanup_json struct cJSON *pv = NULL;
	struct store_precondition precondition = { 0 };
	struct failure why = { 0 };
	const char *size;

	assert(agent && ended && ended->report);
	if (result->error < 0 || ended->report->grown_bytes == 0 || !pod || !pod->claim ||
	    !ended->pv || !agent->store)
		return;
	pv = object_tree(ended->pv);
	size = json_string(json_get_path(pv, "spec.capacity.storage"), "");
	precondition.resource_version = pod->claim->meta.resource_version;
	if (object_edit(pod->claim, set_capacity, (void *) size, &changed, &why) < 0 ||
	    store_update(agent->store, changed, &precondition, NULL, NULL) < 0)
		log_about(LOG_ERR, &(struct log_subject){ .volume = result->unique_name },
			  "the volume grew, and its claim cannot say so: %s", why.text);
	events_record(agent->events, pod->claim, "Normal", "FileSystemResizeSuccessful",
		      "the volume is as large as it was asked to be", realtime_usec());
}
