/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timestamp - see timestamp.h
 */
#include "object/timestamp.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static char *put_digits(char *to, int number, int digits, char behind)
{
	for (int i = digits; i-- > 0; number /= 10)
		to[i] = (char) ('0' + number % 10);
	to[digits] = behind;
	return to + digits + 1;
}

/* By hand: strftime() costs ten times as much, and each write has a time. */
void timestamp_print(uint64_t usec, char text[TIMESTAMP_BYTES])
{
	time_t seconds = (time_t) (usec / USEC_PER_SEC);
	struct tm parts;

	text[0] = '\0';
	if (!gmtime_r(&seconds, &parts) || parts.tm_year + 1900 > 9999)
		return; /* a year of more than four digits */
	text = put_digits(text, parts.tm_year + 1900, 4, '-');
	text = put_digits(text, parts.tm_mon + 1, 2, '-');
	text = put_digits(text, parts.tm_mday, 2, 'T');
	text = put_digits(text, parts.tm_hour, 2, ':');
	text = put_digits(text, parts.tm_min, 2, ':');
	text = put_digits(text, parts.tm_sec, 2, 'Z');
	*text = '\0';
}

static void print_fraction(uint64_t usec, int digits, uint64_t unit, char text[TIMESTAMP_BYTES])
{
	size_t length;

	timestamp_print(usec, text);
	length = strlen(text);
	if (length > 0)
		(void) snprintf(text + length - 1, TIMESTAMP_BYTES - length + 1, ".%0*uZ", digits,
				(unsigned int) (usec % USEC_PER_SEC / unit));
}

void timestamp_print_milli(uint64_t usec, char text[TIMESTAMP_BYTES])
{
	print_fraction(usec, 3, 1000, text);
}

void timestamp_print_micro(uint64_t usec, char text[TIMESTAMP_BYTES])
{
	print_fraction(usec, 6, 1, text);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* As many digits as the form has, and no blank or sign in their place. Return: behind them; NULL.
 */
static const char *parse_number(const char *text, const char *form, int *ret)
{
	*ret = 0;
	for (; *form == '0'; form++, text++) {
		if (!is_digit(*text))
			return NULL;
		*ret = *ret * 10 + *text - '0';
	}
	return *form == *text || *form == '\0' ? text + (*form != '\0') : NULL;
}

/* ".123456", more digits are cut. Moves @at behind it. Return: -1: no digit. */
static int64_t parse_fraction(const char **at)
{
	int64_t usec = 0, unit = USEC_PER_SEC;

	if (**at != '.')
		return 0;
	if (!is_digit(*++*at))
		return -1;
	for (; is_digit(**at); ++*at) {
		unit /= 10;
		usec += unit * (**at - '0');
	}
	return usec;
}

/* "Z" or "+01:00" at the end of a time: seconds east of Greenwich. */
static bool parse_zone(const char *text, int64_t *ret_seconds)
{
	int hours, minutes;
	char sign = *text;

	if (strcmp(text, "Z") == 0) {
		*ret_seconds = 0;
		return true;
	}
	if (sign != '+' && sign != '-')
		return false;
	text = parse_number(text + 1, "00:", &hours);
	text = text ? parse_number(text, "00", &minutes) : NULL;
	if (!text || *text != '\0' || hours > 23 || minutes > 59)
		return false;
	*ret_seconds = ((int64_t) hours * 3600 + (int64_t) minutes * 60) * (sign == '-' ? -1 : 1);
	return true;
}

/* "2006-01-02T15:04:05": a day that there was, of which a second is not the 61st. */
static const char *parse_day_and_time(const char *text, int64_t *ret_seconds)
{
	static const char *const forms[] = { "0000-", "00-", "00T", "00:", "00:", "00" };
	int numbers[ARRAY_SIZE(forms)];
	struct tm parts, given;

	for (size_t i = 0; i < ARRAY_SIZE(forms) && text; i++)
		text = parse_number(text, forms[i], &numbers[i]);
	if (!text)
		return NULL;
	given = (struct tm){ .tm_year = numbers[0] - 1900,
			     .tm_mon = numbers[1] - 1,
			     .tm_mday = numbers[2],
			     .tm_hour = numbers[3],
			     .tm_min = numbers[4],
			     .tm_sec = numbers[5] };
	parts = given;
	*ret_seconds = timegm(&parts);
	/* What is out of range has been carried over. */
	if (parts.tm_mon != given.tm_mon || parts.tm_mday != given.tm_mday ||
	    parts.tm_hour != given.tm_hour || parts.tm_min != given.tm_min ||
	    parts.tm_sec != given.tm_sec)
		return NULL;
	return text;
}

/* Seconds may be negative. */
static bool parse_time(const char *text, int64_t *ret_usec)
{
	int64_t seconds, fraction, east;

	text = parse_day_and_time(text, &seconds);
	fraction = text ? parse_fraction(&text) : -1;
	if (fraction < 0 || !parse_zone(text, &east))
		return false;
	*ret_usec = (seconds - east) * (int64_t) USEC_PER_SEC + fraction;
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
