/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provisioning - what the local provisioner of a cluster's node needs: claims for which this node
 * was selected, volumes that were made here, classes
 *
 * Watched as a whole, which RBAC has to grant (examples/cluster/rbac.yaml); what concerns other
 * nodes is dropped as it comes. Begins when the server is known to be the same cluster, and takes
 * nothing while that is not known. That a volume's claim was deleted is proven in
 * deleted_claims.c before a volume is stored as Released.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"
#include "cluster/provisioning.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"

enum { LIST_AGAIN_SECONDS = 5 };

struct listed {
	UT_hash_handle hh;
	char uid[];
};

struct followed {
	struct cluster *cluster;
	enum object_kind kind;
	struct list_watch *list_watch;
	struct listed *listed;  /* that the list which is read has, and this node needs */
	sd_event_source *timer; /* lists again */
	bool is_partial;        /* something was lost: no memory, or the cluster was not known */
	bool is_refused;        /* 403, which was reported */
};

enum { FOLLOWED_COUNT = 3 };

struct provisioning {
	struct cluster *cluster;
	struct followed followed[FOLLOWED_COUNT];
	struct deleted_claims *deleted_claims;
};

static const enum object_kind kinds[FOLLOWED_COUNT] = {
	KIND_STORAGE_CLASS,
	KIND_PERSISTENT_VOLUME,
	KIND_PERSISTENT_VOLUME_CLAIM,
};

/* ---- what concerns this node ---- */

static const struct object_reference node_map = { KIND_CONFIG_MAP, NODE_MAP_NAMESPACE,
						  NODE_MAP_NAME };

/* Local-path's directories stand in a ConfigMap: before it is read, or known to be absent, a volume
 * would be made in the wrong one. */
static bool is_claim_here(const struct cluster *cluster, const struct object *object)
{
	const struct persistent_volume_claim *claim = object->claim;

	return cluster->options.provisions(claim->storage_provisioner) &&
	       strcmp(claim->selected_node, cluster->options.node_name) == 0 &&
	       (strcmp(claim->storage_provisioner, "rancher.io/local-path") != 0 ||
		claim->volume_name[0] ||
		store_get(cluster->options.store, KIND_CONFIG_MAP, NODE_MAP_NAMESPACE,
			  NODE_MAP_NAME) ||
		!needed_is_unknown(cluster->needed, &node_map));
}

static const struct object *own_node(const struct cluster *cluster)
{
	return store_get(cluster->options.store, KIND_NODE, "", cluster->options.node_name);
}

static bool is_volume_here(const struct cluster *cluster, const struct object *object)
{
	const struct persistent_volume *volume = object->persistent_volume;
	const struct object *node = own_node(cluster);

	return cluster->options.provisions(volume->origin.provisioned_by) &&
	       volume->node_affinity && node &&
	       node_selector_matches(volume->node_affinity, &node->meta.labels);
}

bool provisioning_keeps(const struct cluster *cluster, const struct object *object)
{
	if (!cluster->provisioning)
		return false;
	switch (object->kind) {
	case KIND_STORAGE_CLASS:
		return true;
	case KIND_PERSISTENT_VOLUME:
		return is_volume_here(cluster, object);
	case KIND_PERSISTENT_VOLUME_CLAIM:
		return is_claim_here(cluster, object);
	default:
		return false;
	}
}

/* ---- lists and watches ---- */

static void forget_listed(struct followed *followed)
{
	struct listed *listed, *next;

	HASH_ITER (hh, followed->listed, listed, next) {
		HASH_DEL(followed->listed, listed);
		free(listed);
	}
}

static void list_later(struct followed *followed)
{
	followed->is_partial = true;
	(void) sd_event_source_set_time_relative(followed->timer,
						 LIST_AGAIN_SECONDS * USEC_PER_SEC);
	(void) sd_event_source_set_enabled(followed->timer, SD_EVENT_ONESHOT);
}

static void note_listed(struct followed *followed, const char *uid)
{
	struct listed *listed = calloc(1, sizeof(*listed) + strlen(uid) + 1);

	if (listed) {
		memcpy(listed->uid, uid, strlen(uid));
		HASH_ADD_STR(followed->listed, uid, listed);
		if (listed->hh.tbl)
			return;
		free(listed);
	}
	list_later(followed);
}

/* Of what pods lead to, needed.c decides. */
static void remove_stored(const struct followed *followed, const struct object *object)
{
	const struct object_reference reference = { object->kind, object->meta.name_space,
						    object->meta.name };

	if (needed_uses(followed->cluster->needed, &reference))
		return;
	versions_forget(followed->cluster, object->meta.uid);
	mirror_remove(followed->cluster, object->kind, object->meta.name_space, object->meta.name,
		      object->meta.uid);
}

/* Another node was selected for a claim of this one, or none: nothing is made for it here. */
static void drop_moved(const struct followed *followed, const struct object *object)
{
	const struct object *known = store_get(followed->cluster->options.store, object->kind,
					       object->meta.name_space, object->meta.name);

	if (known && known->kind == KIND_PERSISTENT_VOLUME_CLAIM &&
	    provisioning_keeps(followed->cluster, known))
		remove_stored(followed, known);
}

/* Return: false: it is not of this node, or cannot be taken now. */
static bool put(struct followed *followed, const struct server_object *object)
{
	if (!object->object) {
		log_message(LOG_WARNING, "%s '%s' of the kube-apiserver is not understood: %s",
			    kind_row(followed->kind)->singular, object->name, object->why->text);
		return false;
	}
	if (!pods_are_verified(followed->cluster->pods) || !own_node(followed->cluster)) {
		list_later(followed);
		return false;
	}
	if (!provisioning_keeps(followed->cluster, object->object)) {
		drop_moved(followed, object->object);
		return false;
	}
	versions_note(followed->cluster, object->object);
	mirror_put(followed->cluster, object->object);
	return true;
}

static void begin_list(void *userdata)
{
	struct followed *followed = userdata;

	forget_listed(followed);
	followed->is_partial = false;
}

static void take(void *userdata, const struct server_object *object)
{
	struct followed *followed = userdata;

	if (put(followed, object))
		note_listed(followed, object->object->meta.uid);
}

/* The server does not have it yet, or has it since the list was made: a watch from there says. */
static bool is_newer_than_list(const struct followed *followed, const struct object *object)
{
	return (object->kind == KIND_PERSISTENT_VOLUME &&
		object->persistent_volume->origin.is_unfinished) ||
	       versions_find(followed->cluster, object->meta.uid) >
		       list_watch_newest(followed->list_watch);
}

static int remove_unlisted(const struct object *object, void *userdata)
{
	struct followed *followed = userdata;
	struct listed *listed;

	HASH_FIND_STR(followed->listed, object->meta.uid, listed);
	if (!listed && provisioning_keeps(followed->cluster, object) &&
	    !is_newer_than_list(followed, object))
		remove_stored(followed, object);
	return 0;
}

/* What a list that went back lacks stays: etcd was restored, and the data is here. */
static void end_list(void *userdata, bool went_back)
{
	struct followed *followed = userdata;

	contact_note_news(followed->cluster);
	if (followed->is_refused)
		log_message(LOG_NOTICE, "provisioner: %s can be watched now",
			    kind_row(followed->kind)->plural);
	followed->is_refused = false;
	if (!went_back && !followed->is_partial && pods_are_verified(followed->cluster->pods))
		(void) store_list(followed->cluster->options.store, followed->kind, NULL,
				  remove_unlisted, followed);
	forget_listed(followed);
}

static void change(void *userdata, const struct server_event *event)
{
	struct followed *followed = userdata;
	const struct object *object = event->object.object;

	contact_note_news(followed->cluster);
	if (event->type != SERVER_DELETED)
		(void) put(followed, &event->object);
	else if (!pods_are_verified(followed->cluster->pods))
		list_later(followed);
	else if (object && provisioning_keeps(followed->cluster, object))
		remove_stored(followed, object);
}

static void on_failed(void *userdata, int status, const struct failure *why)
{
	struct followed *followed = userdata;

	if (status != 403) {
		contact_note_failure(followed->cluster, status, why);
		return;
	}
	if (!followed->is_refused)
		log_message(LOG_ERR,
			    "provisioner: volumes are not provisioned, %s cannot be watched: %s; "
			    "grant it as "
			    "examples/cluster/rbac.yaml does (tried again)",
			    kind_row(followed->kind)->plural, why->text);
	followed->is_refused = true;
}

static int begin(struct followed *followed)
{
	char path[CLUSTER_PATH_BYTES];
	const struct list_watch_options options = {
		.event = followed->cluster->options.event,
		.client = followed->cluster->client,
		.kind = kind_row(followed->kind),
		.path = path,
		.selector = "",
		.has_no_watch_list = &followed->cluster->has_no_watch_list,
		.begin_list = begin_list,
		.take = take,
		.end_list = end_list,
		.change = change,
		.failed = on_failed,
		.userdata = followed,
	};

	if (!cluster_path(options.kind, NULL, NULL, "", path))
		return -EINVAL;
	return list_watch_new(&options, &followed->list_watch);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct followed *followed = userdata;

	followed->list_watch = list_watch_free(followed->list_watch);
	if (begin(followed) < 0)
		list_later(followed);
	return 0;
}

void provisioning_begin(struct cluster *cluster)
{
	if (!cluster->provisioning)
		return;
	for (size_t i = 0; i < FOLLOWED_COUNT; i++) {
		struct followed *followed = &cluster->provisioning->followed[i];

		if (!followed->list_watch && begin(followed) < 0)
			list_later(followed);
	}
}

void provisioning_learned(struct cluster *cluster, enum object_kind kind, const char *name_space,
			  const char *name)
{
	if (kind == node_map.kind && strcmp(name, node_map.name) == 0 &&
	    strcmp(name_space, node_map.name_space) == 0)
		provisioning_list_again(cluster, KIND_PERSISTENT_VOLUME_CLAIM);
}

void provisioning_list_again(struct cluster *cluster, enum object_kind kind)
{
	if (!cluster->provisioning)
		return;
	for (size_t i = 0; i < FOLLOWED_COUNT; i++)
		if (cluster->provisioning->followed[i].kind == kind)
			list_later(&cluster->provisioning->followed[i]);
}

bool provisioning_holds_back(struct cluster *cluster, const struct object *object)
{
	return cluster->provisioning && object->kind == KIND_PERSISTENT_VOLUME &&
	       provisioning_keeps(cluster, object) &&
	       deleted_claims_prove(cluster->provisioning->deleted_claims, object);
}

/* ---- life ---- */

int provisioning_new(struct cluster *cluster)
{
	struct provisioning *provisioning;
	int r = 0;

	if (!cluster->options.provisions)
		return 0;
	provisioning = calloc(1, sizeof(*provisioning));
	if (!provisioning)
		return -ENOMEM;
	provisioning->cluster = cluster;
	cluster->provisioning = provisioning;
	for (size_t i = 0; i < FOLLOWED_COUNT && r >= 0; i++) {
		struct followed *followed = &provisioning->followed[i];

		followed->cluster = cluster;
		followed->kind = kinds[i];
		r = sd_event_add_time(cluster->options.event, &followed->timer, CLOCK_MONOTONIC,
				      UINT64_MAX, 100000, on_timer, followed);
		if (r >= 0)
			r = sd_event_source_set_enabled(followed->timer, SD_EVENT_OFF);
	}
	if (r >= 0)
		r = deleted_claims_new(cluster, &provisioning->deleted_claims);
	if (r >= 0)
		needed_use(cluster->needed, &node_map, true);
	return r;
}

struct provisioning *provisioning_free(struct provisioning *provisioning)
{
	if (!provisioning)
		return NULL;
	for (size_t i = 0; i < FOLLOWED_COUNT; i++) {
		(void) list_watch_free(provisioning->followed[i].list_watch);
		(void) sd_event_source_disable_unref(provisioning->followed[i].timer);
		forget_listed(&provisioning->followed[i]);
	}
	(void) deleted_claims_free(provisioning->deleted_claims);
	free(provisioning);
	return NULL;
}

void provisioning_view(const struct cluster *cluster, struct cJSON *view)
{
	struct cJSON *refused;

	if (!cluster->provisioning)
		return;
	refused = json_add_array(view, "provisionerLacks");
	for (size_t i = 0; i < FOLLOWED_COUNT; i++)
		if (cluster->provisioning->followed[i].is_refused)
			(void) json_append_string(refused, NULL, kind_row(kinds[i])->plural);
}
