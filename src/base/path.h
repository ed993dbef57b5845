/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path - one absolute path below another, as text
 *
 * Whole components: "/a/bc" is not below "/a/b". Nothing is looked up: no links, no "..".
 */
#pragma once

#include <stdbool.h>
#include <string.h>

/* @above: without a slash at its end but for "/", which is above all; "" is above all, too. */
static inline bool path_is_at_or_below(const char *path, const char *above)
{
	size_t length = strcmp(above, "/") == 0 ? 0 : strlen(above);

	return strncmp(path, above, length) == 0 &&
	       (length == 0 || path[length] == '\0' || path[length] == '/');
}

static inline bool path_is_below(const char *path, const char *above)
{
	return path_is_at_or_below(path, above) && strcmp(path, above) != 0;
}
