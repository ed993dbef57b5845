/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_provisioner - watch claims and volumes, and look at who is concerned; see
 * local_provisioner.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "controller/local_item.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "object/json.h"

#include <assert.h>
#include <string.h>

enum {
	KINDS = 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM |
		1 << KIND_STORAGE_CLASS | 1 << KIND_NODE | 1 << KIND_CONFIG_MAP,
};

#define NODE_MAP_NAMESPACE "local-path-storage"
#define NODE_MAP_NAME      "local-path-config"
#define NODE_MAP_DEFAULT                                                                           \
	"{\"nodePathMap\":[{\"node\":\"DEFAULT_PATH_FOR_NON_LISTED_NODES\","                       \
	"\"paths\":[\"/opt/local-path-provisioner\"]}]}"

/* ---- items ---- */

void local_make_due(struct local_provisioner *provisioner, struct item *item)
{
	if (item->is_due)
		return;
	item->is_due = true;
	item->next_due = provisioner->due;
	provisioner->due = item;
}

static struct item *item_of(struct local_provisioner *provisioner, const char *name)
{
	size_t length = strlen(name);
	struct item *item;

	HASH_FIND(hh, provisioner->items, name, length, item);
	if (item)
		return item;
	item = calloc(1, sizeof(*item) + length + 1);
	if (!item)
		return NULL;
	item->provisioner = provisioner;
	memcpy(item->name, name, length + 1);
	HASH_ADD_KEYPTR(hh, provisioner->items, item->name, length, item);
	if (!item->hh.tbl) {
		free(item);
		return NULL;
	}
	return item;
}

static void forget(struct local_provisioner *provisioner, struct item *item)
{
	HASH_DEL(provisioner->items, item);
	local_item_free(item);
}

void local_arm(struct local_provisioner *provisioner)
{
	uint64_t soonest = 0;

	for (struct item *item = provisioner->items; item; item = item->hh.next)
		if (item->retry_usec && (!soonest || item->retry_usec < soonest))
			soonest = item->retry_usec;
	if (!soonest)
		return;
	(void) sd_event_source_set_time(provisioner->timer, soonest);
	(void) sd_event_source_set_enabled(provisioner->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct local_provisioner *provisioner = userdata;

	for (struct item *item = provisioner->items; item; item = item->hh.next)
		if (item->retry_usec && item->retry_usec <= usec) {
			item->retry_usec = 0;
			local_make_due(provisioner, item);
		}
	local_work(provisioner);
	local_arm(provisioner);
	return 0;
}

void local_work(struct local_provisioner *provisioner)
{
	struct item *item;

	if (provisioner->is_working || provisioner->is_stopped)
		return;
	provisioner->is_working = true;
	while ((item = provisioner->due)) {
		provisioner->due = item->next_due;
		item->is_due = false;
		if (!item->is_busy && !local_item_look(item))
			forget(provisioner, item);
	}
	provisioner->is_working = false;
}

/* ---- watching ---- */

static int take_volume(const struct object *object, void *userdata)
{
	struct local_provisioner *provisioner = userdata;
	struct item *item;

	if (!local_is_provisioner(object->persistent_volume->origin.provisioned_by))
		return 0;
	item = item_of(provisioner, object->meta.name);
	if (!item)
		return -ENOMEM;
	local_make_due(provisioner, item);
	return 0;
}

static int take_claim(const struct object *object, void *userdata)
{
	struct local_provisioner *provisioner = userdata;
	char name[LOCAL_VOLUME_NAME_BYTES];
	struct item *item;

	if (!local_is_provisioner(object->claim->storage_provisioner))
		return 0;
	item = item_of(provisioner, local_volume_name(object, name));
	if (!item)
		return -ENOMEM;
	if (!item->claim_name) {
		item->claim_space = strdup(object->meta.name_space);
		item->claim_name = strdup(object->meta.name);
	}
	local_make_due(provisioner, item);
	return 0;
}

static void take_all(struct local_provisioner *provisioner)
{
	for (struct item *item = provisioner->items; item; item = item->hh.next) {
		item->failures = 0;
		item->retry_usec = 0;
		local_make_due(provisioner, item);
	}
}

/* A map that is not valid leaves the one before in force. */
static void read_node_map(struct local_provisioner *provisioner, const struct object *map)
{
	cleanup_json struct cJSON *tree = map ? object_tree(map) : NULL;
	const char *text = json_string(json_get(json_get(tree, "data"), "config.json"), "");
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

static void take_change(struct local_provisioner *provisioner, const struct store_change *change)
{
	const struct object *object = change->object;
	int r = 0;

	if (object->kind == KIND_PERSISTENT_VOLUME) {
		r = take_volume(object, provisioner);
	} else if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM) {
		r = take_claim(object, provisioner);
	} else if (object->kind == KIND_CONFIG_MAP) {
		if (strcmp(object->meta.name_space, NODE_MAP_NAMESPACE) != 0 ||
		    strcmp(object->meta.name, NODE_MAP_NAME) != 0)
			return;
		read_node_map(provisioner, change->type == STORE_DELETED ? NULL : object);
		take_all(provisioner);
	} else if (object->kind != KIND_NODE || change->type != STORE_MODIFIED) {
		take_all(provisioner); /* what a Node reports of itself changes nothing here */
	}
	if (r < 0)
		log_message(LOG_ERR, "out of memory: '%s' waits for its next change",
			    object->meta.name);
}

static int list_and_watch(struct local_provisioner *provisioner);

static void on_changes(void *userdata)
{
	struct local_provisioner *provisioner = userdata;
	const struct store_change *change;
	int r;

	while ((r = store_watch_next(provisioner->watch, &change)) > 0)
		take_change(provisioner, change);
	if (r < 0 && list_and_watch(provisioner) < 0)
		log_message(LOG_ERR, "out of memory: claims wait for their next change");
	local_work(provisioner);
}

static int list_and_watch(struct local_provisioner *provisioner)
{
	struct store *store = provisioner->options.store;
	int r;

	provisioner->watch = store_watch_free(provisioner->watch);
	r = store_watch_new(store, KINDS, store_resource_version(store), on_changes, provisioner,
			    &provisioner->watch);
	if (r < 0)
		return r;
	read_node_map(provisioner,
		      store_get(store, KIND_CONFIG_MAP, NODE_MAP_NAMESPACE, NODE_MAP_NAME));
	r = store_list(store, KIND_PERSISTENT_VOLUME, NULL, take_volume, provisioner);
	if (r == 0)
		r = store_list(store, KIND_PERSISTENT_VOLUME_CLAIM, NULL, take_claim, provisioner);
	return r;
}

void local_provisioner_look_again(struct local_provisioner *provisioner)
{
	if (!provisioner || !provisioner->has_waiting)
		return;
	provisioner->has_waiting = false;
	for (struct item *item = provisioner->items; item; item = item->hh.next)
		if (item->waits)
			local_make_due(provisioner, item);
	local_work(provisioner);
}

/* ---- life ---- */

int local_provisioner_new(const struct local_provisioner_options *options,
			  struct local_provisioner **ret)
{
	struct local_provisioner *provisioner = calloc(1, sizeof(*provisioner));
	int r;

	assert(options->store && options->start && options->node_name && ret);
	if (!provisioner)
		return -ENOMEM;
	provisioner->options = *options;
	r = sd_event_add_time(options->event, &provisioner->timer, CLOCK_MONOTONIC, UINT64_MAX, 0,
			      on_timer, provisioner);
	if (r >= 0)
		r = sd_event_source_set_priority(provisioner->timer, options->priority);
	if (r >= 0)
		r = sd_event_source_set_enabled(provisioner->timer, SD_EVENT_OFF);
	if (r >= 0)
		r = list_and_watch(provisioner);
	if (r < 0) {
		(void) local_provisioner_free(provisioner);
		return r;
	}
	*ret = provisioner;
	local_work(provisioner);
	return 0;
}

void local_provisioner_stop(struct local_provisioner *provisioner)
{
	if (provisioner)
		provisioner->is_stopped = true;
}

struct local_provisioner *local_provisioner_free(struct local_provisioner *provisioner)
{
	struct item *item, *next;

	if (!provisioner)
		return NULL;
	(void) store_watch_free(provisioner->watch);
	(void) sd_event_source_disable_unref(provisioner->timer);
	HASH_ITER (hh, provisioner->items, item, next) {
		HASH_DEL(provisioner->items, item);
		item->provisioner = NULL;
		if (!item->is_busy)
			local_item_free(item);
	}
	json_free(provisioner->node_map);
	free(provisioner);
	return NULL;
}
