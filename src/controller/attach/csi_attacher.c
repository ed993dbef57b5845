/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher - watches VolumeAttachments and what they need; see csi_attacher.h
 */
#include "controller/attach/csi_attacher_internal.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	KINDS = 1 << KIND_VOLUME_ATTACHMENT | 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_NODE |
		1 << KIND_CSI_NODE | 1 << KIND_SECRET,
	RETRY_FIRST_USEC = 1000000, /* external-attacher's */
	RETRY_MAX_USEC = 300 * 1000000,
};

/* ---- watching ---- */

static int make_due(struct work_queue *queue, const char *name)
{
	struct work_item *work = work_queue_item(queue, name);

	if (!work)
		return -ENOMEM;
	work_item_due(work);
	return 0;
}

static int take_attachment(const struct object *object, void *userdata)
{
	struct csi_attacher *attacher = userdata;

	return make_due(attacher->attachments, object->meta.name);
}

static int take_volume(const struct object *object, void *userdata)
{
	struct csi_attacher *attacher = userdata;

	if (!object->meta.deletes || !object->persistent_volume->csi)
		return 0;
	return make_due(attacher->volumes, object->meta.name);
}

static void make_waiting_due(struct work_item *work)
{
	if (!((struct attacher_item *) work)->is_waiting)
		return;
	work_item_succeeded(work);
	work_item_due(work);
}

static void stop_waiting(struct csi_attacher *attacher)
{
	if (attacher->has_waiting)
		work_queue_walk(attacher->attachments, make_waiting_due);
	attacher->has_waiting = false;
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct csi_attacher *attacher = userdata;
	const struct object *object = change->object;
	int r = 0;

	if (object->kind == KIND_VOLUME_ATTACHMENT) {
		r = take_attachment(object, attacher);
		if (r == 0 && change->type == STORE_DELETED)
			r = make_due(attacher->volumes, object->volume_attachment->volume_name);
		return r;
	}
	stop_waiting(attacher);
	return object->kind == KIND_PERSISTENT_VOLUME ? take_volume(object, attacher) : 0;
}

static void run(void *userdata)
{
	struct csi_attacher *attacher = userdata;

	work_queue_run(attacher->attachments);
	work_queue_run(attacher->volumes);
}

static void begin(void *userdata)
{
	struct csi_attacher *attacher = userdata;

	work_queue_all_due(attacher->attachments);
}

static int watch(struct csi_attacher *attacher)
{
	static const struct reflector_list lists[] = {
		{ KIND_VOLUME_ATTACHMENT, take_attachment },
		{ KIND_PERSISTENT_VOLUME, take_volume },
	};

	return reflector_new(&(struct reflector_options){ .event = attacher->options.event,
							  .priority = attacher->options.priority,
							  .store = attacher->options.store,
							  .kinds = KINDS,
							  .lists = lists,
							  .list_count = ARRAY_SIZE(lists),
							  .what = "VolumeAttachments",
							  .begin = begin,
							  .take_change = take_change,
							  .act = run,
							  .userdata = attacher },
			     &attacher->reflector);
}

static void make_all_due(struct work_item *work)
{
	work_item_due(work);
}

void csi_attacher_driver_changed(struct csi_attacher *attacher, const char *driver)
{
	(void) driver; /* the others find that nothing of theirs changed */
	work_queue_walk(attacher->attachments, make_all_due);
	run(attacher);
}

void csi_attacher_look_again(struct csi_attacher *attacher)
{
	stop_waiting(attacher);
	run(attacher);
}

/* ---- life ---- */

static int make_queues(struct csi_attacher *attacher)
{
	struct work_queue_options queue = {
		.event = attacher->options.event,
		.priority = attacher->options.priority,
		.item_bytes = sizeof(struct attacher_item),
		.retry_first_usec = RETRY_FIRST_USEC,
		.retry_max_usec = RETRY_MAX_USEC,
		.what = "VolumeAttachment",
		.look = attacher_item_look,
		.userdata = attacher,
	};
	int r = work_queue_new(&queue, &attacher->attachments);

	queue.item_bytes = sizeof(struct work_item);
	queue.what = "volume";
	queue.look = attacher_volume_look;
	return r < 0 ? r : work_queue_new(&queue, &attacher->volumes);
}

int csi_attacher_new(const struct csi_controller_options *options, struct csi_attacher **ret)
{
	struct csi_attacher *attacher = calloc(1, sizeof(*attacher));
	int r;

	assert(options->event && options->store && options->drivers && ret);
	if (!attacher)
		return -ENOMEM;
	attacher->options = *options;
	r = make_queues(attacher);
	if (r >= 0)
		r = watch(attacher);
	if (r < 0) {
		(void) csi_attacher_free(attacher);
		return r;
	}
	*ret = attacher;
	run(attacher);
	return 0;
}

static void break_off(struct work_item *work)
{
	struct attacher_item *item = (struct attacher_item *) work;

	if (!item->call)
		return;
	item->call = csi_call_cancel(item->call);
	(void) work_item_end(work);
}

struct csi_attacher *csi_attacher_free(struct csi_attacher *attacher)
{
	if (!attacher)
		return NULL;
	(void) reflector_free(attacher->reflector);
	if (attacher->attachments)
		work_queue_walk(attacher->attachments, break_off);
	(void) work_queue_free(attacher->attachments);
	(void) work_queue_free(attacher->volumes);
	free(attacher);
	return NULL;
}
