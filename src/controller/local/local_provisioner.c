/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_provisioner - watch claims and volumes, and look at who is concerned; see
 * local_provisioner.h
 */
#include "controller/local/local_item.h"

#include "base/log.h"
#include "controller/local/local_reclaim.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>

#define NODE_MAP_DEFAULT                                                                           \
	"{\"nodePathMap\":[{\"node\":\"DEFAULT_PATH_FOR_NON_LISTED_NODES\","                       \
	"\"paths\":[\"/opt/local-path-provisioner\"]}]}"

/* ---- watching ---- */

static int take_volume(const struct object *object, void *userdata)
{
	struct local_provisioner *provisioner = userdata;

	if (!local_is_provisioner(object->persistent_volume->origin.provisioned_by))
		return 0;
	return work_queue_due(provisioner->base.queues[0], object->meta.name);
}

/* A volume that is there already: its claim may want more of it, or no longer be moved to it. */
static void make_due(struct local_provisioner *provisioner, const char *volume)
{
	struct work_item *work = work_queue_find(provisioner->base.queues[0], volume);

	if (work)
		work_item_due(work);
}

/* The volume of this name may have to be made for the claim. */
static int take_claim_for(struct local_provisioner *provisioner, const struct object *object,
			  const char *volume)
{
	struct item *item = (struct item *) work_queue_item(provisioner->base.queues[0], volume);

	if (!item)
		return -ENOMEM;
	if (!item->claim_name) {
		item->claim_space = strdup(object->meta.name_space);
		item->claim_name = strdup(object->meta.name);
	}
	work_item_due(&item->work);
	return 0;
}

static int take_claim(const struct object *object, void *userdata)
{
	struct local_provisioner *provisioner = userdata;
	char name[LOCAL_VOLUME_NAME_BYTES], moved[CLAIM_MOVE_NAME_BYTES];
	int r = 0;

	(void) claim_move_name(object, moved);
	make_due(provisioner, object->claim->volume_name);
	make_due(provisioner, moved);
	if (!object->claim->move_to[0])
		local_move_call_off(provisioner, store_get(provisioner->options.common.store,
							   KIND_PERSISTENT_VOLUME, "", moved));
	else if (!provisioner->options.in_cluster)
		r = take_claim_for(provisioner, object, moved);
	if (r < 0 || !local_is_provisioner(object->claim->storage_provisioner))
		return r;
	return take_claim_for(provisioner, object, local_volume_name(object, name));
}

/* A map that is not valid leaves the one before in force. */
static void read_node_map(struct local_provisioner *provisioner, const struct object *map)
{
	cleanup_json struct cJSON *tree = map ? object_tree(map) : NULL;
	const char *text = json_text(json_get(tree, "data"), "config.json");
	struct failure failure = { .error = 0 };
	struct cJSON *parsed = NULL;

	if (local_node_map_parse(map ? text : NODE_MAP_DEFAULT, &parsed, &failure) < 0) {
		log_message(LOG_ERR, "ConfigMap '%s/%s' is not used: %s", NODE_MAP_NAMESPACE,
			    NODE_MAP_NAME, failure.text);
		return;
	}
	json_free(provisioner->node_map);
	provisioner->node_map = parsed;
}

static int add_volume(const struct object *object, void *userdata)
{
	struct local_provisioner *provisioner = userdata;
	const char *path = local_path_of(object->persistent_volume);
	const struct work_item *work =
		work_queue_find(provisioner->base.queues[0], object->meta.name);

	if (path)
		path_index_add(&provisioner->paths, path);
	/* What the claim asked for since the copy began is not known. */
	if (work && work->is_busy)
		local_move_call_off(provisioner, object);
	return take_volume(object, provisioner);
}

static void follow_paths(struct local_provisioner *provisioner, const struct store_change *change)
{
	bool is_gone = change->type == STORE_DELETED;
	const struct object *before = is_gone ? change->object : change->previous;
	const struct object *now = is_gone ? NULL : change->object;
	const char *old = before ? local_path_of(before->persistent_volume) : NULL;
	const char *new = now ? local_path_of(now->persistent_volume) : NULL;

	if (old)
		path_index_remove(&provisioner->paths, old);
	if (new)
		path_index_add(&provisioner->paths, new);
}

/* The object was deleted by hand, and its directory is orphaned: the one trace of where
 * that lies. */
static void report_left(struct local_provisioner *provisioner, const struct object *object)
{
	const struct persistent_volume *volume = object->persistent_volume;
	struct item *item =
		(struct item *) work_queue_find(provisioner->base.queues[0], object->meta.name);
	bool was_removed = item && item->is_removed;
	const char *path = local_data_of(volume);

	if (item)
		item->is_removed = false;
	if (was_removed || !path || !local_is_provisioner(volume->origin.provisioned_by) ||
	    volume->origin.is_unfinished)
		return;
	log_message(LOG_NOTICE,
		    "volume '%s' was deleted by hand: '%s' stays, with all that is in it",
		    object->meta.name, path);
}

static void make_wanting_due(struct work_item *work)
{
	if (((const struct item *) work)->wants_source)
		work_item_due(work);
}

/* What a claim waits to be filled from may be ready now. */
static void sync_wanting(struct local_provisioner *provisioner)
{
	if (!provisioner->has_wanting)
		return;
	provisioner->has_wanting = false;
	work_queue_walk(provisioner->base.queues[0], make_wanting_due);
}

static bool is_source(enum object_kind kind)
{
	return kind == KIND_VOLUME_SNAPSHOT || kind == KIND_VOLUME_SNAPSHOT_CONTENT ||
	       kind == KIND_PERSISTENT_VOLUME || kind == KIND_PERSISTENT_VOLUME_CLAIM;
}

static int take_change(const struct store_change *change, void *userdata)
{
	const struct object *object = change->object;
	struct local_provisioner *provisioner = userdata;
	int r = 0;

	if (is_source(object->kind))
		sync_wanting(provisioner);
	if (object->kind == KIND_PERSISTENT_VOLUME) {
		follow_paths(provisioner, change);
		if (change->type == STORE_DELETED)
			report_left(provisioner, object);
		r = take_volume(object, provisioner);
	} else if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM) {
		r = take_claim(object, provisioner);
	} else if (object->kind == KIND_CONFIG_MAP) {
		if (strcmp(object->meta.name_space, NODE_MAP_NAMESPACE) != 0 ||
		    strcmp(object->meta.name, NODE_MAP_NAME) != 0)
			return 0;
		read_node_map(provisioner, change->type == STORE_DELETED ? NULL : object);
		work_queue_all_due(provisioner->base.queues[0]);
	} else if (!is_source(object->kind) &&
		   (object->kind != KIND_NODE || change->type != STORE_MODIFIED)) {
		work_queue_all_due(provisioner->base.queues[0]); /* what a Node reports of itself
								    changes nothing here */
	}
	return r;
}

static void begin(void *userdata)
{
	struct local_provisioner *provisioner = userdata;

	path_index_done(&provisioner->paths);
	read_node_map(provisioner, store_get(provisioner->options.common.store, KIND_CONFIG_MAP,
					     NODE_MAP_NAMESPACE, NODE_MAP_NAME));
}

static void make_waiting_due(struct work_item *work)
{
	if (((const struct item *) work)->waits)
		work_item_due(work);
}

void local_provisioner_resync(struct local_provisioner *provisioner, const char *volume)
{
	struct work_item *work;

	if (!provisioner || !provisioner->has_waiting)
		return;
	if (volume) {
		work = work_queue_find(provisioner->base.queues[0], volume);
		if (!work || !((const struct item *) work)->waits)
			return;
		work_item_due(work);
	} else {
		provisioner->has_waiting = false;
		work_queue_walk(provisioner->base.queues[0], make_waiting_due);
	}
	work_queue_run(provisioner->base.queues[0]);
}

/* ---- life ---- */

static void close_all(void *userdata)
{
	struct local_provisioner *provisioner = userdata;

	json_free(provisioner->node_map);
	path_index_done(&provisioner->paths);
}

static const struct controller_class local_provisioner_class = {
	CONTROLLER_OF(local_provisioner),
	.what = "claims",
	.kinds = 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM |
		 1 << KIND_STORAGE_CLASS | 1 << KIND_NODE | 1 << KIND_CONFIG_MAP |
		 1 << KIND_VOLUME_SNAPSHOT | 1 << KIND_VOLUME_SNAPSHOT_CONTENT,
	.lists = { { KIND_PERSISTENT_VOLUME, add_volume },
		   { KIND_PERSISTENT_VOLUME_CLAIM, take_claim } },
	.queues = { { .what = "volume",
		      .item_bytes = sizeof(struct item),
		      .sync = local_item_sync,
		      .written = local_item_written,
		      .clear = local_item_clear } },
	.begin = begin,
	.take_change = take_change,
	.close = close_all,
};

int local_provisioner_new(const struct local_provisioner_options *options,
			  struct local_provisioner **ret)
{
	assert(options->start && options->common.node_name && ret);
	return controller_new(&local_provisioner_class, options, ret);
}

void local_provisioner_stop(struct local_provisioner *provisioner)
{
	if (!provisioner)
		return;
	provisioner->is_stopped = true;
	work_queue_stop(provisioner->base.queues[0]);
}

struct local_provisioner *local_provisioner_free(struct local_provisioner *provisioner)
{
	return controller_free(provisioner);
}
