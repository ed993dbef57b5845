/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attachments - this node's side of attaching; see attachments.h
 *
 * The set of what is used is kept here and written by one write at a time; what a stage may rely on
 * is what is stored, unless a write that is under way leaves it out. Names that the Node has from
 * before a start stay until every pod is known, and those of volumes that are staged and nobody's
 * (agent/strangers.h) stay until the next start.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "agent/attachments.h"

#include "agent/parts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/attach_detach.h"
#include "controller/work_queue.h"
#include "object/csi_driver.h"
#include "object/json.h"
#include "object/node.h"
#include "object/volume_attachment.h"
#include "plugins/csi_paths.h"

#include <assert.h>
#include <string.h>

enum {
	RETRY_FIRST_USEC = 500000,
	RETRY_MAX_USEC = 30 * 1000000,
};

/* A volume that this node uses, or is about to. */
struct use {
	UT_hash_handle hh; /* by unique_name */
	bool is_written;   /* the write that is under way has it */
	bool may_go;       /* to be looked at when every pod is known */
	bool is_stranger;  /* staged at the start by nobody we know */
	bool waits;        /* a stage of it was held back */
	char unique_name[];
};

/* The Node. */
struct node_item {
	struct work_item work;
	struct attachments *attachments; /* NULL: freed */
};

struct attachments {
	struct agent *agent;
	struct attach_detach *controller;
	struct use *uses;
	struct work_queue *writer;
	struct node_item *item; /* its only one */
	bool is_writing, has_changed, some_may_go, some_wait;
};

/* ---- what needs attaching ---- */

/* What a pod's volume itself says is never attached, and has another form of name. */
static bool needs_attaching(const struct agent *agent, const char *unique_name)
{
	cleanup_free char *driver = NULL, *handle = NULL;
	const struct object *object;

	if (csi_split_unique_name(unique_name, &driver, &handle) < 0)
		return false;
	object = store_get(agent->store, KIND_CSI_DRIVER, "", driver);
	return !object || object->csi_driver->attach_required;
}

static const struct volume_attachment *attachment_of(const struct agent *agent,
						     const char *unique_name)
{
	cleanup_free char *driver = NULL, *handle = NULL, *name = NULL;
	const struct object *object;

	if (csi_split_unique_name(unique_name, &driver, &handle) < 0)
		return NULL;
	name = csi_attachment_name(handle, driver, agent->config->node_name);
	object = name ? store_get(agent->store, KIND_VOLUME_ATTACHMENT, "", name) : NULL;
	return object ? object->volume_attachment : NULL;
}

static const struct node *own_node(const struct agent *agent)
{
	const struct object *object =
		store_get(agent->store, KIND_NODE, "", agent->config->node_name);

	return object ? object->node : NULL;
}

/* ---- the set ---- */

static struct use *find_use(const struct attachments *attachments, const char *unique_name)
{
	struct use *use;

	HASH_FIND_STR(attachments->uses, unique_name, use);
	return use;
}

static struct use *add_use(struct attachments *attachments, const char *unique_name)
{
	size_t length = strlen(unique_name);
	struct use *use = calloc(1, sizeof(*use) + length + 1);

	if (!use)
		return NULL;
	memcpy(use->unique_name, unique_name, length);
	HASH_ADD_STR(attachments->uses, unique_name, use);
	if (use->hh.tbl)
		return use;
	free(use);
	return NULL;
}

static void drop_use(struct attachments *attachments, struct use *use)
{
	HASH_DEL(attachments->uses, use);
	free(use);
	attachments->has_changed = true;
}

/* What is listed stays so while anything of it may be there, whatever its driver says by then. */
void attachments_look(struct attachments *attachments, const char *unique_name)
{
	bool is_there, is_wanted;
	struct use *use;

	if (!attachments)
		return;
	use = find_use(attachments, unique_name);
	is_there = actual_find(attachments->agent->actual, unique_name) != NULL;
	is_wanted = is_there || desired_find(attachments->agent->desired, unique_name);
	if (!use && is_wanted && needs_attaching(attachments->agent, unique_name)) {
		/* Without memory no stage of it begins, and that is tried again. */
		attachments->has_changed |= add_use(attachments, unique_name) != NULL;
		return;
	}
	if (!use)
		return;
	use->is_stranger &= !is_there;
	use->may_go = !is_there;
	attachments->some_may_go |= use->may_go;
}

static bool is_used(const struct attachments *attachments, const struct use *use)
{
	const struct agent *agent = attachments->agent;

	return use->is_stranger || actual_find(agent->actual, use->unique_name) ||
	       (desired_find(agent->desired, use->unique_name) &&
		needs_attaching(agent, use->unique_name));
}

static void drop_unused(struct attachments *attachments)
{
	struct use *use, *next;

	attachments->some_may_go = false;
	HASH_ITER (hh, attachments->uses, use, next) {
		if (!use->may_go)
			continue;
		use->may_go = false;
		if (!is_used(attachments, use))
			drop_use(attachments, use);
	}
}

/* ---- writing it ---- */

static int by_name(const struct use *a, const struct use *b)
{
	return strcmp(a->unique_name, b->unique_name);
}

static int edit_in_use(struct cJSON *tree, void *userdata)
{
	struct attachments *attachments = userdata;
	struct cJSON *status = json_ensure_object(tree, "status"), *list = NULL;

	json_remove(status, "volumesInUse");
	HASH_SORT(attachments->uses, by_name);
	for (struct use *use = attachments->uses; use; use = use->hh.next) {
		if (!list)
			list = json_add_array(status, "volumesInUse");
		(void) json_set_string(list, NULL, use->unique_name);
		use->is_written = true;
	}
	return status ? 0 : -ENOMEM;
}

/* Somebody wrote the Node meanwhile. What is left out now was left out then. */
static int edit_again(void *userdata, const struct object *present, const struct object **ret,
		      struct failure *why)
{
	const struct node_item *item = userdata;

	if (!item->attachments)
		return failed_plain(why, -ECANCELED, "podvold is shutting down");
	return object_edit(present, edit_in_use, item->attachments, ret, why);
}

static void retry_waiting(struct attachments *attachments)
{
	if (!attachments->some_wait)
		return;
	attachments->some_wait = false;
	for (struct use *use = attachments->uses; use; use = use->hh.next) {
		if (use->waits)
			(void) dirty_add(attachments->agent->dirty, use->unique_name);
		use->waits = false;
	}
}

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct work_item *work = userdata;
	struct attachments *attachments;

	(void) result;
	if (!work_item_end(work))
		return;
	attachments = ((struct node_item *) work)->attachments;
	attachments->is_writing = false;
	if (error == 0)
		work_item_succeeded(work);
	else if (error != -ECANCELED) {
		log_message(LOG_WARNING, "Node '%s' does not say what it uses: %s", work->name,
			    why->text);
		attachments->has_changed = true;
		work_item_failed(work);
	}
	retry_waiting(attachments);
	work_queue_run(attachments->writer);
}

static void forget_written(struct attachments *attachments)
{
	for (struct use *use = attachments->uses; use; use = use->hh.next)
		use->is_written = false;
}

static bool write_node(struct work_item *work)
{
	struct attachments *attachments = ((struct node_item *) work)->attachments;
	const struct node *node = own_node(attachments->agent);
	cleanup_object const struct object *made = NULL;
	struct store_precondition present;
	struct failure why = { .error = 0 };
	int r;

	if (!attachments->has_changed || !node || work_item_backs_off(work))
		return true;
	present = (struct store_precondition){
		.resource_version = node->object->meta.resource_version,
	};
	forget_written(attachments);
	r = object_edit(node->object, edit_in_use, attachments, &made, &why);
	if (r == 0)
		r = store_edit(attachments->agent->store, made, &present, edit_again, on_written,
			       work);
	if (r < 0) {
		work_item_failed(work);
		return true;
	}
	attachments->has_changed = false;
	attachments->is_writing = true;
	work_item_begin(work);
	return true;
}

void attachments_settle(struct attachments *attachments, bool may_drop)
{
	if (!attachments)
		return;
	if (may_drop && attachments->some_may_go)
		drop_unused(attachments);
	if (!attachments->has_changed)
		return;
	work_item_due(&attachments->item->work);
	work_queue_run(attachments->writer);
}

/* ---- stages ---- */

/* Stored, and not about to be left out. */
static bool says_use(const struct attachments *attachments, const struct use *use,
		     const struct node *node)
{
	return node && node_volumes_have(&node->in_use, use->unique_name) &&
	       (!attachments->is_writing || use->is_written);
}

/* Until then nothing is begun that would fail, again and again. */
static bool may_be_staged(const struct attachments *attachments, const struct use *use)
{
	const struct node *node = own_node(attachments->agent);
	const struct volume_attachment *attachment =
		attachment_of(attachments->agent, use->unique_name);

	return says_use(attachments, use, node) && attachment && attachment->attached &&
	       node_volumes_have(&node->attached, use->unique_name);
}

bool attachments_pass(struct attachments *attachments, const struct step *step)
{
	struct use *use;

	if (!attachments || step->kind != STEP_STAGE ||
	    !needs_attaching(attachments->agent, step->unique_name))
		return true;
	use = find_use(attachments, step->unique_name);
	if (use && may_be_staged(attachments, use))
		return true;
	if (use)
		use->waits = attachments->some_wait = true;
	else
		operation_retry_later(attachments->agent->operations, step->unique_name,
				      monotonic_usec());
	return false;
}

static const char *why_not_attached(const struct volume_attachment *attachment)
{
	if (attachment->object->meta.deletes)
		return "it is being detached";
	if (attachment->has_attach_error)
		return attachment->attach_error;
	return attachment->attached ? "its Node does not say so yet"
				    : "its driver did not say so yet";
}

bool attachments_explain(const struct attachments *attachments, const char *unique_name,
			 const char *name, struct failure *ret)
{
	const struct use *use = attachments ? find_use(attachments, unique_name) : NULL;
	const struct volume_attachment *attachment;

	if (!use || !use->waits)
		return false;
	attachment = attachment_of(attachments->agent, unique_name);
	if (!attachment)
		(void) failed_plain(ret, -ENOLINK,
				    "volume '%s': is not attached: there is no VolumeAttachment of "
				    "it for node '%s'",
				    name, attachments->agent->config->node_name);
	else
		(void) failed_plain(ret, -ENOLINK,
				    "volume '%s': is not attached: VolumeAttachment '%s': %s", name,
				    attachment->object->meta.name, why_not_attached(attachment));
	return true;
}

void attachments_object_changed(struct attachments *attachments, const struct object *object)
{
	if (!attachments)
		return;
	if (object->kind == KIND_NODE &&
	    strcmp(object->meta.name, attachments->agent->config->node_name) == 0) {
		const struct node *node = own_node(attachments->agent);

		/* Others write Nodes, too. */
		for (struct use *use = attachments->uses; use && node; use = use->hh.next)
			attachments->has_changed |=
				!attachments->is_writing &&
				!node_volumes_have(&node->in_use, use->unique_name);
		retry_waiting(attachments);
	} else if (object->kind == KIND_VOLUME_ATTACHMENT) {
		retry_waiting(attachments);
	}
}

/* ---- life ---- */

static bool is_found(const struct agent *agent, const char *unique_name)
{
	const struct found_list *found =
		agent->strangers ? strangers_found(agent->strangers) : NULL;
	cleanup_free char *driver = NULL, *handle = NULL;

	if (!found || csi_split_unique_name(unique_name, &driver, &handle) < 0)
		return false;
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->volumes[i].driver_name, driver) == 0 &&
		    strcmp(found->volumes[i].volume_handle, handle) == 0)
			return true;
	return false;
}

static int recall(struct attachments *attachments)
{
	const struct node *node = own_node(attachments->agent);

	for (size_t i = 0; node && i < node->in_use.count; i++) {
		const char *name = node->in_use.names[i];
		struct use *use = find_use(attachments, name);

		if (!use)
			use = add_use(attachments, name);
		if (!use)
			return -ENOMEM;
		use->is_stranger = !actual_find(attachments->agent->actual, name) &&
				   is_found(attachments->agent, name);
		use->may_go = attachments->some_may_go = true;
	}
	return 0;
}

static bool is_in_use(void *userdata, const char *unique_name)
{
	const struct attachments *attachments = userdata;
	const struct use *use = find_use(attachments, unique_name);

	return actual_find(attachments->agent->actual, unique_name) || (use && use->is_stranger);
}

static bool is_complete(void *userdata)
{
	return ((const struct attachments *) userdata)->agent->sources_complete;
}

static void on_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	struct attachments *attachments = userdata;

	events_record(attachments->agent->events, about, type, reason, text, realtime_usec());
}

static int open_controller(struct attachments *attachments)
{
	const struct agent *agent = attachments->agent;
	const struct attach_detach_options options = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.store = agent->store,
		.node_name = agent->config->node_name,
		.may_force = agent->config->force_detach,
		.is_in_use = is_in_use,
		.is_complete = is_complete,
		.event_fn = on_event,
		.userdata = attachments,
	};

	return attach_detach_new(&options, &attachments->controller);
}

static int make_item(struct attachments *attachments)
{
	attachments->item = (struct node_item *) work_queue_item(
		attachments->writer, attachments->agent->config->node_name);
	if (!attachments->item)
		return -ENOMEM;
	attachments->item->attachments = attachments;
	return 0;
}

int attachments_open(struct agent *agent, struct failure *reterr)
{
	struct attachments *attachments = calloc(1, sizeof(*attachments));
	struct work_queue_options queue = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.item_bytes = sizeof(struct node_item),
		.retry_first_usec = RETRY_FIRST_USEC,
		.retry_max_usec = RETRY_MAX_USEC,
		.look = write_node,
		.userdata = attachments,
	};
	int r = attachments ? work_queue_new(&queue, &attachments->writer) : -ENOMEM;

	assert(agent->store && agent->actual && agent->desired);
	if (attachments) {
		attachments->agent = agent;
		agent->controllers.attachments = attachments;
	}
	if (r >= 0)
		r = make_item(attachments);
	if (r >= 0)
		r = recall(attachments);
	if (r >= 0)
		r = open_controller(attachments);
	return r < 0 ? failed(reterr, r, "cannot keep what is attached") : 0;
}

struct attachments *attachments_free(struct attachments *attachments)
{
	struct use *use, *next;

	if (!attachments)
		return NULL;
	(void) attach_detach_free(attachments->controller);
	if (attachments->item)
		attachments->item->attachments = NULL;
	(void) work_queue_free(attachments->writer);
	HASH_ITER (hh, attachments->uses, use, next) {
		HASH_DEL(attachments->uses, use);
		free(use);
	}
	free(attachments);
	return NULL;
}

void attachments_sources_ready(struct attachments *attachments)
{
	if (attachments)
		attach_detach_look_again(attachments->controller);
}
