/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_controller - notifications to the CSI controllers, and how their calls end; see
 * csi_controller.h
 */
#include "controller/csi/csi_controller.h"

#include "object/kinds/volume_attachment.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

int csi_controller_new(const struct controller_class *class,
		       const struct csi_controller_options *options, struct controller **ret)
{
	assert(options->drivers && options->common.node_name);
	assert(class->options_bytes == sizeof(*options));
	return controller_new(class, options, ret);
}

void csi_controller_driver_changed(struct controller *controller, const char *driver)
{
	assert(driver);
	if (!controller)
		return;
	if (controller->class->driver_changed)
		controller->class->driver_changed(controller, driver);
	else
		controller_all_due(controller);
}

void csi_controller_resync(struct controller *controller)
{
	if (controller && controller->class->resync)
		controller->class->resync(controller);
}

void csi_controller_room_changed(struct controller *controller, const char *driver)
{
	assert(driver);
	if (controller && controller->class->room_changed)
		controller->class->room_changed(controller, driver);
}

int csi_controller_read_secret(struct store *store, const struct csi_secret_reference *reference,
			       struct csi_map *ret, struct failure *reterr)
{
	const struct object *secret;

	if (!reference->name[0])
		return 0;
	secret = store_get(store, KIND_SECRET, reference->name_space, reference->name);
	if (!secret)
		return failed_plain(reterr, -ENOKEY, "secret '%s/%s' not found",
				    reference->name_space, reference->name);
	return csi_map_add_secret(ret, secret, reterr);
}

static int is_attached(const struct object *attachment, void *volume_name)
{
	return strcmp(attachment->volume_attachment->volume_name, volume_name) == 0;
}

bool csi_controller_has_attachment(struct store *store, const char *volume_name)
{
	return store_list(store, KIND_VOLUME_ATTACHMENT, NULL, is_attached, (void *) volume_name) !=
	       0;
}

bool csi_controller_uses_volume(const struct csi_controller_options *options,
				const struct persistent_volume *volume)
{
	return options->common.is_in_use(options->common.userdata, volume) ||
	       csi_controller_has_attachment(options->common.store, volume->object->meta.name);
}

void csi_item_end_call(struct work_item *item)
{
	const struct controller *controller = work_queue_userdata(item->queue);
	struct csi_call **call = (void *) ((char *) item + controller->class->call_at);

	if (!*call)
		return;
	*call = csi_call_cancel(*call);
	(void) work_item_end(item);
}
