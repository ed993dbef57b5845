/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_method - every RPC that podvold can make, as a row
 *
 * Paths and types are written out rather than taken from protobuf-c's service descriptors at run
 * time: a row is then a constant, and a test compares each one with the descriptor.
 */
#include "csi/csi_call.h"

#include "csi/csi.pb-c.h"
#include "csi/plugin_registration.pb-c.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define ROW(service, method, request_type, reply_type, asks)                                       \
	{                                                                                          \
		.path = "/" service "/" method, .name = method,                                    \
		.request = &request_type##__descriptor, .reply = &reply_type##__descriptor,        \
		.is_read_only_call = asks,                                                         \
	}
#define CSI_ROW(service, method, type, asks)                                                       \
	ROW("csi.v1." service, method, csi__v1__##type##_request, csi__v1__##type##_response, asks)

static const struct csi_method_row rows[CSI_METHOD_COUNT] = {
	[CSI_GET_PLUGIN_INFO] = CSI_ROW("Identity", "GetPluginInfo", get_plugin_info, true),
	[CSI_GET_PLUGIN_CAPABILITIES] =
		CSI_ROW("Identity", "GetPluginCapabilities", get_plugin_capabilities, true),
	[CSI_PROBE] = CSI_ROW("Identity", "Probe", probe, true),
	[CSI_NODE_STAGE_VOLUME] = CSI_ROW("Node", "NodeStageVolume", node_stage_volume, false),
	[CSI_NODE_UNSTAGE_VOLUME] =
		CSI_ROW("Node", "NodeUnstageVolume", node_unstage_volume, false),
	[CSI_NODE_PUBLISH_VOLUME] =
		CSI_ROW("Node", "NodePublishVolume", node_publish_volume, false),
	[CSI_NODE_UNPUBLISH_VOLUME] =
		CSI_ROW("Node", "NodeUnpublishVolume", node_unpublish_volume, false),
	[CSI_NODE_GET_VOLUME_STATS] =
		CSI_ROW("Node", "NodeGetVolumeStats", node_get_volume_stats, true),
	[CSI_NODE_EXPAND_VOLUME] = CSI_ROW("Node", "NodeExpandVolume", node_expand_volume, false),
	[CSI_NODE_GET_CAPABILITIES] =
		CSI_ROW("Node", "NodeGetCapabilities", node_get_capabilities, true),
	[CSI_NODE_GET_INFO] = CSI_ROW("Node", "NodeGetInfo", node_get_info, true),
	[CSI_CREATE_VOLUME] = CSI_ROW("Controller", "CreateVolume", create_volume, false),
	[CSI_DELETE_VOLUME] = CSI_ROW("Controller", "DeleteVolume", delete_volume, false),
	[CSI_CONTROLLER_PUBLISH_VOLUME] =
		CSI_ROW("Controller", "ControllerPublishVolume", controller_publish_volume, false),
	[CSI_CONTROLLER_UNPUBLISH_VOLUME] = CSI_ROW("Controller", "ControllerUnpublishVolume",
						    controller_unpublish_volume, false),
	[CSI_VALIDATE_VOLUME_CAPABILITIES] = CSI_ROW("Controller", "ValidateVolumeCapabilities",
						     validate_volume_capabilities, true),
	[CSI_LIST_VOLUMES] = CSI_ROW("Controller", "ListVolumes", list_volumes, true),
	[CSI_GET_CAPACITY] = CSI_ROW("Controller", "GetCapacity", get_capacity, true),
	[CSI_CONTROLLER_GET_CAPABILITIES] = CSI_ROW("Controller", "ControllerGetCapabilities",
						    controller_get_capabilities, true),
	[CSI_CREATE_SNAPSHOT] = CSI_ROW("Controller", "CreateSnapshot", create_snapshot, false),
	[CSI_DELETE_SNAPSHOT] = CSI_ROW("Controller", "DeleteSnapshot", delete_snapshot, false),
	[CSI_LIST_SNAPSHOTS] = CSI_ROW("Controller", "ListSnapshots", list_snapshots, true),
	[CSI_GET_SNAPSHOT] = CSI_ROW("Controller", "GetSnapshot", get_snapshot, true),
	[CSI_CONTROLLER_EXPAND_VOLUME] =
		CSI_ROW("Controller", "ControllerExpandVolume", controller_expand_volume, false),
	[CSI_CONTROLLER_GET_VOLUME] =
		CSI_ROW("Controller", "ControllerGetVolume", controller_get_volume, true),
	[CSI_CONTROLLER_MODIFY_VOLUME] =
		CSI_ROW("Controller", "ControllerModifyVolume", controller_modify_volume, false),
	[CSI_GROUP_CONTROLLER_GET_CAPABILITIES] =
		CSI_ROW("GroupController", "GroupControllerGetCapabilities",
			group_controller_get_capabilities, true),
	[CSI_CREATE_VOLUME_GROUP_SNAPSHOT] = CSI_ROW("GroupController", "CreateVolumeGroupSnapshot",
						     create_volume_group_snapshot, false),
	[CSI_DELETE_VOLUME_GROUP_SNAPSHOT] = CSI_ROW("GroupController", "DeleteVolumeGroupSnapshot",
						     delete_volume_group_snapshot, false),
	[CSI_GET_VOLUME_GROUP_SNAPSHOT] = CSI_ROW("GroupController", "GetVolumeGroupSnapshot",
						  get_volume_group_snapshot, true),
	[REGISTRATION_GET_INFO] =
		ROW("pluginregistration.Registration", "GetInfo", pluginregistration__info_request,
		    pluginregistration__plugin_info, true),
	[REGISTRATION_NOTIFY_STATUS] =
		ROW("pluginregistration.Registration", "NotifyRegistrationStatus",
		    pluginregistration__registration_status,
		    pluginregistration__registration_status_response, false),
};

const struct csi_method_row *csi_method_row(enum csi_method method)
{
	assert(method < CSI_METHOD_COUNT);
	return &rows[method];
}

int csi_method_by_name(const char *name, enum csi_method *ret)
{
	assert(name && ret);

	for (enum csi_method method = 0; method < CSI_METHOD_COUNT; method++) {
		if (strcmp(name, rows[method].name) != 0 && strcmp(name, rows[method].path) != 0)
			continue;
		*ret = method;
		return 0;
	}
	return -ENOENT;
}
