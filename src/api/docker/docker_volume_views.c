/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume_views - docker's views of its volumes: one, all, and where one is mounted
 *
 * A volume that is mounted several times has several paths; docker has room for one and gets
 * any. Mount tells each its own.
 */
#include "api/docker/docker_volume.h"

#include "object/timestamp.h"

#include <limits.h>
#include <stdio.h>

struct mounts {
	struct agent *agent;
	const struct docker_volume *volume;
	char path[PATH_MAX]; /* of any; "" none is mounted */
	struct cJSON *list;  /* may be NULL */
};

static int look_at_pod(const struct object *pod, void *userdata)
{
	struct mounts *mounts = userdata;
	char path[PATH_MAX] = "", id[API_DOCKER_NAME_BYTES_MAX + 1];
	struct cJSON *item;

	if (!docker_is_labelled(pod, mounts->volume->object_name))
		return 0;
	if (docker_mounted_path(mounts->agent, pod, path, sizeof(path)))
		(void) snprintf(mounts->path, sizeof(mounts->path), "%s", path);
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
			  look_at_pod, mounts);
}

static void add_volume(struct cJSON *tree, const struct docker_volume *volume, const char *path)
{
	char created[TIMESTAMP_BYTES];

	timestamp_print(volume->creation_usec, created);
	(void) json_set_string(tree, "Name", volume->name);
	(void) json_set_string(tree, "Mountpoint", path);
	(void) json_set_string(tree, "CreatedAt", created);
}

/* Its phase, and how large the volume is: in `docker volume ls` there is no place for a size. */
static void add_claim(struct cJSON *status, struct agent *agent, const struct docker_volume *volume)
{
	const struct object *claim = store_get(agent_store(agent), KIND_PERSISTENT_VOLUME_CLAIM,
					       volume->name_space, volume->claim);
	cleanup_json struct cJSON *tree = claim ? object_tree(claim) : NULL;

	(void) json_set_string(status, "phase",
			       claim ? json_string(json_get_path(tree, "status.phase"), "Pending")
				     : "Lost");
	(void) json_set_string(status, "capacity",
			       json_string(json_get_path(tree, "status.capacity.storage"), ""));
}

/* What docker shows as Status in `docker volume inspect`. */
void docker_volume_get(struct exchange *exchange)
{
	cleanup_json struct cJSON *body = docker_body(exchange);
	struct docker_volume volume;
	struct mounts mounts = { .agent = exchange->agent, .volume = &volume };
	struct cJSON *tree, *shown, *status;
	char claim[sizeof(volume.name_space) + sizeof(volume.claim)];

	if (!body || !docker_named(exchange, body, &volume))
		return;
	tree = json_new_object();
	shown = json_add_object(tree, "Volume");
	status = json_add_object(shown, "Status");
	if (*volume.pv)
		(void) json_set_string(status, "pv", volume.pv);
	if (*volume.storage_class)
		(void) json_set_string(status, "class", volume.storage_class);
	(void) snprintf(claim, sizeof(claim), "%s/%s", volume.name_space, volume.claim);
	(void) json_set_string(status, "claim", claim);
	add_claim(status, exchange->agent, &volume);
	mounts.list = json_add_array(status, "mounts");
	find_mounts(&mounts);
	add_volume(shown, &volume, mounts.path);
	(void) json_set_string(tree, "Err", "");
	reply_tree(exchange, 200, tree);
}

static int list_record(const struct object *record, void *userdata)
{
	struct docker_volume volume;

	if (docker_volume_read(record, &volume))
		add_volume(json_add_object(userdata, NULL), &volume, "");
	return 0;
}

/* Without paths: those are for who asks about one. */
void docker_volume_list(struct exchange *exchange)
{
	struct cJSON *tree = json_new_object();

	(void) store_list(agent_store(exchange->agent), KIND_CONFIG_MAP, DOCKER_NAMESPACE,
			  list_record, json_add_array(tree, "Volumes"));
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
