/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_cells - what stands in the cells of a view's Table; see view_cells.h
 *
 * Pure. Absent things are "-", so that every line has the same number of words for cut(1) and
 * awk(1) as far as its texts hold no blanks. What does not fit is cut.
 */
#include "api/view_cells.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "object/schema/table.h"

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

void view_format_plain(const struct cJSON *item, const char *key, char text[VIEW_CELL_BYTES])
{
	const struct cJSON *value = json_get(item, key);
	int64_t number;

	if (json_int64(value, &number))
		(void) snprintf(text, VIEW_CELL_BYTES, "%" PRId64, number);
	else
		set_text(text, json_string(value, ""));
}

void view_format_access(const struct cJSON *item, const char *key, uint64_t now_usec,
			char text[VIEW_CELL_BYTES])
{
	set_text(text, json_bool(json_get(item, key), false) ? "ro" : "rw");
}

void view_format_yes(const struct cJSON *item, const char *key, uint64_t now_usec,
		     char text[VIEW_CELL_BYTES])
{
	set_text(text, json_bool(json_get(item, key), false) ? "yes" : "no");
}

/* "a,b" of a list, "k=v,l=w" of an object of strings; what does not fit is cut. */
void view_format_members(const struct cJSON *item, const char *key, uint64_t now_usec,
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
void view_format_bytes(const struct cJSON *item, const char *key, uint64_t now_usec,
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

void view_format_used(const struct cJSON *item, const char *key, uint64_t now_usec,
		      char text[VIEW_CELL_BYTES])
{
	bool is_more = json_bool(json_get(item, "usedIsMore"), false);
	char bytes[24];

	view_format_bytes(item, key, now_usec, text);
	(void) snprintf(bytes, sizeof(bytes), "%.20s", text);
	(void) snprintf(text, VIEW_CELL_BYTES, "%s%s", is_more ? ">" : "", bytes);
}

/* 850us, 12.3ms, 4.56s: three digits that matter. */
void view_format_took(const struct cJSON *item, const char *key, uint64_t now_usec,
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

void view_format_age(const struct cJSON *item, const char *key, uint64_t now_usec,
		     char text[VIEW_CELL_BYTES])
{
	const char *value = json_text(item, key);
	uint64_t usec;

	if (parse_time(value, &usec))
		table_age(usec, now_usec, text);
	else
		set_text(text, value);
}

void view_format_until(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES])
{
	const char *value = json_text(item, key);
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

/* By the names of operation_state_name(). */
static bool is_running(const struct cJSON *item, bool *ret_usual)
{
	const char *state = json_text(item, "operation");

	*ret_usual = strcmp(state, "running") == 0;
	return *state && strcmp(state, "waiting for its retry") != 0;
}

void view_format_next(const struct cJSON *item, const char *key, uint64_t now_usec,
		      char text[VIEW_CELL_BYTES])
{
	bool is_usual;

	view_format_until(item, key, now_usec, text);
	if (is_running(item, &is_usual) && !is_usual)
		set_text(text, "when it returns");
}

void view_format_attempts(const struct cJSON *item, const char *key, uint64_t now_usec,
			  char text[VIEW_CELL_BYTES])
{
	int64_t failed;
	bool is_usual;

	if (json_int64(json_get(item, key), &failed))
		(void) snprintf(text, VIEW_CELL_BYTES, "%" PRId64,
				failed + is_running(item, &is_usual));
	else
		set_text(text, "");
}

/* One on a line, the first of them: describe shows it. */
void view_format_users(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES])
{
	const struct cJSON *users = json_get(item, key);
	const struct cJSON *user = json_first(json_get(users, "items"));
	int64_t left = 0;
	size_t used = 0;

	set_text(text, "");
	(void) json_int64(json_get(users, "total"), &left);
	for (int i = 0; user && i < USERS_MAX; i++, left--, user = json_next(user)) {
		const char *line = json_text(user, "text");

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
void view_format_calls(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES])
{
	const struct cJSON *call = json_first(json_get(item, key));
	size_t used = 0;

	set_text(text, "");
	for (; call; call = json_next(call)) {
		char took[VIEW_CELL_BYTES], age[VIEW_CELL_BYTES], line[VIEW_CELL_BYTES];
		const char *words = json_text(call, "text");

		view_format_took(call, "tookMicroseconds", now_usec, took);
		view_format_age(call, "began", now_usec, age);
		if (json_bool(json_get(call, "running"), false))
			(void) snprintf(line, sizeof(line), "%s  runs, begun %.40s ago",
					json_text(call, "method"), age);
		else
			(void) snprintf(line, sizeof(line), "%s  %s in %.40s, %.40s ago%s%s",
					json_text(call, "method"), json_text(call, "code"), took,
					age, *words ? ": " : "", words);
		if (used + CALL_BYTES_MIN > VIEW_CELL_BYTES)
			break;
		if (used > 0)
			text[used++] = '\n';
		text_fit(text + used, VIEW_CELL_BYTES - used, line);
		used += strlen(text + used);
	}
}

/* "bind the source 850us, set the owners 12.3ms"; what does not fit is cut. */
void view_format_stages(const struct cJSON *item, const char *key, uint64_t now_usec,
			char text[VIEW_CELL_BYTES])
{
	const struct cJSON *stage = json_first(json_get(item, key));
	size_t used = 0;

	set_text(text, "");
	for (; stage && used + 1 < VIEW_CELL_BYTES; stage = json_next(stage)) {
		char took[VIEW_CELL_BYTES];

		view_format_took(stage, "tookMicroseconds", now_usec, took);
		used += (size_t) snprintf(text + used, VIEW_CELL_BYTES - used, "%s%s %s",
					  used > 0 ? ", " : "", json_text(stage, "name"), took);
	}
}

/* "kubernetes.io/local-volume" is "local", "kubernetes.io/csi" is "csi". */
void view_format_kind(const struct cJSON *item, const char *key, uint64_t now_usec,
		      char text[VIEW_CELL_BYTES])
{
	static const char tail[] = "-volume";
	const char *plugin = json_text(item, key), *slash = strrchr(plugin, '/');
	size_t length;

	set_text(text, slash ? slash + 1 : plugin);
	length = strlen(text);
	if (length > strlen(tail) && strcmp(text + length - strlen(tail), tail) == 0)
		text[length - strlen(tail)] = '\0';
}

/* What an operator has to know first of what is not as it should be, or not yet. */
void view_format_why(const struct cJSON *item, const char *key, uint64_t now_usec,
		     char text[VIEW_CELL_BYTES])
{
	static const char *const keys[] = { "fault",    "error",    "waitsFor",  "drift",
					    "leftOver", "progress", "overLimit", "resizeError" };
	const char *value = "";

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !*value; i++)
		value = json_text(item, keys[i]);
	set_text(text, value);
}
