/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume_views - docker's views of its volumes: one, all, and where one is mounted
 *
 * A volume that is mounted several times has several paths; docker has room for one and gets
 * any. Mount tells each its own.
 */
#include "api/docker/docker_volume.h"

#include "object/timestamp.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

struct mounts {
	struct agent *agent;
	const struct docker_volume *volume;
	char path[PATH_MAX]; /* of any; "" none is mounted */
	char uid[64];        /* of its pod */
	struct cJSON *list;  /* may be NULL */
};

static int match_pod(const struct object *pod, void *userdata)
{
	struct mounts *mounts = userdata;
	char path[PATH_MAX] = "", id[API_DOCKER_NAME_BYTES_MAX + 1];
	struct cJSON *item;

	if (!docker_is_labelled(pod, mounts->volume->object_name))
		return 0;
	if (docker_mounted_path(mounts->agent, pod, path, sizeof(path))) {
		(void) snprintf(mounts->path, sizeof(mounts->path), "%s", path);
		(void) snprintf(mounts->uid, sizeof(mounts->uid), "%s", pod->meta.uid);
	}
	item = json_add_object(mounts->list, NULL);
	docker_annotation(pod, DOCKER_ID_ANNOTATION, id, sizeof(id));
	(void) json_set_string(item, "id", id);
	(void) json_set_string(item, "pod", pod->meta.name);
	(void) json_set_string(item, "path", path);
	return 0;
}

static void find_mounts(struct mounts *mounts)
{
	(void) store_list(agent_store(mounts->agent), KIND_POD, mounts->volume->name_space,
			  match_pod, mounts);
}

static void add_volume(struct cJSON *tree, const struct docker_volume *volume, const char *path)
{
	char created[TIMESTAMP_BYTES];

	timestamp_print(volume->creation_usec, created);
	(void) json_set_string(tree, "Name", volume->name);
	(void) json_set_string(tree, "Mountpoint", path);
	(void) json_set_string(tree, "CreatedAt", created);
}

/* Its phase, and how large the volume is. */
static void add_claim(struct cJSON *status, struct agent *agent, const struct docker_volume *volume)
{
	const struct object *claim = store_get(agent_store(agent), KIND_PERSISTENT_VOLUME_CLAIM,
					       volume->name_space, volume->claim);
	cleanup_json struct cJSON *tree = claim ? object_tree(claim) : NULL;

	(void) json_set_string(status, "phase",
			       claim ? json_string(json_get_path(tree, "status.phase"), "Pending")
				     : "Lost");
	(void) json_set_string(status, "capacity", json_text_at(tree, "status.capacity.storage"));
}

/* ---- one volume ---- */

/* One that waits for how full its volume is. */
struct get_call {
	struct exchange *exchange;
	struct cJSON *tree;
	struct statistics_call *statistics;
};

static void get_abandon(void *work)
{
	struct get_call *call = work;

	statistics_cancel(call->statistics);
	json_free(call->tree);
	free(call);
}

static void add_size(struct cJSON *status, const struct cJSON *item)
{
	static const char *const keys[] = { "capacityBytes", "usedBytes", "availableBytes",
					    "error" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_get(item, keys[i]))
			(void) json_set(status, keys[i], json_copy(json_get(item, keys[i])));
}

static void reply_volume(struct exchange *exchange, struct cJSON *tree)
{
	(void) json_set_string(tree, "Err", "");
	reply_tree(exchange, 200, tree);
}

static struct cJSON *status_of(struct cJSON *tree)
{
	return json_ensure_object(json_ensure_object(tree, "Volume"), "Status");
}

static void on_statistics(void *userdata, struct cJSON *statistics)
{
	struct get_call *call = userdata;
	struct exchange *exchange = call->exchange;
	struct cJSON *tree = call->tree;

	free(call);
	if (statistics)
		add_size(status_of(tree), json_first(json_get(statistics, "items")));
	else
		(void) json_set_string(status_of(tree), "error", strerror(ENOMEM));
	json_free(statistics);
	reply_volume(exchange, tree);
}

/* The answer comes with the size of a mounted volume, or with why that is not known. Takes @tree.
 */
static void request_size(struct exchange *exchange, const char *pod_uid, struct cJSON *tree)
{
	const struct statistics_about about = { .pod_uid = pod_uid };
	struct get_call *call = exchange->may_wait ? calloc(1, sizeof(*call)) : NULL;
	int r = call ? agent_statistics(exchange->agent, &about, on_statistics, call,
					&call->statistics)
		     : -ENOBUFS;

	if (r == 0) {
		call->exchange = exchange;
		call->tree = tree;
		exchange_wait(exchange, call, get_abandon);
		return;
	}
	free(call);
	(void) json_set_string(status_of(tree), "error", r == -ENOBUFS ? REPLY_BUSY : strerror(-r));
	reply_volume(exchange, tree);
}

/* What docker shows as Status in `docker volume inspect`. */
void docker_volume_get(struct exchange *exchange)
{
	cleanup_json struct cJSON *body = docker_body(exchange);
	struct docker_volume volume;
	struct mounts mounts = { .agent = exchange->agent, .volume = &volume };
	struct cJSON *tree, *status;
	char claim[sizeof(volume.name_space) + sizeof(volume.claim)];

	if (!body || !docker_named(exchange, body, &volume))
		return;
	tree = json_new_object();
	status = status_of(tree);
	if (*volume.pv)
		(void) json_set_string(status, "pv", volume.pv);
	if (*volume.storage_class)
		(void) json_set_string(status, "class", volume.storage_class);
	(void) snprintf(claim, sizeof(claim), "%s/%s", volume.name_space, volume.claim);
	(void) json_set_string(status, "claim", claim);
	add_claim(status, exchange->agent, &volume);
	mounts.list = json_add_array(status, "mounts");
	find_mounts(&mounts);
	add_volume(json_ensure_object(tree, "Volume"), &volume, mounts.path);
	if (*mounts.uid)
		request_size(exchange, mounts.uid, tree);
	else
		reply_volume(exchange, tree);
}

/* ---- all of them ---- */

struct listing {
	struct agent *agent;
	struct cJSON *volumes;
};

static int list_record(const struct object *record, void *userdata)
{
	const struct listing *listing = userdata;
	struct docker_volume volume;
	struct cJSON *shown;

	if (!docker_volume_read(record, &volume))
		return 0;
	shown = json_add_object(listing->volumes, NULL);
	add_volume(shown, &volume, "");
	add_claim(json_add_object(shown, "Status"), listing->agent, &volume);
	return 0;
}

/* Without paths and without asking file systems: that is for who asks about one. */
void docker_volume_list(struct exchange *exchange)
{
	struct cJSON *tree = json_new_object();
	struct listing listing = { exchange->agent, json_add_array(tree, "Volumes") };

	(void) store_list(agent_store(exchange->agent), KIND_CONFIG_MAP, DOCKER_NAMESPACE,
			  list_record, &listing);
	(void) json_set_string(tree, "Err", "");
	reply_tree(exchange, 200, tree);
}

void docker_volume_path(struct exchange *exchange)
{
	cleanup_json struct cJSON *body = docker_body(exchange);
	struct docker_volume volume;
	struct mounts mounts = { .agent = exchange->agent, .volume = &volume };

	if (!body || !docker_named(exchange, body, &volume))
		return;
	find_mounts(&mounts);
	docker_reply(exchange, "Mountpoint", mounts.path);
}
