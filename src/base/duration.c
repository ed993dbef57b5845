/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration - lengths of time in words; see clock.h
 */
#include "base/clock.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

static const struct duration_unit {
	const char *name;
	uint64_t usec;
} units[] = {
	/* "ms" before "m": the first that matches is taken. */
	{ "ms", 1000 },           { "us", 1 },      { "h", 3600ULL * 1000000 },
	{ "m", 60ULL * 1000000 }, { "s", 1000000 },
};

static const struct duration_unit seconds = { "", 1000000 };

static const struct duration_unit *find_unit(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strncmp(text, units[i].name, strlen(units[i].name)) == 0)
			return &units[i];
	return NULL;
}

/* Saturates above any duration that is allowed, so that a long row of digits cannot wrap. */
static const char *read_number(const char *text, uint64_t *ret)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		if (number <= DURATION_USEC_MAX)
			number = number * 10 + (uint64_t) (*text - '0');
	*ret = number;
	return text;
}

int duration_parse(const char *text, uint64_t *ret_usec)
{
	uint64_t total = 0;

	assert(text && ret_usec);
	if (*text == '\0')
		return -EINVAL;

	for (const char *at = text; *at;) {
		const struct duration_unit *unit;
		uint64_t number;
		const char *end = read_number(at, &number);

		if (end == at)
			return -EINVAL;
		unit = *end == '\0' && at == text ? &seconds : find_unit(end);
		if (!unit)
			return -EINVAL;
		if (number > DURATION_USEC_MAX / unit->usec)
			return -ERANGE;
		total += number * unit->usec;
		if (total > DURATION_USEC_MAX)
			return -ERANGE;
		at = end + strlen(unit->name);
	}

	*ret_usec = total;
	return 0;
}
