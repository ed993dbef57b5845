/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth - a volume was made larger on this node: its claim says so from now on; see growth.h
 *
 * What the claim says is what the next set-up compares with, so that a volume grows once. Whoever
 * asked for it may be writing the claim at the same time, so the change is made of whatever is
 * there by then; one that cannot be stored is logged, and the next set-up grows the volume once
 * more, which changes nothing.
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

/* A write under way. */
struct growth {
	char *size;
	char *unique_name;
};

static void free_growth(struct growth *growth)
{
	if (!growth)
		return;
	free(growth->size);
	free(growth->unique_name);
	free(growth);
}

static struct growth *new_growth(const char *size, const char *unique_name)
{
	struct growth *growth = calloc(1, sizeof(*growth));

	if (!growth)
		return NULL;
	growth->size = strdup(size);
	growth->unique_name = strdup(unique_name);
	if (growth->size && growth->unique_name)
		return growth;
	free_growth(growth);
	return NULL;
}

static void tell_unwritten(const char *unique_name, const char *why)
{
	log_about(LOG_ERR, &(struct log_subject){ .volume = unique_name },
		  "the volume grew, and its claim cannot say so: %s", why);
}

static int edit_claim(void *userdata, const struct object *present, const struct object **ret,
		      struct failure *why)
{
	const struct growth *growth = userdata;

	return object_edit(present, set_capacity, growth->size, ret, why);
}

/* A claim that is gone needs to know nothing. */
static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct growth *growth = userdata;

	if (error < 0 && error != -ENOENT && error != -ECANCELED)
		tell_unwritten(growth->unique_name, why->text);
	free_growth(growth);
}

static void write_claim(struct agent *agent, const struct object *claim, struct growth *growth)
{
	const struct store_precondition expected = {
		.uid = claim->meta.uid,
		.resource_version = claim->meta.resource_version,
	};
	cleanup_object const struct object *changed = NULL;
	struct failure why = { .text = "out of memory" };
	int r = edit_claim(growth, claim, &changed, &why);

	if (r == 0)
		r = store_edit(agent->store, changed, &expected, edit_claim, on_written, growth);
	if (r == 0)
		return;
	tell_unwritten(growth->unique_name, why.text);
	free_growth(growth);
}

void agent_note_growth(struct agent *agent, const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	const struct desired_volume *want = desired_find(agent->desired, result->unique_name);
	const struct desired_pod *pod =
		want && result->pod_uid ? desired_find_pod(want, result->pod_uid) : NULL;
	cleanup_json struct cJSON *pv = NULL;
	struct growth *growth;

	assert(agent && ended && ended->report);
	if (result->error < 0 || ended->report->grown_bytes == 0 || !pod || !pod->claim ||
	    !ended->pv || !agent->store)
		return;
	pv = object_tree(ended->pv);
	growth = new_growth(json_string(json_get_path(pv, "spec.capacity.storage"), ""),
			    result->unique_name);
	if (growth)
		write_claim(agent, pod->claim, growth);
	else
		tell_unwritten(result->unique_name, "out of memory");
	events_record(agent->events, pod->claim, "Normal", "FileSystemResizeSuccessful",
		      "the volume is as large as it was asked to be", realtime_usec());
}
