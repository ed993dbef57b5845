/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume_mount - a mount is a pod that wants the volume; answered when it has it
 *
 * The hold comes last, just before the answer: from then on docker owns the mount and unmounts it.
 * Before, whatever ends the call takes the pod away again: a failure, or an engine that gave up
 * waiting, for neither unmounts what was not mounted for it. The same call again, for the same ID,
 * finds the pod and goes on with it.
 *
 * A failure that podvold would try again is answered after WAIT_USEC all the same, because podman
 * waits for five seconds and shows no reason afterwards; what is still at work has time.
 */
#include "api/docker/docker_volume.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* docker gives up after two minutes. */
enum { WAIT_USEC = 4000000, WAIT_ALL_USEC = 100000000 };

/* ---- the end of a call ---- */

static bool is_held(struct agent *agent, const char *uid)
{
	cleanup_json struct cJSON *tree = agent_view_holds(agent, uid);

	return json_first(json_get(tree, "items")) != NULL;
}

/* A mount that was answered stays: this call was a second one for it. */
static void take_back(const struct docker_call *call)
{
	const struct store_key key = { KIND_POD, call->name_space, call->pod_name };
	const struct store_precondition expected = { .uid = call->uid };
	struct store *store = agent_store(call->agent);

	if (store && !is_held(call->agent, call->uid))
		(void) store_delete(store, &key, &expected, NULL, NULL);
}

static void call_abandon(void *work)
{
	struct docker_call *call = work;

	call->exchange = NULL;
	if (!call->wait)
		return; /* the store calls back and sees it */
	mount_wait_cancel(call->wait);
	take_back(call);
	free(call);
}

static void fail_call(struct docker_call *call, const char *text)
{
	docker_refuse(call->exchange, "%s", text);
	if (*call->uid)
		take_back(call);
	free(call);
}

/* ---- mounted ---- */

static int hold(const struct docker_call *call, struct failure *reterr)
{
	const struct hold_request request = {
		.name_space = call->name_space,
		.name = call->pod_name,
		.uid = call->uid,
		.container = DOCKER_CONTAINER,
		.cgroup = "",
	};
	char id[HOLD_ID_BYTES];

	return is_held(call->agent, call->uid) ? 0
					       : agent_hold_add(call->agent, &request, id, reterr);
}

static const struct object *pod_of(const struct docker_call *call)
{
	const struct object *pod =
		store_get(agent_store(call->agent), KIND_POD, call->name_space, call->pod_name);

	return pod && strcmp(pod->meta.uid, call->uid) == 0 ? pod : NULL;
}

static void mounted(struct docker_call *call)
{
	const struct object *pod = pod_of(call);
	struct failure why = { .error = 0 };
	char path[PATH_MAX];

	if (!pod || !docker_mounted_path(call->agent, pod, path, sizeof(path))) {
		fail_call(call, "the volume was unmounted meanwhile");
	} else if (hold(call, &why) < 0) {
		fail_call(call, why.text);
	} else {
		docker_reply(call->exchange, "Mountpoint", path);
		free(call);
	}
}

/* ---- waiting ---- */

static bool has_failed(const struct docker_call *call)
{
	const struct object *pod = pod_of(call);
	cleanup_json struct cJSON *tree = pod ? agent_view_volumes(call->agent, pod) : NULL;
	const struct cJSON *item = json_first(json_get(tree, "items"));

	return !pod || *json_text(item, "error") != '\0';
}

static void begin_wait(struct docker_call *call);

static void on_waited(void *userdata, int error, const struct failure *why)
{
	struct docker_call *call = userdata;

	call->wait = NULL;
	if (error == 0)
		mounted(call);
	else if (error == -ETIMEDOUT && !has_failed(call) && monotonic_usec() < call->deadline_usec)
		begin_wait(call);
	else
		fail_call(call, why && why->text[0] ? why->text : strerror(-error));
}

static void begin_wait(struct docker_call *call)
{
	int r = docker_call_wait(call, WAIT_MOUNTED, WAIT_USEC, on_waited, call_abandon);

	if (r < 0)
		fail_call(call, r == -ENOBUFS ? REPLY_BUSY : strerror(-r));
}

/* ---- the pod ---- */

static void on_stored(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct docker_call *call = userdata;

	if (error == 0)
		(void) snprintf(call->uid, sizeof(call->uid), "%s", result->meta.uid);
	if (call->exchange && error == 0) {
		begin_wait(call);
	} else if (call->exchange) {
		fail_call(call, why && why->text[0] ? why->text : strerror(-error));
	} else {
		if (error == 0)
			take_back(call);
		free(call);
	}
}

/* One of another boot, or of another volume's name, has nothing to do with this mount. */
static bool is_ours(const struct object *pod, const char *id, const char *boot_id)
{
	char text[API_DOCKER_NAME_BYTES_MAX + 1];

	docker_annotation(pod, DOCKER_ID_ANNOTATION, text, sizeof(text));
	if (strcmp(text, id) != 0)
		return false;
	docker_annotation(pod, DOCKER_BOOT_ANNOTATION, text, sizeof(text));
	return strcmp(text, boot_id) == 0;
}

static int store_pod(struct docker_call *call, const struct docker_volume *volume, const char *id,
		     const char *boot_id, struct failure *reterr)
{
	struct store *store = agent_store(call->agent);
	const struct store_key key = { KIND_POD, call->name_space, call->pod_name };
	const struct object *present = store_get(store, key.kind, key.name_space, key.name);
	cleanup_object const struct object *pod = NULL;
	struct store_precondition expected = { .uid = NULL };
	int r = docker_pod_new(volume, id, boot_id, &pod, reterr);

	if (r < 0)
		return r;
	if (present) {
		expected.uid = present->meta.uid;
		r = store_delete(store, &key, &expected, NULL, NULL);
		expected = (struct store_precondition){ .follows = true };
	}
	if (r == 0)
		r = store_create_expecting(store, pod, &expected, on_stored, call);
	return r < 0 ? failed(reterr, r, "cannot store a pod for the mount") : 0;
}

static struct docker_call *call_new(struct exchange *exchange, const struct docker_volume *volume,
				    const char *id)
{
	struct docker_call *call = exchange_new_work(exchange, sizeof(*call));

	if (!call)
		return NULL;
	call->exchange = exchange;
	call->agent = exchange->agent;
	call->deadline_usec = monotonic_usec() + WAIT_ALL_USEC;
	(void) snprintf(call->name_space, sizeof(call->name_space), "%s", volume->name_space);
	docker_pod_name(volume->name, id, call->pod_name);
	return call;
}

static void begin(struct docker_call *call, const struct docker_volume *volume, const char *id)
{
	const struct object *present =
		store_get(agent_store(call->agent), KIND_POD, call->name_space, call->pod_name);
	struct failure why = { .error = 0 };
	char boot_id[UUID_BYTES];
	int r = uuid_of_boot(boot_id);

	if (r < 0) {
		fail_call(call, "cannot determine which boot this is");
	} else if (present && is_ours(present, id, boot_id)) {
		(void) snprintf(call->uid, sizeof(call->uid), "%s", present->meta.uid);
		begin_wait(call);
	} else if (store_pod(call, volume, id, boot_id, &why) < 0) {
		fail_call(call, why.text);
	} else {
		exchange_wait(call->exchange, call, call_abandon);
	}
}

void docker_volume_mount(struct exchange *exchange)
{
	cleanup_json struct cJSON *body = docker_body(exchange);
	struct docker_volume volume;
	struct docker_call *call;
	const char *id;

	if (!body || !docker_named(exchange, body, &volume))
		return;
	id = docker_word(exchange, body, "ID");
	if (!id)
		return;
	if (!exchange->may_wait) {
		docker_refuse(exchange, REPLY_BUSY);
		return;
	}
	call = call_new(exchange, &volume, id);
	if (call)
		begin(call, &volume, id);
}

/* ---- after a start ---- */

struct start {
	struct agent *agent;
	char boot_id[UUID_BYTES];
};

static void hold_again(struct agent *agent, const struct object *pod)
{
	struct docker_call call = { .agent = agent };
	struct failure why;

	(void) snprintf(call.name_space, sizeof(call.name_space), "%s", pod->meta.name_space);
	(void) snprintf(call.pod_name, sizeof(call.pod_name), "%s", pod->meta.name);
	(void) snprintf(call.uid, sizeof(call.uid), "%s", pod->meta.uid);
	if (hold(&call, &why) < 0)
		log_message(LOG_ERR, "pod '%s/%s' of a docker volume is not held: %s",
			    call.name_space, call.pod_name, why.text);
}

static int match_pod(const struct object *pod, void *userdata)
{
	const struct start *start = userdata;
	const struct store_key key = { KIND_POD, pod->meta.name_space, pod->meta.name };
	const struct store_precondition expected = { .uid = pod->meta.uid };
	char boot_id[UUID_BYTES];

	if (!docker_is_labelled(pod, NULL))
		return 0;
	docker_annotation(pod, DOCKER_BOOT_ANNOTATION, boot_id, sizeof(boot_id));
	if (strcmp(boot_id, start->boot_id) == 0)
		hold_again(start->agent, pod);
	else
		(void) store_delete(agent_store(start->agent), &key, &expected, NULL, NULL);
	return 0;
}

int docker_volume_start(struct agent *agent, struct failure *reterr)
{
	struct start start = { .agent = agent };
	int r = uuid_of_boot(start.boot_id);

	assert(agent);
	if (r < 0)
		return failed(reterr, -EIO, "cannot read which boot this is");
	(void) store_list(agent_store(agent), KIND_POD, NULL, match_pod, &start);
	return 0;
}
