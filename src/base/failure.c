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

int failed(struct failure *reterr, int error, const char *format, ...)
{
	va_list arguments;
	size_t used;

	assert(error < 0);
	if (!reterr)
		return error;

	va_start(arguments, format);
	write_text(reterr, error, format, arguments);
	va_end(arguments);

	used = strlen(reterr->text);
	(void) snprintf(reterr->text + used, sizeof(reterr->text) - used, ": %s", strerror(-error));
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
	size_t used;

	if (!reterr)
		return 0;

	old = *reterr;
	va_start(arguments, format);
	write_text(reterr, old.error, format, arguments);
	va_end(arguments);

	used = strlen(reterr->text);
	(void) snprintf(reterr->text + used, sizeof(reterr->text) - used, ": %s", old.text);
	return old.error;
}
