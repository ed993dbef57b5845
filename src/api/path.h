/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path - a request's path and query, taken apart without trusting a byte of them
 *
 * Escapes are decoded after the split, so that %2F stays inside its segment. NUL, control
 * characters, broken escapes, bad UTF-8, empty segments, "." and ".." are refused.
 */
#pragma once

#include "api/api.h"

struct api_parameter {
	const char *name, *value; /* value "" when there was no '=' */
};

struct api_path {
	char text[API_URI_BYTES_MAX + 1]; /* what the pointers below point into */
	const char *segments[API_SEGMENTS_MAX];
	size_t segment_count; /* 0 for "/" */
	struct api_parameter parameters[API_PARAMETERS_MAX];
	size_t parameter_count;
};

/**
 * api_path_parse - split and decode
 * @uri: as it stood in the request line
 *
 * Return: 0; -EINVAL; -ENAMETOOLONG longer than API_URI_BYTES_MAX; -E2BIG too many segments or
 * parameters.
 */
int api_path_parse(const char *uri, struct api_path *ret, struct failure *reterr);

/* The same in memory of its own. */
void api_path_copy(const struct api_path *path, struct api_path *ret);

/* The first value of a parameter, or NULL. */
const char *api_path_parameter(const struct api_path *path, const char *name);

/**
 * api_path_matches - does a path look like a pattern
 * @pattern: segments joined by '/', without a leading one; "*" and "{name}" stand for any one
 * segment
 */
bool api_path_matches(const struct api_path *path, const char *pattern);
