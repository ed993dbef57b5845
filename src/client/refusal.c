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

/* A refusal is a Status, in JSON or, where YAML was asked for, in YAML; the first line of another
 * text is better than none. */
int refusal_read(int status, const char *body, size_t length, char *text, size_t size)
{
	const struct json_limits limits = { .bytes = STATUS_BYTES_MAX, .depth = STATUS_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	const char *message;

	if (!body)
		body = "";
	if (*body == '{')
		(void) json_parse(body, length, &limits, &tree, NULL);
	message = json_string(json_get(tree, "message"), NULL);
	if (message)
		(void) snprintf(text, size, "%s", message);
	else
		(void) snprintf(text, size, "HTTP %d%s%.*s", status, *body ? ": " : "",
				(int) (strcspn(body, "\r\n") & INT_MAX), body);
	return errno_of_status(status, json_string(json_get(tree, "reason"), ""));
}
