/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds - kinds of objects that a node may watch as a whole: its own Node, CSIDrivers
 *
 * A Node that is deleted stays in the store: it says nothing of volumes. A CSIDriver leaves it by a
 * DELETED event, or when a list of the same cluster lacks it.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"

#include "base/cleanup.h"
#include "base/log.h"

struct listed {
	UT_hash_handle hh;
	char name[];
};

struct watched {
	struct cluster *cluster;
	enum object_kind kind;
	struct list_watch *list_watch;
	struct listed *listed;
	bool is_partial; /* a name was lost for want of memory */
};

struct kinds {
	struct watched node, drivers;
};

static void forget_listed(struct watched *watched)
{
	struct listed *listed, *next;

	HASH_ITER (hh, watched->listed, listed, next) {
		HASH_DEL(watched->listed, listed);
		free(listed);
	}
	watched->is_partial = false;
}

static void begin_list(void *userdata)
{
	forget_listed(userdata);
}

static void note_listed(struct watched *watched, const char *name)
{
	struct listed *listed = calloc(1, sizeof(*listed) + strlen(name) + 1);

	if (!listed) {
		watched->is_partial = true;
		return;
	}
	memcpy(listed->name, name, strlen(name));
	HASH_ADD_STR(watched->listed, name, listed);
	if (listed->hh.tbl)
		return;
	free(listed);
	watched->is_partial = true;
}

static void put(struct watched *watched, const struct server_object *object)
{
	if (object->object) {
		versions_note(watched->cluster, object->object);
		mirror_put(watched->cluster, object->object);
	} else
		log_message(LOG_WARNING, "%s '%s' of the kube-apiserver is not understood: %s",
			    kind_row(watched->kind)->singular, object->name, object->why->text);
}

static void take(void *userdata, const struct server_object *object)
{
	note_listed(userdata, object->name);
	put(userdata, object);
}

static void remove_stored(const struct watched *watched, const struct object *object)
{
	if (watched->kind != KIND_NODE)
		mirror_remove(watched->cluster, object->kind, object->meta.name_space,
			      object->meta.name, object->meta.uid);
}

static int remove_unlisted(const struct object *object, void *userdata)
{
	const struct watched *watched = userdata;
	struct listed *listed;

	HASH_FIND_STR(watched->listed, object->meta.name, listed);
	if (!listed)
		remove_stored(watched, object);
	return 0;
}

static void end_list(void *userdata, bool went_back)
{
	struct watched *watched = userdata;

	contact_note_news(watched->cluster);
	if (!went_back && !watched->is_partial && pods_are_verified(watched->cluster->pods))
		(void) store_list(watched->cluster->options.store, watched->kind, NULL,
				  remove_unlisted, watched);
	forget_listed(watched);
}

static void change(void *userdata, const struct server_event *event)
{
	struct watched *watched = userdata;

	contact_note_news(watched->cluster);
	if (event->type != SERVER_DELETED)
		put(watched, &event->object);
	else if (event->object.object)
		remove_stored(watched, event->object.object);
}

static void on_failed(void *userdata, int status, const struct failure *why)
{
	contact_note_failure(((struct watched *) userdata)->cluster, status, why);
}

static int begin(struct cluster *cluster, struct watched *watched, enum object_kind kind,
		 const char *selector)
{
	char path[CLUSTER_PATH_BYTES];
	const struct list_watch_options options = {
		.event = cluster->options.event,
		.client = cluster->client,
		.kind = kind_row(kind),
		.path = path,
		.selector = selector,
		.has_no_watch_list = &cluster->has_no_watch_list,
		.begin_list = begin_list,
		.take = take,
		.end_list = end_list,
		.change = change,
		.failed = on_failed,
		.userdata = watched,
	};

	watched->cluster = cluster;
	watched->kind = kind;
	if (!cluster_path(options.kind, NULL, NULL, "", path))
		return -EINVAL;
	return list_watch_new(&options, &watched->list_watch);
}

int kinds_new(struct cluster *cluster)
{
	struct kinds *kinds = calloc(1, sizeof(*kinds));
	cleanup_free char *selector = NULL;
	int r;

	if (!kinds)
		return -ENOMEM;
	cluster->kinds = kinds;
	if (asprintf(&selector, "fieldSelector=metadata.name%%3D%s", cluster->options.node_name) <
	    0) {
		selector = NULL;
		return -ENOMEM;
	}
	r = begin(cluster, &kinds->node, KIND_NODE, selector);
	return r < 0 ? r : begin(cluster, &kinds->drivers, KIND_CSI_DRIVER, "");
}

static void end(struct watched *watched)
{
	(void) list_watch_free(watched->list_watch);
	forget_listed(watched);
}

struct kinds *kinds_free(struct kinds *kinds)
{
	if (!kinds)
		return NULL;
	end(&kinds->node);
	end(&kinds->drivers);
	free(kinds);
	return NULL;
}
