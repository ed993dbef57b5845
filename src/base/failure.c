/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failure - why something did not work; see failure.h
 */
#include "base/failure.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for a sentence before it is cut: whatever goes beyond it loses its end. */
#define CUT_MARK " bytes cut ...] "

enum { WHOLE_BYTES = 4 * FAILURE_TEXT_BYTES, MARK_BYTES = 48 };

/* ---- cutting ---- */

static bool is_inside_character(char byte)
{
	return ((unsigned char) byte & 0xc0) == 0x80;
}

void text_fit(char *to, size_t room, const char *from)
{
	size_t length = strlen(from), head, tail;
	char mark[MARK_BYTES];

	assert(room > MARK_BYTES);
	if (length < room) {
		memmove(to, from, length + 1);
		return;
	}
	head = (room - MARK_BYTES) / 2;
	tail = length - head;
	while (head > 0 && is_inside_character(from[head]))
		head--;
	while (tail < length && is_inside_character(from[tail]))
		tail++;
	(void) snprintf(mark, sizeof(mark), " [... %zu" CUT_MARK, tail - head);
	memmove(to, from, head);
	memcpy(to + head, mark, strlen(mark));
	memcpy(to + head + strlen(mark), from + tail, length - tail + 1);
}

/* ---- writing ---- */

static void ignore_cut(const char *whole)
{
}

static void (*report_cut)(const char *whole) = ignore_cut;

void failure_on_cut(void (*report)(const char *whole))
{
	assert(report);
	report_cut = report;
}

/* @before and @after: NULL: nothing there. A text that holds one that was cut before was logged
 * then. */
static void write_text(struct failure *reterr, const char *before, const char *after,
		       const char *format, va_list arguments)
{
	char whole[WHOLE_BYTES];
	size_t used = 0;

	if (before)
		used = (size_t) snprintf(whole, sizeof(whole), "%s", before);
	(void) vsnprintf(whole + used, sizeof(whole) - used, format, arguments);
	used = strlen(whole);
	if (after)
		(void) snprintf(whole + used, sizeof(whole) - used, ": %s", after);
	text_fit(reterr->text, sizeof(reterr->text), whole);
	if (strlen(whole) >= sizeof(reterr->text) && !strstr(whole, CUT_MARK))
		report_cut(whole);
}

int failed(struct failure *reterr, int error, const char *format, ...)
{
	va_list arguments;

	assert(error < 0);
	if (!reterr)
		return error;

	reterr->error = error;
	va_start(arguments, format);
	write_text(reterr, NULL, strerror(-error), format, arguments);
	va_end(arguments);
	return error;
}

int failed_plain(struct failure *reterr, int error, const char *format, ...)
{
	va_list arguments;

	assert(error < 0);
	if (!reterr)
		return error;

	reterr->error = error;
	va_start(arguments, format);
	write_text(reterr, NULL, NULL, format, arguments);
	va_end(arguments);
	return error;
}

int failure_prefix(struct failure *reterr, const char *format, ...)
{
	va_list arguments;

	if (!reterr)
		return 0;

	va_start(arguments, format);
	write_text(reterr, NULL, reterr->text, format, arguments);
	va_end(arguments);
	return reterr->error;
}

int failure_append(struct failure *reterr, const char *format, ...)
{
	va_list arguments;

	if (!reterr)
		return 0;

	va_start(arguments, format);
	write_text(reterr, reterr->text, NULL, format, arguments);
	va_end(arguments);
	return reterr->error;
}

static const struct failure no_memory = { -ENOMEM, "out of memory: the text of the error is lost" };

const struct failure *failure_keep(const struct failure *failure)
{
	size_t bytes = offsetof(struct failure, text) + strlen(failure->text) + 1;
	struct failure *copy = malloc(bytes);

	if (!copy)
		return &no_memory;
	memcpy(copy, failure, bytes);
	return copy;
}

const struct failure *failure_drop(const struct failure *kept)
{
	if (kept != &no_memory)
		free((void *) kept);
	return NULL;
}
