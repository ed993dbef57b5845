/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container - the calls of libpodvol for who starts containers: what to mount, and holds
 */
#include "client/handle.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <stdbool.h>
#include <string.h>

enum { HOLD_BYTES_MAX = 65536, HOLD_DEPTH_MAX = 8 };

/* "mounts?timeout=...&format=...&container=..." below the pod's path. */
static int mounts_path(struct podvol *podvol, const char *pod, const char *container,
		       const char *format, unsigned int timeout_msec, char **ret)
{
	cleanup_free char *words = NULL, *escaped = NULL, *format_word = NULL;

	escaped = podvol_escape(container ? container : "");
	format_word = podvol_escape(format);
	if (!escaped || !format_word ||
	    asprintf(&words, "mounts?timeout=%ums&format=%s%s%s", timeout_msec, format_word,
		     container ? "&container=" : "", escaped) < 0) {
		words = NULL;
		return handle_failed(podvol, -ENOMEM, "out of memory");
	}
	return handle_pod_path(podvol, pod, words, ret);
}

int podvol_container_mounts(struct podvol *podvol, const char *pod, const char *container,
			    unsigned int timeout_msec, struct podvol_table **ret)
{
	struct podvol_request request = { .method = "POST",
					  .accept = TYPE_TABLE,
					  .timeout_msec = handle_time_limit(timeout_msec) };
	cleanup_free char *path = NULL;
	int r;

	if (!podvol || !ret)
		return -EINVAL;
	r = mounts_path(podvol, pod, container, "table", timeout_msec, &path);
	if (r < 0)
		return r;
	request.path = path;
	return handle_request_table(podvol, &request, ret);
}

int podvol_container_mounts_as(struct podvol *podvol, const char *pod, const char *container,
			       const char *format, unsigned int timeout_msec,
			       struct podvol_reply *ret)
{
	struct podvol_request request = { .method = "POST",
					  .accept = "*/*",
					  .timeout_msec = handle_time_limit(timeout_msec) };
	cleanup_free char *path = NULL;
	int r;

	if (!podvol || !format || !ret)
		return -EINVAL;
	r = mounts_path(podvol, pod, container, format, timeout_msec, &path);
	if (r < 0)
		return r;
	request.path = path;
	return podvol_request(podvol, &request, ret);
}

/* ---- holds ---- */

static char *print_hold(const struct podvol_hold *hold)
{
	cleanup_json struct cJSON *tree = json_new_object();

	(void) json_set_string(tree, "container", hold->container);
	if (hold->pid != 0)
		(void) json_set_int(tree, "pid", hold->pid);
	if (hold->cgroup)
		(void) json_set_string(tree, "cgroup", hold->cgroup);
	return json_print(tree);
}

/* The answer is the hold; its id is what a release needs. */
static int read_id(struct podvol *podvol, const struct podvol_reply *reply, char **ret_id)
{
	const struct json_limits limits = { .bytes = HOLD_BYTES_MAX, .depth = HOLD_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	const char *id;

	(void) json_parse(reply->body, reply->length, &limits, &tree, NULL);
	id = json_string(json_get(tree, "id"), NULL);
	if (!id)
		return handle_failed(podvol, -EPROTO, "the answer is not a hold");
	*ret_id = strdup(id);
	return *ret_id ? 0 : handle_failed(podvol, -ENOMEM, "out of memory");
}

int podvol_hold_add(struct podvol *podvol, const char *pod, const struct podvol_hold *hold,
		    char **ret_id)
{
	struct podvol_request request = { .method = "POST" };
	struct podvol_reply reply = { 0 };
	cleanup_free char *path = NULL, *body = NULL;
	int r;

	if (!podvol)
		return -EINVAL;
	if (!hold || !hold->container || hold->pid < 0 || (hold->pid > 0 && hold->cgroup))
		return handle_failed(podvol, -EINVAL, "the hold is not valid");
	r = handle_pod_path(podvol, pod, "holds", &path);
	if (r < 0)
		return r;
	body = print_hold(hold);
	if (!body)
		return handle_failed(podvol, -ENOMEM, "out of memory");
	request.path = path;
	request.body = body;
	request.body_length = strlen(body);
	r = podvol_request(podvol, &request, &reply);
	if (r == 0 && ret_id)
		r = read_id(podvol, &reply, ret_id);
	podvol_reply_done(&reply);
	return r;
}

int podvol_hold_remove(struct podvol *podvol, const char *pod, const char *id)
{
	struct podvol_request request = { .method = "DELETE" };
	cleanup_free char *escaped = NULL, *words = NULL, *path = NULL;
	int r;

	if (!podvol || !id)
		return -EINVAL;
	escaped = podvol_escape(id);
	if (!escaped || asprintf(&words, "holds/%s", escaped) < 0) {
		words = NULL;
		return handle_failed(podvol, -ENOMEM, "out of memory");
	}
	r = handle_pod_path(podvol, pod, words, &path);
	if (r < 0)
		return r;
	request.path = path;
	return podvol_request(podvol, &request, NULL);
}
