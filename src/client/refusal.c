/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusal - what the daemon's refusals mean: an errno and a sentence
 *
 * The other half of the daemon's table: what it made of an errno becomes one again.
 */
#include "client/handle.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <limits.h>
#include <string.h>

enum {
	STATUS_BYTES_MAX = 64 * 1024, /* of a Status that is looked into */
	STATUS_DEPTH_MAX = 16,
};

static int errno_of_status(int status, const char *reason)
{
	switch (status) {
	case 400:
	case 415:
	case 422:
		return -EBADMSG;
	case 401:
	case 403:
		return -EACCES;
	case 404:
		return -ENOENT;
	case 409:
		return strcmp(reason, "AlreadyExists") == 0 ? -EEXIST : -EBUSY;
	case 413:
	case 414:
		return -E2BIG;
	case 429:
	case 503:
		return -EAGAIN;
	case 504:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

/* The scalar of a line "message: ..." of a Status in YAML, which the daemon writes on one line.
 * NULL: there is none, or no memory. */
static char *yaml_message(const char *body)
{
	static const char key[] = "message: ";
	cleanup_json struct cJSON *quoted = NULL;
	const char *line = body;
	char *text;
	size_t length;

	while (line && strncmp(line, key, strlen(key)) != 0) {
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	if (!line)
		return NULL;
	line += strlen(key);
	length = strcspn(line, "\r\n");
	if (*line == '"') {
		const struct json_limits limits = { .bytes = STATUS_BYTES_MAX, .depth = 1 };

		(void) json_parse(line, length, &limits, &quoted, NULL);
		return json_is_string(quoted) ? strdup(json_string(quoted, "")) : NULL;
	}
	if (*line != '\'' || length < 2)
		return strndup(line, length);
	text = strndup(line + 1, length - 2);
	for (char *from = text, *to = text; text; from += 1 + (from[0] == '\'' && from[1] == '\''))
		if (!(*to++ = *from))
			break;
	return text;
}

/* A refusal is a Status, in JSON or, where YAML was asked for, in YAML; the first line of another
 * text is better than none. */
int refusal_read(int status, const char *body, size_t length, char *text, size_t size)
{
	const struct json_limits limits = { .bytes = STATUS_BYTES_MAX, .depth = STATUS_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *from_yaml = NULL;
	const char *message;

	if (!body)
		body = "";
	if (*body == '{')
		(void) json_parse(body, length, &limits, &tree, NULL);
	else
		from_yaml = yaml_message(body);
	message = json_string(json_get(tree, "message"), from_yaml);
	if (message)
		(void) snprintf(text, size, "%s", message);
	else
		(void) snprintf(text, size, "HTTP %d%s%.*s", status, *body ? ": " : "",
				(int) (strcspn(body, "\r\n") & INT_MAX), body);
	return errno_of_status(status, json_text(tree, "reason"));
}
