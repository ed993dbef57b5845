/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods - mount, unmount and wait for a pod: the response comes when it is done, or with the reason
 * why not
 *
 * A pod is named by namespace and name, by name alone (namespace "default") or by uid. A pod that
 * left the store while volumes of it are still mounted can be waited for and unmounted. Mounts
 * nothing: a stored pod is desired state, and the response waits for the reconciler.
 */
#include "api/named_pod.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

struct pod_wait {
	struct exchange *exchange; /* NULL: the client left while the delete was under way */
	struct agent *agent;
	struct mount_wait *wait; /* NULL while the delete is under way */
	struct named_pod pod;
	enum mount_wait_for what;
	uint64_t deadline_usec; /* monotonic */
	bool no_wait;
};

/* ---- the volumes of one pod ---- */

/* For pods that left the store: the agent lists them by what is mounted. */
static struct cJSON *keep_items_of(struct cJSON *tree, const char *uid)
{
	struct cJSON *kept = json_new_object();
	struct cJSON *items = json_add_array(kept, "items");

	JSON_FOREACH (item, json_get(tree, "items"))
		if (json_text_is(item, "podUID", uid))
			(void) json_set(items, NULL, json_copy(item));
	json_free(tree);
	return kept;
}

static struct cJSON *volumes_of(struct agent *agent, const struct named_pod *pod)
{
	const struct object *object = named_pod_object(agent, pod);

	if (object)
		return agent_view_volumes(agent, object);
	return keep_items_of(agent_view_volumes(agent, NULL), pod->uid);
}

void pods_volumes(struct exchange *exchange)
{
	struct named_pod pod;

	if (named_pod_find(exchange, 1, &pod))
		views_reply_volumes(exchange, 200, volumes_of(exchange->agent, &pod));
	else
		named_pod_refuse(exchange, &pod);
}

/* ---- waiting ---- */

static void wait_abandon(void *work)
{
	struct pod_wait *wait = work;

	wait->exchange = NULL;
	if (!wait->wait)
		return; /* the delete's callback frees it */
	mount_wait_cancel(wait->wait);
	free(wait);
}

/* A look-up for the pod that failed, -EIO, is what the wait is refused for. */
static void refuse_wait(const struct pod_wait *wait, int error, const struct failure *why)
{
	named_pod_failed(wait->exchange, &wait->pod, error == -EIO ? -EINVAL : error, why);
}

static void reply_unmounted(struct exchange *exchange, int status, const struct named_pod *pod,
			    const char *what)
{
	char message[512];

	(void) snprintf(message, sizeof(message), "pod '%s/%s' %s", pod->name_space, pod->name,
			what);
	named_pod_done(exchange, status, pod, message);
}

/* The current volumes, which saves the client a second request. */
static void wait_done(void *userdata, int error, const struct failure *why)
{
	struct pod_wait *wait = userdata;
	struct exchange *exchange = wait->exchange;

	if (error < 0)
		refuse_wait(wait, error, why);
	else if (wait->what == WAIT_UNMOUNTED)
		reply_unmounted(exchange, 200, &wait->pod, "has no volume mounted");
	else
		views_reply_volumes(exchange, 200, volumes_of(wait->agent, &wait->pod));
	free(wait);
}

/* Takes @wait: it replies, or stays in the exchange. */
static void begin_wait(struct pod_wait *wait)
{
	struct exchange *exchange = wait->exchange;
	uint64_t now = monotonic_usec();
	const struct mount_wait_request request = {
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
		exchange_wait(exchange, wait, wait_abandon);
		return;
	}
	if (r == -ENOBUFS)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS, REPLY_BUSY);
	else
		refuse_wait(wait, r, NULL);
	free(wait);
}

/* Reads ?timeout=; replies and returns NULL when it is none. */
static struct pod_wait *wait_new(struct exchange *exchange, enum mount_wait_for what,
				 const struct named_pod *pod)
{
	uint64_t timeout_usec = API_WAIT_DEFAULT_SECONDS * USEC_PER_SEC;
	struct pod_wait *wait;

	if (!exchange_timeout(exchange, &timeout_usec) ||
	    (timeout_usec > 0 && !exchange_may_wait(exchange)))
		return NULL;
	wait = exchange_new_work(exchange, sizeof(*wait));
	if (!wait)
		return NULL;
	wait->exchange = exchange;
	wait->agent = exchange->agent;
	wait->pod = *pod;
	wait->what = what;
	wait->no_wait = timeout_usec == 0;
	wait->deadline_usec = monotonic_usec() + timeout_usec;
	return wait;
}

/* @answer_now: without a timeout reply with the current state; else wait for zero time. */
static void wait_for_mounted(struct exchange *exchange, bool answer_now)
{
	struct named_pod pod;
	struct pod_wait *wait;

	if (!named_pod_find(exchange, 1, &pod) || !pod.is_stored) {
		named_pod_refuse(exchange, &pod);
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

/* An unknown pod has no volume mounted: success. */
static void wait_for_unmounted(struct exchange *exchange)
{
	struct named_pod pod;
	struct pod_wait *wait;

	if (!named_pod_find(exchange, 1, &pod)) {
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
	/* Another client deleted it meanwhile: what is left to do is the same. */
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

/* Requires the uid that was looked up: a recreated pod of that name is another one. */
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
	exchange_wait(exchange, wait, wait_abandon);
}

static bool ignores_not_found(const struct exchange *exchange)
{
	const char *text = api_path_parameter(&exchange->path, "ignoreNotFound");

	return text && strcmp(text, "true") == 0;
}

/* A pod of a manifest would be stored again with the next read of its file. */
void pods_unmount(struct exchange *exchange)
{
	const struct object *object;
	struct named_pod pod;
	struct pod_wait *wait;
	const char *file;

	if (!named_pod_find(exchange, 1, &pod)) {
		if (ignores_not_found(exchange))
			reply_unmounted(exchange, 200, &pod, "has no volume mounted");
		else
			named_pod_refuse(exchange, &pod);
		return;
	}
	object = named_pod_object(exchange->agent, &pod);
	file = object ? agent_manifest_file_of(exchange->agent, object) : NULL;
	if (file) {
		reply_refusal(exchange, API_CONFLICT,
			      "pod '%s/%s' comes from the manifest '%s' and would be mounted "
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
