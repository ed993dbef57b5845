/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed - objects that pods of this node lead to: claims and their volumes, Secrets, ConfigMaps
 *
 * A node may read these by name, and only what its pods name. Secrets and ConfigMaps are watched by
 * name, and so are claims and volumes where watch_rights.c has the right; else a claim and its
 * volume are read once, again with back-off while the claim is unbound, and seldom afterwards. What
 * is refused or cannot be had changes nothing; what the server says is not there leaves the store.
 * Neither that nor another object of a stored one's name is believed before the identity of the
 * cluster was asked, and nothing new while the pods are not known to be of it.
 * What no pod leads to any more leaves it some time later.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/needed_internal.h"
#include "cluster/provisioning.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "object/json/json.h"

#include <sys/random.h>

enum {
	PAUSE_FIRST_SECONDS = 1,
	PAUSE_MAX_SECONDS = 30,   /* while something is missing */
	PAUSE_SLOW_SECONDS = 300, /* for growth */
	SWEEP_SECONDS = 600,
};

/* ---- the store ---- */

const struct object *needed_stored(const struct item *item)
{
	return store_get(item->needed->cluster->options.store, item->kind, item->name_space,
			 item->name);
}

/* Whether the server has it is known now. */
static void note_absent(struct item *item, bool is_absent)
{
	item->is_absent = is_absent;
	provisioning_learned(item->needed->cluster, item->kind, item->name_space, item->name);
}

static void put(struct item *item, const struct object *object)
{
	note_absent(item, false);
	versions_note(item->needed->cluster, object);
	mirror_put(item->needed->cluster, object);
}

void needed_remove_stored(struct cluster *cluster, const struct object *object)
{
	versions_forget(cluster, object->meta.uid);
	mirror_remove(cluster, object->kind, object->meta.name_space, object->meta.name,
		      object->meta.uid);
}

/* While the cluster is not known, or its etcd lost pods, which are kept with what they use. */
static bool must_stay(const struct item *item)
{
	const struct pods *pods = item->needed->cluster->pods;

	return needed_stored(item) && (!pods_are_verified(pods) || pods_are_kept(pods));
}

/* ---- when it is read again ---- */

/* @seconds to a quarter more. */
static void read_in(struct item *item, unsigned int seconds)
{
	uint32_t random = 0;
	uint64_t usec = seconds * USEC_PER_SEC;

	(void) getrandom(&random, sizeof(random), GRND_NONBLOCK);
	usec += usec / 4 * (random >> 8) / (UINT32_MAX >> 8);
	timer_set_in(item->timer, usec);
}

static void back_off(struct item *item)
{
	/* There is none before a driver is registered, and then podvold makes it. */
	if (item->kind == KIND_CSI_NODE)
		item->pause_seconds = PAUSE_SLOW_SECONDS;
	read_in(item, item->pause_seconds);
	item->pause_seconds *= 2;
	if (item->pause_seconds > PAUSE_MAX_SECONDS && item->kind != KIND_CSI_NODE)
		item->pause_seconds = PAUSE_MAX_SECONDS;
}

static void plan_next(struct item *item, const struct object *object)
{
	if (item->list_watch)
		return;
	if (!needed_is_settled(object)) {
		back_off(item);
		return;
	}
	item->pause_seconds = PAUSE_FIRST_SECONDS;
	read_in(item, needed_is_file(item->kind) ? needed_file_pause(item->watch_refusals)
						 : PAUSE_SLOW_SECONDS);
}

/* ---- what comes ---- */

static void use_volume(const struct item *item, const struct object *object)
{
	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM && object->claim->volume_name[0])
		needed_use(item->needed,
			   &(struct object_reference){ KIND_PERSISTENT_VOLUME, "",
						       object->claim->volume_name },
			   true);
}

static void believe(struct item *item, const struct object *object)
{
	put(item, object);
	use_volume(item, object);
}

/* No two clusters have the same uid. */
static bool is_doubtful(const struct item *item, const struct object *object)
{
	const struct object *known = needed_stored(item);

	return known ? strcmp(known->meta.uid, object->meta.uid) != 0
		     : !pods_are_verified(item->needed->cluster->pods);
}

static void take_object(struct item *item, const struct object *object)
{
	if (!is_doubtful(item, object))
		believe(item, object);
	else if (doubts_add(item->needed->doubts, object, false) < 0)
		back_off(item);
}

static void remove_absent(struct item *item, const struct object *object)
{
	note_absent(item, true);
	needed_remove_stored(item->needed->cluster, object);
	if (!item->list_watch)
		back_off(item);
}

static void on_decided(void *userdata, const struct object *object, bool is_absent, bool is_same)
{
	const struct object_reference reference = { object->kind, object->meta.name_space,
						    object->meta.name };
	struct item *item = needed_find(userdata, &reference);

	if (!item)
		return;
	if (!is_same || (is_absent && must_stay(item))) {
		item->read_usec = 0; /* what it said does not count */
		back_off(item);
	} else if (is_absent) {
		remove_absent(item, object);
	} else {
		believe(item, object);
	}
}

static bool says_not_found(const struct item *item, const struct http_answer *answer)
{
	struct server_status status;

	return answer->status == 404 &&
	       server_status_read(answer->body, answer->length, &status) == 0 &&
	       strcmp(status.reason, "NotFound") == 0 && strcmp(status.name, item->name) == 0;
}

/* podvold may have created it, as its CSINode, while the server answered that it is not there. */
static bool was_made_meanwhile(const struct item *item)
{
	const struct object *object = needed_stored(item);

	return object && strncmp(object->meta.uid, item->asked_uid, ASKED_UID_BYTES - 1) != 0;
}

static int watch(struct item *item);
static void read_now(struct item *item);

/* Return: will what follows be seen to? */
static bool take_absence(struct item *item)
{
	const struct object *object = needed_stored(item);

	if (must_stay(item) || !pods_are_verified(item->needed->cluster->pods))
		return false;
	if (was_made_meanwhile(item)) {
		read_now(item);
		return true;
	}
	if (object)
		return doubts_add(item->needed->doubts, object, true) == 0;
	note_absent(item, true);
	return false;
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct item *item = userdata;
	cleanup_object const struct object *object = NULL;
	struct failure why = { 0 };

	item->request = NULL;
	contact_note(item->needed->cluster, answer);
	if (answer->error == 0 && answer->status == 200 &&
	    server_object_read(kind_row(item->kind), item->name, answer->body, answer->length,
			       &object, &why) == 0) {
		item->read_usec = monotonic_usec();
		take_object(item, object);
		if (item->list_watch || watch(item) < 0)
			plan_next(item, object);
		return;
	}
	if (why.error < 0)
		log_message(LOG_WARNING, "ignoring an answer: %s", why.text);
	if (answer->error == 0 && says_not_found(item, answer) && take_absence(item))
		return;
	if (!item->list_watch || !item->is_absent)
		back_off(item);
}

static void read_now(struct item *item)
{
	char path[CLUSTER_PATH_BYTES];
	const struct http_request request = {
		.method = "GET", .path = path, .done = on_answer, .userdata = item
	};
	const struct object *object = needed_stored(item);

	if (item->request)
		return;
	if (!cluster_path(kind_row(item->kind), item->name_space, item->name, "", path)) {
		log_message(LOG_WARNING, "%s '%s' has a name that no server can have",
			    kind_row(item->kind)->singular, item->name);
		return;
	}
	(void) snprintf(item->asked_uid, sizeof(item->asked_uid), "%s",
			object ? object->meta.uid : "");
	if (requests_send(item->needed->cluster->requests, &request, &item->request) < 0)
		back_off(item);
}

/* ---- watches by name ---- */

static void begin_list(void *userdata)
{
	((struct item *) userdata)->was_listed = false;
}

static void take_listed(void *userdata, const struct server_object *object)
{
	struct item *item = userdata;

	if (object->object && strcmp(object->name, item->name) == 0 &&
	    strcmp(object->name_space, item->name_space) == 0) {
		item->was_listed = true;
		take_object(item, object->object);
	}
}

/* That a list does not have it is no proof: what is absent is asked for by name. */
static void end_list(void *userdata, bool went_back)
{
	struct item *item = userdata;

	contact_note_news(item->needed->cluster);
	item->watch_refusals = 0;
	/* A refusal before this is over, and nothing read before it is news after the watch. */
	item->ends_watch = false;
	item->read_usec = 0;
	(void) sd_event_source_set_enabled(item->timer, SD_EVENT_OFF);
	if (item->right)
		watch_right_granted(item->right);
	if (!item->was_listed && !item->is_absent)
		read_now(item);
}

static void change(void *userdata, const struct server_event *event)
{
	struct item *item = userdata;
	const struct object *object = event->object.object;

	contact_note_news(item->needed->cluster);
	if (event->type != SERVER_DELETED)
		take_listed(item, &event->object);
	else if (object && strcmp(object->meta.name, item->name) == 0 &&
		 !is_doubtful(item, object)) {
		note_absent(item, true);
		needed_remove_stored(item->needed->cluster, object);
	}
}

static void on_failed(void *userdata, int status, const struct failure *why)
{
	struct item *item = userdata;

	if (status != 403) {
		contact_note_failure(item->needed->cluster, status, why);
		return;
	}
	if (item->right)
		watch_right_refused(item->right);
	item->ends_watch = true;
	item->watch_refusals++;
	item->watch_usec =
		monotonic_usec() + needed_file_pause(item->watch_refusals) * USEC_PER_SEC;
	read_in(item, PAUSE_FIRST_SECONDS);
}

/* Of the watches that there may be, those of its sort. */
static size_t *watches_of(const struct item *item)
{
	return needed_is_file(item->kind) ? &item->needed->file_watches
					  : &item->needed->claim_watches;
}

/* Asks last whether it has the right: that may be for this item to try. */
static bool may_watch(const struct item *item)
{
	if (needed_is_file(item->kind))
		return item->watch_usec <= monotonic_usec() &&
		       item->needed->file_watches < NEEDED_WATCHES_MAX;
	return item->right && item->needed->claim_watches < NEEDED_CLAIM_WATCHES_MAX &&
	       watch_right_begin(item->right);
}

static int begin_watch(struct item *item)
{
	struct cluster *cluster = item->needed->cluster;
	char path[CLUSTER_PATH_BYTES];
	struct list_watch_options options = {
		.event = cluster->options.event,
		.client = cluster->client,
		.kind = kind_row(item->kind),
		.path = path,
		.has_no_watch_list = &cluster->has_no_watch_list,
		.begin_list = begin_list,
		.take = take_listed,
		.end_list = end_list,
		.change = change,
		.failed = on_failed,
		.userdata = item,
	};
	cleanup_free char *selector = NULL;

	if (!cluster_path(options.kind, item->name_space, NULL, "", path))
		return -EINVAL;
	if (asprintf(&selector, "fieldSelector=metadata.name%%3D%s", item->name) < 0) {
		selector = NULL;
		return -ENOMEM;
	}
	options.selector = selector;
	return list_watch_new(&options, &item->list_watch);
}

static int watch(struct item *item)
{
	int r = may_watch(item) ? begin_watch(item) : -EACCES;

	if (r == 0) {
		(*watches_of(item))++;
		(void) sd_event_source_set_enabled(item->timer, SD_EVENT_OFF);
	} else if (r != -EACCES && item->right)
		watch_right_refused(item->right);
	return r;
}

static void end_watch(struct item *item)
{
	if (item->list_watch)
		(*watches_of(item))--;
	item->list_watch = list_watch_free(item->list_watch);
	item->ends_watch = false;
}

static void on_right(void *userdata, const struct watch_right *right)
{
	struct needed *needed = userdata;
	struct item *item, *next;

	HASH_ITER (hh, needed->items, item, next)
		if (item->right == right && !item->list_watch)
			(void) watch(item);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct item *item = userdata;

	if (item->ends_watch)
		end_watch(item);
	/* The watch that was refused was tried after it had been read. */
	if (item->right && item->read_usec + PAUSE_MAX_SECONDS * USEC_PER_SEC > monotonic_usec() &&
	    needed_stored(item) && needed_is_settled(needed_stored(item)))
		plan_next(item, needed_stored(item));
	else
		read_now(item);
	return 0;
}

/* ---- items ---- */

static struct item *item_free(struct item *item)
{
	free(item->key);
	free(item->name_space);
	free(item->name);
	free(item);
	return NULL;
}

void needed_drop(struct item *item)
{
	bool had_watch = item->list_watch != NULL;

	HASH_DEL(item->needed->items, item);
	end_watch(item);
	(void) request_cancel(item->request);
	(void) sd_event_source_disable_unref(item->timer);
	if (item->right && had_watch)
		watch_right_given_up(item->right);
	(void) watch_right_unuse(item->right);
	item_free(item);
}

static int print_key(const struct object_reference *reference, char **ret)
{
	if (asprintf(ret, "%d:%s/%s", (int) reference->kind, reference->name_space,
		     reference->name) >= 0)
		return 0;
	*ret = NULL;
	return -ENOMEM;
}

struct item *needed_find(const struct needed *needed, const struct object_reference *reference)
{
	cleanup_free char *key = NULL;
	struct item *item = NULL;

	if (print_key(reference, &key) == 0)
		HASH_FIND_STR(needed->items, key, item);
	return item;
}

static struct item *item_new(struct needed *needed, const struct object_reference *reference)
{
	struct item *item = calloc(1, sizeof(*item));

	if (!item)
		return NULL;
	item->needed = needed;
	item->kind = reference->kind;
	item->pause_seconds = PAUSE_FIRST_SECONDS;
	item->name_space = strdup(reference->name_space);
	item->name = strdup(reference->name);
	if (print_key(reference, &item->key) == 0 && item->name_space && item->name) {
		HASH_ADD_KEYPTR(hh, needed->items, item->key, strlen(item->key), item);
		if (item->hh.tbl)
			return item;
	}
	return item_free(item);
}

static void begin(struct needed *needed, const struct object_reference *reference)
{
	struct item *item = item_new(needed, reference);
	int r = item ? timer_new(needed->cluster->options.event, 10000, on_timer, item,
				 &item->timer)
		     : -ENOMEM;

	if (r >= 0 && needed_is_claim(item->kind)) {
		item->right = watch_right_use(needed->rights, item->kind, item->name_space);
		r = item->right ? 0 : -ENOMEM;
	}
	if (r < 0) {
		log_message(LOG_ERR, "out of memory: %s '%s' is not read",
			    kind_row(reference->kind)->singular, reference->name);
		if (item)
			needed_drop(item);
		return;
	}
	/* What is kept from before leads on, also while the server is away. */
	if (needed_stored(item))
		use_volume(item, needed_stored(item));
	/* A right that is not known is tried with what has been read. */
	if ((item->right && !watch_right_is_granted(item->right)) || watch(item) < 0)
		read_now(item);
}

void needed_use(struct needed *needed, const struct object_reference *reference, bool is_used)
{
	struct item *item;

	if (reference->kind == KIND_SERVICE_ACCOUNT && is_used)
		mirror_account(needed->cluster, reference->name_space, reference->name);
	if (!needed_is_served(reference))
		return;
	item = needed_find(needed, reference);
	if (is_used && !item)
		begin(needed, reference);
	if (is_used || !item)
		return;
	needed_drop(item);
	timer_set_in(needed->sweep, SWEEP_SECONDS * USEC_PER_SEC);
}

bool needed_uses(const struct needed *needed, const struct object_reference *reference)
{
	return needed_find(needed, reference) != NULL;
}

void needed_read(const struct needed *needed, const struct object_reference *reference)
{
	struct item *item = needed_find(needed, reference);

	if (item)
		read_now(item);
}

/* Without memory there is no item, and no answer either. */
bool needed_is_unknown(const struct needed *needed, const struct object_reference *reference)
{
	const struct item *item = needed_find(needed, reference);

	return needed_is_served(reference) && !(item && item->is_absent);
}

/* ---- life ---- */

static int on_sweep(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct needed *needed = userdata;

	if (pods_are_verified(needed->cluster->pods))
		needed_sweep(needed);
	return 0;
}

int needed_new(struct cluster *cluster)
{
	struct needed *needed = calloc(1, sizeof(*needed));
	int r;

	if (!needed)
		return -ENOMEM;
	needed->cluster = cluster;
	cluster->needed = needed;
	r = doubts_new(cluster, on_decided, needed, &needed->doubts);
	if (r >= 0)
		r = watch_rights_new(cluster->options.event, on_right, needed, &needed->rights);
	if (r < 0)
		return r;
	return timer_new(cluster->options.event, USEC_PER_SEC, on_sweep, needed, &needed->sweep);
}

struct needed *needed_free(struct needed *needed)
{
	struct item *item, *next;

	if (!needed)
		return NULL;
	HASH_ITER (hh, needed->items, item, next)
		needed_drop(item);
	(void) doubts_free(needed->doubts);
	(void) watch_rights_free(needed->rights);
	(void) sd_event_source_disable_unref(needed->sweep);
	free(needed);
	return NULL;
}

void needed_view(const struct cluster *cluster, struct cJSON *view)
{
	const struct needed *needed = cluster->needed;

	(void) json_set_int(view, "objectsNeeded", (int64_t) HASH_COUNT(needed->items));
	(void) json_set_int(view, "objectsWatched",
			    (int64_t) (needed->file_watches + needed->claim_watches));
}
