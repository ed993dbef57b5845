/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provisioner - has drivers make volumes for claims, and delete those whose claims were deleted
 *
 * What external-provisioner does. A volume has the claim's uid in its name, here and at the driver,
 * so that asking twice makes one. Before the first call for a claim the claim gets a finalizer, and
 * that comes off when the volume is stored, or when the driver answers with a final error: so a
 * kill at any moment, also of a claim that goes meanwhile, leaves no unknown volume behind. A final
 * error counts as "no volume" even after a call whose outcome is open: a driver that answers so
 * although it made the volume leaves one behind when the claim is deleted. Deleting is binding.h's
 * one rule. No file of its own: the store has it all.
 */
#include "controller/csi/csi_provision_item.h"

#include "base/log.h"
#include "controller/local/local_plan.h"
#include "object/kinds/volume_attachment.h"

#include <string.h>

/* ---- whose item is due ---- */

static int take_volume(const struct object *object, void *userdata)
{
	const struct persistent_volume *volume = object->persistent_volume;
	struct csi_provisioner *provisioner = userdata;

	if (!volume->csi || !volume->origin.provisioned_by[0])
		return 0;
	return work_queue_due(provisioner->base.queues[0], object->meta.name);
}

static int take_one_claim(struct csi_provisioner *provisioner, const struct object *claim)
{
	char name[CSI_VOLUME_NAME_BYTES];
	struct provision_item *item = (struct provision_item *) work_queue_item(
		provisioner->base.queues[0], csi_volume_name(claim, name));

	if (!item)
		return -ENOMEM;
	if (!item->claim_name) {
		free(item->claim_space);
		item->claim_space = strdup(claim->meta.name_space);
		item->claim_name = strdup(claim->meta.name);
	}
	work_item_due(&item->work);
	return 0;
}

/* What it is a clone of may be free of that now. */
static void take_source(struct csi_provisioner *provisioner, const struct object *claim)
{
	const struct data_source *source = &claim->claim->data_source;
	const struct object *object;

	if (source->kind != DATA_SOURCE_CLAIM || source->name_space[0])
		return;
	object = store_get(provisioner->options.common.store, KIND_PERSISTENT_VOLUME_CLAIM,
			   claim->meta.name_space, source->name);
	if (object && take_one_claim(provisioner, object) < 0)
		log_message(LOG_ERR, "out of memory: claim '%s' waits for its next change",
			    object->meta.name);
}

static int take_claim(const struct object *object, void *userdata)
{
	struct csi_provisioner *provisioner = userdata;
	const char *by = object->claim->storage_provisioner;

	take_source(provisioner, object);
	if ((!by[0] || local_is_provisioner(by)) && !strstr(object->json, FINALIZER_CLONING))
		return 0;
	return take_one_claim(provisioner, object);
}

static void wake_if_sourceless(struct work_item *work)
{
	if (((struct provision_item *) work)->waits_for_source)
		work_item_due(work);
}

static void wake_if_waiting(struct work_item *work)
{
	if (((struct provision_item *) work)->waits)
		work_item_due(work);
}

static void take_attachment(struct csi_provisioner *provisioner, const struct object *object)
{
	struct work_item *item = work_queue_find(provisioner->base.queues[0],
						 object->volume_attachment->volume_name);

	if (item)
		work_item_due(item);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct csi_provisioner *provisioner = userdata;
	const struct object *object = change->object;
	int r = 0;

	switch (object->kind) {
	case KIND_PERSISTENT_VOLUME:
		r = take_volume(object, provisioner);
		break;
	case KIND_PERSISTENT_VOLUME_CLAIM:
		r = take_claim(object, provisioner);
		work_queue_walk(provisioner->base.queues[0], wake_if_sourceless);
		break;
	case KIND_VOLUME_SNAPSHOT:
	case KIND_VOLUME_SNAPSHOT_CONTENT:
		work_queue_walk(provisioner->base.queues[0], wake_if_sourceless);
		break;
	case KIND_VOLUME_ATTACHMENT:
		if (change->type == STORE_DELETED)
			take_attachment(provisioner, object);
		break;
	case KIND_STORAGE_CLASS:
		work_queue_all_due(provisioner->base.queues[0]);
		break;
	default: /* what a Node reports of itself changes nothing here */
		if (change->type != STORE_MODIFIED || object->kind == KIND_SECRET)
			work_queue_all_due(provisioner->base.queues[0]);
	}
	return r;
}

static void resync(void *userdata)
{
	struct csi_provisioner *provisioner = userdata;

	if (!provisioner->has_waiting)
		return;
	provisioner->has_waiting = false;
	work_queue_walk(provisioner->base.queues[0], wake_if_waiting);
	controller_run(provisioner);
}

/* ---- the row ---- */

const struct controller_class csi_provisioner_class = {
	CONTROLLER_OF(csi_provisioner),
	.what = "claims",
	.kinds = 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM |
		 1 << KIND_STORAGE_CLASS | 1 << KIND_NODE | 1 << KIND_SECRET |
		 1 << KIND_VOLUME_ATTACHMENT | 1 << KIND_VOLUME_SNAPSHOT |
		 1 << KIND_VOLUME_SNAPSHOT_CONTENT | 1 << KIND_VOLUME_ATTRIBUTES_CLASS,
	.lists = { { KIND_PERSISTENT_VOLUME, take_volume },
		   { KIND_PERSISTENT_VOLUME_CLAIM, take_claim } },
	.queues = { { .what = "volume",
		      .item_bytes = sizeof(struct provision_item),
		      .busy_max = 100, /* external-provisioner's */
		      .sync = provision_item_sync,
		      .clear = provision_item_clear } },
	.take_change = take_change,
	.end_item = csi_item_end_call,
	.call_at = offsetof(struct provision_item, call),
	.resync = resync,
};
