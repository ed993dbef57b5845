/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_find - rows of the table of verbs by what the user wrote; see verb.h
 */
#include "cli/verb.h"

#include <string.h>

const struct verb *verb_find(const char *name)
{
	for (const struct verb *verb = verbs; verb->name; verb++)
		if (strcmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

static const struct option_row *find_option(const struct option_row *const *rows, const char *name)
{
	for (; rows && *rows; rows++)
		if (strcmp((*rows)->name, name) == 0)
			return *rows;
	return NULL;
}

const struct option_row *verb_option(const struct verb *verb, const char *name)
{
	const struct option_row *row = verb ? find_option(verb->options, name) : NULL;

	return row ? row : find_option(options_anywhere, name);
}

static bool is_among(const struct option_row *row, const struct verb *end)
{
	for (const struct verb *verb = verbs; verb != end; verb++)
		if (find_option(verb->options, row->name))
			return true;
	return false;
}

size_t options_of_all(const struct option_row **ret)
{
	size_t count = 0;

	for (const struct option_row *const *row = options_anywhere; *row; row++, count++)
		if (ret)
			ret[count] = *row;
	for (const struct verb *verb = verbs; verb->name; verb++) {
		for (const struct option_row *const *row = verb->options; *row; row++) {
			if (is_among(*row, verb))
				continue;
			if (ret)
				ret[count] = *row;
			count++;
		}
	}
	return count;
}
