/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_resize - claims that ask for more than they have; see claim_resize.h
 */
#include "controller/csi/claim_resize.h"

#include "controller/binding/binding.h"
#include "object/json/json.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define IN_PROGRESS      "ControllerResizeInProgress"
#define INFEASIBLE       "ControllerResizeInfeasible"
#define NODE_PENDING     "NodeResizePending"
#define NODE_IN_PROGRESS "NodeResizeInProgress"
#define NODE_INFEASIBLE  "NodeResizeInfeasible"
#define NODE_FIRST_PART  "Node"

/* ---- deciding ---- */

static struct quantity quantity_at(const struct cJSON *status, const char *member)
{
	const char *text = json_text(json_get(status, member), "storage");
	struct quantity found = { .is_set = false };

	(void) quantity_parse(text, &found, NULL);
	return found;
}

static void aim(struct claim_resize *ret, enum claim_resize_next next, const struct quantity *at)
{
	*ret = (struct claim_resize){ next, quantity_value(at) };
}

static void decide(const struct persistent_volume_claim *claim, const struct cJSON *status,
		   struct claim_resize *ret)
{
	const char *state = json_text(json_get(status, "allocatedResourceStatuses"), "storage");
	struct quantity allocated = quantity_at(status, "allocatedResources");
	bool is_wanted = quantity_compare(&claim->request, &claim->status_capacity) > 0;
	int by_request = quantity_compare(&claim->request, &allocated);

	if (strcmp(state, IN_PROGRESS) == 0 && allocated.is_set)
		aim(ret, CLAIM_RESIZE_EXPAND, &allocated);
	else if (strcmp(state, INFEASIBLE) == 0 && !is_wanted)
		aim(ret, CLAIM_RESIZE_FORGET, &claim->status_capacity);
	else if (strcmp(state, INFEASIBLE) == 0 && by_request == 0)
		aim(ret, CLAIM_RESIZE_EXPAND, &allocated); /* after a while it may */
	else if (strncmp(state, NODE_FIRST_PART, strlen(NODE_FIRST_PART)) == 0 && by_request <= 0)
		aim(ret, CLAIM_RESIZE_NOTHING, &allocated); /* the node's turn */
	else if (is_wanted)
		aim(ret, CLAIM_RESIZE_BEGIN, &claim->request);
}

int claim_resize_decide(const struct persistent_volume_claim *claim,
			const struct persistent_volume *volume, struct claim_resize *ret)
{
	cleanup_json struct cJSON *tree = NULL;

	assert(claim && claim->object && ret);
	*ret = (struct claim_resize){ .next = CLAIM_RESIZE_NOTHING };
	if (claim->phase != CLAIM_BOUND || claim->object->meta.deletes || !volume ||
	    volume->object->meta.deletes || !claim->status_capacity.is_set ||
	    strcmp(volume->claim_uid, claim->object->meta.uid) != 0)
		return 0;
	/* Most claims ask for what they have, and need no parsing. */
	if (quantity_compare(&claim->request, &claim->status_capacity) <= 0 &&
	    !strstr(claim->object->json, "\"allocatedResourceStatuses\""))
		return 0;
	tree = object_tree(claim->object);
	if (!tree)
		return -ENOMEM;
	decide(claim, json_get(tree, "status"), ret);
	return 0;
}

/* ---- the status ---- */

static const char *const condition_types[] = { "Resizing", "FileSystemResizePending",
					       "ControllerResizeError", "NodeResizeError", NULL };

static const struct {
	const char *condition; /* NULL: none of podvol's is left */
	const char *status;    /* of status.allocatedResourceStatuses; NULL: it goes */
	const char *text;
	bool is_of_node; /* conditions that are there stay: it still waits for the node */
} states[] = {
	[CLAIM_RESIZE_BEGUN] = { "Resizing", IN_PROGRESS, "", false },
	[CLAIM_RESIZE_FAILED] = { "ControllerResizeError", IN_PROGRESS, NULL, false },
	[CLAIM_RESIZE_INFEASIBLE] = { "ControllerResizeError", INFEASIBLE, NULL, false },
	[CLAIM_RESIZE_ON_NODE] = { "FileSystemResizePending", NODE_PENDING,
				   "Waiting for user to (re-)start a pod to finish file system "
				   "resize of volume on node.",
				   false },
	[CLAIM_RESIZE_NODE_BEGUN] = { NULL, NODE_IN_PROGRESS, NULL, true },
	[CLAIM_RESIZE_NODE_FAILED] = { "NodeResizeError", NODE_IN_PROGRESS, NULL, true },
	[CLAIM_RESIZE_NODE_INFEASIBLE] = { "NodeResizeError", NODE_INFEASIBLE, NULL, true },
	[CLAIM_RESIZE_DONE] = { NULL, NULL, NULL, false },
	[CLAIM_RESIZE_FORGOTTEN] = { NULL, NULL, NULL, false },
};

struct edit {
	enum claim_resize_state state;
	int64_t bytes;
	const char *text;
};

/* A node that failed before it was written that it is its turn has failed all the same. */
static bool is_turn_of_node(const struct cJSON *status, enum claim_resize_state state)
{
	const char *now = json_text(json_get(status, "allocatedResourceStatuses"), "storage");

	if (state == CLAIM_RESIZE_NODE_BEGUN)
		return strcmp(now, NODE_PENDING) == 0;
	return strcmp(now, IN_PROGRESS) == 0 ||
	       strncmp(now, NODE_FIRST_PART, strlen(NODE_FIRST_PART)) == 0;
}

static void edit_conditions(struct cJSON *status, const struct edit *edit)
{
	const char *type = states[edit->state].condition;
	const char *const alone[] = { type, NULL };

	claim_conditions_replace(status, states[edit->state].is_of_node ? alone : condition_types,
				 type, states[edit->state].text ?: edit->text);
}

static int edit_status(struct cJSON *tree, void *userdata)
{
	const struct edit *edit = userdata;
	struct cJSON *status = json_ensure_object(tree, "status");
	char bytes[QUANTITY_TEXT_BYTES];

	if (states[edit->state].is_of_node && !is_turn_of_node(status, edit->state))
		return -EALREADY;
	quantity_print_bytes(edit->bytes, bytes);
	edit_conditions(status, edit);
	if (edit->state == CLAIM_RESIZE_BEGUN)
		(void) json_set_string(json_ensure_object(status, "allocatedResources"), "storage",
				       bytes);
	if (edit->state == CLAIM_RESIZE_DONE)
		(void) json_set_string(json_ensure_object(status, "capacity"), "storage", bytes);
	if (states[edit->state].status)
		return json_set_string(json_ensure_object(status, "allocatedResourceStatuses"),
				       "storage", states[edit->state].status);
	json_remove(status, "allocatedResourceStatuses");
	return 0;
}

int claim_resize_edit(const struct object *claim, enum claim_resize_state state, int64_t bytes,
		      const char *text, const struct object **ret, struct failure *reterr)
{
	struct edit edit = { state, bytes, text ?: "" };

	assert(claim->kind == KIND_PERSISTENT_VOLUME_CLAIM && bytes >= 0);
	return object_edit(claim, edit_status, &edit, ret, reterr);
}

static bool is_failure(const char *type)
{
	return strcmp(type, states[CLAIM_RESIZE_FAILED].condition) == 0 ||
	       strcmp(type, states[CLAIM_RESIZE_NODE_FAILED].condition) == 0;
}

char *claim_resize_error(const struct object *claim)
{
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *condition;

	assert(claim && claim->kind == KIND_PERSISTENT_VOLUME_CLAIM);
	/* Most have none, and need no parsing. */
	if (!strstr(claim->json, "ResizeError\""))
		return NULL;
	tree = object_tree(claim);
	condition = json_first(json_get(json_get(tree, "status"), "conditions"));
	for (; condition; condition = json_next(condition))
		if (is_failure(json_text(condition, "type")))
			return strdup(json_text(condition, "message"));
	return NULL;
}

static int set_capacity(struct cJSON *tree, void *userdata)
{
	struct cJSON *spec = json_ensure_object(tree, "spec");

	return json_set_string(json_ensure_object(spec, "capacity"), "storage", userdata);
}

int claim_resize_edit_volume(const struct object *volume, int64_t bytes, const struct object **ret,
			     struct failure *reterr)
{
	char text[QUANTITY_TEXT_BYTES];

	assert(volume->kind == KIND_PERSISTENT_VOLUME && bytes > 0);
	quantity_print_bytes(bytes, text);
	return object_edit(volume, set_capacity, text, ret, reterr);
}
