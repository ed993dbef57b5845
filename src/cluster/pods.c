/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods - the pods of this node, from the server into the store, and when one leaves it
 *
 * Lists and events wait in a queue until the server is known to be of the same cluster; that is
 * asked after every list, after every failure and before a pod is replaced by another of its name.
 * A pod leaves the store by a DELETED event with its uid, or when absence.c has proven that it is
 * gone. A list older than what was seen before (a restored etcd) proves nothing: pods that it lacks
 * are kept until the server shows them again or an administrator deletes them.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"
#include "cluster/own_node.h"
#include "cluster/provisioning.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "object/json/json.h"
#include "object/kinds/pod.h"

#include <utlist.h>

enum { QUEUED_MAX = 20000, AGAIN_SECONDS = 5 };

struct name {
	UT_hash_handle hh;
	char text[];
};

/* Outlives the pods when the store closes first. */
struct complete {
	struct pods *pods; /* NULL: freed */
};

enum news_type { NEWS_PUT, NEWS_DELETED, NEWS_LIST_END };

struct news {
	struct news *prev, *next;
	enum news_type type;
	const struct object *object; /* own reference; NULL: the end of a list */
	uint64_t version;            /* that the server had come to; 0: part of a list */
};

struct pods {
	struct cluster *cluster;
	struct list_watch *list_watch;
	struct absences *absences;
	struct identity_check *check;
	sd_event_source *timer; /* asks for the identity again, or lists again */
	struct news *queue;
	size_t queue_count;
	struct name *listed; /* "namespace/name" in the list that is read */
	struct name *kept;   /* uids that a restored etcd lost */
	uint64_t newest;     /* version that was taken into the store */
	bool is_verified, is_complete;
	bool is_listing;           /* not at its end */
	struct complete *complete; /* the store will say so; NULL: not asked for, or it has */
	bool must_list;            /* something was lost for want of memory */
};

/* ---- sets of names ---- */

static struct name *find_name(struct name *names, const char *text)
{
	struct name *name;

	HASH_FIND_STR(names, text, name);
	return name;
}

/* False: no memory. */
static bool add_name(struct name **names, const char *text)
{
	size_t length = strlen(text);
	struct name *name;

	if (find_name(*names, text))
		return true;
	name = calloc(1, sizeof(*name) + length + 1);
	if (!name)
		return false;
	memcpy(name->text, text, length);
	HASH_ADD_KEYPTR(hh, *names, name->text, length, name);
	if (name->hh.tbl)
		return true;
	free(name);
	return false;
}

static void drop_name(struct name **names, const char *text)
{
	struct name *name = find_name(*names, text);

	if (!name)
		return;
	HASH_DEL(*names, name);
	free(name);
}

static void drop_names(struct name **names)
{
	struct name *name, *next;

	HASH_ITER (hh, *names, name, next) {
		HASH_DEL(*names, name);
		free(name);
	}
}

/* ---- the store ---- */

static const struct object *stored(const struct cluster *cluster, const char *name_space,
				   const char *name)
{
	return store_get(cluster->options.store, KIND_POD, name_space, name);
}

/* What the next process starts from. */
static void keep_state(struct cluster *cluster)
{
	const struct pods *pods = cluster->pods;
	cleanup_free char *text = NULL;
	size_t length = 1;
	struct name *name;
	char *end;

	for (name = pods->kept; name; name = name->hh.next)
		length += strlen(name->text) + 1;
	text = end = calloc(1, length);
	if (!text)
		return; /* what was kept before still is */
	for (name = pods->kept; name; name = name->hh.next) {
		memcpy(end, name->text, strlen(name->text));
		end += strlen(name->text);
		*end++ = name->hh.next ? ',' : '\0';
	}
	identity_keep(cluster, pods->newest, text);
}

void pods_gone(struct cluster *cluster, const char *name_space, const char *name, const char *uid)
{
	drop_name(&cluster->pods->kept, uid);
	absences_remove(cluster->pods->absences, uid);
	versions_forget(cluster, uid);
	mirror_remove(cluster, KIND_POD, name_space, name, uid);
}

void pods_put(struct cluster *cluster, const struct object *pod)
{
	const struct object *known = stored(cluster, pod->meta.name_space, pod->meta.name);

	if (known && strcmp(known->meta.uid, pod->meta.uid) != 0)
		pods_gone(cluster, pod->meta.name_space, pod->meta.name, known->meta.uid);
	drop_name(&cluster->pods->kept, pod->meta.uid);
	absences_remove(cluster->pods->absences, pod->meta.uid);
	versions_note(cluster, pod);
	mirror_put(cluster, pod);
}

/* ---- what waits ---- */

static void drop_queue(struct pods *pods)
{
	struct news *news, *next;

	DL_FOREACH_SAFE (pods->queue, news, next) {
		(void) object_unref(news->object);
		free(news);
	}
	pods->queue = NULL;
	pods->queue_count = 0;
}

static void list_later(struct pods *pods)
{
	drop_queue(pods);
	pods->must_list = true;
	pods->check = identity_cancel(pods->check);
	timer_set_in(pods->timer, AGAIN_SECONDS * USEC_PER_SEC);
}

/* Too much waits, or there is no memory. What is half known proves nothing: it is listed again. */
static void lose(struct pods *pods)
{
	if (!pods->must_list)
		log_message(LOG_ERR, "out of memory: the pods are listed again");
	list_later(pods);
}

/* ---- the end of a list ---- */

struct list_end {
	struct pods *pods;
	bool went_back;
	size_t kept;
};

static int check_unlisted(const struct object *pod, void *userdata)
{
	struct list_end *end = userdata;
	struct cluster *cluster = end->pods->cluster;
	cleanup_free char *key = NULL;

	/* Of a node with another name the list says nothing. */
	if (strcmp(pod->pod->node_name, cluster->options.node_name) != 0)
		return 0;
	if (asprintf(&key, "%s/%s", pod->meta.name_space, pod->meta.name) < 0) {
		key = NULL;
		return 0;
	}
	if (find_name(end->pods->listed, key) || find_name(end->pods->kept, pod->meta.uid))
		return 0;
	if (!end->went_back) {
		absences_add(end->pods->absences, pod);
		return 0;
	}
	/* That a server of before is asked for it proves nothing now. */
	absences_remove(end->pods->absences, pod->meta.uid);
	if (!add_name(&end->pods->kept, pod->meta.uid))
		lose(end->pods);
	end->kept++;
	return 0;
}

/* Behind everything that the list brought. */
static void on_complete(void *userdata, int error, const struct object *result,
			const struct failure *why)
{
	cleanup_free struct complete *complete = userdata;
	struct cluster *cluster;

	(void) error; /* there was nothing to delete */
	if (!complete->pods)
		return;
	cluster = complete->pods->cluster;
	complete->pods->complete = NULL;
	complete->pods->is_complete = true;
	needed_sweep(cluster->needed);
	provisioning_begin(cluster);
	node_annotation_begin(cluster->node_annotation);
	cluster->options.complete(cluster->options.userdata);
}

static void report_complete(struct pods *pods)
{
	if (pods->is_complete || pods->complete)
		return;
	pods->complete = calloc(1, sizeof(*pods->complete));
	if (!pods->complete)
		return; /* the next list tries again */
	pods->complete->pods = pods;
	if (mirror_after(pods->cluster, on_complete, pods->complete) == 0)
		return;
	free(pods->complete);
	pods->complete = NULL;
}

static void end_of_list(struct pods *pods, uint64_t version)
{
	struct list_end end = { .pods = pods, .went_back = version < pods->newest };

	pods->newest = version;
	(void) store_list(pods->cluster->options.store, KIND_POD, NULL, check_unlisted, &end);
	drop_names(&pods->listed);
	if (end.kept > 0)
		log_message(LOG_ERR,
			    "the kube-apiserver went back in time, as after a restore of etcd, and "
			    "lost %zu pods of this node: their volumes stay until it has them "
			    "again, or 'podvolctl delete pod'",
			    end.kept);
	keep_state(pods->cluster);
	report_complete(pods);
}

/* ---- the queue ---- */

/* The rest of a list may never come: what was taken of it counts. */
static void note_version(struct pods *pods, const struct news *news)
{
	uint64_t version = news->version > 0 ? news->version : news->object->meta.resource_version;

	if (pods->newest < version)
		pods->newest = version;
}

static void take_news(struct pods *pods, const struct news *news)
{
	const struct object *object = news->object;

	if (news->type != NEWS_LIST_END)
		note_version(pods, news);
	switch (news->type) {
	case NEWS_PUT:
		pods_put(pods->cluster, object);
		return;
	case NEWS_DELETED:
		pods_gone(pods->cluster, object->meta.name_space, object->meta.name,
			  object->meta.uid);
		return;
	case NEWS_LIST_END:
		end_of_list(pods, news->version);
		return;
	}
}

static void take_queue(struct pods *pods)
{
	struct news *news;

	while ((news = pods->queue)) {
		DL_DELETE(pods->queue, news);
		pods->queue_count--;
		take_news(pods, news);
		(void) object_unref(news->object);
		free(news);
	}
	keep_state(pods->cluster);
}

static int list_again(struct pods *pods);

static void on_identity(void *userdata, enum identity_verdict verdict)
{
	struct pods *pods = userdata;

	pods->check = NULL;
	pods->is_verified = verdict == IDENTITY_SAME && !pods->must_list;
	if (pods->is_verified) {
		take_queue(pods);
		return;
	}
	if (verdict != IDENTITY_OTHER) {
		timer_set_in(pods->timer, AGAIN_SECONDS * USEC_PER_SEC);
		return;
	}
	drop_queue(pods);
	drop_names(&pods->listed);
	pods->list_watch = list_watch_free(pods->list_watch);
	timer_set_in(pods->timer, CLUSTER_OTHER_SECONDS * USEC_PER_SEC);
}

static void verify(struct pods *pods)
{
	if (pods->check)
		return;
	if (identity_check_start(pods->cluster, on_identity, pods, &pods->check) < 0)
		timer_set_in(pods->timer, AGAIN_SECONDS * USEC_PER_SEC);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct pods *pods = userdata;

	if (pods->must_list)
		pods->list_watch = list_watch_free(pods->list_watch);
	pods->must_list = false;
	if (pods->list_watch && pods->queue)
		verify(pods);
	else if (!pods->list_watch && list_again(pods) < 0)
		timer_set_in(pods->timer, AGAIN_SECONDS * USEC_PER_SEC);
	return 0;
}

static bool add_news(struct pods *pods, enum news_type type, const struct object *object,
		     uint64_t version)
{
	struct news *news = pods->queue_count < QUEUED_MAX ? calloc(1, sizeof(*news)) : NULL;

	if (!news)
		return false;
	*news = (struct news){ .type = type, .object = object_ref(object), .version = version };
	DL_APPEND(pods->queue, news);
	pods->queue_count++;
	return true;
}

/* ---- what the server sends ---- */

static void begin_list(void *userdata)
{
	struct pods *pods = userdata;

	pods->is_listing = true;
	/* What waits is older than what this list will bring. */
	drop_queue(pods);
	drop_names(&pods->listed);
}

static void note_unknown(const struct server_object *object)
{
	log_message(LOG_WARNING, "pod '%s/%s' of the kube-apiserver is not understood: %s",
		    object->name_space, object->name, object->why->text);
}

static void take(void *userdata, const struct server_object *object)
{
	struct pods *pods = userdata;
	cleanup_free char *key = NULL;

	if (asprintf(&key, "%s/%s", object->name_space, object->name) < 0)
		key = NULL;
	if (!key || !add_name(&pods->listed, key)) {
		lose(pods);
		return;
	}
	if (!object->object)
		note_unknown(object);
	else if (!add_news(pods, NEWS_PUT, object->object, 0))
		lose(pods);
}

/* A list that is not taken says nothing, so whether this one went back is seen when it is. */
static void end_list(void *userdata, bool went_back)
{
	struct pods *pods = userdata;

	pods->is_listing = false;
	contact_note_news(pods->cluster);
	if (pods->must_list)
		return;
	if (!add_news(pods, NEWS_LIST_END, NULL, list_watch_newest(pods->list_watch))) {
		lose(pods);
		return;
	}
	pods->is_verified = false;
	verify(pods);
}

static bool replaces(const struct pods *pods, const struct object *pod)
{
	const struct object *known = stored(pods->cluster, pod->meta.name_space, pod->meta.name);

	return known && strcmp(known->meta.uid, pod->meta.uid) != 0;
}

static void change(void *userdata, const struct server_event *event)
{
	struct pods *pods = userdata;
	const struct object *pod = event->object.object;
	enum news_type type = event->type == SERVER_DELETED ? NEWS_DELETED : NEWS_PUT;

	contact_note_news(pods->cluster);
	if (pods->must_list)
		return;
	if (!pod) {
		note_unknown(&event->object);
		return;
	}
	if (!add_news(pods, type, pod, list_watch_newest(pods->list_watch))) {
		lose(pods);
		return;
	}
	if (pods->is_verified && type == NEWS_PUT && replaces(pods, pod))
		pods->is_verified = false;
	if (pods->is_verified)
		take_queue(pods);
	else
		verify(pods);
}

static void on_failed(void *userdata, int status, const struct failure *why)
{
	struct pods *pods = userdata;

	pods->is_verified = false;
	/* What waits came from a server that may be another one when its identity is asked next. */
	if (pods->queue)
		list_watch_list_next(pods->list_watch);
	drop_queue(pods);
	pods->check = identity_cancel(pods->check);
	contact_note_failure(pods->cluster, status, why);
}

bool pods_are_verified(const struct pods *pods)
{
	return pods->is_verified;
}

/* ---- life ---- */

static int list_again(struct pods *pods)
{
	struct cluster *cluster = pods->cluster;
	struct list_watch_options options = {
		.event = cluster->options.event,
		.client = cluster->client,
		.kind = kind_row(KIND_POD),
		.path = "/api/v1/pods",
		.is_selective = true,
		/* A pod that a stale list of the watch cache lacks is safe only if it is stored. */
		.newest = cluster->options.is_takeover ? 0 : pods->newest,
		.has_no_watch_list = &cluster->has_no_watch_list,
		.begin_list = begin_list,
		.take = take,
		.end_list = end_list,
		.change = change,
		.failed = on_failed,
		.userdata = pods,
	};
	char selector[CLUSTER_PATH_BYTES];

	(void) snprintf(selector, sizeof(selector), "fieldSelector=spec.nodeName%%3D%s",
			cluster->options.node_name);
	options.selector = selector;
	return list_watch_new(&options, &pods->list_watch);
}

static void recall_kept(struct pods *pods)
{
	cleanup_free char *text = strdup(identity_kept(pods->cluster->identity));
	char *rest = NULL;

	for (char *uid = text ? strtok_r(text, ",", &rest) : NULL; uid;
	     uid = strtok_r(NULL, ",", &rest))
		(void) add_name(&pods->kept, uid);
}

int pods_new(struct cluster *cluster)
{
	struct pods *pods = calloc(1, sizeof(*pods));
	int r;

	if (!pods)
		return -ENOMEM;
	pods->cluster = cluster;
	cluster->pods = pods;
	recall_kept(pods);
	pods->newest = identity_newest(cluster->identity);
	r = timer_new(cluster->options.event, 100000, on_timer, pods, &pods->timer);
	if (r >= 0)
		r = absences_new(cluster, &pods->absences);
	return r < 0 ? r : list_again(pods);
}

struct pods *pods_free(struct pods *pods)
{
	if (!pods)
		return NULL;
	if (pods->complete)
		pods->complete->pods = NULL;
	(void) identity_cancel(pods->check);
	(void) absences_free(pods->absences);
	(void) list_watch_free(pods->list_watch);
	(void) sd_event_source_disable_unref(pods->timer);
	drop_queue(pods);
	drop_names(&pods->listed);
	drop_names(&pods->kept);
	free(pods);
	return NULL;
}

bool pods_is_kept(const struct pods *pods, const char *uid)
{
	return find_name(pods->kept, uid) != NULL;
}

bool pods_are_kept(const struct pods *pods)
{
	return pods->kept != NULL;
}

void pods_view(const struct cluster *cluster, struct cJSON *view)
{
	const struct pods *pods = cluster->pods;

	(void) json_set_bool(view, "sameCluster", pods->is_verified);
	(void) json_set_bool(view, "complete", pods->is_complete);
	(void) json_set_int(view, "podsKept", (int64_t) HASH_COUNT(pods->kept));
	(void) json_set_int(view, "podsBeingProven", (int64_t) absences_count(pods->absences));
	(void) json_set_int(view, "podsQueued", (int64_t) pods->queue_count);
}
