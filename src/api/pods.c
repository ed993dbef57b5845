/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods - mount, unmount and wait for a pod: answered when it is done, or with the reason why not
 *
 * A pod is named by namespace and name, by name alone (namespace "default") or by uid. A pod that
 * left the store while volumes of it are still mounted can be waited for and taken down. Nothing is
 * mounted from here: a stored pod is wanted, and the answer waits for the rest of the program.
 */
#include "api/exchange.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { POD_UID_BYTES = 128 };

/* A pod that was asked for. */
struct named_pod {
	char name_space[64];
	char name[254];
	char uid[POD_UID_BYTES];
	bool is_stored;
};

struct pod_wait {
	struct exchange *exchange; /* NULL: the client left while the delete was under way */
	struct agent *agent;
	struct agent_wait *wait; /* NULL while the delete is under way */
	struct named_pod pod;
	enum agent_wait_for what;
	uint64_t deadline_usec; /* monotonic */
	bool no_wait;
};

/* ---- which pod ---- */

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
	const struct cJSON *item;

	(void) snprintf(key, sizeof(key), "%s/%s", pod->name_space, pod->name);
	for (item = json_first(json_get(tree, "items")); item; item = json_next(item)) {
		const char *uid = json_string(json_get(item, "podUID"), "");
		const char *known_as = json_string(json_get(item, "pod"), "");
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

/* podvol/v1/pods/[NAMESPACE/]WORD/verb. False: nobody knows it; @ret names it all the same. */
static bool find_pod(struct exchange *exchange, struct named_pod *ret)
{
	const struct api_path *path = &exchange->path;
	bool has_namespace = path->segment_count == 6;
	struct store *store = agent_store(exchange->agent);
	const struct object *object;

	assert(has_namespace || path->segment_count == 5);
	*ret = (struct named_pod){ 0 };
	copy_text(ret->name_space, sizeof(ret->name_space),
		  has_namespace ? path->segments[3] : "default");
	copy_text(ret->name, sizeof(ret->name), path->segments[path->segment_count - 2]);

	object = store_get(store, KIND_POD, ret->name_space, ret->name);
	if (object) {
		name_stored(object, ret);
		return true;
	}
	if (!has_namespace && store_list(store, KIND_POD, NULL, match_uid, ret) > 0)
		return true;
	return find_mounted(exchange->agent, ret);
}

static void refuse_unknown(struct exchange *exchange, const struct named_pod *pod)
{
	const struct reply_details details = { .row = kind_row(KIND_POD), .name = pod->name };

	reply_error(exchange, -ENOENT, &details, NULL);
}

/* Looked up anew each time: the pod may have gone between question and answer. */
static const struct object *stored_object(struct agent *agent, const struct named_pod *pod)
{
	if (!pod->is_stored)
		return NULL;
	return store_get(agent_store(agent), KIND_POD, pod->name_space, pod->name);
}

/* ---- the volumes of one pod ---- */

/* For pods that left the store: the agent lists them by what is mounted. */
static struct cJSON *keep_items_of(struct cJSON *tree, const char *uid)
{
	struct cJSON *kept = json_new_object();
	struct cJSON *items = json_add_array(kept, "items");
	const struct cJSON *item;

	for (item = json_first(json_get(tree, "items")); item; item = json_next(item))
		if (strcmp(json_string(json_get(item, "podUID"), ""), uid) == 0)
			(void) json_set(items, NULL, json_copy(item));
	json_free(tree);
	return kept;
}

static struct cJSON *volumes_of(struct agent *agent, const struct named_pod *pod)
{
	const struct object *object = stored_object(agent, pod);

	if (object)
		return agent_view_volumes(agent, object);
	return keep_items_of(agent_view_volumes(agent, NULL), pod->uid);
}

void pods_volumes(struct exchange *exchange)
{
	struct named_pod pod;

	if (find_pod(exchange, &pod))
		views_reply_volumes(exchange, 200, volumes_of(exchange->agent, &pod));
	else
		refuse_unknown(exchange, &pod);
}

/* ---- waiting ---- */

static void wait_abandon(void *work)
{
	struct pod_wait *wait = work;

	wait->exchange = NULL;
	if (!wait->wait)
		return; /* the delete's callback frees it */
	agent_wait_cancel(wait->wait);
	free(wait);
}

static void refuse_failed_wait(struct exchange *exchange, const struct pod_wait *wait, int error,
			       const struct failure *why)
{
	const struct reply_details details = { .row = kind_row(KIND_POD),
					       .name = wait->pod.name,
					       .uid = wait->pod.uid };
	const char *text = why && why->text[0] ? why->text : strerror(-error);
	enum api_refusal refusal = API_INTERNAL_ERROR;

	if (error == -ETIMEDOUT)
		refusal = API_TIMEOUT;
	else if (error == -ENOENT)
		refusal = API_NOT_FOUND;
	else if (error == -ECANCELED)
		refusal = API_SERVICE_UNAVAILABLE;
	else if (error == -EIO)
		refusal = API_INVALID; /* the pod asks for what cannot be looked up */
	reply_refusal_about(exchange, refusal, &details, text);
}

static void reply_unmounted(struct exchange *exchange, int status, const struct named_pod *pod,
			    const char *what)
{
	const struct reply_details details = { .row = kind_row(KIND_POD),
					       .name = pod->name,
					       .uid = pod->uid };
	char message[512];

	(void) snprintf(message, sizeof(message), "pod \"%s/%s\" %s", pod->name_space, pod->name,
			what);
	reply_success(exchange, status, &details, message);
}

/* The volumes as they are now, so that the client need not ask again. */
static void wait_done(void *userdata, int error, const struct failure *why)
{
	struct pod_wait *wait = userdata;
	struct exchange *exchange = wait->exchange;

	if (error < 0)
		refuse_failed_wait(exchange, wait, error, why);
	else if (wait->what == WAIT_UNMOUNTED)
		reply_unmounted(exchange, 200, &wait->pod, "has no volume mounted");
	else
		views_reply_volumes(exchange, 200, volumes_of(wait->agent, &wait->pod));
	free(wait);
}

/* Takes @wait: it answers, or lives on in the exchange. */
static void begin_wait(struct pod_wait *wait)
{
	struct exchange *exchange = wait->exchange;
	uint64_t now = monotonic_usec();
	const struct agent_wait_request request = {
		.what = wait->what,
		.name_space = wait->pod.name_space,
		.name = wait->pod.name,
		.uid = wait->pod.uid,
		.timeout_usec = wait->deadline_usec > now ? wait->deadline_usec - now : 0,
		.done = wait_done,
		.userdata = wait,
	};
	int r = agent_wait_pod(wait->agent, &request, &wait->wait);

	if (r == 0) {
		exchange->work = wait;
		exchange->abandon = wait_abandon;
		return;
	}
	if (r == -ENOBUFS)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS,
			      "too many requests wait for pods: try again later");
	else
		refuse_failed_wait(exchange, wait, r, NULL);
	free(wait);
}

/* Reads ?timeout=; replies and returns NULL when it is none. */
static struct pod_wait *wait_new(struct exchange *exchange, enum agent_wait_for what,
				 const struct named_pod *pod)
{
	const char *text = api_path_parameter(&exchange->path, "timeout");
	uint64_t timeout_usec = API_WAIT_DEFAULT_SECONDS * USEC_PER_SEC;
	struct pod_wait *wait;

	if (text && duration_parse(text, &timeout_usec) < 0) {
		reply_refusal(exchange, API_BAD_REQUEST,
			      "timeout: '%s' is no duration of at most 30 days: write 30s, 2m or "
			      "1h30m",
			      text);
		return NULL;
	}
	if (timeout_usec > 0 && !exchange->may_wait) {
		reply_refusal(exchange, API_TOO_MANY_REQUESTS,
			      "too many requests wait already: try again later");
		return NULL;
	}
	wait = calloc(1, sizeof(*wait));
	if (!wait) {
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return NULL;
	}
	wait->exchange = exchange;
	wait->agent = exchange->agent;
	wait->pod = *pod;
	wait->what = what;
	wait->no_wait = timeout_usec == 0;
	wait->deadline_usec = monotonic_usec() + timeout_usec;
	return wait;
}

/* @answer_now: without a time-out the present state is the answer; else it is a wait of no length.
 */
static void wait_for_mounted(struct exchange *exchange, bool answer_now)
{
	struct named_pod pod;
	struct pod_wait *wait;

	if (!find_pod(exchange, &pod) || !pod.is_stored) {
		refuse_unknown(exchange, &pod);
		return;
	}
	wait = wait_new(exchange, WAIT_MOUNTED, &pod);
	if (!wait)
		return;
	if (wait->no_wait && answer_now) {
		free(wait);
		views_reply_volumes(exchange, 202, volumes_of(exchange->agent, &pod));
		return;
	}
	begin_wait(wait);
}

/* A pod that nobody knows has no volume mounted: that is what was asked. */
static void wait_for_unmounted(struct exchange *exchange)
{
	struct named_pod pod;
	struct pod_wait *wait;

	if (!find_pod(exchange, &pod)) {
		reply_unmounted(exchange, 200, &pod, "has no volume mounted");
		return;
	}
	wait = wait_new(exchange, WAIT_UNMOUNTED, &pod);
	if (wait)
		begin_wait(wait);
}

void pods_mount(struct exchange *exchange)
{
	wait_for_mounted(exchange, true);
}

void pods_wait(struct exchange *exchange)
{
	const char *what = api_path_parameter(&exchange->path, "for");

	if (!what || strcmp(what, "mounted") == 0)
		wait_for_mounted(exchange, false);
	else if (strcmp(what, "unmounted") == 0)
		wait_for_unmounted(exchange);
	else
		reply_refusal(exchange, API_BAD_REQUEST,
			      "for: '%s' is neither 'mounted' nor 'unmounted'", what);
}

/* ---- unmounting ---- */

static void deleted(void *userdata, int error, const struct object *result,
		    const struct failure *why)
{
	struct pod_wait *wait = userdata;
	struct exchange *exchange = wait->exchange;
	const struct reply_details details = { .row = kind_row(KIND_POD), .name = wait->pod.name };

	if (!exchange) {
		free(wait);
		return;
	}
	/* Somebody else deleted it meanwhile: what is left to do is the same. */
	if (error < 0 && error != -ENOENT) {
		reply_error(exchange, error, &details, why);
		free(wait);
		return;
	}
	if (wait->no_wait) {
		reply_unmounted(exchange, 202, &wait->pod, "is deleted, its volumes follow");
		free(wait);
		return;
	}
	begin_wait(wait);
}

/* Expects the uid that was looked up: a pod made anew under the name is not the one meant. */
static void begin_delete(struct pod_wait *wait)
{
	const struct store_precondition expected = { .uid = wait->pod.uid };
	const struct reply_details details = { .row = kind_row(KIND_POD), .name = wait->pod.name };
	const struct store_key key = { KIND_POD, wait->pod.name_space, wait->pod.name };
	struct exchange *exchange = wait->exchange;
	int r;

	r = store_delete(agent_store(wait->agent), &key, &expected, deleted, wait);
	if (r < 0) {
		reply_error(exchange, r, &details, NULL);
		free(wait);
		return;
	}
	exchange->work = wait;
	exchange->abandon = wait_abandon;
}

/* A pod of a manifest would come back with the next look at its file. */
void pods_unmount(struct exchange *exchange)
{
	const struct object *object;
	struct named_pod pod;
	struct pod_wait *wait;
	const char *file;

	if (!find_pod(exchange, &pod)) {
		refuse_unknown(exchange, &pod);
		return;
	}
	object = stored_object(exchange->agent, &pod);
	file = object ? agent_manifest_file_of(exchange->agent, object) : NULL;
	if (file) {
		reply_refusal(exchange, API_CONFLICT,
			      "pod \"%s/%s\" comes from the manifest '%s' and would be mounted "
			      "again: remove it from the manifest instead",
			      pod.name_space, pod.name, file);
		return;
	}
	wait = wait_new(exchange, WAIT_UNMOUNTED, &pod);
	if (!wait)
		return;
	if (object)
		begin_delete(wait);
	else if (wait->no_wait)
		deleted(wait, 0, NULL, NULL);
	else
		begin_wait(wait);
}
