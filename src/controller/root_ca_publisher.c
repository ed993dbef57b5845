/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_ca_publisher - see root_ca_publisher.h
 *
 * An item of the queue is a namespace.
 */
#include "controller/root_ca_publisher.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/work_queue.h"
#include "object/kinds/root_ca.h"
#include "store/reflector.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define RETRY_FIRST_USEC (1 * USEC_PER_SEC)
#define RETRY_MAX_USEC   (300 * USEC_PER_SEC)

struct root_ca_publisher {
	struct store *store;
	char *certificate;
	struct reflector *reflector;
	struct work_queue *queue;
};

/* ---- one namespace ---- */

static void create(const struct root_ca_publisher *publisher, struct work_item *work)
{
	cleanup_object const struct object *made = NULL;
	int r = root_ca_new(work->name, publisher->certificate, &made, NULL);

	if (r == 0)
		r = store_create(publisher->store, made, work_item_written, work);
	work_item_queued(work, r);
}

static struct store_precondition as_seen(const struct object *object)
{
	return (struct store_precondition){ .uid = object->meta.uid,
					    .resource_version = object->meta.resource_version };
}

static void replace(const struct root_ca_publisher *publisher, struct work_item *work,
		    const struct object *stored)
{
	const struct store_precondition expected = as_seen(stored);
	cleanup_object const struct object *made = NULL;
	int r = root_ca_replace(stored, publisher->certificate, &made, NULL);

	if (r == 0)
		r = store_update(publisher->store, made, &expected, work_item_written, work);
	work_item_queued(work, r);
}

static void delete_it(const struct root_ca_publisher *publisher, struct work_item *work,
		      const struct object *stored)
{
	const struct store_key key = { KIND_CONFIG_MAP, work->name, ROOT_CA_CONFIG_MAP };
	const struct store_precondition expected = as_seen(stored);

	work_item_queued(work,
			 store_delete(publisher->store, &key, &expected, work_item_written, work));
}

static bool is_there(struct store *store, const char *name_space)
{
	const struct object *object = store_get(store, KIND_NAMESPACE, "", name_space);

	return object && !object->meta.deletes;
}

/* Return: false: there is no such namespace, and nothing of it here. */
static bool look(struct work_item *work)
{
	struct root_ca_publisher *publisher = work_queue_userdata(work->queue);
	const struct store_key key = { KIND_CONFIG_MAP, work->name, ROOT_CA_CONFIG_MAP };
	const struct object *stored =
		store_get(publisher->store, key.kind, key.name_space, key.name);
	bool is_wanted = is_there(publisher->store, work->name);

	if (!is_wanted && !stored)
		return false;
	if (work_item_backs_off(work))
		return true;
	if (!stored && !store_is_unreadable(publisher->store, &key))
		create(publisher, work);
	else if (stored && root_ca_is_published(stored) && !is_wanted)
		delete_it(publisher, work, stored);
	else if (stored && root_ca_is_published(stored) &&
		 !root_ca_has(stored, publisher->certificate))
		replace(publisher, work, stored);
	else
		work_item_succeeded(work);
	return true;
}

/* ---- watching ---- */

static int make_due(struct root_ca_publisher *publisher, const char *name_space)
{
	struct work_item *work = work_queue_item(publisher->queue, name_space);

	if (!work)
		return -ENOMEM;
	work_item_due(work);
	return 0;
}

static int take(const struct object *object, void *userdata)
{
	if (object->kind == KIND_NAMESPACE)
		return make_due(userdata, object->meta.name);
	if (strcmp(object->meta.name, ROOT_CA_CONFIG_MAP) == 0)
		return make_due(userdata, object->meta.name_space);
	return 0;
}

static int take_change(const struct store_change *change, void *userdata)
{
	return take(change->object, userdata);
}

static void begin(void *userdata)
{
	work_queue_all_due(((struct root_ca_publisher *) userdata)->queue);
}

static void act(void *userdata)
{
	work_queue_run(((struct root_ca_publisher *) userdata)->queue);
}

static int watch(const struct root_ca_publisher_options *options,
		 struct root_ca_publisher *publisher)
{
	static const struct reflector_list lists[] = {
		{ KIND_NAMESPACE, take },
		{ KIND_CONFIG_MAP, take },
	};

	return reflector_new(
		&(struct reflector_options){ .event = options->event,
					     .priority = options->priority,
					     .store = options->store,
					     .kinds = 1U << KIND_NAMESPACE | 1U << KIND_CONFIG_MAP,
					     .lists = lists,
					     .list_count = ARRAY_SIZE(lists),
					     .what = "root certificates",
					     .begin = begin,
					     .take_change = take_change,
					     .act = act,
					     .userdata = publisher },
		&publisher->reflector);
}

/* ---- life ---- */

static int open_all(const struct root_ca_publisher_options *options,
		    struct root_ca_publisher *publisher)
{
	const struct work_queue_options queue = { .event = options->event,
						  .priority = options->priority,
						  .item_bytes = sizeof(struct work_item),
						  .retry_first_usec = RETRY_FIRST_USEC,
						  .retry_max_usec = RETRY_MAX_USEC,
						  .what = ROOT_CA_CONFIG_MAP " of namespace",
						  .look = look,
						  .userdata = publisher };
	int r;

	publisher->store = options->store;
	publisher->certificate = strdup(options->certificate);
	if (!publisher->certificate)
		return -ENOMEM;
	r = work_queue_new(&queue, &publisher->queue);
	return r < 0 ? r : watch(options, publisher);
}

int root_ca_publisher_new(const struct root_ca_publisher_options *options,
			  struct root_ca_publisher **ret)
{
	struct root_ca_publisher *publisher = calloc(1, sizeof(*publisher));
	int r;

	assert(options->event && options->store && options->certificate && ret);
	if (!publisher)
		return -ENOMEM;
	r = open_all(options, publisher);
	if (r < 0) {
		(void) root_ca_publisher_free(publisher);
		return r;
	}
	*ret = publisher;
	act(publisher);
	return 0;
}

struct root_ca_publisher *root_ca_publisher_free(struct root_ca_publisher *publisher)
{
	if (!publisher)
		return NULL;
	(void) reflector_free(publisher->reflector);
	(void) work_queue_free(publisher->queue);
	free(publisher->certificate);
	free(publisher);
	return NULL;
}
