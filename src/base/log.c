/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - one line per event; see log.h
 */
#include "base/log.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/fnv1a.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

enum {
	LINE_BYTES = 2 * FAILURE_TEXT_BYTES, /* a sentence around a whole failure */
	FIELD_BYTES = 512,
	FIELD_COUNT = LOG_FIELDS_MAX + 2, /* PRIORITY and MESSAGE */
};

static atomic_int log_max_level = LOG_INFO;
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

void log_set_level(int max_level)
{
	log_max_level = max_level;
}

void log_open(int max_level)
{
	log_max_level = max_level;
	log_to_journal = stderr_is_journal();
}

/* Values come from manifests and clients: one with a newline must not write a line of its own, nor
 * one with an escape sequence speak to a terminal. Cut between two characters of the result. */
static void escape(char *to, size_t room, const char *from)
{
	size_t used = 0;

	for (; *from && used + 1 < room; from++) {
		unsigned char c = (unsigned char) *from;
		char text[5];
		size_t length;

		if (c >= ' ' && c != 0x7f) {
			to[used++] = *from;
			continue;
		}
		if (c == '\n' || c == '\r' || c == '\t')
			(void) snprintf(text, sizeof(text), "\\%c",
					c == '\n'   ? 'n'
					: c == '\r' ? 'r'
						    : 't');
		else
			(void) snprintf(text, sizeof(text), "\\x%02x", c);
		length = strlen(text);
		if (used + length >= room)
			break;
		memcpy(to + used, text, length);
		used += length;
	}
	to[used] = '\0';
}

struct fields {
	char text[FIELD_COUNT][FIELD_BYTES];
	struct iovec vectors[FIELD_COUNT];
	int count;
};

static void add_field(struct fields *fields, const char *name, const char *value)
{
	char *text;
	int length;

	if (!value)
		return;
	assert(fields->count < FIELD_COUNT);
	text = fields->text[fields->count];
	length = snprintf(text, FIELD_BYTES, "%s=", name);
	escape(text + length, FIELD_BYTES - (size_t) length, value);
	fields->vectors[fields->count].iov_base = text;
	fields->vectors[fields->count].iov_len = strlen(text);
	fields->count++;
}

struct line {
	int level;
	const struct log_subject *subject; /* NULL: none */
	const struct log_field *fields;
	size_t count;
};

static void write_journal(const struct line *about, const char *line, const char *subject)
{
	struct fields fields = { .count = 0 };
	char message[LINE_BYTES + FIELD_BYTES + sizeof("MESSAGE=")];
	char priority[2] = { (char) ('0' + about->level), '\0' };

	for (size_t i = 0; i < about->count; i++)
		add_field(&fields, about->fields[i].name, about->fields[i].value);
	add_field(&fields, "PRIORITY", priority);
	(void) snprintf(message, sizeof(message), "MESSAGE=%s%s", line, subject);
	fields.vectors[fields.count].iov_base = message;
	fields.vectors[fields.count].iov_len = strlen(message);
	(void) sd_journal_sendv(fields.vectors, fields.count + 1);
}

/* Who reads the journal sees the sentence and no field: it names them itself. */
static void print_subject(const struct log_subject *subject, char escaped[FIELD_BYTES])
{
	char about[FIELD_BYTES] = "";

	if (subject && subject->pod && subject->volume)
		(void) snprintf(about, sizeof(about), " (pod '%s', volume '%s')", subject->pod,
				subject->volume);
	else if (subject && subject->pod)
		(void) snprintf(about, sizeof(about), " (pod '%s')", subject->pod);
	else if (subject && subject->volume)
		(void) snprintf(about, sizeof(about), " (volume '%s')", subject->volume);
	escape(escaped, FIELD_BYTES, about);
}

static void write_line(const struct line *about, const char *format, va_list arguments)
{
	char text[2 * LINE_BYTES], line[LINE_BYTES], subject[FIELD_BYTES];
	int saved = errno;

	assert(about->level >= LOG_EMERG && about->level <= LOG_DEBUG);
	assert(about->count <= LOG_FIELDS_MAX);
	if (about->level > log_max_level)
		return;
	(void) vsnprintf(text, sizeof(text), format, arguments);
	text_fit(text, LINE_BYTES, text);
	escape(line, sizeof(line), text);
	print_subject(about->subject, subject);
	if (log_to_journal)
		write_journal(about, line, subject);
	else
		(void) fprintf(stderr, "%s: %s%s\n", level_names[about->level], line, subject);
	errno = saved;
}

void log_message(int level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(&(struct line){ .level = level }, format, arguments);
	va_end(arguments);
}

void log_about(int level, const struct log_subject *subject, const char *format, ...)
{
	const struct log_field fields[] = { { "POD", subject->pod },
					    { "POD_UID", subject->pod_uid },
					    { "VOLUME", subject->volume },
					    { "PLUGIN", subject->plugin } };
	va_list arguments;

	va_start(arguments, format);
	write_line(&(struct line){ level, subject, fields, ARRAY_SIZE(fields) }, format, arguments);
	va_end(arguments);
}

void log_fields(int level, const struct log_field *fields, size_t count, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(&(struct line){ level, NULL, fields, count }, format, arguments);
	va_end(arguments);
}

/* ---- texts that are cut elsewhere ---- */

enum { WHOLE_PER_MINUTE = 20, REMEMBERED = 64, PART_BYTES = FAILURE_TEXT_BYTES };

static bool is_due(uint64_t sum)
{
	static _Atomic uint64_t remembered[REMEMBERED], minute;
	static atomic_uint next, in_minute;
	uint64_t now = monotonic_usec() / (60 * USEC_PER_SEC) + 1;

	for (size_t i = 0; i < REMEMBERED; i++)
		if (atomic_load(&remembered[i]) == sum)
			return false;
	if (atomic_exchange(&minute, now) != now)
		atomic_store(&in_minute, 0);
	if (atomic_fetch_add(&in_minute, 1) >= WHOLE_PER_MINUTE)
		return false;
	atomic_store(&remembered[atomic_fetch_add(&next, 1) % REMEMBERED], sum);
	return true;
}

/* Between two characters. */
static size_t part_length(const char *text)
{
	size_t length = strnlen(text, PART_BYTES);

	if (length < PART_BYTES)
		return length;
	while (length > PART_BYTES - 4 && ((unsigned char) text[length] & 0xc0) == 0x80)
		length--;
	return length;
}

void log_whole(int level, const char *what, const char *text)
{
	unsigned int part = 0;

	assert(what && text);
	if (level > log_max_level || !is_due(fnv1a_add_text(FNV1A_FIRST, text)))
		return;
	while (*text) {
		size_t length = part_length(text);

		part++;
		log_message(level, "%s, part %u%s: %.*s", what, part,
			    text[length] ? "" : ", the last", (int) length, text);
		text += length;
	}
}
