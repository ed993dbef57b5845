/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timestamp - see timestamp.h
 */
#include "object/timestamp.h"

#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void timestamp_print(uint64_t usec, char text[TIMESTAMP_BYTES])
{
	time_t seconds = (time_t) (usec / USEC_PER_SEC);
	struct tm parts;

	if (!gmtime_r(&seconds, &parts) ||
	    strftime(text, TIMESTAMP_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		text[0] = '\0'; /* a year of more than four digits */
}

void timestamp_print_micro(uint64_t usec, char text[TIMESTAMP_BYTES])
{
	size_t length;

	timestamp_print(usec, text);
	length = strlen(text);
	if (length > 0)
		(void) snprintf(text + length - 1, TIMESTAMP_BYTES - length + 1, ".%06uZ",
				(unsigned int) (usec % USEC_PER_SEC));
}

/* ".123456", more digits are cut. Moves @at behind it. */
static int64_t parse_fraction(const char **at)
{
	int64_t usec = 0, unit = USEC_PER_SEC;

	if (**at != '.')
		return 0;
	for (++*at; **at >= '0' && **at <= '9'; ++*at) {
		unit /= 10;
		usec += unit * (**at - '0');
	}
	return usec;
}

/* "Z" or "+01:00" at the end of a time: seconds east of Greenwich. */
static bool parse_zone(const char *text, int64_t *ret_seconds)
{
	unsigned int hours, minutes;
	int end = 0;

	if (strcmp(text, "Z") == 0) {
		*ret_seconds = 0;
		return true;
	}
	if ((*text != '+' && *text != '-') ||
	    sscanf(text + 1, "%2u:%2u%n", &hours, &minutes, &end) != 2 || text[1 + end] != '\0' ||
	    end != 5 || hours > 23 || minutes > 59)
		return false;
	*ret_seconds = ((int64_t) hours * 3600 + (int64_t) minutes * 60) * (*text == '-' ? -1 : 1);
	return true;
}

/* Seconds may be negative. */
static bool parse_time(const char *text, int64_t *ret_usec)
{
	struct tm parts = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	int64_t fraction, east;

	if (!rest)
		return false;
	fraction = parse_fraction(&rest);
	if (!parse_zone(rest, &east))
		return false;
	*ret_usec = ((int64_t) timegm(&parts) - east) * (int64_t) USEC_PER_SEC + fraction;
	return true;
}

uint64_t timestamp_parse(const char *text)
{
	int64_t usec;

	return parse_time(text, &usec) && usec > 0 ? (uint64_t) usec : 0;
}

bool timestamp_is_valid(const char *text)
{
	int64_t usec;

	assert(text);
	return parse_time(text, &usec);
}
