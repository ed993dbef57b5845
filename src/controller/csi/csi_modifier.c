/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_modifier - modifies volumes whose claims name another VolumeAttributesClass
 *
 * What external-resizer does beside resizing: ControllerModifyVolume with the class's parameters,
 * then the class is written to volume and claim. The rule is claim_modify.h.
 *
 * An item is a claim. Each sync makes one write or one call; the result of a call is kept in the
 * item until volume and claim have it, and the call is repeated after a kill.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/csi/claim_modify.h"
#include "controller/csi/csi_claim_item.h"
#include "object/json/json.h"

#include <stdio.h>
#include <string.h>

struct modify_item {
	struct csi_claim_item base;
	bool is_done;  /* the driver has done what the status aims at */
	bool is_clear; /* the driver said for sure that it has not */
};

struct csi_modifier {
	struct controller base;
	struct csi_controller_options options;
};

static struct csi_modifier *modifier_of(const struct modify_item *item)
{
	return work_queue_userdata(item->base.work.queue);
}

static struct store *store_of(const struct modify_item *item)
{
	return modifier_of(item)->options.common.store;
}

static const struct object *class_named(const struct modify_item *item, const char *name)
{
	return name[0] ? store_get(store_of(item), KIND_VOLUME_ATTRIBUTES_CLASS, "", name) : NULL;
}

/* ---- reports and writes ---- */

static void report(struct modify_item *item, const struct object *claim, const char *type,
		   const char *reason, const char *text)
{
	csi_claim_item_report(&item->base, &modifier_of(item)->options, claim, type, reason, text);
}

static void write_claim(struct modify_item *item, const struct object *claim,
			enum claim_modify_state state, const char *text)
{
	const struct object *made = NULL;
	int r = claim_modify_edit(claim, state, text, &made, NULL);

	work_item_update(&item->base.work, r, claim, made);
}

static void write_volume(struct modify_item *item, const struct object *volume,
			 const char *class_name)
{
	const struct object *made = NULL;
	int r = claim_modify_edit_volume(volume, class_name, &made, NULL);

	work_item_update(&item->base.work, r, volume, made);
}

/* ---- what came of it ---- */

/* The volume is written before the claim: after a kill in between the call is repeated. */
static void note_success(struct modify_item *item, const struct object *claim,
			 const struct persistent_volume *volume)
{
	const char *class_name = claim->claim->modify_target;
	char text[FAILURE_TEXT_BYTES];

	if (strcmp(volume->attributes_class, class_name) != 0) {
		write_volume(item, volume->object, class_name);
		return;
	}
	(void) snprintf(text, sizeof(text), "external resizer modified volume %s with vac %s",
			claim->meta.name, class_name);
	report(item, claim, "Normal", "VolumeModifySuccessful", text);
	write_claim(item, claim, CLAIM_MODIFY_DONE, NULL);
}

static void take_failure(struct modify_item *item, const struct object *claim,
			 const struct csi_reply *reply)
{
	bool is_infeasible =
		reply->status.from_server && reply->status.code == GRPC_INVALID_ARGUMENT;
	struct failure why, condition;

	(void) failed_plain(&why, -EIO, "%s: %s", grpc_code_name(reply->status.code),
			    reply->status.text);
	(void) failed_plain(&condition, -EIO,
			    "ModifyVolume failed with error: %s. Waiting for retry.", why.text);
	if (reply->status.was_sent)
		item->is_clear = csi_classify(&reply->status) == CSI_FINAL;
	log_message(LOG_WARNING, "claim '%s': its volume is not modified: %s", item->base.work.name,
		    why.text);
	work_item_failed(&item->base.work);
	if (!claim)
		return;
	report(item, claim, "Warning", "VolumeModifyFailed", why.text);
	write_claim(item, claim, is_infeasible ? CLAIM_MODIFY_INFEASIBLE : CLAIM_MODIFY_FAILED,
		    condition.text);
}

static void on_modified(void *userdata, const struct csi_reply *reply)
{
	struct modify_item *item = userdata;
	struct work_queue *queue = item->base.work.queue;

	item->base.call = NULL;
	(void) work_item_end(&item->base.work);
	if (reply->status.code == GRPC_OK) {
		item->is_done = true;
		work_item_succeeded(&item->base.work);
	} else {
		take_failure(item, csi_claim_item_claim(&item->base, store_of(item)), reply);
	}
	work_queue_run(queue);
}

/* ---- calling ---- */

static int call(struct modify_item *item, const struct persistent_volume *volume,
		const struct object *class, struct failure *reterr)
{
	Csi__V1__ControllerModifyVolumeRequest message =
		CSI__V1__CONTROLLER_MODIFY_VOLUME_REQUEST__INIT;
	cleanup(csi_map_done) struct csi_map secrets = { 0 }, parameters = { 0 };
	const struct csi_call_request request = {
		.driver = volume->csi->driver,
		.method = CSI_CONTROLLER_MODIFY_VOLUME,
		.message = &message.base,
		.timeout_usec = CSI_CONTROLLER_SECONDS * USEC_PER_SEC,
		.done = on_modified,
		.userdata = item,
	};
	cleanup_json struct cJSON *tree = object_tree(class);
	int r = csi_controller_read_secret(store_of(item), &volume->csi->controller_expand_secret,
					   &secrets, reterr);

	if (r < 0)
		return r;
	message.volume_id = (char *) volume->csi->volume_handle;
	r = tree ? csi_map_add_parameters(&parameters, tree, NULL) : -ENOMEM;
	if (r == 0)
		r = CSI_MAP_FILL(&secrets, &message, controller_modify_volume, secrets);
	if (r == 0)
		r = CSI_MAP_FILL(&parameters, &message, controller_modify_volume,
				 mutable_parameters);
	if (r < 0)
		return failed(reterr, r, "cannot call driver '%s'", request.driver);
	return csi_drivers_call(modifier_of(item)->options.drivers, &request, &item->base.call,
				reterr);
}

static void modify(struct modify_item *item, const struct object *claim,
		   const struct persistent_volume *volume)
{
	struct failure why = { .error = 0 };

	if (item->is_done) {
		note_success(item, claim, volume);
		return;
	}
	if (work_item_backs_off(&item->base.work))
		return;
	if (call(item, volume, class_named(item, claim->claim->modify_target), &why) == 0) {
		item->is_clear = false;
		work_item_begin(&item->base.work);
		return;
	}
	report(item, claim, "Warning", "VolumeModifyFailed", why.text);
	work_item_failed(&item->base.work);
}

/* ---- deciding ---- */

/* Return: false: it cannot be begun, and is reported. */
static bool check(struct modify_item *item, const struct object *claim,
		  const struct csi_driver *driver)
{
	cleanup_json struct cJSON *tree =
		object_tree(class_named(item, claim->claim->attributes_class));
	const char *of = json_text(tree, "driverName");
	char text[FAILURE_TEXT_BYTES];

	if (!csi_driver_can(driver, CSI_CAN_MODIFY_VOLUME))
		(void) snprintf(text, sizeof(text),
				"driver '%s' cannot modify volumes (no MODIFY_VOLUME)",
				driver->name);
	else if (strcmp(of, driver->name) != 0)
		(void) snprintf(text, sizeof(text),
				"VolumeAttributesClass '%s' is of driver '%s', not of '%s'",
				claim->claim->attributes_class, of, driver->name);
	else
		return true;
	report(item, claim, "Warning", "VolumeModifyFailed", text);
	return false;
}

static void begin_modification(struct modify_item *item, const struct object *claim,
			       const struct csi_driver *driver)
{
	char text[FAILURE_TEXT_BYTES];

	if (!check(item, claim, driver))
		return;
	(void) snprintf(text, sizeof(text), "external resizer is modifying volume %s with vac %s",
			claim->meta.name, claim->claim->attributes_class);
	report(item, claim, "Normal", "VolumeModify", text);
	work_item_succeeded(&item->base.work);
	write_claim(item, claim, CLAIM_MODIFY_BEGUN, NULL);
}

static void pend(struct modify_item *item, const struct object *claim)
{
	char text[FAILURE_TEXT_BYTES];

	(void) snprintf(text, sizeof(text), "volumeattributesclass.storage.k8s.io \"%s\" not found",
			claim->claim->attributes_class);
	report(item, claim, "Warning", "VolumeModifyFailed", text);
	write_claim(item, claim, CLAIM_MODIFY_PENDING, NULL);
}

static void sync_claim(struct modify_item *item, const struct object *claim,
		       const struct persistent_volume *volume, const struct csi_driver *driver)
{
	const struct claim_modify_facts facts = {
		.claim = claim->claim,
		.volume = volume,
		.has_wanted = class_named(item, claim->claim->attributes_class),
		.has_target = class_named(item, claim->claim->modify_target),
		.is_clear = item->is_clear,
	};
	enum claim_modify_next next = claim_modify_decide(&facts);

	if (next != CLAIM_MODIFY_CALL)
		item->is_done = false;
	if (next == CLAIM_MODIFY_CALL)
		modify(item, claim, volume);
	else if (next == CLAIM_MODIFY_BEGIN)
		begin_modification(item, claim, driver);
	else if (next == CLAIM_MODIFY_PEND)
		pend(item, claim);
	else if (next == CLAIM_MODIFY_FORGET)
		write_claim(item, claim, CLAIM_MODIFY_FORGOTTEN, NULL);
}

static bool sync_item(struct work_item *work)
{
	struct modify_item *item = (struct modify_item *) work;
	const struct object *claim = csi_claim_item_claim(&item->base, store_of(item));
	const struct persistent_volume *volume =
		claim ? csi_claim_volume(store_of(item), claim) : NULL;
	const struct csi_driver *driver =
		volume && volume->csi
			? csi_drivers_find(modifier_of(item)->options.drivers, volume->csi->driver)
			: NULL;

	if (driver && driver->capabilities_known)
		sync_claim(item, claim, volume, driver);
	return claim && claim_modify_concerns(claim->claim);
}

/* ---- watching ---- */

static int take_claim(const struct object *object, void *userdata)
{
	struct csi_modifier *modifier = userdata;

	return claim_modify_concerns(object->claim)
		       ? csi_claim_item_take(modifier->base.queues[0], object)
		       : 0;
}

static int take_change(const struct store_change *change, void *userdata)
{
	const struct object *object = change->object, *claim;
	struct csi_modifier *modifier = userdata;

	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM)
		return take_claim(object, modifier);
	if (object->kind == KIND_PERSISTENT_VOLUME) {
		claim = csi_volume_claim(modifier->options.common.store, object);
		return claim ? take_claim(claim, modifier) : 0;
	}
	work_queue_all_due(modifier->base.queues[0]);
	return 0;
}

/* ---- the row ---- */

const struct controller_class csi_modifier_class = {
	CONTROLLER_OF(csi_modifier),
	.what = "claims",
	.kinds = 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM |
		 1 << KIND_VOLUME_ATTRIBUTES_CLASS,
	.lists = { { KIND_PERSISTENT_VOLUME_CLAIM, take_claim } },
	.queues = { CSI_CLAIM_QUEUE(struct modify_item, sync_item) },
	.take_change = take_change,
	.end_item = csi_item_end_call,
	.call_at = offsetof(struct modify_item, base.call),
};
