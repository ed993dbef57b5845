/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_columns - the columns of each node view
 *
 * Tables only: what a cell holds is view_cells.c's, the Table view_table.c's.
 */
#include "api/view_cells.h"

#include "base/cleanup.h"

/* The order is the one of tables and of describe; a column of its own stands for every member. */
static const struct view_column volume_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Kind", VIEW_ALWAYS, "plugin", view_format_kind },
	{ "State", VIEW_ALWAYS, "state", NULL },
	{ "Source", VIEW_ALWAYS, "source", NULL },
	{ "Age", VIEW_ALWAYS, "created", view_format_age },
	{ "Claim", VIEW_WIDE, "claim", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Path", VIEW_WIDE, "path", NULL },
	{ "Access", VIEW_WIDE, "readOnly", view_format_access },
	{ "Took", VIEW_WIDE, "tookMicroseconds", view_format_took },
	{ "Limit", VIEW_WIDE, "limitBytes", view_format_bytes },
	{ "Step", VIEW_WIDE, "step", NULL },
	{ "Why", VIEW_ALWAYS, "", view_format_why },
	{ "Plugin", VIEW_DETAIL, "plugin", NULL },
	{ "Stage", VIEW_DETAIL, "stage", NULL },
	{ "Since", VIEW_DETAIL, "since", view_format_age },
	{ "Error", VIEW_DETAIL, "error", NULL },
	{ "Failed At", VIEW_DETAIL, "failedAt", NULL },
	{ "Advice", VIEW_DETAIL, "advice", NULL },
	{ "Attempts", VIEW_DETAIL, "attempts", NULL },
	{ "Failing For", VIEW_DETAIL, "failingSince", view_format_age },
	{ "Next Retry", VIEW_DETAIL, "nextRetry", view_format_until },
	{ "Fault", VIEW_DETAIL, "fault", NULL },
	{ "Over Limit", VIEW_DETAIL, "overLimit", NULL },
	{ "Resize Error", VIEW_DETAIL, "resizeError", NULL },
	{ "Operation", VIEW_DETAIL, "operation", NULL },
	{ "Progress", VIEW_DETAIL, "progress", NULL },
	{ "Waits For", VIEW_DETAIL, "waitsFor", NULL },
	{ "Process", VIEW_DETAIL, "process", NULL },
	{ "Thread", VIEW_DETAIL, "thread", NULL },
	{ "Drift", VIEW_DETAIL, "drift", NULL },
	{ "Drift Since", VIEW_DETAIL, "driftSince", view_format_age },
	{ "Left Over", VIEW_DETAIL, "leftOver", NULL },
	{ "Enforced By", VIEW_DETAIL, "enforcedBy", NULL },
	{ "Device", VIEW_DETAIL, "device", NULL },
	{ "Device Mount Path", VIEW_DETAIL, "deviceMountPath", NULL },
	{ "Spec Name", VIEW_DETAIL, "specName", NULL },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
	{ "Wanted", VIEW_DETAIL, "wanted", view_format_yes },
	{ "Used By", VIEW_DETAIL, "users", view_format_users },
	{ "Last Calls", VIEW_DETAIL, "calls", view_format_calls },
};

static const struct view_column operation_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Step", VIEW_ALWAYS, "step", NULL },
	{ "Since", VIEW_ALWAYS, "since", view_format_age },
	{ "Attempts", VIEW_ALWAYS, "attempts", NULL },
	{ "Next Retry", VIEW_ALWAYS, "nextRetry", view_format_until },
	{ "State", VIEW_WIDE, "operation", NULL },
	{ "Stage", VIEW_WIDE, "stage", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Why", VIEW_ALWAYS, "", view_format_why },
	{ "Progress", VIEW_DETAIL, "progress", NULL },
	{ "Waits For", VIEW_DETAIL, "waitsFor", NULL },
	{ "Error", VIEW_DETAIL, "error", NULL },
	{ "Failing For", VIEW_DETAIL, "failingSince", view_format_age },
	{ "Running", VIEW_DETAIL, "running", view_format_yes },
	{ "Users", VIEW_DETAIL, "users", view_format_users },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
	{ "About", VIEW_DETAIL, "about", NULL },
};

static const struct view_column step_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Step", VIEW_ALWAYS, "step", NULL },
	{ "Age", VIEW_ALWAYS, "began", view_format_age },
	{ "Took", VIEW_ALWAYS, "tookMicroseconds", view_format_took },
	{ "Attempt", VIEW_WIDE, "attempt", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Stages", VIEW_WIDE, "stages", view_format_stages },
	{ "Why", VIEW_ALWAYS, "error", NULL },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
	{ "Began Microseconds", VIEW_DETAIL, "beganMicroseconds", NULL },
};

static const struct view_column manifest_columns[] = {
	{ "File", VIEW_ALWAYS, "file", NULL },
	{ "Line", VIEW_ALWAYS, "line", NULL },
	{ "Kind", VIEW_ALWAYS, "kind", NULL },
	{ "Namespace", VIEW_ALWAYS, "namespace", NULL },
	{ "Name", VIEW_ALWAYS, "name", NULL },
	{ "Since", VIEW_ALWAYS, "since", view_format_age },
	{ "Problem", VIEW_ALWAYS, "text", NULL },
};

static const struct view_column hold_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "ID", VIEW_ALWAYS, "id", NULL },
	{ "Container", VIEW_ALWAYS, "container", NULL },
	{ "Kind", VIEW_ALWAYS, "kind", NULL },
	{ "PID", VIEW_ALWAYS, "pid", NULL },
	{ "Process", VIEW_ALWAYS, "process", NULL },
	{ "Since", VIEW_ALWAYS, "since", view_format_age },
	{ "Cgroup", VIEW_WIDE, "cgroup", NULL },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
};

static const struct view_column applied_columns[] = {
	{ "Kind", VIEW_ALWAYS, "kind", NULL },     { "Namespace", VIEW_ALWAYS, "namespace", NULL },
	{ "Name", VIEW_ALWAYS, "name", NULL },     { "UID", VIEW_ALWAYS, "uid", NULL },
	{ "Result", VIEW_ALWAYS, "result", NULL }, { "Warning", VIEW_ALWAYS, "warning", NULL },
};

static const struct view_column statistics_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Capacity", VIEW_ALWAYS, "capacityBytes", view_format_bytes },
	{ "Used", VIEW_ALWAYS, "usedBytes", view_format_bytes },
	{ "Available", VIEW_ALWAYS, "availableBytes", view_format_bytes },
	{ "Inodes", VIEW_ALWAYS, "inodes", NULL },
	{ "Inodes Used", VIEW_ALWAYS, "inodesUsed", NULL },
	{ "Condition", VIEW_WIDE, "condition", NULL },
	{ "Claim", VIEW_WIDE, "claim", NULL },
	{ "Path", VIEW_WIDE, "path", NULL },
	{ "Plugin", VIEW_WIDE, "plugin", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Error", VIEW_ALWAYS, "error", NULL },
	{ "Inodes Free", VIEW_DETAIL, "inodesFree", NULL },
	{ "Block", VIEW_DETAIL, "block", view_format_yes },
	{ "Namespace", VIEW_DETAIL, "namespace", NULL },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
};

static const struct view_column driver_columns[] = {
	{ "Name", VIEW_ALWAYS, "name", NULL },
	{ "State", VIEW_ALWAYS, "state", NULL },
	{ "Since", VIEW_ALWAYS, "since", view_format_age },
	{ "Version", VIEW_ALWAYS, "version", NULL },
	{ "Node ID", VIEW_ALWAYS, "nodeID", NULL },
	{ "Volumes", VIEW_ALWAYS, "volumes", NULL },
	{ "Error", VIEW_ALWAYS, "error", NULL },
	{ "Socket", VIEW_WIDE, "socket", NULL },
	{ "Endpoint", VIEW_WIDE, "endpoint", NULL },
	{ "Max Volumes", VIEW_WIDE, "maxVolumes", NULL },
	{ "Topology", VIEW_WIDE, "topology", view_format_members },
	{ "Capabilities", VIEW_WIDE, "capabilities", view_format_members },
	{ "Next Retry", VIEW_DETAIL, "nextRetry", view_format_until },
	{ "In Tree", VIEW_DETAIL, "inTree", view_format_yes },
	{ "Device Mountable", VIEW_DETAIL, "deviceMountable", view_format_yes },
	{ "Block", VIEW_DETAIL, "block", view_format_yes },
	{ "Mount Options", VIEW_DETAIL, "mountOptions", view_format_yes },
	{ "Remounts", VIEW_DETAIL, "remounts", view_format_yes },
	{ "Reconstructed", VIEW_DETAIL, "reconstructed", view_format_yes },
};

static const struct view_column thread_columns[] = {
	{ "Pool", VIEW_ALWAYS, "pool", NULL },
	{ "Threads", VIEW_ALWAYS, "threads", NULL },
	{ "Threads Max", VIEW_ALWAYS, "threadsMax", NULL },
	{ "Running", VIEW_ALWAYS, "running", NULL },
	{ "Hanging", VIEW_ALWAYS, "hanging", NULL },
	{ "Waiting", VIEW_ALWAYS, "waiting", NULL },
	{ "All Hang", VIEW_ALWAYS, "allHang", view_format_yes },
};

static const struct view_column foreign_volume_columns[] = {
	{ "Kind", VIEW_ALWAYS, "kind", NULL },
	{ "Pod UID", VIEW_ALWAYS, "podUID", NULL },
	{ "Plugin", VIEW_ALWAYS, "plugin", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Mounted", VIEW_ALWAYS, "mounted", view_format_yes },
	{ "Driver", VIEW_ALWAYS, "driver", NULL },
	{ "Handle", VIEW_ALWAYS, "handle", NULL },
	{ "Why", VIEW_ALWAYS, "why", NULL },
};

static const struct view_column token_key_columns[] = {
	{ "ID", VIEW_ALWAYS, "id", NULL },
	{ "Signs", VIEW_ALWAYS, "signs", view_format_yes },
	{ "Age", VIEW_ALWAYS, "created", view_format_age },
	{ "Published Until", VIEW_ALWAYS, "publishedUntil", NULL },
};

static const struct view_column token_columns[] = {
	{ "Name", VIEW_ALWAYS, "name", NULL },
	{ "Role", VIEW_ALWAYS, "role", NULL },
	{ "Age", VIEW_ALWAYS, "created", view_format_age },
	{ "Expires", VIEW_ALWAYS, "expires", NULL },
};

static const struct view_column volume_event_columns[] = {
	{ "Last Seen", VIEW_ALWAYS, "time", view_format_age },
	{ "Type", VIEW_ALWAYS, "type", NULL },
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Took", VIEW_ALWAYS, "tookMicroseconds", view_format_took },
	{ "Error", VIEW_ALWAYS, "error", NULL },
	{ "Step", VIEW_WIDE, "step", NULL },
	{ "Attempt", VIEW_WIDE, "attempt", NULL },
	{ "Path", VIEW_WIDE, "path", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Sequence", VIEW_DETAIL, "sequence", NULL },
};

static const struct view_column version_columns[] = {
	{ "Component", VIEW_ALWAYS, "name", NULL },
	{ "Version", VIEW_ALWAYS, "value", NULL },
};

#define COLUMNS(array)                                                                             \
	{                                                                                          \
		array, ARRAY_SIZE(array)                                                           \
	}
const struct view_columns view_volume_columns = COLUMNS(volume_columns);
const struct view_columns view_operation_columns = COLUMNS(operation_columns);
const struct view_columns view_step_columns = COLUMNS(step_columns);
const struct view_columns view_manifest_columns = COLUMNS(manifest_columns);
const struct view_columns view_hold_columns = COLUMNS(hold_columns);
const struct view_columns view_applied_columns = COLUMNS(applied_columns);
const struct view_columns view_version_columns = COLUMNS(version_columns);
const struct view_columns view_statistics_columns = COLUMNS(statistics_columns);
const struct view_columns view_driver_columns = COLUMNS(driver_columns);
const struct view_columns view_thread_columns = COLUMNS(thread_columns);
const struct view_columns view_foreign_volume_columns = COLUMNS(foreign_volume_columns);
const struct view_columns view_volume_event_columns = COLUMNS(volume_event_columns);
const struct view_columns view_token_key_columns = COLUMNS(token_key_columns);
const struct view_columns view_token_columns = COLUMNS(token_columns);
