/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_work - calls, writes and events of the CSI provisioner; see csi_provision_item.h
 *
 * Each leaves its item busy until the answer is there, which makes the item due. Nothing is decided
 * here.
 */
#include "controller/csi/csi_provision_item.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/controller.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>

struct csi_provisioner *provision_owner(const struct provision_item *item)
{
	return work_queue_userdata(item->work.queue);
}

void provision_report(struct provision_item *item, const struct object *about, const char *type,
		      const char *reason, const char *text)
{
	const struct csi_controller_options *options = &provision_owner(item)->options;

	if (!about || !work_item_is_news(&item->work, text))
		return;
	options->common.event_fn(options->common.userdata, about, type, reason, text);
}

const struct csi_driver *provision_driver(const struct provision_item *item, const char *name)
{
	const struct csi_driver *driver =
		csi_drivers_find(provision_owner(item)->options.drivers, name);

	return driver && driver->has_controller ? driver : NULL;
}

/* ---- writes ---- */

void provision_add_finalizer(struct provision_item *item, const struct object *object,
			     const char *name)
{
	work_item_edit(&item->work, object, metadata_add_finalizer, (void *) name);
}

void provision_remove_finalizer(struct provision_item *item, const struct object *object,
				const char *name)
{
	work_item_edit(&item->work, object, metadata_remove_finalizer, (void *) name);
}

void provision_remove_annotation(struct provision_item *item, const struct object *object,
				 const char *name)
{
	work_item_edit(&item->work, object, metadata_remove_annotation, (void *) name);
}

/* ---- calls ---- */

int provision_read_secret(const struct provision_item *item, const struct csi_secret_name *name,
			  struct csi_map *ret, struct failure *reterr)
{
	const struct csi_secret_reference reference = { name->name_space, name->name };

	return csi_controller_read_secret(provision_owner(item)->options.common.store, &reference,
					  ret, reterr);
}

void provision_note_room(const struct provision_item *item, const char *driver,
			 const struct csi_reply *reply)
{
	const struct csi_controller_options *options = &provision_owner(item)->options;

	if (reply->status.code == GRPC_OK || reply->status.code == GRPC_RESOURCE_EXHAUSTED)
		options->room_changed(options->room_userdata, driver);
}

void provision_failure_text(const struct csi_reply *reply, struct failure *ret)
{
	(void) failed_plain(ret, -EIO, "%s: %s", grpc_code_name(reply->status.code),
			    reply->status.text);
}

void provision_call(struct provision_item *item, const struct csi_call_request *what,
		    const struct object *about, const char *reason)
{
	const struct csi_controller_options *options = &provision_owner(item)->options;
	struct csi_call_request request = *what;
	struct failure why;

	assert(!item->call && !item->work.is_busy);
	request.timeout_usec = CSI_CONTROLLER_SECONDS * USEC_PER_SEC;
	request.userdata = item;
	if (csi_drivers_call(options->drivers, &request, &item->call, &why) == 0) {
		work_item_begin(&item->work);
		return;
	}
	provision_report(item, about, "Warning", reason, why.text);
	work_item_failed(&item->work);
}

/* Calls are cancelled before the queue goes, so that the item is still there. */
void provision_call_ended(struct provision_item *item)
{
	assert(item->call);
	item->call = NULL;
	(void) work_item_end(&item->work);
}

void provision_call_delete(struct provision_item *item, const char *driver, const char *handle,
			   struct csi_map *secrets, csi_done_fn *done)
{
	Csi__V1__DeleteVolumeRequest message = CSI__V1__DELETE_VOLUME_REQUEST__INIT;
	const struct csi_call_request request = {
		.driver = driver,
		.method = CSI_DELETE_VOLUME,
		.message = &message.base,
		.done = done,
	};

	message.volume_id = (char *) handle;
	if (CSI_MAP_FILL(secrets, &message, delete_volume, secrets) < 0)
		work_item_failed(&item->work);
	else
		provision_call(item, &request, NULL, "VolumeFailedDelete");
}
