/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume_unmount - hold and pod of a mount end; answered when the volume is down
 *
 * Found by the pod's name alone: so a mount ends though the volume's record or the pod is gone from
 * the store. An ID that is not mounted, as after a reboot, is done at once. Of the pod's holds only
 * docker's own end: a process that another client named keeps the volume, and the answer names it.
 */
#include "api/docker/docker_volume.h"

#include <stdio.h>
#include <string.h>

/* docker gives up after a minute. */
enum { WAIT_USEC = 50000000 };

/* What was begun goes on; only the answer is dropped. */
static void call_abandon(void *work)
{
	struct docker_call *call = work;

	call->exchange = NULL;
	if (!call->wait)
		return;
	mount_wait_cancel(call->wait);
	free(call);
}

static void end_call(struct docker_call *call, int error, const char *text)
{
	if (error < 0)
		docker_refuse(call->exchange, "%s", text && *text ? text : strerror(-error));
	else
		docker_reply(call->exchange, NULL, NULL);
	free(call);
}

/* ---- which pod? ---- */

static int match_stored(const struct object *pod, void *userdata)
{
	struct docker_call *call = userdata;

	if (strcmp(pod->meta.name, call->pod_name) != 0 || !docker_is_labelled(pod, NULL))
		return 0;
	(void) snprintf(call->name_space, sizeof(call->name_space), "%s", pod->meta.name_space);
	(void) snprintf(call->uid, sizeof(call->uid), "%s", pod->meta.uid);
	call->is_stored = true;
	return 1;
}

/* Gone from the store, by hand or by an unmount that was not waited for, and mounted still. */
static void match_mounted(struct docker_call *call)
{
	cleanup_json struct cJSON *tree = agent_view_volumes(call->agent, NULL);

	JSON_FOREACH (item, json_get(tree, "items")) {
		const char *key = json_text(item, "pod");
		const char *slash = strchr(key, '/');

		if (!slash || strcmp(slash + 1, call->pod_name) != 0)
			continue;
		(void) snprintf(call->name_space, sizeof(call->name_space), "%.*s",
				(int) (slash - key), key);
		(void) snprintf(call->uid, sizeof(call->uid), "%s", json_text(item, "podUID"));
	}
}

/* ---- one step after the other ---- */

static int release(const struct docker_call *call, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = agent_view_holds(call->agent, call->uid);
	int r = 0;

	for (const struct cJSON *item = json_first(json_get(tree, "items")); item && r == 0;
	     item = json_next(item))
		if (json_text_is(item, "kind", "explicit"))
			r = agent_hold_remove(call->agent, call->uid, json_text(item, "id"),
					      reterr);
	return r;
}

static void on_waited(void *userdata, int error, const struct failure *why)
{
	struct docker_call *call = userdata;

	call->wait = NULL;
	end_call(call, error, why ? why->text : NULL);
}

static void begin_wait(struct docker_call *call)
{
	int r = docker_call_wait(call, WAIT_UNMOUNTED, WAIT_USEC, on_waited, call_abandon);

	if (r < 0)
		end_call(call, r, NULL);
}

static void on_deleted(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct docker_call *call = userdata;

	if (!call->exchange)
		free(call);
	else if (error < 0 && error != -ENOENT)
		end_call(call, error, why ? why->text : NULL);
	else
		begin_wait(call);
}

static void begin(struct docker_call *call)
{
	const struct store_key key = { KIND_POD, call->name_space, call->pod_name };
	const struct store_precondition expected = { .uid = call->uid };
	struct failure why = { .error = 0 };
	int r = release(call, &why);

	if (r == 0 && !call->is_stored) {
		begin_wait(call);
		return;
	}
	if (r == 0)
		r = store_delete(agent_store(call->agent), &key, &expected, on_deleted, call);
	if (r < 0) {
		end_call(call, r, why.text);
		return;
	}
	exchange_wait(call->exchange, call, call_abandon);
}

void docker_volume_unmount(struct exchange *exchange)
{
	cleanup_json struct cJSON *body = docker_body(exchange);
	const char *name = body ? docker_word(exchange, body, "Name") : NULL;
	const char *id = name ? docker_word(exchange, body, "ID") : NULL;
	struct docker_call *call;

	if (!id)
		return;
	call = exchange_new_work(exchange, sizeof(*call));
	if (!call)
		return;
	call->exchange = exchange;
	call->agent = exchange->agent;
	docker_pod_name(name, id, call->pod_name);
	if (store_list(agent_store(call->agent), KIND_POD, NULL, match_stored, call) == 0)
		match_mounted(call);
	if (*call->uid)
		begin(call);
	else
		end_call(call, 0, NULL);
}
