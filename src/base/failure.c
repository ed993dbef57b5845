/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failure - why something did not work; see failure.h
 */
#include "base/failure.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void write_text(struct failure *reterr, int error, const char *format, va_list arguments)
{
	reterr->error = error;
	(void) vsnprintf(reterr->text, sizeof(reterr->text), format, arguments);
}

/* The reason, after the sentence; cut where the room ends. */
static void append_reason(struct failure *reterr, const char *reason)
{
	size_t used = strlen(reterr->text);

	(void) snprintf(reterr->text + used, sizeof(reterr->text) - used, ": %s", reason);
}

int failed(struct failure *reterr, int error, const char *format, ...)
{
	va_list arguments;

	assert(error < 0);
	if (!reterr)
		return error;

	va_start(arguments, format);
	write_text(reterr, error, format, arguments);
	va_end(arguments);
	append_reason(reterr, strerror(-error));
	return error;
}

int failed_plain(struct failure *reterr, int error, const char *format, ...)
{
	va_list arguments;

	assert(error < 0);
	if (!reterr)
		return error;

	va_start(arguments, format);
	write_text(reterr, error, format, arguments);
	va_end(arguments);
	return error;
}

int failure_prefix(struct failure *reterr, const char *format, ...)
{
	struct failure old;
	va_list arguments;

	if (!reterr)
		return 0;

	old = *reterr;
	va_start(arguments, format);
	write_text(reterr, old.error, format, arguments);
	va_end(arguments);
	append_reason(reterr, old.text);
	return old.error;
}
