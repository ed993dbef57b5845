/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher_volume - takes the attacher's finalizer from volumes that are being deleted; see
 * csi_attacher.c
 */
#include "controller/attach/csi_attacher_internal.h"

#include "controller/controller.h"

/* False: nothing is to be done before something of it changes. */
static bool let_go(struct work_item *work, const struct object *volume)
{
	struct csi_attacher *attacher = work_queue_userdata(work->queue);
	cleanup_json struct cJSON *tree = object_tree(volume);
	char finalizer[ATTACHER_FINALIZER_BYTES];
	struct attacher_edit edit = {
		.finalizer = attacher_finalizer(volume->persistent_volume->csi->driver, finalizer),
	};

	if (!metadata_has_finalizer(tree, finalizer) ||
	    csi_controller_has_attachment(attacher->options.common.store, work->name))
		return false;
	work_item_edit(work, volume, metadata_remove_finalizer, (void *) edit.finalizer);
	return true;
}

bool attacher_volume_sync(struct work_item *work)
{
	struct csi_attacher *attacher = work_queue_userdata(work->queue);
	const struct object *volume =
		store_get(attacher->options.common.store, KIND_PERSISTENT_VOLUME, "", work->name);

	if (!volume || !volume->meta.deletes || !volume->persistent_volume->csi)
		return false;
	return work_item_backs_off(work) || let_go(work, volume);
}
