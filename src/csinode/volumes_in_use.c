/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volumes_in_use - this node's side of attaching; see volumes_in_use.h
 *
 * The set of what is used is kept here and written by one write at a time; what a stage may rely on
 * is what is stored, unless a write that is under way leaves it out. Names that the Node has from
 * before a start stay until every pod is known, and those of volumes that are staged and
 * unreferenced (foreign volumes) stay until the next start.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "csinode/volumes_in_use.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/attach/attach_detach.h"
#include "controller/work_queue.h"
#include "object/json/json.h"
#include "object/kinds/csi_driver.h"
#include "object/kinds/node.h"
#include "object/kinds/volume_attachment.h"
#include "operation/operation.h"
#include "plugins/csi_paths.h"
#include "state/found.h"
#include "state/state.h"
#include "store/store.h"

#include <assert.h>
#include <string.h>

enum {
	RETRY_FIRST_USEC = 500000,
	RETRY_MAX_USEC = 30 * 1000000,
};

/* A volume that this node uses, or is about to. */
struct use {
	UT_hash_handle hh;      /* by unique_name */
	bool is_written;        /* the write that is under way has it */
	bool may_go;            /* to be looked at when every pod is known */
	bool is_foreign_volume; /* staged before the start, not in the ledger */
	bool waits;             /* a stage of it was held back */
	char unique_name[];
};

/* The Node. */
struct node_item {
	struct work_item work;
	struct volumes_in_use *volumes_in_use; /* NULL: freed */
};

struct volumes_in_use {
	struct volumes_in_use_options options;
	struct attach_detach *controller;
	struct use *uses;
	struct work_queue *writer;
	struct node_item *item; /* its only one */
	bool is_writing, has_changed, some_may_go, some_wait;
};

/* ---- what needs attaching ---- */

/* What a pod's volume itself says is never attached, and has another form of name. */
static bool needs_attaching(const struct volumes_in_use *of, const char *unique_name)
{
	cleanup_free char *driver = NULL, *handle = NULL;
	const struct object *object;

	if (csi_split_unique_name(unique_name, &driver, &handle) < 0)
		return false;
	object = store_get(of->options.common.store, KIND_CSI_DRIVER, "", driver);
	return !object || object->csi_driver->attach_required;
}

static const struct volume_attachment *attachment_of(const struct volumes_in_use *of,
						     const char *unique_name)
{
	cleanup_free char *driver = NULL, *handle = NULL, *name = NULL;
	const struct object *object;

	if (csi_split_unique_name(unique_name, &driver, &handle) < 0)
		return NULL;
	name = csi_attachment_name(handle, driver, of->options.common.node_name);
	object =
		name ? store_get(of->options.common.store, KIND_VOLUME_ATTACHMENT, "", name) : NULL;
	return object ? object->volume_attachment : NULL;
}

static const struct node *own_node(const struct volumes_in_use *of)
{
	const struct object *object =
		store_get(of->options.common.store, KIND_NODE, "", of->options.common.node_name);

	return object ? object->node : NULL;
}

/* ---- the set ---- */

static struct use *find_use(const struct volumes_in_use *volumes_in_use, const char *unique_name)
{
	struct use *use;

	HASH_FIND_STR(volumes_in_use->uses, unique_name, use);
	return use;
}

static void report_attachment(const struct volumes_in_use *volumes_in_use, const char *unique_name,
			      bool is_used)
{
	const struct volumes_in_use_options *options = &volumes_in_use->options;
	cleanup_free char *driver = NULL, *handle = NULL, *name = NULL;

	if (!options->attachment || csi_split_unique_name(unique_name, &driver, &handle) < 0)
		return;
	name = csi_attachment_name(handle, driver, options->common.node_name);
	if (name)
		options->attachment(options->common.userdata, name, is_used);
}

static struct use *add_use(struct volumes_in_use *volumes_in_use, const char *unique_name)
{
	size_t length = strlen(unique_name);
	struct use *use = calloc(1, sizeof(*use) + length + 1);

	if (!use)
		return NULL;
	memcpy(use->unique_name, unique_name, length);
	HASH_ADD_STR(volumes_in_use->uses, unique_name, use);
	if (use->hh.tbl) {
		report_attachment(volumes_in_use, unique_name, true);
		return use;
	}
	free(use);
	return NULL;
}

static void drop_use(struct volumes_in_use *volumes_in_use, struct use *use)
{
	report_attachment(volumes_in_use, use->unique_name, false);
	HASH_DEL(volumes_in_use->uses, use);
	free(use);
	volumes_in_use->has_changed = true;
}

/* What is listed stays so while anything of it may be there, whatever its driver says by then. */
void volumes_in_use_sync(void *userdata, const char *unique_name)
{
	struct volumes_in_use *volumes_in_use = userdata;
	bool is_there, is_wanted;
	struct use *use;

	if (!volumes_in_use)
		return;
	use = find_use(volumes_in_use, unique_name);
	is_there = actual_find(volumes_in_use->options.actual, unique_name) != NULL;
	is_wanted = is_there || desired_find(volumes_in_use->options.desired, unique_name);
	if (!use && is_wanted && needs_attaching(volumes_in_use, unique_name)) {
		/* Without memory no stage of it begins, and that is tried again. */
		volumes_in_use->has_changed |= add_use(volumes_in_use, unique_name) != NULL;
		return;
	}
	if (!use)
		return;
	use->is_foreign_volume &= !is_there;
	use->may_go = !is_there;
	volumes_in_use->some_may_go |= use->may_go;
}

static bool is_used(const struct volumes_in_use *volumes_in_use, const struct use *use)
{
	const struct volumes_in_use_options *options = &volumes_in_use->options;

	return use->is_foreign_volume || actual_find(options->actual, use->unique_name) ||
	       (desired_find(options->desired, use->unique_name) &&
		needs_attaching(volumes_in_use, use->unique_name));
}

static void drop_unused(struct volumes_in_use *volumes_in_use)
{
	struct use *use, *next;

	volumes_in_use->some_may_go = false;
	HASH_ITER (hh, volumes_in_use->uses, use, next) {
		if (!use->may_go)
			continue;
		use->may_go = false;
		if (!is_used(volumes_in_use, use))
			drop_use(volumes_in_use, use);
	}
}

/* ---- writing it ---- */

static int by_name(const struct use *a, const struct use *b)
{
	return strcmp(a->unique_name, b->unique_name);
}

static int edit_in_use(struct cJSON *tree, void *userdata)
{
	struct volumes_in_use *volumes_in_use = userdata;
	struct cJSON *status = json_ensure_object(tree, "status"), *list = NULL;

	json_remove(status, "volumesInUse");
	HASH_SORT(volumes_in_use->uses, by_name);
	for (struct use *use = volumes_in_use->uses; use; use = use->hh.next) {
		if (!list)
			list = json_add_array(status, "volumesInUse");
		(void) json_set_string(list, NULL, use->unique_name);
		use->is_written = true;
	}
	return status ? 0 : -ENOMEM;
}

/* Others wrote the Node meanwhile. What is left out now was left out then. */
static int edit_again(void *userdata, const struct object *present, const struct object **ret,
		      struct failure *why)
{
	const struct node_item *item = userdata;

	if (!item->volumes_in_use)
		return failed_plain(why, -ECANCELED, "podvold is shutting down");
	return object_edit(present, edit_in_use, item->volumes_in_use, ret, why);
}

static void retry_waiting(struct volumes_in_use *volumes_in_use)
{
	if (!volumes_in_use->some_wait)
		return;
	volumes_in_use->some_wait = false;
	for (struct use *use = volumes_in_use->uses; use; use = use->hh.next) {
		if (use->waits)
			(void) dirty_add(volumes_in_use->options.dirty, use->unique_name);
		use->waits = false;
	}
}

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct work_item *work = userdata;
	struct volumes_in_use *volumes_in_use;

	if (!work_item_end(work))
		return;
	volumes_in_use = ((struct node_item *) work)->volumes_in_use;
	volumes_in_use->is_writing = false;
	if (error == 0)
		work_item_succeeded(work);
	else if (error != -ECANCELED) {
		log_message(LOG_WARNING, "Node '%s' does not report its volumes in use: %s",
			    work->name, why->text);
		volumes_in_use->has_changed = true;
		work_item_failed(work);
	}
	retry_waiting(volumes_in_use);
	work_queue_run(volumes_in_use->writer);
}

static void forget_written(struct volumes_in_use *volumes_in_use)
{
	for (struct use *use = volumes_in_use->uses; use; use = use->hh.next)
		use->is_written = false;
}

static bool write_node(struct work_item *work)
{
	struct volumes_in_use *volumes_in_use = ((struct node_item *) work)->volumes_in_use;
	const struct node *node = own_node(volumes_in_use);
	cleanup_object const struct object *made = NULL;
	struct store_precondition present;
	struct failure why = { .error = 0 };
	int r;

	if (!volumes_in_use->has_changed || !node || work_item_backs_off(work))
		return true;
	present = (struct store_precondition){
		.resource_version = node->object->meta.resource_version,
	};
	forget_written(volumes_in_use);
	r = object_edit(node->object, edit_in_use, volumes_in_use, &made, &why);
	if (r == 0)
		r = store_edit(volumes_in_use->options.common.store, made, &present, edit_again,
			       on_written, work);
	if (r < 0) {
		work_item_failed(work);
		return true;
	}
	volumes_in_use->has_changed = false;
	volumes_in_use->is_writing = true;
	work_item_begin(work);
	return true;
}

void volumes_in_use_settle(struct volumes_in_use *volumes_in_use, bool may_drop)
{
	if (!volumes_in_use)
		return;
	if (may_drop && volumes_in_use->some_may_go)
		drop_unused(volumes_in_use);
	if (!volumes_in_use->has_changed)
		return;
	work_item_due(&volumes_in_use->item->work);
	work_queue_run(volumes_in_use->writer);
}

/* ---- stages ---- */

/* Stored, and not about to be left out. */
static bool says_use(const struct volumes_in_use *volumes_in_use, const struct use *use,
		     const struct node *node)
{
	return node && node_volumes_have(&node->in_use, use->unique_name) &&
	       (!volumes_in_use->is_writing || use->is_written);
}

/* Until then nothing is begun that would fail, again and again. */
static bool may_be_staged(const struct volumes_in_use *volumes_in_use, const struct use *use)
{
	const struct node *node = own_node(volumes_in_use);
	const struct volume_attachment *attachment =
		attachment_of(volumes_in_use, use->unique_name);

	return says_use(volumes_in_use, use, node) && attachment && attachment->attached &&
	       node_volumes_have(&node->attached, use->unique_name);
}

bool volumes_in_use_pass(void *userdata, const struct step *step)
{
	struct volumes_in_use *volumes_in_use = userdata;
	struct use *use;

	if (!volumes_in_use || step->kind != STEP_STAGE ||
	    !needs_attaching(volumes_in_use, step->unique_name))
		return true;
	use = find_use(volumes_in_use, step->unique_name);
	if (use && may_be_staged(volumes_in_use, use))
		return true;
	if (use)
		use->waits = volumes_in_use->some_wait = true;
	else
		operation_retry_later(volumes_in_use->options.operations, step->unique_name,
				      monotonic_usec());
	return false;
}

static const char *why_not_attached(const struct volume_attachment *attachment)
{
	if (attachment->object->meta.deletes)
		return "it is being detached";
	if (attachment->has_attach_error)
		return attachment->attach_error;
	return attachment->attached ? "its Node does not report it yet"
				    : "its driver has not reported it yet";
}

void volumes_in_use_forget(void *volumes_in_use, const char *unique_name, const char *pod_uid)
{
	volumes_in_use_sync(volumes_in_use, unique_name);
}

bool volumes_in_use_explain(void *userdata, const char *unique_name, const char *pod_uid,
			    const char *name, struct failure *ret)
{
	const struct volumes_in_use *volumes_in_use = userdata;
	const struct use *use = volumes_in_use ? find_use(volumes_in_use, unique_name) : NULL;
	const struct volume_attachment *attachment;

	if (!use || !use->waits)
		return false;
	attachment = attachment_of(volumes_in_use, unique_name);
	if (!attachment)
		(void) failed_plain(ret, -ENOLINK,
				    "volume '%s': is not attached: there is no VolumeAttachment of "
				    "it for node '%s'",
				    name, volumes_in_use->options.common.node_name);
	else
		(void) failed_plain(ret, -ENOLINK,
				    "volume '%s': is not attached: VolumeAttachment '%s': %s", name,
				    attachment->object->meta.name, why_not_attached(attachment));
	return true;
}

void volumes_in_use_object_changed(struct volumes_in_use *volumes_in_use,
				   const struct object *object)
{
	if (!volumes_in_use)
		return;
	if (object->kind == KIND_NODE &&
	    strcmp(object->meta.name, volumes_in_use->options.common.node_name) == 0) {
		const struct node *node = own_node(volumes_in_use);

		/* Others write Nodes, too. */
		for (struct use *use = volumes_in_use->uses; use && node; use = use->hh.next)
			volumes_in_use->has_changed |=
				!volumes_in_use->is_writing &&
				!node_volumes_have(&node->in_use, use->unique_name);
		retry_waiting(volumes_in_use);
	} else if (object->kind == KIND_VOLUME_ATTACHMENT) {
		retry_waiting(volumes_in_use);
	}
}

/* ---- life ---- */

static bool is_found(const struct found_list *found, const char *unique_name)
{
	cleanup_free char *driver = NULL, *handle = NULL;

	if (!found || csi_split_unique_name(unique_name, &driver, &handle) < 0)
		return false;
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->volumes[i].driver_name, driver) == 0 &&
		    strcmp(found->volumes[i].volume_handle, handle) == 0)
			return true;
	return false;
}

static int recall(struct volumes_in_use *volumes_in_use)
{
	const struct node *node = own_node(volumes_in_use);

	for (size_t i = 0; node && i < node->in_use.count; i++) {
		const char *name = node->in_use.names[i];
		struct use *use = find_use(volumes_in_use, name);

		if (!use)
			use = add_use(volumes_in_use, name);
		if (!use)
			return -ENOMEM;
		use->is_foreign_volume = !actual_find(volumes_in_use->options.actual, name) &&
					 is_found(volumes_in_use->options.found, name);
		use->may_go = volumes_in_use->some_may_go = true;
	}
	return 0;
}

static bool is_in_use(void *userdata, const char *unique_name)
{
	const struct volumes_in_use *volumes_in_use = userdata;
	const struct use *use = find_use(volumes_in_use, unique_name);

	return actual_find(volumes_in_use->options.actual, unique_name) ||
	       (use && use->is_foreign_volume);
}

static int open_controller(struct volumes_in_use *volumes_in_use)
{
	const struct volumes_in_use_options *given = &volumes_in_use->options;
	const struct attach_detach_options options = {
		.common = given->common,
		.may_force = given->may_force,
		.is_in_use = is_in_use,
		.userdata = volumes_in_use,
	};

	return attach_detach_new(&options, &volumes_in_use->controller);
}

static int make_item(struct volumes_in_use *volumes_in_use)
{
	volumes_in_use->item = (struct node_item *) work_queue_item(
		volumes_in_use->writer, volumes_in_use->options.common.node_name);
	if (!volumes_in_use->item)
		return -ENOMEM;
	volumes_in_use->item->volumes_in_use = volumes_in_use;
	return 0;
}

int volumes_in_use_new(const struct volumes_in_use_options *options, struct volumes_in_use **ret)
{
	struct volumes_in_use *volumes_in_use = calloc(1, sizeof(*volumes_in_use));
	struct work_queue_options queue = {
		.event = options->common.event,
		.priority = options->common.priority,
		.item_bytes = sizeof(struct node_item),
		.retry_first_usec = RETRY_FIRST_USEC,
		.retry_max_usec = RETRY_MAX_USEC,
		.sync = write_node,
		.userdata = volumes_in_use,
	};
	int r;

	assert(options->common.store && options->actual && options->desired && ret);
	if (!volumes_in_use)
		return -ENOMEM;
	volumes_in_use->options = *options;
	r = work_queue_new(&queue, &volumes_in_use->writer);
	if (r >= 0)
		r = make_item(volumes_in_use);
	if (r >= 0)
		r = recall(volumes_in_use);
	if (r >= 0 && volumes_in_use->options.attaches)
		r = open_controller(volumes_in_use);
	if (r < 0)
		volumes_in_use_free(volumes_in_use);
	else
		*ret = volumes_in_use;
	return r;
}

struct volumes_in_use *volumes_in_use_free(struct volumes_in_use *volumes_in_use)
{
	struct use *use, *next;

	if (!volumes_in_use)
		return NULL;
	(void) attach_detach_free(volumes_in_use->controller);
	if (volumes_in_use->item)
		volumes_in_use->item->volumes_in_use = NULL;
	(void) work_queue_free(volumes_in_use->writer);
	HASH_ITER (hh, volumes_in_use->uses, use, next) {
		HASH_DEL(volumes_in_use->uses, use);
		free(use);
	}
	free(volumes_in_use);
	return NULL;
}

void volumes_in_use_sources_ready(struct volumes_in_use *volumes_in_use)
{
	if (volumes_in_use)
		attach_detach_resync(volumes_in_use->controller);
}
