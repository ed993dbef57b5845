/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provisioner - watch claims and volumes, and look at who is concerned; see csi_provisioner.h
 */
#include "controller/csi/csi_provision_item.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/local/local_plan.h"
#include "object/kinds/volume_attachment.h"

#include <assert.h>
#include <string.h>

/* external-provisioner's. */
enum { BUSY_MAX = 100 };
#define RETRY_FIRST_USEC USEC_PER_SEC
#define RETRY_MAX_USEC   (300 * USEC_PER_SEC)

enum {
	KINDS = 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM |
		1 << KIND_STORAGE_CLASS | 1 << KIND_NODE | 1 << KIND_SECRET |
		1 << KIND_VOLUME_ATTACHMENT | 1 << KIND_VOLUME_SNAPSHOT |
		1 << KIND_VOLUME_SNAPSHOT_CONTENT | 1 << KIND_VOLUME_ATTRIBUTES_CLASS,
};

/* ---- whose item is due ---- */

static int take_volume(const struct object *object, void *userdata)
{
	const struct persistent_volume *volume = object->persistent_volume;
	struct csi_provisioner *provisioner = userdata;
	struct work_item *item;

	if (!volume->csi || !volume->origin.provisioned_by[0])
		return 0;
	item = work_queue_item(provisioner->queue, object->meta.name);
	if (!item)
		return -ENOMEM;
	work_item_due(item);
	return 0;
}

static int take_one_claim(struct csi_provisioner *provisioner, const struct object *claim)
{
	char name[CSI_VOLUME_NAME_BYTES];
	struct provision_item *item = (struct provision_item *) work_queue_item(
		provisioner->queue, csi_volume_name(claim, name));

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
	object = store_get(provisioner->options.store, KIND_PERSISTENT_VOLUME_CLAIM,
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
	struct work_item *item =
		work_queue_find(provisioner->queue, object->volume_attachment->volume_name);

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
		work_queue_walk(provisioner->queue, wake_if_sourceless);
		break;
	case KIND_VOLUME_SNAPSHOT:
	case KIND_VOLUME_SNAPSHOT_CONTENT:
		work_queue_walk(provisioner->queue, wake_if_sourceless);
		break;
	case KIND_VOLUME_ATTACHMENT:
		if (change->type == STORE_DELETED)
			take_attachment(provisioner, object);
		break;
	case KIND_STORAGE_CLASS:
		work_queue_all_due(provisioner->queue);
		break;
	default: /* what a Node reports of itself changes nothing here */
		if (change->type != STORE_MODIFIED || object->kind == KIND_SECRET)
			work_queue_all_due(provisioner->queue);
	}
	return r;
}

/* ---- watching ---- */

static void begin(void *userdata)
{
	struct csi_provisioner *provisioner = userdata;

	work_queue_all_due(provisioner->queue);
}

static void act(void *userdata)
{
	struct csi_provisioner *provisioner = userdata;

	work_queue_run(provisioner->queue);
}

static int watch(struct csi_provisioner *provisioner)
{
	static const struct reflector_list lists[] = {
		{ KIND_PERSISTENT_VOLUME, take_volume },
		{ KIND_PERSISTENT_VOLUME_CLAIM, take_claim },
	};

	return reflector_new(&(struct reflector_options){ .event = provisioner->options.event,
							  .priority = provisioner->options.priority,
							  .store = provisioner->options.store,
							  .kinds = KINDS,
							  .lists = lists,
							  .list_count = ARRAY_SIZE(lists),
							  .what = "claims",
							  .begin = begin,
							  .take_change = take_change,
							  .act = act,
							  .userdata = provisioner },
			     &provisioner->reflector);
}

void csi_provisioner_driver_changed(struct csi_provisioner *provisioner, const char *driver)
{
	assert(driver);
	if (!provisioner)
		return;
	work_queue_all_due(provisioner->queue);
	work_queue_run(provisioner->queue);
}

void csi_provisioner_look_again(struct csi_provisioner *provisioner)
{
	if (!provisioner || !provisioner->has_waiting)
		return;
	provisioner->has_waiting = false;
	work_queue_walk(provisioner->queue, wake_if_waiting);
	work_queue_run(provisioner->queue);
}

/* ---- life ---- */

int csi_provisioner_new(const struct csi_controller_options *options, struct csi_provisioner **ret)
{
	struct csi_provisioner *provisioner = calloc(1, sizeof(*provisioner));
	const struct work_queue_options queue = {
		.event = options->event,
		.priority = options->priority,
		.item_bytes = sizeof(struct provision_item),
		.busy_max = BUSY_MAX,
		.retry_first_usec = RETRY_FIRST_USEC,
		.retry_max_usec = RETRY_MAX_USEC,
		.what = "volume",
		.look = provision_item_look,
		.clear = provision_item_clear,
		.userdata = provisioner,
	};
	int r;

	assert(options->store && options->drivers && options->node_name && ret);
	assert(options->event_fn && options->is_in_use && options->is_complete &&
	       options->room_changed);
	if (!provisioner)
		return -ENOMEM;
	provisioner->options = *options;
	r = work_queue_new(&queue, &provisioner->queue);
	if (r >= 0)
		r = watch(provisioner);
	if (r < 0) {
		(void) csi_provisioner_free(provisioner);
		return r;
	}
	*ret = provisioner;
	work_queue_run(provisioner->queue);
	return 0;
}

/* Nobody will answer it any more: not busy, so that it goes with the queue. */
static void end_call(struct work_item *work)
{
	struct provision_item *item = (struct provision_item *) work;

	if (!item->call)
		return;
	item->call = csi_call_cancel(item->call);
	(void) work_item_end(work);
}

struct csi_provisioner *csi_provisioner_free(struct csi_provisioner *provisioner)
{
	if (!provisioner)
		return NULL;
	(void) reflector_free(provisioner->reflector);
	if (provisioner->queue)
		work_queue_walk(provisioner->queue, end_call);
	(void) work_queue_free(provisioner->queue);
	free(provisioner);
	return NULL;
}
