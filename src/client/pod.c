/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod - the calls of libpodvol that are about pods and manifests: paths and Tables
 *
 * A wait is the daemon's: one request that is answered when it is over. The library's own time-out
 * is longer by a margin, so that the daemon's sentence about what is missing arrives.
 */
#include "client/handle.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

char *podvol_escape(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *escaped, *to;

	if (!text)
		return NULL;
	escaped = malloc(strlen(text) * 3 + 1);
	if (!escaped)
		return NULL;
	to = escaped;
	for (; *text; text++) {
		unsigned char byte = (unsigned char) *text;

		if (is_plain(*text)) {
			*to++ = *text;
			continue;
		}
		*to++ = '%';
		*to++ = digits[byte >> 4];
		*to++ = digits[byte & 15];
	}
	*to = '\0';
	return escaped;
}

/* "/podvol/v1/pods/NAMESPACE/NAME/verb", or without the namespace. Return: 0; -EINVAL; -ENOMEM. */
static int pod_path(struct podvol *podvol, const char *pod, const char *verb, char **ret)
{
	const char *slash = pod ? strchr(pod, '/') : NULL;
	cleanup_free char *name_space = NULL, *name = NULL;
	int r;

	if (!pod || *pod == '\0' || slash == pod ||
	    (slash && (!slash[1] || strchr(slash + 1, '/'))))
		return handle_failed(podvol, -EINVAL,
				     "a pod is named by namespace/name, name or uid");
	if (slash) {
		cleanup_free char *plain = strndup(pod, (size_t) (slash - pod));

		name_space = podvol_escape(plain);
		if (!name_space)
			return handle_failed(podvol, -ENOMEM, "out of memory");
	}
	name = podvol_escape(slash ? slash + 1 : pod);
	if (!name)
		return handle_failed(podvol, -ENOMEM, "out of memory");
	r = asprintf(ret, "/podvol/v1/pods/%s%s%s/%s", name_space ? name_space : "",
		     name_space ? "/" : "", name, verb);
	if (r < 0) {
		*ret = NULL;
		return handle_failed(podvol, -ENOMEM, "out of memory");
	}
	return 0;
}

/* The library's own time limit of a call that the daemon ends after @timeout_msec. */
static unsigned int time_limit(unsigned int timeout_msec)
{
	return timeout_msec < INT_MAX - MARGIN_MSEC ? timeout_msec + MARGIN_MSEC : INT_MAX;
}

/* Sends, and makes the answer a table where one is wanted. */
int handle_request_table(struct podvol *podvol, const struct podvol_request *request,
			 struct podvol_table **ret)
{
	struct podvol_reply reply = { 0 };
	int r;

	r = podvol_request(podvol, request, &reply);
	if (r == 0 && ret)
		r = table_parse(podvol, reply.body, reply.length, ret);
	podvol_reply_done(&reply);
	return r;
}

int podvol_table_get(struct podvol *podvol, const char *path, struct podvol_table **ret)
{
	const struct podvol_request request = { .method = "GET",
						.path = path,
						.accept = TYPE_TABLE };

	if (!podvol || !ret)
		return -EINVAL;
	return handle_request_table(podvol, &request, ret);
}

int podvol_apply(struct podvol *podvol, const void *documents, size_t length,
		 struct podvol_table **ret)
{
	const struct podvol_request request = { .method = "POST",
						.path = "/podvol/v1/apply",
						.content_type = "application/yaml",
						.accept = TYPE_TABLE,
						.body = documents,
						.body_length = length };

	if (!podvol || !documents)
		return -EINVAL;
	return handle_request_table(podvol, &request, ret);
}

/* ---- requests about a pod ---- */

int handle_new_request(struct podvol *podvol, const char *pod, const char *words,
		       unsigned int timeout_msec, struct owned_request **ret)
{
	struct owned_request *owned = calloc(1, sizeof(*owned));
	int r;

	if (!owned)
		return handle_failed(podvol, -ENOMEM, "out of memory");
	r = pod_path(podvol, pod, words, &owned->path);
	if (r < 0) {
		free(owned);
		return r;
	}
	owned->request.method = "POST";
	owned->request.path = owned->path;
	owned->request.accept = TYPE_TABLE;
	owned->request.timeout_msec = time_limit(timeout_msec);
	*ret = owned;
	return 0;
}

void podvol_request_free(struct podvol_request *request)
{
	struct owned_request *owned = (struct owned_request *) request;

	if (!owned)
		return;
	free(owned->path);
	free(owned->body);
	free(owned);
}

static int make_request(struct podvol *podvol, const char *pod, const char *verb,
			unsigned int timeout_msec, struct podvol_request **ret)
{
	const char *separator = strchr(verb, '?') ? "&" : "?";
	struct owned_request *owned = NULL;
	cleanup_free char *words = NULL;
	int r;

	if (!podvol || !ret)
		return -EINVAL;
	words = new_text("%s%stimeout=%ums", verb, separator, timeout_msec);
	if (!words)
		return handle_failed(podvol, -ENOMEM, "out of memory");
	r = handle_new_request(podvol, pod, words, timeout_msec, &owned);
	if (r == 0)
		*ret = &owned->request;
	return r;
}

int podvol_pod_mount_request(struct podvol *podvol, const char *pod, unsigned int timeout_msec,
			     struct podvol_request **ret)
{
	return make_request(podvol, pod, "mount", timeout_msec, ret);
}

int podvol_pod_unmount_request(struct podvol *podvol, const char *pod, unsigned int timeout_msec,
			       struct podvol_request **ret)
{
	return make_request(podvol, pod, "unmount?ignoreNotFound=true", timeout_msec, ret);
}

int podvol_pod_wait_request(struct podvol *podvol, const char *pod, enum podvol_wait_for what,
			    unsigned int timeout_msec, struct podvol_request **ret)
{
	switch (what) {
	case PODVOL_MOUNTED:
		return make_request(podvol, pod, "wait?for=mounted", timeout_msec, ret);
	case PODVOL_UNMOUNTED:
		return make_request(podvol, pod, "wait?for=unmounted", timeout_msec, ret);
	}
	return podvol ? handle_failed(podvol, -EINVAL,
				      "only PODVOL_MOUNTED and PODVOL_UNMOUNTED can be waited for")
		      : -EINVAL;
}

/* @r: of the function that made @request. */
static int send_table(struct podvol *podvol, int r, struct podvol_request *request,
		      struct podvol_table **ret)
{
	if (r == 0)
		r = handle_request_table(podvol, request, ret);
	podvol_request_free(request);
	return r;
}

int podvol_pod_mount(struct podvol *podvol, const char *pod, unsigned int timeout_msec,
		     struct podvol_table **ret)
{
	struct podvol_request *request = NULL;
	int r = podvol_pod_mount_request(podvol, pod, timeout_msec, &request);

	return send_table(podvol, r, request, ret);
}

int podvol_pod_unmount(struct podvol *podvol, const char *pod, unsigned int timeout_msec)
{
	struct podvol_request *request = NULL;
	int r = podvol_pod_unmount_request(podvol, pod, timeout_msec, &request);

	return send_table(podvol, r, request, NULL);
}

int podvol_pod_wait(struct podvol *podvol, const char *pod, enum podvol_wait_for what,
		    unsigned int timeout_msec)
{
	struct podvol_request *request = NULL;
	int r = podvol_pod_wait_request(podvol, pod, what, timeout_msec, &request);

	return send_table(podvol, r, request, NULL);
}

int podvol_volumes(struct podvol *podvol, const char *pod, struct podvol_table **ret)
{
	cleanup_free char *path = NULL;
	int r;

	if (!podvol || !ret)
		return -EINVAL;
	if (!pod)
		return podvol_table_get(podvol, "/podvol/v1/volumes", ret);
	r = pod_path(podvol, pod, "volumes", &path);
	return r < 0 ? r : podvol_table_get(podvol, path, ret);
}
