/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach_item - does what is next for a volume on a node; see attach_detach.h
 *
 * The facts are those of the stored objects at this moment, so that a decision that follows a write
 * sees what was committed with it or before it.
 */
#include "controller/attach/attach_detach_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/attach/attach_detach_rule.h"
#include "csi/csi_drivers.h"
#include "object/json/json.h"
#include "object/kinds/volume_attachment.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

/* ---- items ---- */

static int fill_item(struct attach_detach *controller, struct attach_item *item,
		     const struct persistent_volume *volume, const char *node_name)
{
	struct attach_node *node = attach_node_of(controller, node_name);
	const struct node *object = node ? attach_node_object(node) : NULL;

	item->unique_name = csi_unique_name(volume->csi->driver, volume->csi->volume_handle);
	item->driver = strdup(volume->csi->driver);
	item->handle = strdup(volume->csi->volume_handle);
	item->volume_name = strdup(volume->object->meta.name);
	if (!node || !item->unique_name || !item->driver || !item->handle || !item->volume_name)
		return -ENOMEM;
	item->node = node;
	DL_APPEND(node->items, item);
	item->reports = object && node_volumes_have(&object->attached, item->unique_name);
	return 0;
}

/* One that could not be filled is looked at, once, and forgotten by that. */
struct attach_item *attach_item_of(struct attach_detach *controller,
				   const struct persistent_volume *volume, const char *node_name)
{
	cleanup_free char *name =
		csi_attachment_name(volume->csi->volume_handle, volume->csi->driver, node_name);
	struct attach_item *item =
		name ? (struct attach_item *) work_queue_item(controller->base.queues[ITEMS], name)
		     : NULL;

	if (!item || item->node)
		return item;
	if (fill_item(controller, item, volume, node_name) == 0)
		return item;
	attach_item_clear(&item->work);
	work_item_due(&item->work);
	return NULL;
}

void attach_item_clear(struct work_item *work)
{
	struct attach_item *item = (struct attach_item *) work;

	assert(!item->wants);
	if (item->node)
		DL_DELETE(item->node->items, item);
	item->node = NULL;
	free(TAKE_PTR(item->unique_name));
	free(TAKE_PTR(item->driver));
	free(TAKE_PTR(item->handle));
	free(TAKE_PTR(item->volume_name));
}

void attach_item_report(struct attach_item *item, const char *type, const char *reason,
			const char *text)
{
	const struct attach_detach_options *options = &attach_controller(item)->options;

	if (!work_item_is_news(&item->work, text))
		return;
	for (const struct attach_want *want = item->wants; want; want = want->next) {
		const struct object *pod = store_get(options->common.store, KIND_POD,
						     want->pod->name_space, want->pod->name);

		if (pod)
			options->common.event_fn(options->common.userdata, pod, type, reason, text);
	}
}

/* ---- facts ---- */

static const struct volume_attachment *attachment_of(const struct attach_item *item)
{
	const struct object *object = store_get(attach_controller(item)->options.common.store,
						KIND_VOLUME_ATTACHMENT, "", item->work.name);

	return object ? object->volume_attachment : NULL;
}

static enum attachment_state state_of(const struct volume_attachment *attachment)
{
	if (!attachment)
		return ATTACHMENT_NONE;
	if (attachment->object->meta.deletes)
		return ATTACHMENT_LEAVING;
	return attachment->attached ? ATTACHMENT_ATTACHED : ATTACHMENT_PENDING;
}

static unsigned int modes_of(const struct attach_item *item)
{
	const struct object *volume = store_get(attach_controller(item)->options.common.store,
						KIND_PERSISTENT_VOLUME, "", item->volume_name);

	return volume ? volume->persistent_volume->access_modes : 0;
}

/* Of a Node that is gone the last word counts: a machine that had the volume may live on. */
static bool node_uses(const struct attach_item *item, const struct node *node, bool is_own)
{
	return node ? node_volumes_have(&node->in_use, item->unique_name)
		    : is_own || !item->is_let_go;
}

static void gather(const struct attach_item *item, const struct volume_attachment *attachment,
		   struct attach_facts *ret)
{
	const struct attach_detach_options *options = &attach_controller(item)->options;
	const struct node *node = attach_node_object(item->node);
	bool is_own = strcmp(item->node->work.name, options->common.node_name) == 0;

	*ret = (struct attach_facts){
		.is_wanted = item->wants != NULL,
		.may_take_away = options->common.is_complete(options->common.userdata),
		.state = state_of(attachment),
		.access_modes = modes_of(item),
		.is_reported = node && node_volumes_have(&node->attached, item->unique_name),
		.is_in_use = node_uses(item, node, is_own),
		.is_ready = node && node->is_ready,
		.is_out_of_service = node && node->is_out_of_service,
		.is_own_node = is_own,
		.may_force = options->may_force,
		.unwanted_usec = item->unwanted_usec,
		.now_usec = monotonic_usec(),
	};
	/* A node that was not asked yet may have taken it at once; edits of the own
	 * Node do not count against what is so. */
	if ((ret->state == ATTACHMENT_ATTACHED && item->assumes_use) ||
	    (ret->is_own_node && options->is_in_use(options->userdata, item->unique_name)))
		ret->is_in_use = true;
	/* The dear questions only where the answer matters. */
	if (ret->is_wanted && ret->state == ATTACHMENT_NONE) {
		ret->is_elsewhere = attach_is_elsewhere(item);
		ret->has_room = attach_has_room(item);
	}
}

/* ---- doing it ---- */

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct attach_item *item = userdata;

	if (!work_item_end(&item->work))
		return;
	if (error == 0 || error == -EEXIST || error == -ENOENT || error == -ESTALE) {
		work_item_succeeded(&item->work);
	} else if (error != -ECANCELED) {
		log_message(LOG_WARNING, "VolumeAttachment '%s' of volume '%s': %s",
			    item->work.name, item->unique_name, why->text);
		work_item_failed(&item->work);
	}
	attach_refused_due(attach_controller(item));
	controller_run(attach_controller(item));
}

static void create(struct attach_item *item)
{
	cleanup_json struct cJSON *tree = json_new_object();
	cleanup_object const struct object *made = NULL;
	struct cJSON *spec;
	int r;

	(void) json_set_string(tree, "apiVersion", "storage.k8s.io/v1");
	(void) json_set_string(tree, "kind", "VolumeAttachment");
	(void) json_set_string(json_add_object(tree, "metadata"), "name", item->work.name);
	spec = json_add_object(tree, "spec");
	(void) json_set_string(spec, "attacher", item->driver);
	(void) json_set_string(spec, "nodeName", item->node->work.name);
	(void) json_set_string(json_add_object(spec, "source"), "persistentVolumeName",
			       item->volume_name);
	r = object_propose(tree, &made, NULL);
	if (r == 0)
		r = store_create(attach_controller(item)->options.common.store, made, on_written,
				 item);
	item->is_attaching = item->assumes_use = r == 0;
	work_item_queued(&item->work, r);
}

static int edit_forced(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "annotations"),
			       ANNOTATION_FORCED_DETACH, userdata);
}

/* The attacher learns it with the same commit. */
static int write_force(struct attach_item *item, const struct object *attachment, const char *force)
{
	const struct store_precondition present = {
		.uid = attachment->meta.uid,
		.resource_version = attachment->meta.resource_version,
	};
	cleanup_object const struct object *made = NULL;
	int r = object_edit(attachment, edit_forced, (void *) force, &made, NULL);

	log_message(LOG_WARNING,
		    "volume '%s' is detached from node '%s' though the node says that it uses it "
		    "(%s)",
		    item->unique_name, item->node->work.name, force);
	return r < 0 ? r
		     : store_update(attach_controller(item)->options.common.store, made, &present,
				    NULL, NULL);
}

static void detach(struct attach_item *item, const struct object *attachment,
		   const struct attach_verdict *verdict)
{
	const struct store_key key = { KIND_VOLUME_ATTACHMENT, "", item->work.name };
	const char *force = detach_force_name(verdict->force);
	const struct store_precondition present = {
		.uid = attachment->meta.uid,
		.follows = force != NULL,
	};
	int r = force ? write_force(item, attachment, force) : 0;

	if (r == 0)
		r = store_delete(attach_controller(item)->options.common.store, &key, &present,
				 on_written, item);
	work_item_queued(&item->work, r);
}

/* The first of many begins a write; the others go with the next one. */
static void report(struct attach_item *item, bool reports)
{
	if (item->reports == reports)
		return; /* on its way */
	item->reports = reports;
	work_item_due(&item->node->work);
	work_queue_run(attach_controller(item)->base.queues[NODES]);
}

/* ---- what is reported ---- */

static void report_attached(struct attach_item *item)
{
	char text[FAILURE_TEXT_BYTES];

	if (!item->is_attaching)
		return;
	item->is_attaching = false;
	(void) snprintf(text, sizeof(text), "AttachVolume.Attach succeeded for volume \"%s\" ",
			item->volume_name);
	attach_item_report(item, "Normal", "SuccessfulAttachVolume", text);
}

static void report_outcome(struct attach_item *item, const struct volume_attachment *attachment)
{
	char text[2 * FAILURE_TEXT_BYTES];

	if (attachment && attachment->attached)
		report_attached(item);
	if (!attachment || !attachment->has_attach_error || !item->wants)
		return;
	(void) snprintf(text, sizeof(text), "AttachVolume.Attach failed for volume \"%s\" : %s",
			item->volume_name, attachment->attach_error);
	attach_item_report(item, "Warning", "FailedAttachVolume", text);
}

/* ---- sync ---- */

static void note_wish(struct attach_item *item)
{
	if (item->wants)
		item->unwanted_usec = 0;
	else if (item->unwanted_usec == 0)
		item->unwanted_usec = monotonic_usec();
}

/* False: nothing is left to be done about it, ever. */
static bool act(struct attach_item *item, const struct volume_attachment *attachment,
		const struct attach_verdict *verdict)
{
	switch (verdict->step) {
	case ATTACH_FORGET:
		return false;
	case ATTACH_CREATE:
		create(item);
		break;
	case ATTACH_REFUSED_MULTI:
		attach_refuse_multi(item);
		break;
	case ATTACH_REFUSED_LIMIT:
		attach_refuse_limit(item);
		break;
	case ATTACH_REPORT:
	case ATTACH_UNREPORT:
		report(item, verdict->step == ATTACH_REPORT);
		break;
	case ATTACH_DELETE:
		detach(item, attachment->object, verdict);
		break;
	default:
		break;
	}
	return true;
}

bool attach_item_sync(struct work_item *work)
{
	struct attach_item *item = (struct attach_item *) work;
	const struct volume_attachment *attachment;
	struct attach_verdict verdict;
	struct attach_facts facts;

	if (!item->node)
		return false;
	attachment = attachment_of(item);
	note_wish(item);
	report_outcome(item, attachment);
	if (work_item_backs_off(work))
		return true;
	gather(item, attachment, &facts);
	verdict = attach_decide(&facts);
	item->is_refused = false;
	if (verdict.resync_usec)
		attach_resync_at(attach_controller(item), verdict.resync_usec);
	return act(item, attachment, &verdict);
}
