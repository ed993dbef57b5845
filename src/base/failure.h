/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failure - why something did not work, for people, beside the errno for programs
 *
 * The caller owns it, mostly on its stack. A text that is too long is cut in the middle and says
 * so: its beginning names the object, its end the cause; the daemon logs the whole. It never
 * allocates, because an error path must not fail; what keeps a failure for long keeps
 * failure_keep()'s copy. The first failure is the one that matters: who cleans up after it
 * passes NULL.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#define FAILURE_TEXT_BYTES 4096

struct failure {
	int error; /* negative errno; 0 when nothing failed */
	char text[FAILURE_TEXT_BYTES];
};

/**
 * failed - fill a failure and hand its error on, for `return failed(reterr, -errno, "...")`
 * @reterr: may be NULL: the text is not wanted
 * @error:  negative errno, kept as it is
 * @format: what could not be done and with which object, without a full stop; ": " and the errno's
 * own text are added
 *
 * Return: @error, always.
 */
int failed(struct failure *reterr, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * failed_plain - the same without the errno's own text, where the sentence already says why
 * @reterr: may be NULL
 * @error:  negative errno
 * @format: the whole sentence
 *
 * Return: @error, always.
 */
int failed_plain(struct failure *reterr, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * failure_prefix - put where it happened before what happened: "volume 'data': ..."
 * @reterr: may be NULL or without a text
 * @format: the prefix without its colon
 *
 * Return: the failure's error, or 0 when @reterr is NULL.
 */
int failure_prefix(struct failure *reterr, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Puts more behind what happened. @reterr may be NULL. Return: as failure_prefix(). */
int failure_append(struct failure *reterr, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Before any thread: @report gets each text that is cut, whole. On the thread of the failure. */
void failure_on_cut(void (*report)(const char *whole));

/* A copy that is only as long as its text, for tables: read it, never assign it. Without memory it
 * says that instead: never NULL. */
const struct failure *failure_keep(const struct failure *failure);
/* Frees such a copy. Accepts NULL. Return: NULL. */
const struct failure *failure_drop(const struct failure *kept);

/* Copies a text; one that does not fit is cut in the middle, between two characters, and marked:
 * "beginning [... 1234 bytes cut ...] end". @room is at least 64. */
void text_fit(char *to, size_t room, const char *from);
