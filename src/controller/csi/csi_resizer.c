/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_resizer - expands volumes whose claims request more
 *
 * What external-resizer does: ControllerExpandVolume, the volume's new size, then NodeExpandVolume
 * or the claim's status. A driver without EXPAND_VOLUME in its controller and with it on the node
 * is not called here: the node expands the volume. A volume that cannot be expanded online waits.
 * The rule is claim_resize.h.
 *
 * An item is a claim. Each sync makes one write or one call; the result of a call is kept in the
 * item until volume and claim have it, and the call is repeated after a kill.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/csi/claim_resize.h"
#include "controller/csi/csi_claim_item.h"
#include "csi/csi_access.h"

#include <stdio.h>
#include <string.h>

/* Of NodeServiceCapability.RPC.Type. */
#define NODE_CAN_EXPAND (UINT32_C(1) << 3)

struct resize_item {
	struct csi_claim_item base;
	int64_t aim;   /* of the call */
	int64_t grown; /* the size that the driver reported; 0 none */
	bool on_node;  /* and the node has to do the rest */
	bool waits;    /* for events of resync() */
};

struct csi_resizer {
	struct controller base;
	struct csi_controller_options options;
	bool has_waiting;
};

static struct csi_resizer *resizer_of(const struct resize_item *item)
{
	return work_queue_userdata(item->base.work.queue);
}

/* ---- reports and writes ---- */

static void report(struct resize_item *item, const struct object *about, const char *type,
		   const char *reason, const char *text)
{
	csi_claim_item_report(&item->base, &resizer_of(item)->options, about, type, reason, text);
}

static void write_claim(struct resize_item *item, const struct object *claim,
			enum claim_resize_state state, int64_t bytes, const char *text)
{
	const struct object *made = NULL;
	int r = claim_resize_edit(claim, state, bytes, text, &made, NULL);

	work_item_update(&item->base.work, r, claim, made);
}

static void write_volume(struct resize_item *item, const struct object *volume, int64_t bytes)
{
	const struct object *made = NULL;
	int r = claim_resize_edit_volume(volume, bytes, &made, NULL);

	work_item_update(&item->base.work, r, volume, made);
}

/* ---- what came of it ---- */

/* The volume's size is written before the claim's: the node compares the two. */
static void note_expand(struct resize_item *item, const struct object *claim,
			const struct persistent_volume *volume)
{
	int64_t grown = item->grown;

	if (quantity_value(&volume->capacity) < grown) {
		write_volume(item, volume->object, grown);
		return;
	}
	item->grown = 0;
	work_item_succeeded(&item->base.work);
	if (!item->on_node || quantity_value(&claim->claim->status_capacity) >= grown) {
		report(item, claim, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded");
		write_claim(item, claim, CLAIM_RESIZE_DONE, grown, NULL);
	} else {
		report(item, claim, "Normal", "FileSystemResizeRequired",
		       "Require file system resize of volume on node");
		write_claim(item, claim, CLAIM_RESIZE_ON_NODE, grown, NULL);
	}
}

static bool is_infeasible(const struct csi_reply *reply)
{
	return reply->status.from_server &&
	       (reply->status.code == GRPC_INVALID_ARGUMENT ||
		reply->status.code == GRPC_OUT_OF_RANGE || reply->status.code == GRPC_NOT_FOUND);
}

static void take_failure(struct resize_item *item, const struct object *claim,
			 const struct csi_reply *reply)
{
	struct failure why;

	(void) failed_plain(&why, -EIO, "resize volume \"%s\" failed: %s: %s",
			    claim->claim->volume_name, grpc_code_name(reply->status.code),
			    reply->status.text);
	log_message(LOG_WARNING, "claim '%s': %s", item->base.work.name, why.text);
	report(item, claim, "Warning", "VolumeResizeFailed", why.text);
	work_item_failed(&item->base.work);
	write_claim(item, claim,
		    is_infeasible(reply) ? CLAIM_RESIZE_INFEASIBLE : CLAIM_RESIZE_FAILED, item->aim,
		    why.text);
}

/* The driver has less room now, or had too little. */
static void note_room(const struct resize_item *item, const struct object *claim,
		      const struct csi_reply *reply)
{
	const struct csi_controller_options *options = &resizer_of(item)->options;
	const struct persistent_volume *volume =
		claim ? csi_claim_volume(resizer_of(item)->options.common.store, claim) : NULL;

	if (volume && volume->csi &&
	    (reply->status.code == GRPC_OK || reply->status.code == GRPC_RESOURCE_EXHAUSTED))
		options->room_changed(options->room_userdata, volume->csi->driver);
}

static void on_expanded(void *userdata, const struct csi_reply *reply)
{
	const Csi__V1__ControllerExpandVolumeResponse *answer = (const void *) reply->message;
	struct resize_item *item = userdata;
	struct work_queue *queue = item->base.work.queue;
	const struct object *claim =
		csi_claim_item_claim(&item->base, resizer_of(item)->options.common.store);

	item->base.call = NULL;
	(void) work_item_end(&item->base.work);
	note_room(item, claim, reply);
	if (answer) {
		item->grown =
			answer->capacity_bytes > item->aim ? answer->capacity_bytes : item->aim;
		item->on_node = answer->node_expansion_required;
	} else if (claim) {
		take_failure(item, claim, reply);
	}
	work_queue_run(queue);
}

/* ---- calling ---- */

static int call(struct resize_item *item, const struct persistent_volume *volume,
		const struct csi_driver *driver, struct failure *reterr)
{
	Csi__V1__ControllerExpandVolumeRequest message =
		CSI__V1__CONTROLLER_EXPAND_VOLUME_REQUEST__INIT;
	Csi__V1__CapacityRange range = CSI__V1__CAPACITY_RANGE__INIT;
	struct csi_capability use;
	cleanup(csi_map_done) struct csi_map secrets = { 0 };
	const struct csi_call_request request = {
		.driver = driver->name,
		.method = CSI_CONTROLLER_EXPAND_VOLUME,
		.message = &message.base,
		.timeout_usec = CSI_CONTROLLER_SECONDS * USEC_PER_SEC,
		.done = on_expanded,
		.userdata = item,
	};
	int r = csi_controller_read_secret(resizer_of(item)->options.common.store,
					   &volume->csi->controller_expand_secret, &secrets,
					   reterr);

	csi_capability_of(
		&use, volume,
		csi_access_mode(volume->first_access_mode,
				csi_driver_can(driver, CSI_CAN_SINGLE_NODE_MULTI_WRITER)));
	range.required_bytes = item->aim;
	message.volume_id = (char *) volume->csi->volume_handle;
	message.capacity_range = &range;
	message.volume_capability = &use.capability;
	if (r == 0)
		r = CSI_MAP_FILL(&secrets, &message, controller_expand_volume, secrets);
	return r < 0 ? r
		     : csi_drivers_call(resizer_of(item)->options.drivers, &request,
					&item->base.call, reterr);
}

/* A driver that can do it only while the volume is nowhere. */
static bool must_wait(struct resize_item *item, const struct persistent_volume *volume,
		      const struct csi_driver *driver)
{
	item->waits = driver->plugin_capabilities & CSI_PLUGIN_EXPANSION_OFFLINE &&
		      !(driver->plugin_capabilities & CSI_PLUGIN_EXPANSION_ONLINE) &&
		      csi_controller_uses_volume(&resizer_of(item)->options, volume);
	resizer_of(item)->has_waiting |= item->waits;
	return item->waits;
}

static void expand(struct resize_item *item, const struct object *claim,
		   const struct persistent_volume *volume, const struct csi_driver *driver)
{
	struct failure why = { .error = 0 };
	int r;

	if (!csi_driver_can(driver, CSI_CAN_EXPAND_VOLUME)) { /* all of it is the node's */
		item->grown = item->aim;
		item->on_node = true;
		note_expand(item, claim, volume);
		return;
	}
	if (must_wait(item, volume, driver)) {
		report(item, claim, "Warning", "VolumeResizeFailed",
		       "the volume is in use, and its driver expands it only while it is not");
		return;
	}
	r = call(item, volume, driver, &why);
	if (r == 0) {
		work_item_begin(&item->base.work);
		return;
	}
	report(item, claim, "Warning", "VolumeResizeFailed",
	       why.error ? why.text : "out of memory");
	work_item_failed(&item->base.work);
}

static void sync_claim(struct resize_item *item, const struct object *claim,
		       const struct persistent_volume *volume)
{
	const struct csi_driver *driver =
		csi_drivers_find(resizer_of(item)->options.drivers, volume->csi->driver);
	struct claim_resize next;
	char text[FAILURE_TEXT_BYTES];

	if (claim_resize_decide(claim->claim, volume, &next) < 0) {
		work_item_failed(&item->base.work);
		return;
	}
	if (next.next == CLAIM_RESIZE_NOTHING)
		item->grown = 0; /* the node was quicker */
	if (next.next == CLAIM_RESIZE_NOTHING || !driver || !driver->capabilities_known)
		return;
	if (next.next == CLAIM_RESIZE_FORGET) {
		write_claim(item, claim, CLAIM_RESIZE_FORGOTTEN, 0, NULL);
		return;
	}
	if (!csi_driver_can(driver, CSI_CAN_EXPAND_VOLUME) &&
	    !(driver->node_capabilities & NODE_CAN_EXPAND)) {
		(void) snprintf(text, sizeof(text), "driver '%s' cannot expand volumes",
				driver->name);
		report(item, claim, "Warning", "VolumeResizeFailed", text);
		return;
	}
	item->aim = next.bytes;
	if (next.next == CLAIM_RESIZE_BEGIN) {
		(void) snprintf(text, sizeof(text), "External resizer is resizing volume %s",
				volume->object->meta.name);
		report(item, claim, "Normal", "Resizing", text);
		work_item_succeeded(&item->base.work);
		write_claim(item, claim, CLAIM_RESIZE_BEGUN, next.bytes, NULL);
	} else if (item->grown >= next.bytes) {
		note_expand(item, claim, volume);
	} else if (!work_item_backs_off(&item->base.work)) {
		expand(item, claim, volume, driver);
	}
}

static bool sync_item(struct work_item *work)
{
	struct resize_item *item = (struct resize_item *) work;
	const struct object *claim =
		csi_claim_item_claim(&item->base, resizer_of(item)->options.common.store);
	const struct persistent_volume *volume =
		claim ? csi_claim_volume(resizer_of(item)->options.common.store, claim) : NULL;

	item->waits = false;
	if (volume && volume->csi)
		sync_claim(item, claim, volume);
	return claim != NULL;
}

/* ---- watching ---- */

/* An item only for a claim that requests more, or is being expanded. */
static int take_claim(const struct object *object, void *userdata)
{
	const struct persistent_volume_claim *claim = object->claim;
	struct csi_resizer *resizer = userdata;

	if (claim->phase != CLAIM_BOUND ||
	    (quantity_compare(&claim->request, &claim->status_capacity) <= 0 &&
	     !strstr(object->json, "\"allocatedResourceStatuses\"")))
		return 0;
	return csi_claim_item_take(resizer->base.queues[0], object);
}

static void wake_waiting(struct work_item *work)
{
	if (((struct resize_item *) work)->waits)
		work_item_due(work);
}

static int take_change(const struct store_change *change, void *userdata)
{
	const struct object *object = change->object, *claim;
	struct csi_resizer *resizer = userdata;

	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM) {
		/* Also for a claim whose request was reduced: its item may back off. */
		return take_claim(object, resizer);
	} else if (object->kind == KIND_PERSISTENT_VOLUME) {
		claim = csi_volume_claim(resizer->options.common.store, object);
		if (claim)
			return take_claim(claim, resizer);
	} else if (change->type == STORE_DELETED) {
		work_queue_walk(resizer->base.queues[0], wake_waiting);
	}
	return 0;
}

static void resync(void *userdata)
{
	struct csi_resizer *resizer = userdata;

	if (!resizer->has_waiting)
		return;
	resizer->has_waiting = false;
	work_queue_walk(resizer->base.queues[0], wake_waiting);
	controller_run(resizer);
}

/* ---- the row ---- */

const struct controller_class csi_resizer_class = {
	CONTROLLER_OF(csi_resizer),
	.what = "claims",
	.kinds = 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM |
		 1 << KIND_VOLUME_ATTACHMENT,
	.lists = { { KIND_PERSISTENT_VOLUME_CLAIM, take_claim } },
	.queues = { CSI_CLAIM_QUEUE(struct resize_item, sync_item) },
	.take_change = take_change,
	.end_item = csi_item_end_call,
	.call_at = offsetof(struct resize_item, base.call),
	.resync = resync,
};
