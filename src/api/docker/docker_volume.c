/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume - the calls of the protocol by their paths, what all of them read and answer
 *
 * Every call is a POST of a small JSON object. Members that are not known are passed over, as newer
 * engines send more; options of a volume are not, see docker_volume_create.c.
 */
#include "api/docker/docker_volume.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BODY_DEPTH_MAX = 8 };

/* ---- a call that waits ---- */

int docker_call_wait(struct docker_call *call, enum mount_wait_for what, uint64_t timeout_usec,
		     void (*done)(void *userdata, int error, const struct failure *why),
		     void (*abandon)(void *call))
{
	const struct mount_wait_request request = {
		.what = what,
		.name_space = call->name_space,
		.name = call->pod_name,
		.uid = call->uid,
		.timeout_usec = timeout_usec,
		.done = done,
		.userdata = call,
	};
	int r = agent_wait_pod(call->agent, &request, &call->wait);

	if (r >= 0)
		exchange_wait(call->exchange, call, abandon);
	return r;
}

/* ---- requests ---- */

struct cJSON *docker_body(struct exchange *exchange)
{
	static const struct json_limits limits = { .bytes = API_DOCKER_BODY_BYTES_MAX,
						   .depth = BODY_DEPTH_MAX };
	struct failure why = { .error = 0 };
	struct cJSON *body = NULL;
	int r = json_parse(exchange->body ?: "", exchange->body_length, &limits, &body, &why);

	if (r < 0) {
		reply_unread(exchange, r, why.text);
		return NULL;
	}
	if (json_is_object(body))
		return body;
	json_free(body);
	reply_refusal(exchange, API_BAD_REQUEST, "the body is not a JSON object");
	return NULL;
}

const char *docker_word(struct exchange *exchange, const struct cJSON *body, const char *key)
{
	const char *word = json_text(body, key);
	size_t length = strlen(word);

	if (length > 0 && length <= API_DOCKER_NAME_BYTES_MAX) {
		if (strcmp(key, "Name") == 0)
			(void) snprintf(exchange->record.object, sizeof(exchange->record.object),
					"%s", word);
		return word;
	}
	reply_refusal(exchange, API_BAD_REQUEST, "%s: must be a text of 1 to %d bytes", key,
		      API_DOCKER_NAME_BYTES_MAX);
	return NULL;
}

bool docker_named(struct exchange *exchange, const struct cJSON *body, struct docker_volume *ret)
{
	const char *name = docker_word(exchange, body, "Name");

	if (!name)
		return false;
	if (docker_volume_find(agent_store(exchange->agent), name, ret))
		return true;
	docker_refuse(exchange, "volume '%s' not found", name);
	return false;
}

/* ---- answers ---- */

void docker_refuse(struct exchange *exchange, const char *format, ...)
{
	char text[FAILURE_TEXT_BYTES + 256];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reply_refusal(exchange, API_INTERNAL_ERROR, "%s", text);
}

void docker_reply(struct exchange *exchange, const char *key, const char *value)
{
	struct cJSON *tree = json_new_object();

	if (key)
		(void) json_set_string(tree, key, value);
	(void) json_set_string(tree, "Err", "");
	reply_tree(exchange, 200, tree);
}

/* ---- calls ---- */

static void activate(struct exchange *exchange)
{
	struct cJSON *tree = json_new_object();
	struct cJSON *kinds = json_add_array(tree, "Implements");

	(void) json_set_string(kinds, NULL, "VolumeDriver");
	reply_tree(exchange, 200, tree);
}

/* Volumes are this node's: docker's swarm must not take one for the same of another node. */
static void capabilities(struct exchange *exchange)
{
	struct cJSON *tree = json_new_object();
	struct cJSON *scope = json_add_object(tree, "Capabilities");

	(void) json_set_string(scope, "Scope", "local");
	reply_tree(exchange, 200, tree);
}

static const struct {
	const char *path;
	api_handler *handler;
	bool writes;
} calls[] = {
	{ "Plugin.Activate", activate, false },
	{ "VolumeDriver.Capabilities", capabilities, false },
	{ "VolumeDriver.Create", docker_volume_create, true },
	{ "VolumeDriver.Get", docker_volume_get, false },
	{ "VolumeDriver.List", docker_volume_list, false },
	{ "VolumeDriver.Remove", docker_volume_remove, true },
	{ "VolumeDriver.Path", docker_volume_path, false },
	{ "VolumeDriver.Mount", docker_volume_mount, true },
	{ "VolumeDriver.Unmount", docker_volume_unmount, true },
};

bool docker_volume_writes(const struct api_path *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (api_path_matches(path, calls[i].path))
			return calls[i].writes;
	return false;
}

void docker_volume_dispatch(struct exchange *exchange)
{
	assert(exchange && exchange->agent && exchange->status == 0);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!api_path_matches(&exchange->path, calls[i].path))
			continue;
		if (exchange->method == METHOD_POST)
			calls[i].handler(exchange);
		else
			reply_refusal(exchange, API_METHOD_NOT_ALLOWED,
				      "every call of a volume plugin is a POST");
		return;
	}
	reply_refusal(exchange, API_NOT_FOUND,
		      "this socket serves docker's volume plugins and nothing else");
}
