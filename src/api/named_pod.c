/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named_pod - the pod that a path below podvol/v1/pods means; see named_pod.h
 *
 * Changes nothing. One table maps errors of holds, mounts and waits to refusals.
 */
#include "api/named_pod.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX_SEGMENTS = 3 }; /* podvol/v1/pods */

static void copy_text(char *to, size_t bytes, const char *text)
{
	(void) snprintf(to, bytes, "%s", text);
}

static void name_stored(const struct object *object, struct named_pod *ret)
{
	copy_text(ret->name_space, sizeof(ret->name_space), object->meta.name_space);
	copy_text(ret->name, sizeof(ret->name), object->meta.name);
	copy_text(ret->uid, sizeof(ret->uid), object->meta.uid);
	ret->is_stored = true;
}

/* A uid stands where a name may: nothing else about the pod needs to be known. */
static int match_uid(const struct object *object, void *userdata)
{
	struct named_pod *pod = userdata;

	if (strcmp(object->meta.uid, pod->name) != 0)
		return 0;
	name_stored(object, pod);
	return 1;
}

/* A pod that is gone from the store lives on in the volumes that are still mounted for it. */
static bool find_mounted(struct agent *agent, struct named_pod *pod)
{
	cleanup_json struct cJSON *tree = agent_view_volumes(agent, NULL);
	char key[sizeof(pod->name_space) + sizeof(pod->name)];

	(void) snprintf(key, sizeof(key), "%s/%s", pod->name_space, pod->name);
	JSON_FOREACH (item, json_get(tree, "items")) {
		const char *uid = json_text(item, "podUID");
		const char *known_as = json_text(item, "pod");
		const char *slash = strchr(known_as, '/');

		if (strcmp(known_as, key) != 0 && strcmp(uid, pod->name) != 0)
			continue;
		copy_text(pod->uid, sizeof(pod->uid), uid);
		if (slash) {
			(void) snprintf(pod->name_space, sizeof(pod->name_space), "%.*s",
					(int) (slash - known_as), known_as);
			copy_text(pod->name, sizeof(pod->name), slash + 1);
		}
		return true;
	}
	return false;
}

bool named_pod_find(struct exchange *exchange, size_t tail, struct named_pod *ret)
{
	const struct api_path *path = &exchange->path;
	bool has_namespace = path->segment_count == PREFIX_SEGMENTS + 2 + tail;
	struct store *store = agent_store(exchange->agent);
	const struct object *object;

	assert(has_namespace || path->segment_count == PREFIX_SEGMENTS + 1 + tail);
	*ret = (struct named_pod){ 0 };
	copy_text(ret->name_space, sizeof(ret->name_space),
		  has_namespace ? path->segments[PREFIX_SEGMENTS] : "default");
	copy_text(ret->name, sizeof(ret->name), path->segments[path->segment_count - 1 - tail]);

	object = store_get(store, KIND_POD, ret->name_space, ret->name);
	if (object) {
		name_stored(object, ret);
		return true;
	}
	if (!has_namespace && store_list(store, KIND_POD, NULL, match_uid, ret) > 0)
		return true;
	return find_mounted(exchange->agent, ret);
}

void named_pod_refuse(struct exchange *exchange, const struct named_pod *pod)
{
	const struct reply_details details = { .row = kind_row(KIND_POD), .name = pod->name };

	reply_error(exchange, -ENOENT, &details, NULL);
}

static enum api_refusal refusal_of(int error)
{
	static const struct {
		int error;
		enum api_refusal refusal;
	} rows[] = {
		{ -ENOENT, API_NOT_FOUND },
		{ -ECANCELED, API_SERVICE_UNAVAILABLE },
		{ -ENOBUFS, API_TOO_MANY_REQUESTS },
		{ -ETIMEDOUT, API_TIMEOUT },
		{ -EDQUOT, API_FORBIDDEN },
		{ -ESTALE, API_CONFLICT },
		{ -EAGAIN, API_CONFLICT }, /* not mounted, or no longer */
		{ -EINVAL, API_INVALID },
		{ -ESRCH, API_INVALID },
		{ -EROFS, API_INVALID }, /* a directory that cannot be made */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].error == error)
			return rows[i].refusal;
	return API_INTERNAL_ERROR;
}

static struct reply_details details_of(const struct named_pod *pod)
{
	return (struct reply_details){ .row = kind_row(KIND_POD),
				       .name = pod->name,
				       .uid = pod->uid };
}

void named_pod_failed(struct exchange *exchange, const struct named_pod *pod, int error,
		      const struct failure *why)
{
	const struct reply_details details = details_of(pod);

	reply_refusal_about(exchange, refusal_of(error), &details,
			    why && why->text[0] ? why->text : strerror(-error));
}

void named_pod_done(struct exchange *exchange, int status, const struct named_pod *pod,
		    const char *message)
{
	const struct reply_details details = details_of(pod);

	reply_success(exchange, status, &details, message);
}

const struct object *named_pod_object(struct agent *agent, const struct named_pod *pod)
{
	if (!pod->is_stored)
		return NULL;
	return store_get(agent_store(agent), KIND_POD, pod->name_space, pod->name);
}
