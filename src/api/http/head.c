/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head - what is ambiguous in a request's head; see head.h
 */
#include "api/http/head.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Headers that decide where a request ends, whose it is or how it is read: once each. */
static const char *const single_headers[] = {
	MHD_HTTP_HEADER_CONTENT_LENGTH, MHD_HTTP_HEADER_TRANSFER_ENCODING,
	MHD_HTTP_HEADER_HOST,           MHD_HTTP_HEADER_AUTHORIZATION,
	MHD_HTTP_HEADER_CONTENT_TYPE,   MHD_HTTP_HEADER_CONTENT_ENCODING,
};

enum { LENGTH, ENCODING, HOST };
enum { LINE_END = 2 };

struct survey {
	unsigned int seen[ARRAY_SIZE(single_headers)];
	const char *problem;
	const char *end;   /* of the head, in the library's memory, where line ends are NUL now */
	const char *value; /* of the header before; NULL: this is the first */
};

/* Letters, digits and "!#$%&'*+-.^_`|~": RFC 9110, 5.6.2. */
static bool is_token(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789!#$%&'*+-.^_`|~") == length;
}

static bool has_control_character(const char *value)
{
	for (; *value; value++)
		if (((unsigned char) *value < ' ' && *value != '\t') || *value == 0x7f)
			return true;
	return false;
}

/* The library ends a value at its first NUL. What lies between there and @next, the next header or
 * the end of the head, is the end of the line and of the empty one: two bytes each at most. A value
 * of several lines lies elsewhere. */
static const char *problem_behind(const char *value, const char *next, const char *end,
				  ptrdiff_t line_ends)
{
	const char *at = value + strlen(value);

	if (next < at || next > end)
		return "the value of a header has several lines";
	return next - at > line_ends ? "a header holds a NUL" : NULL;
}

static enum MHD_Result check_header(void *userdata, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	struct survey *survey = userdata;

	if (survey->value)
		survey->problem = problem_behind(survey->value, name, survey->end, LINE_END);
	survey->value = value;
	if (survey->problem)
		return MHD_NO;
	if (!is_token(name))
		survey->problem = "the name of a header holds a character that no name may hold";
	else if (value && has_control_character(value))
		survey->problem = "the value of a header holds a control character";
	for (size_t i = 0; i < ARRAY_SIZE(single_headers); i++)
		if (strcasecmp(name, single_headers[i]) == 0 && survey->seen[i]++ > 0)
			survey->problem = "a header that may occur once occurs twice";
	return survey->problem ? MHD_NO : MHD_YES;
}

/* NULL: nothing is known of the head's end. */
static const char *end_of(struct MHD_Connection *connection, const char *method)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	return info ? method + info->header_size : NULL;
}

const char *head_problem(struct MHD_Connection *connection, const char *method, const char *version)
{
	struct survey survey = { .end = end_of(connection, method) };
	const char *encoding;

	assert(connection && version);
	(void) MHD_get_connection_values(connection, MHD_HEADER_KIND, check_header, &survey);
	if (!survey.problem && survey.value)
		survey.problem = problem_behind(survey.value, survey.end, survey.end, 2 * LINE_END);
	if (survey.problem)
		return survey.problem;
	if (survey.seen[HOST] == 0 && strcmp(version, MHD_HTTP_VERSION_1_1) == 0)
		return "a Host header is missing";
	if (survey.seen[ENCODING] == 0)
		return NULL;
	if (survey.seen[LENGTH] > 0)
		return "Content-Length cannot be combined with Transfer-Encoding";
	encoding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					       MHD_HTTP_HEADER_TRANSFER_ENCODING);
	return encoding && strcasecmp(encoding, "chunked") == 0
		       ? NULL
		       : "of all transfer encodings only 'chunked' is known";
}

const char *head_line_problem(const char *method, const char *uri, size_t uri_bytes,
			      const char *version)
{
	assert(method && uri && version);
	if (*version == '\0' ||
	    (uri == method + strlen(method) + 1 && version == uri + uri_bytes + 1))
		return NULL; /* without a version it is HTTP/0.9, which is not served */
	return "the request line holds a NUL or more than the blanks around its path";
}

bool head_host_is_local(struct MHD_Connection *connection)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	const char *host =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);

	if (!host || *host == '\0')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);

		if (strncasecmp(host, names[i], length) == 0 &&
		    (host[length] == '\0' || host[length] == ':'))
			return true;
	}
	return false;
}
