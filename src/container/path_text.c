/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_text - see words.h
 *
 * The same result as Go's path.Clean("/" + path), by which runtimes compare mount points.
 */
#include "container/words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The text up to its last name; an empty text stays empty: nothing is above the root. */
static size_t without_last(const char *text, size_t length)
{
	while (length > 0 && text[length - 1] != '/')
		length--;
	return length > 0 ? length - 1 : 0;
}

char *path_text_clean(const char *path)
{
	size_t length = 0;
	char *clean;

	assert(path);
	clean = malloc(strlen(path) + 2);
	if (!clean)
		return NULL;
	while (*path) {
		size_t part;

		path += strspn(path, "/");
		part = strcspn(path, "/");
		if (part == 2 && memcmp(path, "..", 2) == 0) {
			length = without_last(clean, length);
		} else if (part > 0 && !(part == 1 && *path == '.')) {
			clean[length++] = '/';
			memcpy(clean + length, path, part);
			length += part;
		}
		path += part;
	}
	if (length == 0)
		clean[length++] = '/';
	clean[length] = '\0';
	return clean;
}

size_t path_text_depth(const char *path)
{
	size_t depth = 0;

	assert(path && path[0] == '/');
	if (path[1] == '\0')
		return 0;
	for (; *path; path++)
		depth += *path == '/';
	return depth;
}
