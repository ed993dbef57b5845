/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_storage - what kubectl shows of CSI drivers, attachments, capacities and snapshots
 */
#include "object/kinds.h"
#include "object/schema/table.h"

#include <stdio.h>
#include <string.h>

/* ---- CSI ---- */

/* The audiences, joined; a driver may ask for the default one by "". */
static void cell_driver_tokens(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct cJSON *list = json_get_path(source->tree, "spec.tokenRequests");
	size_t used = 0;

	(void) snprintf(text, TABLE_CELL_BYTES, "<unset>");
	for (const struct cJSON *item = json_first(list); item && used < TABLE_CELL_BYTES;
	     item = json_next(item))
		used += (size_t) snprintf(text + used, TABLE_CELL_BYTES - used, "%s%s",
					  item == json_first(list) ? "" : ",",
					  json_string(json_get(item, "audience"), ""));
}

const struct table_column csi_driver_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "AttachRequired", .path = "spec.attachRequired" },
	{ .name = "PodInfoOnMount", .path = "spec.podInfoOnMount" },
	{ .name = "StorageCapacity", .path = "spec.storageCapacity" },
	{ .name = "TokenRequests", .cell = cell_driver_tokens },
	{ .name = "RequiresRepublish", .path = "spec.requiresRepublish" },
	{ .name = "Modes",
	  .path = "spec.volumeLifecycleModes",
	  .type = CELL_STRINGS,
	  .when_absent = "<none>" },
	{ .name = "Age", .cell = cell_age },
	{ 0 },
};

const struct table_column csi_node_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "Drivers", .path = "spec.drivers", .type = CELL_COUNT },
	{ .name = "Age", .cell = cell_age },
	{ 0 },
};

const struct table_column csi_storage_capacity_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "StorageClassName", .path = "storageClassName" },
	{ .name = "Capacity", .path = "capacity", .when_absent = "<unset>" },
	{ 0 },
};

const struct table_column volume_attributes_class_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "DriverName", .path = "driverName" },
	{ .name = "Age", .cell = cell_age },
	{ 0 },
};

const struct table_column volume_attachment_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "Attacher", .path = "spec.attacher" },
	{ .name = "PV", .path = "spec.source.persistentVolumeName" },
	{ .name = "Node", .path = "spec.nodeName" },
	{ .name = "Attached", .path = "status.attached", .when_absent = "false" },
	{ .name = "Age", .cell = cell_age },
	{ 0 },
};

/* ---- snapshots: as their CustomResourceDefinitions say ---- */

const struct table_column volume_snapshot_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "ReadyToUse", .path = "status.readyToUse" },
	{ .name = "SourcePVC", .path = "spec.source.persistentVolumeClaimName" },
	{ .name = "SourceSnapshotContent", .path = "spec.source.volumeSnapshotContentName" },
	{ .name = "RestoreSize", .path = "status.restoreSize" },
	{ .name = "SnapshotClass", .path = "spec.volumeSnapshotClassName" },
	{ .name = "SnapshotContent", .path = "status.boundVolumeSnapshotContentName" },
	{ .name = "CreationTime", .path = "status.creationTime", .type = CELL_SINCE },
	{ .name = "Age", .cell = cell_age },
	{ 0 },
};

const struct table_column volume_snapshot_class_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "Driver", .path = "driver" },
	{ .name = "DeletionPolicy", .path = "deletionPolicy" },
	{ .name = "Age", .cell = cell_age },
	{ 0 },
};

const struct table_column volume_snapshot_content_columns[] = {
	{ .name = "Name", .cell = cell_name },
	{ .name = "ReadyToUse", .path = "status.readyToUse" },
	{ .name = "RestoreSize", .path = "status.restoreSize" },
	{ .name = "DeletionPolicy", .path = "spec.deletionPolicy" },
	{ .name = "Driver", .path = "spec.driver" },
	{ .name = "VolumeSnapshotClass", .path = "spec.volumeSnapshotClassName" },
	{ .name = "VolumeSnapshot", .path = "spec.volumeSnapshotRef.name" },
	{ .name = "VolumeSnapshotNamespace", .path = "spec.volumeSnapshotRef.namespace" },
	{ .name = "Age", .cell = cell_age },
	{ 0 },
};
