/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path - an absolute path as text: one below another, and ".." in it
 *
 * Whole components: "/a/bc" is not below "/a/b". Nothing is looked up or normalised.
 */
#pragma once

#include <assert.h>
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

/* Is an element between slashes exactly ".."? (cases 1 to 9) */
static inline bool path_has_backstep(const char *path)
{
	assert(path);

	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += length;
		path += *path == '/';
	}
	return false;
}
