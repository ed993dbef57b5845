/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_storage - what kubectl shows of CSI drivers, attachments, capacities and snapshots
 */
#include "object/kinds.h"
#include "object/schema/table.h"

#include <stdio.h>

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
					  json_text(item, "audience"));
}

const struct table_column csi_driver_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("AttachRequired", "spec.attachRequired"),
	COLUMN_AT("PodInfoOnMount", "spec.podInfoOnMount"),
	COLUMN_AT("StorageCapacity", "spec.storageCapacity"),
	COLUMN_BY("TokenRequests", cell_driver_tokens),
	COLUMN_AT("RequiresRepublish", "spec.requiresRepublish"),
	COLUMN_AT("Modes", "spec.volumeLifecycleModes", ABSENT("<none>"), .type = CELL_STRINGS),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column csi_node_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Drivers", "spec.drivers", .type = CELL_COUNT),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column csi_storage_capacity_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("StorageClassName", "storageClassName"),
	COLUMN_AT("Capacity", "capacity", ABSENT("<unset>")),
	{ 0 },
};

const struct table_column volume_attributes_class_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("DriverName", "driverName"),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column volume_attachment_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Attacher", "spec.attacher"),
	COLUMN_AT("PV", "spec.source.persistentVolumeName"),
	COLUMN_AT("Node", "spec.nodeName"),
	COLUMN_AT("Attached", "status.attached", ABSENT("false")),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

/* ---- snapshots: as their CustomResourceDefinitions say ---- */

const struct table_column volume_snapshot_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("ReadyToUse", "status.readyToUse"),
	COLUMN_AT("SourcePVC", "spec.source.persistentVolumeClaimName"),
	COLUMN_AT("SourceSnapshotContent", "spec.source.volumeSnapshotContentName"),
	COLUMN_AT("RestoreSize", "status.restoreSize"),
	COLUMN_AT("SnapshotClass", "spec.volumeSnapshotClassName"),
	COLUMN_AT("SnapshotContent", "status.boundVolumeSnapshotContentName"),
	COLUMN_AT("CreationTime", "status.creationTime", .type = CELL_SINCE),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column volume_snapshot_class_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Driver", "driver"),
	COLUMN_AT("DeletionPolicy", "deletionPolicy"),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column volume_snapshot_content_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("ReadyToUse", "status.readyToUse"),
	COLUMN_AT("RestoreSize", "status.restoreSize"),
	COLUMN_AT("DeletionPolicy", "spec.deletionPolicy"),
	COLUMN_AT("Driver", "spec.driver"),
	COLUMN_AT("VolumeSnapshotClass", "spec.volumeSnapshotClassName"),
	COLUMN_AT("VolumeSnapshot", "spec.volumeSnapshotRef.name"),
	COLUMN_AT("VolumeSnapshotNamespace", "spec.volumeSnapshotRef.namespace"),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column volume_group_snapshot_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("ReadyToUse", "status.readyToUse"),
	COLUMN_AT("VolumeGroupSnapshotClass", "spec.volumeGroupSnapshotClassName"),
	COLUMN_AT("VolumeGroupSnapshotContent", "status.boundVolumeGroupSnapshotContentName"),
	COLUMN_AT("CreationTime", "status.creationTime", .type = CELL_SINCE),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column volume_group_snapshot_class_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Driver", "driver"),
	COLUMN_AT("DeletionPolicy", "deletionPolicy"),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column volume_group_snapshot_content_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("ReadyToUse", "status.readyToUse"),
	COLUMN_AT("DeletionPolicy", "spec.deletionPolicy"),
	COLUMN_AT("Driver", "spec.driver"),
	COLUMN_AT("VolumeGroupSnapshotClass", "spec.volumeGroupSnapshotClassName"),
	COLUMN_AT("VolumeGroupSnapshotNamespace", "spec.volumeGroupSnapshotRef.namespace"),
	COLUMN_AT("VolumeGroupSnapshot", "spec.volumeGroupSnapshotRef.name"),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};
