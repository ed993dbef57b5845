/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container - the calls of libpodvol for who starts containers: what to mount, and holds
 */
#include "client/handle.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "object/json/json.h"

#include <string.h>

enum { HOLD_BYTES_MAX = 65536, HOLD_DEPTH_MAX = 8 };

/* Without @format a Table. */
int podvol_container_mounts_request(struct podvol *podvol, const char *pod, const char *container,
				    const char *format, unsigned int timeout_msec,
				    struct podvol_request **ret)
{
	cleanup_free char *words = NULL, *escaped = NULL, *format_word = NULL;
	struct owned_request *owned = NULL;
	int r;

	if (!podvol || !ret)
		return -EINVAL;
	escaped = podvol_escape(container ? container : "");
	format_word = podvol_escape(format ? format : "table");
	if (!escaped || !format_word ||
	    !(words = new_text("mounts?timeout=%ums&format=%s%s%s", timeout_msec, format_word,
			       container ? "&container=" : "", escaped)))
		return handle_failed(podvol, -ENOMEM, "out of memory");
	r = handle_new_request(podvol, pod, words, timeout_msec, &owned);
	if (r < 0)
		return r;
	if (format)
		owned->request.accept = "*/*";
	*ret = &owned->request;
	return 0;
}

int podvol_container_mounts(struct podvol *podvol, const char *pod, const char *container,
			    unsigned int timeout_msec, struct podvol_table **ret)
{
	struct podvol_request *request = NULL;
	int r;

	if (!ret)
		return -EINVAL;
	r = podvol_container_mounts_request(podvol, pod, container, NULL, timeout_msec, &request);
	if (r == 0)
		r = handle_request_table(podvol, request, ret);
	podvol_request_free(request);
	return r;
}

int podvol_container_mounts_as(struct podvol *podvol, const char *pod, const char *container,
			       const char *format, unsigned int timeout_msec,
			       struct podvol_reply *ret)
{
	struct podvol_request *request = NULL;
	int r;

	if (!format || !ret)
		return -EINVAL;
	r = podvol_container_mounts_request(podvol, pod, container, format, timeout_msec, &request);
	if (r == 0)
		r = podvol_request(podvol, request, ret);
	podvol_request_free(request);
	return r;
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

int podvol_hold_add_request(struct podvol *podvol, const char *pod, const struct podvol_hold *hold,
			    struct podvol_request **ret)
{
	struct owned_request *owned = NULL;
	int r;

	if (!podvol || !ret)
		return -EINVAL;
	if (!hold || !hold->container || hold->pid < 0 || (hold->pid > 0 && hold->cgroup))
		return handle_failed(podvol, -EINVAL, "the hold is not valid");
	r = handle_new_request(podvol, pod, "holds", 0, &owned);
	if (r < 0)
		return r;
	owned->body = print_hold(hold);
	if (!owned->body) {
		podvol_request_free(&owned->request);
		return handle_failed(podvol, -ENOMEM, "out of memory");
	}
	owned->request.accept = NULL;
	owned->request.timeout_msec = 0;
	owned->request.body = owned->body;
	owned->request.body_length = strlen(owned->body);
	*ret = &owned->request;
	return 0;
}

int podvol_hold_add(struct podvol *podvol, const char *pod, const struct podvol_hold *hold,
		    char **ret_id)
{
	struct podvol_request *request = NULL;
	struct podvol_reply reply = { 0 };
	int r = podvol_hold_add_request(podvol, pod, hold, &request);

	if (r == 0)
		r = podvol_request(podvol, request, &reply);
	if (r == 0 && ret_id)
		r = read_id(podvol, &reply, ret_id);
	podvol_reply_done(&reply);
	podvol_request_free(request);
	return r;
}

int podvol_hold_remove_request(struct podvol *podvol, const char *pod, const char *id,
			       struct podvol_request **ret)
{
	cleanup_free char *escaped = NULL, *words = NULL;
	struct owned_request *owned = NULL;
	int r;

	if (!podvol || !id || !ret)
		return -EINVAL;
	escaped = podvol_escape(id);
	if (!escaped || !(words = new_text("holds/%s", escaped)))
		return handle_failed(podvol, -ENOMEM, "out of memory");
	r = handle_new_request(podvol, pod, words, 0, &owned);
	if (r < 0)
		return r;
	owned->request.method = "DELETE";
	owned->request.accept = NULL;
	owned->request.timeout_msec = 0;
	*ret = &owned->request;
	return 0;
}

int podvol_hold_remove(struct podvol *podvol, const char *pod, const char *id)
{
	struct podvol_request *request = NULL;
	int r = podvol_hold_remove_request(podvol, pod, id, &request);

	if (r == 0)
		r = podvol_request(podvol, request, NULL);
	podvol_request_free(request);
	return r;
}
