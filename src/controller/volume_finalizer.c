/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_finalizer - see controller.h
 */
#include "controller/controller.h"

#include "controller/work_queue.h"
#include "object/kinds/persistent_volume.h"

bool volume_finalizer_is_there(const struct object *volume)
{
	return object_has_finalizer(volume, FINALIZER_PROVISIONER);
}

bool volume_finalizer_keep(struct work_item *item, const struct persistent_volume *volume)
{
	bool has = volume_finalizer_is_there(volume->object);

	if (volume->reclaim_policy != RECLAIM_DELETE) {
		if (has)
			work_item_edit(item, volume->object, metadata_remove_finalizer,
				       (void *) FINALIZER_PROVISIONER);
		return has;
	}
	if (has || volume->object->meta.deletes || volume->phase != VOLUME_BOUND)
		return false;
	work_item_edit(item, volume->object, metadata_add_finalizer,
		       (void *) FINALIZER_PROVISIONER);
	return true;
}

void volume_finalizer_forget(struct work_item *item, const struct object *volume)
{
	if (!volume->meta.deletes)
		work_item_delete(item, volume);
	else if (volume_finalizer_is_there(volume))
		work_item_edit(item, volume, metadata_remove_finalizer,
			       (void *) FINALIZER_PROVISIONER);
}
