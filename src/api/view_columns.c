/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_columns - the columns of each node view
 *
 * Tables only: what a cell holds is view_cells.c's, the Table view_table.c's.
 */
#include "api/view_cells.h"

#include "base/cleanup.h"
#include "object/schema/schema_rows.h"

#define COLUMN(NAME, PRIORITY, KEY, FORMAT, TYPE, OF)                                              \
	{                                                                                          \
		NAME, PRIORITY, KEY, FORMAT, SCHEMA_##TYPE, OF                                     \
	}
#define TEXT(NAME, PRIORITY, KEY)   COLUMN(NAME, PRIORITY, KEY, NULL, STRING, NULL)
#define NUMBER(NAME, PRIORITY, KEY) COLUMN(NAME, PRIORITY, KEY, NULL, INTEGER, NULL)
#define AGE(NAME, PRIORITY, KEY)    COLUMN(NAME, PRIORITY, KEY, view_format_age, MICRO_TIME, NULL)
#define UNTIL(NAME, PRIORITY, KEY)  COLUMN(NAME, PRIORITY, KEY, view_format_until, MICRO_TIME, NULL)
#define SIZE(NAME, PRIORITY, KEY)   COLUMN(NAME, PRIORITY, KEY, view_format_bytes, INTEGER, NULL)
#define TOOK(NAME, PRIORITY, KEY)   COLUMN(NAME, PRIORITY, KEY, view_format_took, INTEGER, NULL)
#define YES(NAME, PRIORITY, KEY)    COLUMN(NAME, PRIORITY, KEY, view_format_yes, BOOL, NULL)
/* No table shows it. */
#define MEMBER(KEY, TYPE, OF) COLUMN(NULL, VIEW_DETAIL, KEY, NULL, TYPE, OF)

/* clang-format off */
const struct schema view_user_schema = SCHEMA_OF(PODVOL_PACKAGE, "VolumeUser",
	"What uses a volume.",
	STRING("kind", 0, "open file, mapped file, mount, mount elsewhere, ..."),
	INTEGER("pid", 0, "The process; absent when it is the kernel itself."),
	INTEGER("uid", 0, "Of the process, real."),
	STRING("command", 0, "Its name; of a loop device or mount the name or type."),
	STRING("name", 0, "The file within the volume; where it is mounted elsewhere."),
	INTEGER("count", 0, "How many of this kind in that process."),
	STRING("mountNamespace", 0, "When it is another one than podvold's."),
	STRING("text", 0, "All of that."),
);

static const struct schema users_schema = SCHEMA_OF(PODVOL_PACKAGE, "VolumeUsers",
	"What the last search for users of a busy volume found.",
	INTEGER("total", 0, "How many there are."),
	OBJECTS(view_user_schema, "items", 0, "The first 32."),
);

static const struct schema call_schema = SCHEMA_OF(PODVOL_PACKAGE, "LoggedCall",
	"One of the last calls to a driver.",
	STRING("method", 0, "As NodeStageVolume."),
	TIME("began", 0, "When."),
	INTEGER("beganMonotonic", 0, "The same in microseconds of the monotonic clock."),
	BOOL("running", 0, "It has not returned."),
	INTEGER("tookMicroseconds", 0, "How long it took."),
	STRING("code", 0, "The status code of gRPC."),
	STRING("text", 0, "The driver's message."),
);

static const struct schema stage_schema = SCHEMA_OF(PODVOL_PACKAGE, "StepStage",
	"A part of a step.",
	STRING("name", 0, "What was done."),
	INTEGER("afterMicroseconds", 0, "When it began, since the step did."),
	INTEGER("tookMicroseconds", 0, "How long it took."),
);
/* clang-format on */

/* The order is the one of tables and of describe; a column of its own stands for every member. */
static const struct view_column volume_columns[] = {
	TEXT("Pod", VIEW_ALWAYS, "pod"),
	TEXT("Volume", VIEW_ALWAYS, "volume"),
	COLUMN("Kind", VIEW_ALWAYS, "plugin", view_format_kind, STRING, NULL),
	TEXT("State", VIEW_ALWAYS, "state"),
	TEXT("Source", VIEW_ALWAYS, "source"),
	AGE("Age", VIEW_ALWAYS, "created"),
	TEXT("Claim", VIEW_WIDE, "claim"),
	TEXT("Unique Name", VIEW_WIDE, "uniqueName"),
	TEXT("Path", VIEW_WIDE, "path"),
	COLUMN("Access", VIEW_WIDE, "readOnly", view_format_access, BOOL, NULL),
	TOOK("Took", VIEW_WIDE, "tookMicroseconds"),
	SIZE("Limit", VIEW_WIDE, "limitBytes"),
	TEXT("Step", VIEW_WIDE, "step"),
	COLUMN("Why", VIEW_ALWAYS, "", view_format_why, STRING, NULL),
	TEXT("Plugin", VIEW_DETAIL, "plugin"),
	TEXT("Stage", VIEW_DETAIL, "stage"),
	AGE("Since", VIEW_DETAIL, "since"),
	TEXT("Error", VIEW_DETAIL, "error"),
	TEXT("Failed At", VIEW_DETAIL, "failedAt"),
	TEXT("Advice", VIEW_DETAIL, "advice"),
	COLUMN("Attempts", VIEW_DETAIL, "attempts", view_format_attempts, INTEGER, NULL),
	AGE("Failing For", VIEW_DETAIL, "failingSince"),
	COLUMN("Next Retry", VIEW_DETAIL, "nextRetry", view_format_next, MICRO_TIME, NULL),
	TEXT("Fault", VIEW_DETAIL, "fault"),
	TEXT("Over Limit", VIEW_DETAIL, "overLimit"),
	SIZE("Used", VIEW_DETAIL, "usedBytes"),
	NUMBER("Inodes Used", VIEW_DETAIL, "inodesUsed"),
	AGE("Counted", VIEW_DETAIL, "countedAt"),
	TEXT("Resize Error", VIEW_DETAIL, "resizeError"),
	TEXT("Operation", VIEW_DETAIL, "operation"),
	TEXT("Progress", VIEW_DETAIL, "progress"),
	TEXT("Waits For", VIEW_DETAIL, "waitsFor"),
	NUMBER("Process", VIEW_DETAIL, "process"),
	NUMBER("Thread", VIEW_DETAIL, "thread"),
	TEXT("Drift", VIEW_DETAIL, "drift"),
	AGE("Drift Since", VIEW_DETAIL, "driftSince"),
	TEXT("Left Over", VIEW_DETAIL, "leftOver"),
	TEXT("Enforced By", VIEW_DETAIL, "enforcedBy"),
	TEXT("Device", VIEW_DETAIL, "device"),
	TEXT("Device Mount Path", VIEW_DETAIL, "deviceMountPath"),
	TEXT("Spec Name", VIEW_DETAIL, "specName"),
	TEXT("Pod UID", VIEW_DETAIL, "podUID"),
	YES("Wanted", VIEW_DETAIL, "wanted"),
	COLUMN("Used By", VIEW_DETAIL, "users", view_format_users, OBJECT, &users_schema),
	COLUMN("Last Calls", VIEW_DETAIL, "calls", view_format_calls, OBJECTS, &call_schema),
};

static const struct view_column operation_columns[] = {
	TEXT("Pod", VIEW_ALWAYS, "pod"),
	TEXT("Volume", VIEW_ALWAYS, "volume"),
	TEXT("Step", VIEW_ALWAYS, "step"),
	AGE("Since", VIEW_ALWAYS, "since"),
	COLUMN("Attempts", VIEW_ALWAYS, "attempts", view_format_attempts, INTEGER, NULL),
	COLUMN("Next Retry", VIEW_ALWAYS, "nextRetry", view_format_next, MICRO_TIME, NULL),
	TEXT("State", VIEW_WIDE, "operation"),
	TEXT("Stage", VIEW_WIDE, "stage"),
	TEXT("Unique Name", VIEW_WIDE, "uniqueName"),
	COLUMN("Why", VIEW_ALWAYS, "", view_format_why, STRING, NULL),
	TEXT("Progress", VIEW_DETAIL, "progress"),
	TEXT("Waits For", VIEW_DETAIL, "waitsFor"),
	TEXT("Error", VIEW_DETAIL, "error"),
	AGE("Failing For", VIEW_DETAIL, "failingSince"),
	YES("Running", VIEW_DETAIL, "running"),
	COLUMN("Users", VIEW_DETAIL, "users", view_format_users, OBJECT, &users_schema),
	TEXT("Pod UID", VIEW_DETAIL, "podUID"),
	TEXT("About", VIEW_DETAIL, "about"),
	MEMBER("process", INTEGER, NULL),
	MEMBER("thread", INTEGER, NULL),
};

static const struct view_column step_columns[] = {
	TEXT("Pod", VIEW_ALWAYS, "pod"),
	TEXT("Volume", VIEW_ALWAYS, "volume"),
	TEXT("Step", VIEW_ALWAYS, "step"),
	AGE("Age", VIEW_ALWAYS, "began"),
	TOOK("Took", VIEW_ALWAYS, "tookMicroseconds"),
	NUMBER("Attempt", VIEW_WIDE, "attempt"),
	TEXT("Unique Name", VIEW_WIDE, "uniqueName"),
	COLUMN("Stages", VIEW_WIDE, "stages", view_format_stages, OBJECTS, &stage_schema),
	TEXT("Why", VIEW_ALWAYS, "error"),
	TEXT("Pod UID", VIEW_DETAIL, "podUID"),
	NUMBER("Began Microseconds", VIEW_DETAIL, "beganMicroseconds"),
	MEMBER("beganMonotonic", INTEGER, NULL),
};

static const struct view_column manifest_columns[] = {
	TEXT("File", VIEW_ALWAYS, "file"),    NUMBER("Line", VIEW_ALWAYS, "line"),
	TEXT("Kind", VIEW_ALWAYS, "kind"),    TEXT("Namespace", VIEW_ALWAYS, "namespace"),
	TEXT("Name", VIEW_ALWAYS, "name"),    AGE("Since", VIEW_ALWAYS, "since"),
	TEXT("Problem", VIEW_ALWAYS, "text"),
};

static const struct view_column hold_columns[] = {
	TEXT("Pod", VIEW_ALWAYS, "pod"),
	TEXT("ID", VIEW_ALWAYS, "id"),
	TEXT("Container", VIEW_ALWAYS, "container"),
	TEXT("Kind", VIEW_ALWAYS, "kind"),
	NUMBER("PID", VIEW_ALWAYS, "pid"),
	TEXT("Process", VIEW_ALWAYS, "process"),
	AGE("Since", VIEW_ALWAYS, "since"),
	TEXT("Cgroup", VIEW_WIDE, "cgroup"),
	TEXT("Pod UID", VIEW_DETAIL, "podUID"),
	MEMBER("watched", BOOL, NULL),
};

static const struct view_column applied_columns[] = {
	TEXT("Kind", VIEW_ALWAYS, "kind"),     TEXT("Namespace", VIEW_ALWAYS, "namespace"),
	TEXT("Name", VIEW_ALWAYS, "name"),     TEXT("UID", VIEW_ALWAYS, "uid"),
	TEXT("Result", VIEW_ALWAYS, "result"), TEXT("Warning", VIEW_ALWAYS, "warning"),
};

static const struct view_column statistics_columns[] = {
	TEXT("Pod", VIEW_ALWAYS, "pod"),
	TEXT("Volume", VIEW_ALWAYS, "volume"),
	SIZE("Capacity", VIEW_ALWAYS, "capacityBytes"),
	COLUMN("Used", VIEW_ALWAYS, "usedBytes", view_format_used, INTEGER, NULL),
	SIZE("Available", VIEW_ALWAYS, "availableBytes"),
	NUMBER("Inodes", VIEW_WIDE, "inodes"),
	NUMBER("Inodes Used", VIEW_WIDE, "inodesUsed"),
	AGE("Counted", VIEW_ALWAYS, "countedAt"),
	TEXT("Condition", VIEW_WIDE, "condition"),
	TEXT("Claim", VIEW_WIDE, "claim"),
	TEXT("Path", VIEW_WIDE, "path"),
	TEXT("Plugin", VIEW_WIDE, "plugin"),
	TEXT("Unique Name", VIEW_WIDE, "uniqueName"),
	TEXT("Error", VIEW_ALWAYS, "error"),
	NUMBER("Inodes Free", VIEW_DETAIL, "inodesFree"),
	YES("Block", VIEW_DETAIL, "block"),
	TEXT("Namespace", VIEW_DETAIL, "namespace"),
	TEXT("Pod UID", VIEW_DETAIL, "podUID"),
	MEMBER("abnormal", BOOL, NULL),
	MEMBER("usedIsMore", BOOL, NULL),
};

static const struct view_column driver_columns[] = {
	TEXT("Name", VIEW_ALWAYS, "name"),
	TEXT("State", VIEW_ALWAYS, "state"),
	AGE("Since", VIEW_ALWAYS, "since"),
	TEXT("Version", VIEW_ALWAYS, "version"),
	TEXT("Node ID", VIEW_ALWAYS, "nodeID"),
	NUMBER("Volumes", VIEW_ALWAYS, "volumes"),
	TEXT("Error", VIEW_ALWAYS, "error"),
	TEXT("Socket", VIEW_WIDE, "socket"),
	TEXT("Endpoint", VIEW_WIDE, "endpoint"),
	NUMBER("Max Volumes", VIEW_WIDE, "maxVolumes"),
	COLUMN("Topology", VIEW_WIDE, "topology", view_format_members, STRING_MAP, NULL),
	COLUMN("Capabilities", VIEW_WIDE, "capabilities", view_format_members, STRINGS, NULL),
	UNTIL("Next Retry", VIEW_DETAIL, "nextRetry"),
	YES("In Tree", VIEW_DETAIL, "inTree"),
	YES("Device Mountable", VIEW_DETAIL, "deviceMountable"),
	YES("Block", VIEW_DETAIL, "block"),
	YES("Mount Options", VIEW_DETAIL, "mountOptions"),
	YES("Remounts", VIEW_DETAIL, "remounts"),
	YES("Reconstructed", VIEW_DETAIL, "reconstructed"),
	MEMBER("controllerCapabilities", STRINGS, NULL),
	MEMBER("calls", OBJECTS, &call_schema),
};

static const struct view_column thread_columns[] = {
	TEXT("Pool", VIEW_ALWAYS, "pool"),
	NUMBER("Threads", VIEW_ALWAYS, "threads"),
	NUMBER("Threads Max", VIEW_ALWAYS, "threadsMax"),
	NUMBER("Running", VIEW_ALWAYS, "running"),
	NUMBER("Hanging", VIEW_ALWAYS, "hanging"),
	NUMBER("Waiting", VIEW_ALWAYS, "waiting"),
	YES("All Hang", VIEW_ALWAYS, "allHang"),
};

static const struct view_column foreign_volume_columns[] = {
	TEXT("Kind", VIEW_ALWAYS, "kind"),      TEXT("Pod UID", VIEW_ALWAYS, "podUID"),
	TEXT("Plugin", VIEW_ALWAYS, "plugin"),  TEXT("Volume", VIEW_ALWAYS, "volume"),
	YES("Mounted", VIEW_ALWAYS, "mounted"), TEXT("Driver", VIEW_ALWAYS, "driver"),
	TEXT("Handle", VIEW_ALWAYS, "handle"),  TEXT("Why", VIEW_ALWAYS, "why"),
};

static const struct view_column token_key_columns[] = {
	TEXT("ID", VIEW_ALWAYS, "id"),
	YES("Signs", VIEW_ALWAYS, "signs"),
	AGE("Age", VIEW_ALWAYS, "created"),
	TEXT("Published Until", VIEW_ALWAYS, "publishedUntil"),
};

static const struct view_column token_columns[] = {
	TEXT("Name", VIEW_ALWAYS, "name"),
	TEXT("Role", VIEW_ALWAYS, "role"),
	AGE("Age", VIEW_ALWAYS, "created"),
	TEXT("Expires", VIEW_ALWAYS, "expires"),
};

static const struct view_column volume_event_columns[] = {
	AGE("Last Seen", VIEW_ALWAYS, "time"),
	TEXT("Type", VIEW_ALWAYS, "type"),
	TEXT("Pod", VIEW_ALWAYS, "pod"),
	TEXT("Volume", VIEW_ALWAYS, "volume"),
	TOOK("Took", VIEW_ALWAYS, "tookMicroseconds"),
	TEXT("Error", VIEW_ALWAYS, "error"),
	TEXT("Step", VIEW_WIDE, "step"),
	NUMBER("Attempt", VIEW_WIDE, "attempt"),
	TEXT("Path", VIEW_WIDE, "path"),
	TEXT("Unique Name", VIEW_WIDE, "uniqueName"),
	NUMBER("Sequence", VIEW_DETAIL, "sequence"),
	MEMBER("podUID", STRING, NULL),
	MEMBER("nextRetry", MICRO_TIME, NULL),
	MEMBER("lost", INTEGER, NULL),
};

static const struct view_column version_columns[] = {
	TEXT("Component", VIEW_ALWAYS, "name"),
	TEXT("Version", VIEW_ALWAYS, "value"),
};

#define COLUMNS(array, item)                                                                       \
	{                                                                                          \
		array, ARRAY_SIZE(array), item                                                     \
	}
const struct view_columns view_volume_columns = COLUMNS(volume_columns, "Volume");
const struct view_columns view_operation_columns = COLUMNS(operation_columns, "Operation");
const struct view_columns view_step_columns = COLUMNS(step_columns, "Step");
const struct view_columns view_manifest_columns = COLUMNS(manifest_columns, "RefusedManifest");
const struct view_columns view_hold_columns = COLUMNS(hold_columns, "Hold");
const struct view_columns view_applied_columns = COLUMNS(applied_columns, "AppliedObject");
const struct view_columns view_version_columns = COLUMNS(version_columns, "Component");
const struct view_columns view_statistics_columns = COLUMNS(statistics_columns, "VolumeStatistics");
const struct view_columns view_driver_columns = COLUMNS(driver_columns, "Driver");
const struct view_columns view_thread_columns = COLUMNS(thread_columns, "ThreadPool");
const struct view_columns view_foreign_volume_columns =
	COLUMNS(foreign_volume_columns, "ForeignVolume");
const struct view_columns view_volume_event_columns = COLUMNS(volume_event_columns, "VolumeEvent");
const struct view_columns view_token_key_columns = COLUMNS(token_key_columns, "TokenKey");
const struct view_columns view_token_columns = COLUMNS(token_columns, "NamedToken");
