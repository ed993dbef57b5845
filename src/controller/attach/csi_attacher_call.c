/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher_call - ControllerPublishVolume and ControllerUnpublishVolume; see csi_attacher.c
 *
 * A call has external-attacher's fifteen seconds: a driver that needs longer is asked again, and by
 * CSI goes on where it was.
 */
#include "controller/attach/csi_attacher_internal.h"

#include "base/cleanup.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_access.h"
#include "csi/csi_map.h"
#include "csi/csi_drivers.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define CALL_USEC (15ULL * 1000 * 1000)

/* ---- the node ---- */

static char *id_in_csi_node(const struct object *csi_node, const char *driver)
{
	cleanup_json struct cJSON *tree = csi_node ? object_tree(csi_node) : NULL;
	const struct cJSON *entry = json_find(json_get_path(tree, "spec.drivers"), "name", driver);

	return entry ? strdup(json_text(entry, "nodeID")) : NULL;
}

static char *id_in_node(const struct object *node, const char *driver)
{
	static const struct json_limits limits = { .bytes = 65536, .depth = 8 };
	cleanup_json struct cJSON *tree = node ? object_tree(node) : NULL, *ids = NULL;
	const struct cJSON *annotations = json_get_path(tree, "metadata.annotations");
	const char *text = json_text(annotations, "csi.volume.kubernetes.io/nodeid");
	const char *id;

	if (json_parse(text, strlen(text), &limits, &ids, NULL) < 0)
		return NULL;
	id = json_string(json_get(ids, driver), NULL);
	return id ? strdup(id) : NULL;
}

char *attacher_node_id(const struct csi_attacher *attacher, const struct volume_attachment *about)
{
	struct store *store = attacher->options.common.store;
	char *id = id_in_csi_node(store_get(store, KIND_CSI_NODE, "", about->node_name),
				  about->attacher);

	return id ?: id_in_node(store_get(store, KIND_NODE, "", about->node_name), about->attacher);
}

/* ---- calls ---- */

static void on_done(void *userdata, const struct csi_reply *reply)
{
	struct attacher_item *item = userdata;

	item->call = NULL;
	if (!work_item_end(&item->work))
		return;
	attacher_item_answered(item, reply);
}

static int call(struct attacher_item *item, enum csi_method method, const ProtobufCMessage *message,
		const struct csi_source *source, struct failure *reterr)
{
	cleanup_free char *about = csi_unique_name(source->driver, source->volume_handle);
	const struct csi_call_request request = {
		.driver = source->driver,
		.method = method,
		.message = message,
		.timeout_usec = CALL_USEC,
		.about = about,
		.done = on_done,
		.userdata = item,
	};
	int r = csi_drivers_call(attacher_of(item)->options.drivers, &request, &item->call, reterr);

	if (r < 0)
		return r;
	item->detaches = method == CSI_CONTROLLER_UNPUBLISH_VOLUME;
	work_item_begin(&item->work);
	return 0;
}

/* Of several modes the widest counts, as external-attacher has it. 0: they exclude each other. */
static enum access_mode mode_of(const struct persistent_volume *volume)
{
	unsigned int modes = volume->access_modes;

	if (modes & ACCESS_READ_WRITE_MANY)
		return ACCESS_READ_WRITE_MANY;
	if (modes & ACCESS_READ_ONLY_MANY)
		return modes & (ACCESS_READ_WRITE_ONCE | ACCESS_READ_WRITE_ONCE_POD)
			       ? 0
			       : ACCESS_READ_ONLY_MANY;
	return modes & ACCESS_READ_WRITE_ONCE ? ACCESS_READ_WRITE_ONCE : ACCESS_READ_WRITE_ONCE_POD;
}

int attacher_call_publish(struct attacher_item *item, const struct persistent_volume *volume,
			  const char *node_id, struct failure *reterr)
{
	Csi__V1__ControllerPublishVolumeRequest message =
		CSI__V1__CONTROLLER_PUBLISH_VOLUME_REQUEST__INIT;
	cleanup(csi_map_done) struct csi_map secrets = { 0 }, context = { 0 };
	const struct csi_source *source = volume->csi;
	const struct csi_driver *driver =
		csi_drivers_find(attacher_of(item)->options.drivers, source->driver);
	struct csi_capability use;
	int r;

	assert(driver && node_id);
	if (mode_of(volume) == 0)
		return failed_plain(
			reterr, -EINVAL,
			"CSI does not support ReadOnlyMany and ReadWriteOnce on the same "
			"PersistentVolume");
	csi_capability_of(
		&use, volume,
		csi_access_mode(mode_of(volume),
				csi_driver_can(driver, CSI_CAN_SINGLE_NODE_MULTI_WRITER)));
	message.volume_id = (char *) source->volume_handle;
	message.node_id = (char *) node_id;
	message.volume_capability = &use.capability;
	message.readonly = source->read_only && csi_driver_can(driver, CSI_CAN_PUBLISH_READONLY);
	r = csi_controller_read_secret(attacher_of(item)->options.common.store,
				       &source->controller_publish_secret, &secrets, reterr);
	if (r == 0)
		r = csi_map_add_labels(&context, &source->attributes);
	if (r == 0)
		r = CSI_MAP_FILL(&secrets, &message, controller_publish_volume, secrets);
	if (r == 0)
		r = CSI_MAP_FILL(&context, &message, controller_publish_volume, volume_context);
	if (r == -ENOMEM)
		return failed(reterr, r, "cannot call driver '%s'", source->driver);
	return r < 0 ? r : call(item, CSI_CONTROLLER_PUBLISH_VOLUME, &message.base, source, reterr);
}

int attacher_call_unpublish(struct attacher_item *item, const struct persistent_volume *volume,
			    const char *node_id, struct failure *reterr)
{
	Csi__V1__ControllerUnpublishVolumeRequest message =
		CSI__V1__CONTROLLER_UNPUBLISH_VOLUME_REQUEST__INIT;
	cleanup(csi_map_done) struct csi_map secrets = { 0 };
	int r = csi_controller_read_secret(attacher_of(item)->options.common.store,
					   &volume->csi->controller_publish_secret, &secrets,
					   reterr);

	assert(node_id);
	message.volume_id = (char *) volume->csi->volume_handle;
	message.node_id = (char *) node_id;
	if (r == 0)
		r = CSI_MAP_FILL(&secrets, &message, controller_unpublish_volume, secrets);
	if (r == -ENOMEM)
		return failed(reterr, r, "cannot call driver '%s'", volume->csi->driver);
	return r < 0 ? r
		     : call(item, CSI_CONTROLLER_UNPUBLISH_VOLUME, &message.base, volume->csi,
			    reterr);
}
