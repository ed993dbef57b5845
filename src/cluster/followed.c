/* SPDX-License-Identifier: Apache-2.0 */
/*
 * followed - lists and watches of whole kinds, and what waits for the identity of the cluster; see
 * followed.h
 *
 * The end of a list waits in its order behind what the list brought. A failure drops what waits:
 * when the identity is asked next, another server may answer than the one that said it.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/followed.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "cluster/cluster_internal.h"
#include "cluster/doubts.h"
#include "object/kinds/persistent_volume.h"

#include <assert.h>

enum { LIST_AGAIN_SECONDS = 5 };

struct listed {
	UT_hash_handle hh;
	char key[]; /* "namespace/name" */
};

struct followed {
	struct followed_options options;
	char *selector;
	struct list_watch *list_watch; /* NULL: not begun, or to be begun again */
	struct doubts *doubts;
	struct listed *listed;  /* by the list that is read, and of this node or not understood */
	sd_event_source *timer; /* lists again */
	uint64_t list_version;  /* of the list that ended last */
	bool went_back;         /* that list */
	bool is_listing;        /* not at its end */
	bool is_verified;       /* what comes now is of the same cluster */
	bool is_partial;        /* something of the list was lost: no memory, or not believed */
	bool is_refused, is_absent; /* 403 and 404, which were reported */
};

static struct store *store_of(const struct followed *followed)
{
	return followed->options.cluster->options.store;
}

static bool keeps(const struct followed *followed, const struct object *object)
{
	return !followed->options.keeps ||
	       followed->options.keeps(followed->options.cluster, object);
}

static const struct object *stored(const struct followed *followed, const struct object *object)
{
	return store_get(store_of(followed), object->kind, object->meta.name_space,
			 object->meta.name);
}

static void list_in(struct followed *followed, unsigned int seconds)
{
	followed->is_partial = true;
	timer_set_in(followed->timer, seconds * USEC_PER_SEC);
}

void followed_list_again(struct followed *followed)
{
	list_in(followed, LIST_AGAIN_SECONDS);
}

/* ---- what a list has ---- */

static void forget_listed(struct followed *followed)
{
	struct listed *listed, *next;

	HASH_ITER (hh, followed->listed, listed, next) {
		HASH_DEL(followed->listed, listed);
		free(listed);
	}
}

static struct listed *listed_new(const char *name_space, const char *name)
{
	size_t size = strlen(name_space) + strlen(name) + 2;
	struct listed *listed = calloc(1, sizeof(*listed) + size);

	if (listed)
		(void) snprintf(listed->key, size, "%s/%s", name_space, name);
	return listed;
}

static void note_listed(struct followed *followed, const char *name_space, const char *name)
{
	struct listed *listed = listed_new(name_space, name);

	if (listed) {
		HASH_ADD_STR(followed->listed, key, listed);
		if (listed->hh.tbl)
			return;
		free(listed);
	}
	followed_list_again(followed);
}

static bool was_listed(const struct followed *followed, const struct object *object)
{
	cleanup_free struct listed *name = listed_new(object->meta.name_space, object->meta.name);
	struct listed *listed = NULL;

	if (name)
		HASH_FIND_STR(followed->listed, name->key, listed);
	return !name || listed;
}

/* ---- the store ---- */

static void put(struct followed *followed, const struct object *object)
{
	struct cluster *cluster = followed->options.cluster;

	versions_note(cluster, object);
	mirror_put(cluster, object);
	if (followed->options.stored)
		followed->options.stored(cluster, object);
}

/* Of what pods lead to, needed.c decides. */
static void remove_stored(const struct followed *followed, const struct object *object)
{
	struct cluster *cluster = followed->options.cluster;
	const struct object_reference reference = { object->kind, object->meta.name_space,
						    object->meta.name };

	if (followed->options.stays || needed_uses(cluster->needed, &reference))
		return;
	versions_forget(cluster, object->meta.uid);
	mirror_remove(cluster, object->kind, object->meta.name_space, object->meta.name,
		      object->meta.uid);
}

/* The server does not have it yet, or has it since the list was made: a watch from there says. */
static bool is_newer_than_list(const struct followed *followed, const struct object *object)
{
	return (object->kind == KIND_PERSISTENT_VOLUME &&
		object->persistent_volume->origin.is_unfinished) ||
	       versions_find(followed->options.cluster, object->meta.uid) > followed->list_version;
}

static int remove_unlisted(const struct object *object, void *userdata)
{
	struct followed *followed = userdata;

	if (!was_listed(followed, object) && !is_newer_than_list(followed, object))
		remove_stored(followed, object);
	return 0;
}

/* ---- what is believed ---- */

/* One that concerned this node, and does not any more, leaves the store. */
static void believe(struct followed *followed, const struct object *object, bool is_absent)
{
	const struct object *known = stored(followed, object);

	if (is_absent)
		remove_stored(followed, object);
	else if (keeps(followed, object))
		put(followed, object);
	else if (known && keeps(followed, known))
		remove_stored(followed, known);
}

static void believe_list(struct followed *followed)
{
	if (!followed->went_back && !followed->is_partial)
		(void) store_list(store_of(followed), followed->options.kind, NULL, remove_unlisted,
				  followed);
	forget_listed(followed);
}

static void on_decided(void *userdata, const struct object *object, bool is_absent, bool is_same)
{
	struct followed *followed = userdata;

	if (!is_same) {
		list_in(followed, identity_is_other(followed->options.cluster->identity)
					  ? CLUSTER_OTHER_SECONDS
					  : LIST_AGAIN_SECONDS);
		return;
	}
	if (object)
		believe(followed, object, is_absent);
	else
		believe_list(followed);
	followed->is_verified = !followed->is_listing && !doubts_wait(followed->doubts);
}

/* In its order: what waits for an answer holds back all that follows. */
static void doubt(struct followed *followed, const struct object *object, bool is_absent)
{
	followed->is_verified = false;
	if (doubts_add(followed->doubts, object, is_absent) < 0)
		followed_list_again(followed);
}

static void judge(struct followed *followed, const struct object *object, bool is_absent)
{
	const struct object *known = stored(followed, object);

	if (!known && !keeps(followed, object))
		return;
	if (followed->is_verified && (!known || strcmp(known->meta.uid, object->meta.uid) == 0))
		believe(followed, object, is_absent);
	else
		doubt(followed, object, is_absent);
}

/* ---- what the server sends ---- */

static void begin_list(void *userdata)
{
	struct followed *followed = userdata;

	/* What waits is older than what this list will bring. */
	(void) doubts_drop(followed->doubts);
	forget_listed(followed);
	followed->is_partial = followed->is_verified = false;
	followed->is_listing = true;
}

static bool is_understood(const struct followed *followed, const struct server_object *object)
{
	if (!object->object)
		log_message(LOG_WARNING, "%s '%s' of the kube-apiserver is not understood: %s",
			    kind_row(followed->options.kind)->singular, object->name,
			    object->why->text);
	return object->object;
}

static void take(void *userdata, const struct server_object *object)
{
	struct followed *followed = userdata;
	bool is_read = is_understood(followed, object);

	if (!is_read || stored(followed, object->object) || keeps(followed, object->object))
		note_listed(followed, object->name_space, object->name);
	if (is_read)
		judge(followed, object->object, false);
}

static void note_served(struct followed *followed)
{
	const char *plural = kind_row(followed->options.kind)->plural;

	if (followed->is_refused || followed->is_absent)
		log_message(LOG_NOTICE, "provisioner: %s can be watched now", plural);
	followed->is_refused = followed->is_absent = false;
}

static void end_list(void *userdata, bool went_back)
{
	struct followed *followed = userdata;

	contact_note_news(followed->options.cluster);
	note_served(followed);
	followed->is_listing = false;
	followed->went_back = went_back;
	followed->list_version = list_watch_newest(followed->list_watch);
	doubt(followed, NULL, false);
}

static void change(void *userdata, const struct server_event *event)
{
	struct followed *followed = userdata;

	contact_note_news(followed->options.cluster);
	if (is_understood(followed, &event->object))
		judge(followed, event->object.object, event->type == SERVER_DELETED);
}

static void note_refused(struct followed *followed, const struct failure *why)
{
	if (!followed->is_refused)
		log_message(LOG_ERR,
			    "provisioner: %s, %s cannot be watched: %s; grant it as "
			    "examples/cluster/rbac.yaml does (tried again)",
			    followed->options.is_optional ? "snapshots are not taken"
							  : "volumes are not provisioned",
			    kind_row(followed->options.kind)->plural, why->text);
	followed->is_refused = true;
}

static void note_absent(struct followed *followed)
{
	if (!followed->is_absent)
		log_message(LOG_NOTICE,
			    "the kube-apiserver has no %s: no snapshots are taken; asked again "
			    "every %d minutes",
			    kind_row(followed->options.kind)->plural, FOLLOWED_ABSENT_SECONDS / 60);
	followed->is_absent = true;
	list_in(followed, 0); /* from here the list_watch cannot be ended */
}

static void on_failed(void *userdata, int status, const struct failure *why)
{
	struct followed *followed = userdata;

	followed->is_verified = false;
	/* A list that failed begins again by itself. */
	if (doubts_drop(followed->doubts) && !followed->is_listing)
		followed_list_again(followed);
	if (status == 403 && followed->options.is_granted)
		note_refused(followed, why);
	else if (status == 404 && followed->options.is_optional)
		note_absent(followed);
	else
		contact_note_failure(followed->options.cluster, status, why);
}

/* ---- life ---- */

static int begin(struct followed *followed)
{
	struct cluster *cluster = followed->options.cluster;
	char path[CLUSTER_PATH_BYTES];
	const struct list_watch_options options = {
		.event = cluster->options.event,
		.client = cluster->client,
		.kind = kind_row(followed->options.kind),
		.path = path,
		.selector = followed->selector,
		.has_no_watch_list = &cluster->has_no_watch_list,
		.begin_list = begin_list,
		.take = take,
		.end_list = end_list,
		.change = change,
		.failed = on_failed,
		.userdata = followed,
	};

	if (followed->options.needs_node &&
	    !store_get(store_of(followed), KIND_NODE, "", cluster->options.node_name))
		return -EAGAIN;
	if (!cluster_path(options.kind, NULL, NULL, "", path))
		return -EINVAL;
	return list_watch_new(&options, &followed->list_watch);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct followed *followed = userdata;

	bool was_asked = followed->list_watch;

	followed->list_watch = list_watch_free(followed->list_watch);
	if (was_asked && followed->is_absent)
		list_in(followed, FOLLOWED_ABSENT_SECONDS);
	else
		followed_begin(followed);
	return 0;
}

void followed_begin(struct followed *followed)
{
	if (!followed->list_watch && begin(followed) < 0)
		followed_list_again(followed);
}

int followed_new(const struct followed_options *options, struct followed **ret)
{
	struct followed *followed = calloc(1, sizeof(*followed));
	int r;

	assert(options && options->cluster && options->selector && ret);
	if (!followed)
		return -ENOMEM;
	followed->options = *options;
	followed->selector = strdup(options->selector);
	r = followed->selector
		    ? doubts_new(options->cluster, on_decided, followed, &followed->doubts)
		    : -ENOMEM;
	if (r >= 0)
		r = timer_new(options->cluster->options.event, 100000, on_timer, followed,
			      &followed->timer);
	if (r < 0) {
		(void) followed_free(followed);
		return r;
	}
	*ret = followed;
	return 0;
}

bool followed_is_refused(const struct followed *followed)
{
	return followed->is_refused;
}

struct followed *followed_free(struct followed *followed)
{
	if (!followed)
		return NULL;
	(void) list_watch_free(followed->list_watch);
	(void) sd_event_source_disable_unref(followed->timer);
	(void) doubts_free(followed->doubts);
	forget_listed(followed);
	free(followed->selector);
	free(followed);
	return NULL;
}
