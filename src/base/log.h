/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - one line per event, with journal fields for the machine and a sentence for people
 *
 * To the journal when stderr is connected to it, else to stderr as "level: message (pod=...,
 * volume=...)". State changes at info, refused input at notice, what we work around at warning,
 * what an operator must fix at error. Never a secret. The layer that handles an error logs it,
 * once. Any thread may log. Control characters are written as \n or \x1b: an event is one line.
 */
#pragma once

#include <stddef.h>
#include <syslog.h>

/* What a line is about; NULL members are left out. */
struct log_subject {
	const char *pod;     /* "namespace/name": POD= */
	const char *pod_uid; /* POD_UID= */
	const char *volume;  /* unique name: VOLUME= */
	const char *plugin;  /* "kubernetes.io/local-volume": PLUGIN= */
};

/**
 * log_open - choose where lines go; without this call they go to stderr
 * @max_level: LOG_ERR .. LOG_DEBUG; lines above are dropped
 *
 * Looks at $JOURNAL_STREAM once. Call before the first thread.
 */
void log_open(int max_level);

/* From now on; any thread. */
void log_set_level(int max_level);

/**
 * log_message - a line about nothing in particular
 * @level: LOG_ERR .. LOG_DEBUG
 */
void log_message(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * log_about - a line about a pod, a volume or both
 * @level:   LOG_ERR .. LOG_DEBUG
 * @subject: copied into the journal fields POD, POD_UID, VOLUME, PLUGIN
 */
void log_about(int level, const struct log_subject *subject, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A journal field of its own: "API_USER", "admin". A NULL value is left out. */
struct log_field {
	const char *name, *value;
};

enum { LOG_FIELDS_MAX = 10 };

/**
 * log_fields - a line with journal fields of its own; on stderr there is the sentence alone
 * @level:  LOG_ERR .. LOG_DEBUG
 * @fields: at most LOG_FIELDS_MAX; copied
 */
void log_fields(int level, const struct log_field *fields, size_t count, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * log_whole - a text that is cut elsewhere, in as many lines as it needs
 * @what: "the whole text of an error"; each line says which part it is
 *
 * A text that was logged a short while ago is not logged again, and no more than 20 of them a
 * minute: what repeats them may do so all the time. Any thread.
 */
void log_whole(int level, const char *what, const char *text);
