/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_message - messages to drivers; see csi_message.h
 */
#include "plugins/csi_message.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* A volume of a pod, and one that names no mode, is used as if it were ReadWriteOnce. */
static enum access_mode mode_of(const struct csi_volume *volume)
{
	const struct persistent_volume *pv = volume->pv ? volume->pv->persistent_volume : NULL;

	return pv && pv->access_modes != 0 ? pv->first_access_mode : ACCESS_READ_WRITE_ONCE;
}

static void fill_mount(struct csi_use *use, const struct csi_volume *volume, uint32_t capabilities)
{
	const struct pod *pod = volume->pod ? volume->pod->pod : NULL;

	use->use.mount.fs_type = (char *) volume->source->fs_type;
	use->use.mount.mount_flags = volume->mount_flags ?: (char **) volume->source->mount_flags;
	use->use.mount.n_mount_flags =
		volume->source->mount_flag_count + (volume->mount_flags ? 1 : 0);
	if (pod && pod->has_fs_group && capabilities & CSI_CAN(VOLUME_MOUNT_GROUP)) {
		(void) snprintf(use->group, sizeof(use->group), "%lu",
				(unsigned long) pod->fs_group);
		use->use.mount.volume_mount_group = use->group;
	}
}

static void csi_use_fill(struct csi_use *use, const struct csi_volume *volume,
			 uint32_t capabilities)
{
	assert(use && volume && volume->source);
	csi_capability_fill(
		&use->use, volume->block,
		csi_access_mode(mode_of(volume), capabilities & CSI_CAN(SINGLE_NODE_MULTI_WRITER)));
	fill_mount(use, volume, capabilities);
}

static int no_memory(struct csi_caller *caller, const struct csi_stage_end *end)
{
	end->report->error_class = ERROR_TRANSIENT;
	return failed(&end->report->failure, -ENOMEM, "cannot call driver '%s'", caller->driver);
}

/* Contexts and secrets of a stage or publish: each message has types of its own for them. Is there
 * memory? */
#define FILL_MAPS(contexts, message, request)                                                      \
	(CSI_MAP_FILL(&(contexts)->publish, message, request, publish_context) == 0 &&             \
	 CSI_MAP_FILL(&(contexts)->secrets, message, request, secrets) == 0 &&                     \
	 CSI_MAP_FILL(&(contexts)->volume, message, request, volume_context) == 0)

int csi_call_stage(struct csi_caller *caller, const struct csi_volume *volume,
		   struct csi_contexts *contexts, const char *staging_path,
		   const struct csi_stage_end *end)
{
	Csi__V1__NodeStageVolumeRequest message = CSI__V1__NODE_STAGE_VOLUME_REQUEST__INIT;
	struct csi_use use;

	assert(caller && volume && contexts && staging_path && end);
	csi_use_fill(&use, volume, caller->capabilities);
	message.volume_id = volume->handle;
	message.staging_target_path = (char *) staging_path;
	message.volume_capability = &use.use.capability;
	if (!FILL_MAPS(contexts, &message, node_stage_volume))
		return no_memory(caller, end);
	return csi_caller_call(caller, CSI_NODE_STAGE_VOLUME, &message.base, end, NULL, NULL);
}

int csi_call_publish(struct csi_caller *caller, const struct csi_volume *volume,
		     const struct csi_publish *request, const struct csi_stage_end *end,
		     int (*then)(void *data, const ProtobufCMessage *reply), void *data)
{
	Csi__V1__NodePublishVolumeRequest message = CSI__V1__NODE_PUBLISH_VOLUME_REQUEST__INIT;
	struct csi_contexts *contexts = request->contexts;
	struct csi_use use;

	assert(caller && volume && contexts && request->staging_path && end);
	csi_use_fill(&use, volume, caller->capabilities);
	message.volume_id = volume->handle;
	message.staging_target_path = (char *) request->staging_path;
	message.target_path = (char *) request->target_path;
	message.volume_capability = &use.use.capability;
	message.readonly = volume->read_only;
	if (!FILL_MAPS(contexts, &message, node_publish_volume))
		return no_memory(caller, end);
	return csi_caller_call(caller, CSI_NODE_PUBLISH_VOLUME, &message.base, end, then, data);
}

int csi_call_expand(struct csi_caller *caller, const struct csi_volume *volume,
		    const struct csi_publish *request)
{
	Csi__V1__NodeExpandVolumeRequest message = CSI__V1__NODE_EXPAND_VOLUME_REQUEST__INIT;
	Csi__V1__CapacityRange range = CSI__V1__CAPACITY_RANGE__INIT;
	struct csi_use use;

	assert(caller && volume->expand_bytes > 0 && request->contexts);
	csi_use_fill(&use, volume, caller->capabilities);
	range.required_bytes = volume->expand_bytes;
	message.volume_id = volume->handle;
	message.volume_path = (char *) request->target_path;
	message.capacity_range = &range;
	if (caller->capabilities & CSI_CAN(STAGE_UNSTAGE_VOLUME))
		message.staging_target_path = (char *) request->staging_path;
	message.volume_capability = &use.use.capability;
	if (CSI_MAP_FILL(&request->contexts->expand_secrets, &message, node_expand_volume,
			 secrets) < 0)
		return failed(&caller->report->failure, -ENOMEM, "cannot call driver '%s'",
			      caller->driver);
	return csi_caller_call(caller, CSI_NODE_EXPAND_VOLUME, &message.base, NULL, NULL, NULL);
}

int csi_call_unstage(struct csi_caller *caller, const char *handle, const char *staging_path,
		     const struct csi_stage_end *end)
{
	Csi__V1__NodeUnstageVolumeRequest message = CSI__V1__NODE_UNSTAGE_VOLUME_REQUEST__INIT;

	assert(caller && handle && staging_path);
	message.volume_id = (char *) handle;
	message.staging_target_path = (char *) staging_path;
	return csi_caller_call(caller, CSI_NODE_UNSTAGE_VOLUME, &message.base, end, NULL, NULL);
}

int csi_call_unpublish(struct csi_caller *caller, const char *handle, const char *target_path,
		       const struct csi_stage_end *end)
{
	Csi__V1__NodeUnpublishVolumeRequest message = CSI__V1__NODE_UNPUBLISH_VOLUME_REQUEST__INIT;

	assert(caller && handle && target_path && end);
	message.volume_id = (char *) handle;
	message.target_path = (char *) target_path;
	return csi_caller_call(caller, CSI_NODE_UNPUBLISH_VOLUME, &message.base, end, NULL, NULL);
}
