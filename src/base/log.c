/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - one line per event; see log.h
 */
#include "base/log.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

enum {
	LINE_BYTES = 1024,
	FIELD_BYTES = 512,
	FIELD_COUNT = 6,
};

static int log_max_level = LOG_INFO;
static bool log_to_journal;

static const char *const level_names[] = {
	[LOG_EMERG] = "emergency", [LOG_ALERT] = "alert",     [LOG_CRIT] = "critical",
	[LOG_ERR] = "error",       [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
	[LOG_INFO] = "info",       [LOG_DEBUG] = "debug",
};

/* The service manager writes "device:inode" of the socket it made our stderr; a redirected stderr
 * differs. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat status;

	if (!stream || sscanf(stream, "%ju:%ju", &device, &inode) != 2)
		return false;
	if (fstat(STDERR_FILENO, &status) < 0)
		return false;
	return status.st_dev == device && status.st_ino == inode;
}

void log_open(int max_level)
{
	log_max_level = max_level;
	log_to_journal = stderr_is_journal();
}

struct fields {
	char text[FIELD_COUNT][FIELD_BYTES];
	struct iovec vectors[FIELD_COUNT];
	int count;
};

static void add_field(struct fields *fields, const char *name, const char *value)
{
	char *text;

	if (!value)
		return;
	assert(fields->count < FIELD_COUNT);
	text = fields->text[fields->count];
	(void) snprintf(text, FIELD_BYTES, "%s=%s", name, value);
	fields->vectors[fields->count].iov_base = text;
	fields->vectors[fields->count].iov_len = strlen(text);
	fields->count++;
}

static void write_journal(int level, const struct log_subject *subject, const char *line)
{
	struct fields fields = { .count = 0 };
	char message[LINE_BYTES + sizeof("MESSAGE=")];
	char priority[2] = { (char) ('0' + level), '\0' };

	if (subject) {
		add_field(&fields, "POD", subject->pod);
		add_field(&fields, "POD_UID", subject->pod_uid);
		add_field(&fields, "VOLUME", subject->volume);
		add_field(&fields, "PLUGIN", subject->plugin);
	}
	add_field(&fields, "PRIORITY", priority);
	(void) snprintf(message, sizeof(message), "MESSAGE=%s", line);
	fields.vectors[fields.count].iov_base = message;
	fields.vectors[fields.count].iov_len = strlen(message);
	(void) sd_journal_sendv(fields.vectors, fields.count + 1);
}

static void write_stderr(int level, const struct log_subject *subject, const char *line)
{
	char about[FIELD_BYTES] = "";

	if (subject && subject->pod && subject->volume)
		(void) snprintf(about, sizeof(about), " (pod '%s', volume '%s')", subject->pod,
				subject->volume);
	else if (subject && subject->pod)
		(void) snprintf(about, sizeof(about), " (pod '%s')", subject->pod);
	else if (subject && subject->volume)
		(void) snprintf(about, sizeof(about), " (volume '%s')", subject->volume);
	(void) fprintf(stderr, "%s: %s%s\n", level_names[level], line, about);
}

static void write_line(int level, const struct log_subject *subject, const char *format,
		       va_list arguments)
{
	char line[LINE_BYTES];
	int saved = errno;

	assert(level >= LOG_EMERG && level <= LOG_DEBUG);
	if (level > log_max_level)
		return;
	(void) vsnprintf(line, sizeof(line), format, arguments);
	if (log_to_journal)
		write_journal(level, subject, line);
	else
		write_stderr(level, subject, line);
	errno = saved;
}

void log_message(int level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(level, NULL, format, arguments);
	va_end(arguments);
}

void log_about(int level, const struct log_subject *subject, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(level, subject, format, arguments);
	va_end(arguments);
}
