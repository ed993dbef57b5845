/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path - a request's path and query, taken apart; see path.h
 *
 * Pure: works in the caller's buffer, allocates nothing.
 */
#include "api/path.h"

#include <assert.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -EINVAL;
}

/* How many bytes follow a first byte of UTF-8; the smallest code point with that many. */
static int utf8_tail(unsigned char first, unsigned int *ret_bits, unsigned int *ret_minimum)
{
	if (first < 0x80) {
		*ret_bits = first;
		*ret_minimum = 0;
		return 0;
	}
	if (first >= 0xc2 && first <= 0xdf) {
		*ret_bits = first & 0x1f;
		*ret_minimum = 0x80;
		return 1;
	}
	if (first >= 0xe0 && first <= 0xef) {
		*ret_bits = first & 0x0f;
		*ret_minimum = 0x800;
		return 2;
	}
	if (first >= 0xf0 && first <= 0xf4) {
		*ret_bits = first & 0x07;
		*ret_minimum = 0x10000;
		return 3;
	}
	return -EINVAL;
}

/* Names and values go into logs, Status texts and comparisons: clean text or nothing. */
static bool is_clean_text(const char *text)
{
	for (const unsigned char *at = (const unsigned char *) text; *at; at++) {
		unsigned int code, minimum;
		int tail = utf8_tail(*at, &code, &minimum);

		if (tail < 0)
			return false;
		for (; tail > 0; tail--) {
			if ((at[1] & 0xc0) != 0x80)
				return false;
			code = (code << 6) | (*++at & 0x3f);
		}
		if (code < minimum || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
			return false;
		if (code < 0x20 || code == 0x7f)
			return false;
	}
	return true;
}

/* In place; a decoded text is never longer. */
static int decode(char *text, bool plus_is_blank, struct failure *reterr)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		int high, low;

		if (*from != '%') {
			*to++ = plus_is_blank && *from == '+' ? ' ' : *from;
			continue;
		}
		high = hex_digit(from[1]);
		low = high < 0 ? -EINVAL : hex_digit(from[2]);
		if (low < 0)
			return failed_plain(reterr, -EINVAL, "the path holds a broken %%-escape");
		if (high == 0 && low == 0)
			return failed_plain(reterr, -EINVAL, "the path holds an escaped NUL");
		*to++ = (char) (high << 4 | low);
		from += 2;
	}
	*to = '\0';
	if (!is_clean_text(text))
		return failed_plain(reterr, -EINVAL,
				    "the path holds control characters or is not UTF-8");
	return 0;
}

static int add_segment(struct api_path *path, char *segment, struct failure *reterr)
{
	int r;

	if (path->segment_count == API_SEGMENTS_MAX)
		return failed_plain(reterr, -E2BIG, "the path has more than %d parts",
				    API_SEGMENTS_MAX);
	r = decode(segment, false, reterr);
	if (r < 0)
		return r;
	if (*segment == '\0' || strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0)
		return failed_plain(reterr, -EINVAL, "the path holds an empty part, '.' or '..'");
	path->segments[path->segment_count++] = segment;
	return 0;
}

static int split_path(struct api_path *path, char *at, struct failure *reterr)
{
	if (*at++ != '/')
		return failed_plain(reterr, -EINVAL, "the path does not begin with '/'");

	while (*at) {
		char *slash = strchr(at, '/');
		int r;

		if (slash)
			*slash = '\0';
		r = add_segment(path, at, reterr);
		if (r < 0)
			return r;
		if (!slash)
			break;
		at = slash + 1; /* "/pods/" is "/pods" */
	}
	return 0;
}

static int add_parameter(struct api_path *path, char *parameter, struct failure *reterr)
{
	char *equals = strchr(parameter, '=');
	struct api_parameter *entry;
	int r;

	if (*parameter == '\0')
		return 0;
	if (path->parameter_count == API_PARAMETERS_MAX)
		return failed_plain(reterr, -E2BIG, "the query has more than %d parameters",
				    API_PARAMETERS_MAX);
	if (equals)
		*equals = '\0';
	r = decode(parameter, true, reterr);
	if (r == 0 && equals)
		r = decode(equals + 1, true, reterr);
	if (r < 0)
		return r;

	entry = &path->parameters[path->parameter_count++];
	entry->name = parameter;
	entry->value = equals ? equals + 1 : "";
	return 0;
}

static int split_query(struct api_path *path, char *at, struct failure *reterr)
{
	while (at) {
		char *next = strchr(at, '&');
		int r;

		if (next)
			*next++ = '\0';
		r = add_parameter(path, at, reterr);
		if (r < 0)
			return r;
		at = next;
	}
	return 0;
}

int api_path_parse(const char *uri, struct api_path *ret, struct failure *reterr)
{
	size_t length;
	char *query;
	int r;

	assert(uri && ret);
	ret->segment_count = 0;
	ret->parameter_count = 0;

	length = strnlen(uri, sizeof(ret->text));
	if (length == sizeof(ret->text))
		return failed_plain(reterr, -ENAMETOOLONG, "the path is longer than %d bytes",
				    API_URI_BYTES_MAX);
	memcpy(ret->text, uri, length + 1);

	query = strchr(ret->text, '?');
	if (query)
		*query++ = '\0';
	r = split_path(ret, ret->text, reterr);
	if (r < 0)
		return r;
	return split_query(ret, query, reterr);
}

void api_path_copy(const struct api_path *path, struct api_path *ret)
{
	assert(path && ret);
	*ret = *path;
	for (size_t i = 0; i < ret->segment_count; i++)
		ret->segments[i] = ret->text + (path->segments[i] - path->text);
	for (size_t i = 0; i < ret->parameter_count; i++) {
		struct api_parameter *parameter = &ret->parameters[i];

		parameter->name = ret->text + (path->parameters[i].name - path->text);
		if (*parameter->value) /* "" may be a constant */
			parameter->value = ret->text + (path->parameters[i].value - path->text);
	}
}

const char *api_path_parameter(const struct api_path *path, const char *name)
{
	assert(path && name);
	for (size_t i = 0; i < path->parameter_count; i++)
		if (strcmp(path->parameters[i].name, name) == 0)
			return path->parameters[i].value;
	return NULL;
}

static bool stands_for_any(const char *pattern)
{
	return *pattern == '{' || (*pattern == '*' && (pattern[1] == '/' || pattern[1] == '\0'));
}

/* Each request is compared with some hundred patterns: the first letter decides most. */
bool api_path_matches(const struct api_path *path, const char *pattern)
{
	assert(path && pattern);
	for (size_t i = 0; i < path->segment_count; i++) {
		const char *at = path->segments[i];

		if (i > 0 && *pattern++ != '/')
			return false;
		if (stands_for_any(pattern)) {
			pattern += strcspn(pattern, "/");
			continue;
		}
		while (*at && *at == *pattern && *at != '/')
			at++, pattern++;
		if (*at)
			return false;
	}
	return *pattern == '\0';
}
