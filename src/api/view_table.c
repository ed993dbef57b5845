/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_table - the columns of the node views, and the Table they make
 *
 * Pure: a tree, columns and a time in, a tree out. Absent things are "-", so that every line has
 * the same number of words for cut(1) and awk(1) as far as its texts hold no blanks.
 */
#include "api/view_table.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "object/schema/table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
	USERS_MAX = 10,       /* named in one cell */
	CALL_BYTES_MIN = 160, /* of a call that is one of several in a cell */
};

static void set_text(char text[VIEW_CELL_BYTES], const char *value)
{
	(void) snprintf(text, VIEW_CELL_BYTES, "%s", value && *value ? value : "-");
}

static void format_plain(const struct cJSON *item, const char *key, char text[VIEW_CELL_BYTES])
{
	const struct cJSON *value = json_get(item, key);
	int64_t number;

	if (json_int64(value, &number))
		(void) snprintf(text, VIEW_CELL_BYTES, "%" PRId64, number);
	else
		set_text(text, json_string(value, ""));
}

static void format_access(const struct cJSON *item, const char *key, uint64_t now_usec,
			  char text[VIEW_CELL_BYTES])
{
	set_text(text, json_bool(json_get(item, key), false) ? "ro" : "rw");
}

static void format_yes(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES])
{
	set_text(text, json_bool(json_get(item, key), false) ? "yes" : "no");
}

/* "a,b" of a list, "k=v,l=w" of an object of strings; what does not fit is cut. */
static void format_members(const struct cJSON *item, const char *key, uint64_t now_usec,
			   char text[VIEW_CELL_BYTES])
{
	const struct cJSON *members = json_get(item, key), *member;
	bool is_list = json_is_array(members);
	size_t used = 0;

	set_text(text, "");
	for (member = json_first(members); member && used + 1 < VIEW_CELL_BYTES;
	     member = json_next(member))
		used += (size_t) snprintf(text + used, VIEW_CELL_BYTES - used, "%s%s%s%s",
					  used > 0 ? "," : "", is_list ? "" : json_key(member),
					  is_list ? "" : "=", json_string(member, ""));
}

/* 512, 1.5Ki, 10.0Gi: powers of 1024, as quantities are written. */
static void format_bytes(const struct cJSON *item, const char *key, uint64_t now_usec,
			 char text[VIEW_CELL_BYTES])
{
	static const char units[] = "KMGTPE";
	int64_t bytes;
	double scaled;
	size_t unit = 0;

	if (!json_int64(json_get(item, key), &bytes)) {
		set_text(text, "");
		return;
	}
	if (bytes < 1024) {
		(void) snprintf(text, VIEW_CELL_BYTES, "%" PRId64, bytes);
		return;
	}
	for (scaled = (double) bytes / 1024; scaled >= 1024; scaled /= 1024)
		unit++;
	(void) snprintf(text, VIEW_CELL_BYTES, "%.1f%ci", scaled, units[unit]);
}

/* 850us, 12.3ms, 4.56s: three digits that matter. */
static void format_took(const struct cJSON *item, const char *key, uint64_t now_usec,
			char text[VIEW_CELL_BYTES])
{
	int64_t usec;

	if (!json_int64(json_get(item, key), &usec) || usec <= 0)
		set_text(text, "");
	else if (usec < 1000)
		(void) snprintf(text, VIEW_CELL_BYTES, "%" PRId64 "us", usec);
	else if (usec < 100000)
		(void) snprintf(text, VIEW_CELL_BYTES, "%.1fms", (double) usec / 1e3);
	else if (usec < 1000000)
		(void) snprintf(text, VIEW_CELL_BYTES, "%" PRId64 "ms", usec / 1000);
	else
		(void) snprintf(text, VIEW_CELL_BYTES, "%.2fs", (double) usec / 1e6);
}

/* "2026-11-21T08:15:30.123456Z"; false: no time. Fractions are passed over. */
static bool parse_time(const char *text, uint64_t *ret_usec)
{
	struct tm parts = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	time_t seconds;

	if (!end)
		return false;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	if (strcmp(end, "Z") != 0)
		return false;
	seconds = timegm(&parts);
	if (seconds < 0)
		return false;
	*ret_usec = (uint64_t) seconds * USEC_PER_SEC;
	return true;
}

static void format_age(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES])
{
	const char *value = json_string(json_get(item, key), "");
	uint64_t usec;

	if (parse_time(value, &usec))
		table_age(usec, now_usec, text);
	else
		set_text(text, value);
}

static void format_until(const struct cJSON *item, const char *key, uint64_t now_usec,
			 char text[VIEW_CELL_BYTES])
{
	const char *value = json_string(json_get(item, key), "");
	char age[TABLE_CELL_BYTES];
	uint64_t usec;

	if (!parse_time(value, &usec)) {
		set_text(text, value);
		return;
	}
	if (usec <= now_usec) {
		set_text(text, "now");
		return;
	}
	table_age(now_usec, usec, age);
	(void) snprintf(text, VIEW_CELL_BYTES, "in %.32s", age);
}

/* One on a line, the first of them: describe shows it. */
static void format_users(const struct cJSON *item, const char *key, uint64_t now_usec,
			 char text[VIEW_CELL_BYTES])
{
	const struct cJSON *users = json_get(item, key);
	const struct cJSON *user = json_first(json_get(users, "items"));
	int64_t left = 0;
	size_t used = 0;

	set_text(text, "");
	(void) json_int64(json_get(users, "total"), &left);
	for (int i = 0; user && i < USERS_MAX; i++, left--, user = json_next(user)) {
		const char *line = json_string(json_get(user, "text"), "");

		if (used + strlen(line) + 32 > VIEW_CELL_BYTES)
			break;
		used += (size_t) snprintf(text + used, VIEW_CELL_BYTES - used, "%s%s",
					  i > 0 ? "\n" : "", line);
	}
	if (left > 0)
		(void) snprintf(text + used, VIEW_CELL_BYTES - used, "%sand %" PRId64 " more",
				used > 0 ? "\n" : "", left);
}

/* "NodeStageVolume  DeadlineExceeded in 120 s, 3m ago: text", one on a line; the newest is whole.
 */
static void format_calls(const struct cJSON *item, const char *key, uint64_t now_usec,
			 char text[VIEW_CELL_BYTES])
{
	const struct cJSON *call = json_first(json_get(item, key));
	size_t used = 0;

	set_text(text, "");
	for (; call; call = json_next(call)) {
		char took[VIEW_CELL_BYTES], age[VIEW_CELL_BYTES], line[VIEW_CELL_BYTES];
		const char *words = json_string(json_get(call, "text"), "");

		format_took(call, "tookMicroseconds", now_usec, took);
		format_age(call, "began", now_usec, age);
		if (json_bool(json_get(call, "running"), false))
			(void) snprintf(line, sizeof(line), "%s  runs, begun %.40s ago",
					json_string(json_get(call, "method"), ""), age);
		else
			(void) snprintf(line, sizeof(line), "%s  %s in %.40s, %.40s ago%s%s",
					json_string(json_get(call, "method"), ""),
					json_string(json_get(call, "code"), ""), took, age,
					*words ? ": " : "", words);
		if (used + CALL_BYTES_MIN > VIEW_CELL_BYTES)
			break;
		if (used > 0)
			text[used++] = '\n';
		text_fit(text + used, VIEW_CELL_BYTES - used, line);
		used += strlen(text + used);
	}
}

/* "bind the source 850us, set the owners 12.3ms"; what does not fit is cut. */
static void format_stages(const struct cJSON *item, const char *key, uint64_t now_usec,
			  char text[VIEW_CELL_BYTES])
{
	const struct cJSON *stage = json_first(json_get(item, key));
	size_t used = 0;

	set_text(text, "");
	for (; stage && used + 1 < VIEW_CELL_BYTES; stage = json_next(stage)) {
		char took[VIEW_CELL_BYTES];

		format_took(stage, "tookMicroseconds", now_usec, took);
		used += (size_t) snprintf(text + used, VIEW_CELL_BYTES - used, "%s%s %s",
					  used > 0 ? ", " : "",
					  json_string(json_get(stage, "name"), ""), took);
	}
}

/* "kubernetes.io/local-volume" is "local", "kubernetes.io/csi" is "csi". */
static void format_kind(const struct cJSON *item, const char *key, uint64_t now_usec,
			char text[VIEW_CELL_BYTES])
{
	static const char tail[] = "-volume";
	const char *plugin = json_string(json_get(item, key), ""), *slash = strrchr(plugin, '/');
	size_t length;

	set_text(text, slash ? slash + 1 : plugin);
	length = strlen(text);
	if (length > strlen(tail) && strcmp(text + length - strlen(tail), tail) == 0)
		text[length - strlen(tail)] = '\0';
}

/* What an operator has to know first of what is not as it should be, or not yet. */
static void format_why(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES])
{
	static const char *const keys[] = { "fault",    "error",    "waitsFor",  "drift",
					    "leftOver", "progress", "overLimit", "resizeError" };
	const char *value = "";

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !*value; i++)
		value = json_string(json_get(item, keys[i]), "");
	set_text(text, value);
}

/* The order is the one of tables and of describe; a column of its own stands for every member. */
static const struct view_column volume_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Kind", VIEW_ALWAYS, "plugin", format_kind },
	{ "State", VIEW_ALWAYS, "state", NULL },
	{ "Source", VIEW_ALWAYS, "source", NULL },
	{ "Age", VIEW_ALWAYS, "created", format_age },
	{ "Claim", VIEW_WIDE, "claim", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Path", VIEW_WIDE, "path", NULL },
	{ "Access", VIEW_WIDE, "readOnly", format_access },
	{ "Took", VIEW_WIDE, "tookMicroseconds", format_took },
	{ "Limit", VIEW_WIDE, "limitBytes", format_bytes },
	{ "Step", VIEW_WIDE, "step", NULL },
	{ "Why", VIEW_ALWAYS, "", format_why },
	{ "Plugin", VIEW_DETAIL, "plugin", NULL },
	{ "Stage", VIEW_DETAIL, "stage", NULL },
	{ "Since", VIEW_DETAIL, "since", format_age },
	{ "Error", VIEW_DETAIL, "error", NULL },
	{ "Failed At", VIEW_DETAIL, "failedAt", NULL },
	{ "Advice", VIEW_DETAIL, "advice", NULL },
	{ "Attempts", VIEW_DETAIL, "attempts", NULL },
	{ "Failing For", VIEW_DETAIL, "failingSince", format_age },
	{ "Next Retry", VIEW_DETAIL, "nextRetry", format_until },
	{ "Fault", VIEW_DETAIL, "fault", NULL },
	{ "Over Limit", VIEW_DETAIL, "overLimit", NULL },
	{ "Resize Error", VIEW_DETAIL, "resizeError", NULL },
	{ "Operation", VIEW_DETAIL, "operation", NULL },
	{ "Progress", VIEW_DETAIL, "progress", NULL },
	{ "Waits For", VIEW_DETAIL, "waitsFor", NULL },
	{ "Process", VIEW_DETAIL, "process", NULL },
	{ "Thread", VIEW_DETAIL, "thread", NULL },
	{ "Drift", VIEW_DETAIL, "drift", NULL },
	{ "Drift Since", VIEW_DETAIL, "driftSince", format_age },
	{ "Left Over", VIEW_DETAIL, "leftOver", NULL },
	{ "Enforced By", VIEW_DETAIL, "enforcedBy", NULL },
	{ "Device", VIEW_DETAIL, "device", NULL },
	{ "Device Mount Path", VIEW_DETAIL, "deviceMountPath", NULL },
	{ "Spec Name", VIEW_DETAIL, "specName", NULL },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
	{ "Wanted", VIEW_DETAIL, "wanted", format_yes },
	{ "Used By", VIEW_DETAIL, "users", format_users },
	{ "Last Calls", VIEW_DETAIL, "calls", format_calls },
};

static const struct view_column operation_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Step", VIEW_ALWAYS, "step", NULL },
	{ "Since", VIEW_ALWAYS, "since", format_age },
	{ "Attempts", VIEW_ALWAYS, "attempts", NULL },
	{ "Next Retry", VIEW_ALWAYS, "nextRetry", format_until },
	{ "State", VIEW_WIDE, "operation", NULL },
	{ "Stage", VIEW_WIDE, "stage", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Why", VIEW_ALWAYS, "", format_why },
	{ "Progress", VIEW_DETAIL, "progress", NULL },
	{ "Waits For", VIEW_DETAIL, "waitsFor", NULL },
	{ "Error", VIEW_DETAIL, "error", NULL },
	{ "Failing For", VIEW_DETAIL, "failingSince", format_age },
	{ "Running", VIEW_DETAIL, "running", format_yes },
	{ "Users", VIEW_DETAIL, "users", format_users },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
	{ "About", VIEW_DETAIL, "about", NULL },
};

static const struct view_column step_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Step", VIEW_ALWAYS, "step", NULL },
	{ "Age", VIEW_ALWAYS, "began", format_age },
	{ "Took", VIEW_ALWAYS, "tookMicroseconds", format_took },
	{ "Attempt", VIEW_WIDE, "attempt", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Stages", VIEW_WIDE, "stages", format_stages },
	{ "Why", VIEW_ALWAYS, "error", NULL },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
	{ "Began Microseconds", VIEW_DETAIL, "beganMicroseconds", NULL },
};

static const struct view_column manifest_columns[] = {
	{ "File", VIEW_ALWAYS, "file", NULL },    { "Line", VIEW_ALWAYS, "line", NULL },
	{ "Kind", VIEW_ALWAYS, "kind", NULL },    { "Namespace", VIEW_ALWAYS, "namespace", NULL },
	{ "Name", VIEW_ALWAYS, "name", NULL },    { "Since", VIEW_ALWAYS, "since", format_age },
	{ "Problem", VIEW_ALWAYS, "text", NULL },
};

static const struct view_column hold_columns[] = {
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "ID", VIEW_ALWAYS, "id", NULL },
	{ "Container", VIEW_ALWAYS, "container", NULL },
	{ "Kind", VIEW_ALWAYS, "kind", NULL },
	{ "PID", VIEW_ALWAYS, "pid", NULL },
	{ "Process", VIEW_ALWAYS, "process", NULL },
	{ "Since", VIEW_ALWAYS, "since", format_age },
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
	{ "Capacity", VIEW_ALWAYS, "capacityBytes", format_bytes },
	{ "Used", VIEW_ALWAYS, "usedBytes", format_bytes },
	{ "Available", VIEW_ALWAYS, "availableBytes", format_bytes },
	{ "Inodes", VIEW_ALWAYS, "inodes", NULL },
	{ "Inodes Used", VIEW_ALWAYS, "inodesUsed", NULL },
	{ "Condition", VIEW_WIDE, "condition", NULL },
	{ "Claim", VIEW_WIDE, "claim", NULL },
	{ "Path", VIEW_WIDE, "path", NULL },
	{ "Plugin", VIEW_WIDE, "plugin", NULL },
	{ "Unique Name", VIEW_WIDE, "uniqueName", NULL },
	{ "Error", VIEW_ALWAYS, "error", NULL },
	{ "Inodes Free", VIEW_DETAIL, "inodesFree", NULL },
	{ "Block", VIEW_DETAIL, "block", format_yes },
	{ "Namespace", VIEW_DETAIL, "namespace", NULL },
	{ "Pod UID", VIEW_DETAIL, "podUID", NULL },
};

static const struct view_column driver_columns[] = {
	{ "Name", VIEW_ALWAYS, "name", NULL },
	{ "State", VIEW_ALWAYS, "state", NULL },
	{ "Since", VIEW_ALWAYS, "since", format_age },
	{ "Version", VIEW_ALWAYS, "version", NULL },
	{ "Node ID", VIEW_ALWAYS, "nodeID", NULL },
	{ "Volumes", VIEW_ALWAYS, "volumes", NULL },
	{ "Error", VIEW_ALWAYS, "error", NULL },
	{ "Socket", VIEW_WIDE, "socket", NULL },
	{ "Endpoint", VIEW_WIDE, "endpoint", NULL },
	{ "Max Volumes", VIEW_WIDE, "maxVolumes", NULL },
	{ "Topology", VIEW_WIDE, "topology", format_members },
	{ "Capabilities", VIEW_WIDE, "capabilities", format_members },
	{ "Next Retry", VIEW_DETAIL, "nextRetry", format_until },
	{ "In Tree", VIEW_DETAIL, "inTree", format_yes },
	{ "Device Mountable", VIEW_DETAIL, "deviceMountable", format_yes },
	{ "Block", VIEW_DETAIL, "block", format_yes },
	{ "Mount Options", VIEW_DETAIL, "mountOptions", format_yes },
	{ "Remounts", VIEW_DETAIL, "remounts", format_yes },
	{ "Reconstructed", VIEW_DETAIL, "reconstructed", format_yes },
};

static const struct view_column thread_columns[] = {
	{ "Pool", VIEW_ALWAYS, "pool", NULL },
	{ "Threads", VIEW_ALWAYS, "threads", NULL },
	{ "Threads Max", VIEW_ALWAYS, "threadsMax", NULL },
	{ "Running", VIEW_ALWAYS, "running", NULL },
	{ "Hanging", VIEW_ALWAYS, "hanging", NULL },
	{ "Waiting", VIEW_ALWAYS, "waiting", NULL },
	{ "All Hang", VIEW_ALWAYS, "allHang", format_yes },
};

static const struct view_column foreign_volume_columns[] = {
	{ "Kind", VIEW_ALWAYS, "kind", NULL },
	{ "Pod UID", VIEW_ALWAYS, "podUID", NULL },
	{ "Plugin", VIEW_ALWAYS, "plugin", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Mounted", VIEW_ALWAYS, "mounted", format_yes },
	{ "Driver", VIEW_ALWAYS, "driver", NULL },
	{ "Handle", VIEW_ALWAYS, "handle", NULL },
	{ "Why", VIEW_ALWAYS, "why", NULL },
};

static const struct view_column token_key_columns[] = {
	{ "ID", VIEW_ALWAYS, "id", NULL },
	{ "Signs", VIEW_ALWAYS, "signs", format_yes },
	{ "Age", VIEW_ALWAYS, "created", format_age },
	{ "Published Until", VIEW_ALWAYS, "publishedUntil", NULL },
};

static const struct view_column token_columns[] = {
	{ "Name", VIEW_ALWAYS, "name", NULL },
	{ "Role", VIEW_ALWAYS, "role", NULL },
	{ "Age", VIEW_ALWAYS, "created", format_age },
	{ "Expires", VIEW_ALWAYS, "expires", NULL },
};

static const struct view_column volume_event_columns[] = {
	{ "Last Seen", VIEW_ALWAYS, "time", format_age },
	{ "Type", VIEW_ALWAYS, "type", NULL },
	{ "Pod", VIEW_ALWAYS, "pod", NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL },
	{ "Took", VIEW_ALWAYS, "tookMicroseconds", format_took },
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

static void add_definitions(struct cJSON *table, const struct view_columns *columns)
{
	struct cJSON *definitions = json_add_array(table, "columnDefinitions");

	for (size_t i = 0; i < columns->count; i++) {
		struct cJSON *definition = json_add_object(definitions, NULL);

		(void) json_set_string(definition, "name", columns->columns[i].name);
		(void) json_set_string(definition, "type", "string");
		(void) json_set_string(definition, "format", "");
		(void) json_set_string(definition, "description", columns->columns[i].key);
		(void) json_set_int(definition, "priority", columns->columns[i].priority);
	}
}

static void add_row(struct cJSON *rows, const struct cJSON *item,
		    const struct view_columns *columns, uint64_t now_usec)
{
	struct cJSON *row = json_add_object(rows, NULL);
	struct cJSON *cells = json_add_array(row, "cells");

	for (size_t i = 0; i < columns->count; i++) {
		const struct view_column *column = &columns->columns[i];
		char text[VIEW_CELL_BYTES];

		if (column->format)
			column->format(item, column->key, now_usec, text);
		else
			format_plain(item, column->key, text);
		(void) json_set_string(cells, NULL, text);
	}
	/* What clients take namespace and name from; only objects have it. */
	if (json_is_object(json_get(item, "metadata"))) {
		struct cJSON *object = json_add_object(row, "object");

		(void) json_set(object, "metadata", json_copy(json_get(item, "metadata")));
	}
}

struct cJSON *view_table(const struct cJSON *view, const struct view_columns *columns,
			 uint64_t now_usec)
{
	struct cJSON *table = json_new_object();
	struct cJSON *rows;
	const struct cJSON *item;

	assert(view && columns);
	(void) json_set_string(table, "kind", "Table");
	(void) json_set_string(table, "apiVersion", "meta.k8s.io/v1");
	(void) json_set(table, "metadata",
			json_copy(json_get(view, "metadata")) ?: json_new_object());
	add_definitions(table, columns);
	rows = json_add_array(table, "rows");
	for (item = json_first(json_get(view, "items")); item; item = json_next(item))
		add_row(rows, item, columns, now_usec);
	return table;
}
