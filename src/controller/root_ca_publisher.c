/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_ca_publisher - see controller.h
 *
 * An item of the queue is a namespace.
 */
#include "controller/controller.h"

#include "controller/controller_class.h"
#include "object/kinds/root_ca.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct root_ca_publisher {
	struct controller base;
	struct root_ca_publisher_options options;
	char *certificate;
};

/* ---- one namespace ---- */

static void create(const struct root_ca_publisher *publisher, struct work_item *work)
{
	const struct object *made = NULL;
	int r = root_ca_new(work->name, publisher->certificate, &made, NULL);

	work_item_create(work, r, made);
}

static void replace(const struct root_ca_publisher *publisher, struct work_item *work,
		    const struct object *stored)
{
	const struct object *made = NULL;
	int r = root_ca_replace(stored, publisher->certificate, &made, NULL);

	work_item_update(work, r, stored, made);
}

static bool is_there(struct store *store, const char *name_space)
{
	const struct object *object = store_get(store, KIND_NAMESPACE, "", name_space);

	return object && !object->meta.deletes;
}

/* Return: false: there is no such namespace, and nothing of it here. */
static bool sync_item(struct work_item *work)
{
	struct root_ca_publisher *publisher = work_queue_userdata(work->queue);
	const struct store_key key = { KIND_CONFIG_MAP, work->name, ROOT_CA_CONFIG_MAP };
	const struct object *stored =
		store_get(publisher->options.common.store, key.kind, key.name_space, key.name);
	bool is_wanted = is_there(publisher->options.common.store, work->name);

	if (!is_wanted && !stored)
		return false;
	if (work_item_backs_off(work))
		return true;
	if (!stored && !store_is_unreadable(publisher->options.common.store, &key))
		create(publisher, work);
	else if (stored && root_ca_is_published(stored) && !is_wanted)
		work_item_delete(work, stored);
	else if (stored && root_ca_is_published(stored) &&
		 !root_ca_has(stored, publisher->certificate))
		replace(publisher, work, stored);
	else
		work_item_succeeded(work);
	return true;
}

/* ---- watching ---- */

static int take(const struct object *object, void *userdata)
{
	if (object->kind == KIND_NAMESPACE)
		return work_queue_due(((struct controller *) userdata)->queues[0],
				      object->meta.name);
	if (strcmp(object->meta.name, ROOT_CA_CONFIG_MAP) == 0)
		return work_queue_due(((struct controller *) userdata)->queues[0],
				      object->meta.name_space);
	return 0;
}

static int take_change(const struct store_change *change, void *userdata)
{
	return take(change->object, userdata);
}

/* ---- life ---- */

static int copy_certificate(void *userdata)
{
	struct root_ca_publisher *publisher = userdata;

	publisher->certificate = strdup(publisher->options.certificate);
	return publisher->certificate ? 0 : -ENOMEM;
}

static void free_certificate(void *userdata)
{
	free(((struct root_ca_publisher *) userdata)->certificate);
}

static const struct controller_class root_ca_publisher_class = {
	CONTROLLER_OF(root_ca_publisher),
	.what = "root certificates",
	.kinds = 1 << KIND_NAMESPACE | 1 << KIND_CONFIG_MAP,
	.lists = { { KIND_NAMESPACE, take }, { KIND_CONFIG_MAP, take } },
	.queues = { { .what = ROOT_CA_CONFIG_MAP " of namespace",
		      .item_bytes = sizeof(struct work_item),
		      .sync = sync_item } },
	.open = copy_certificate,
	.take_change = take_change,
	.close = free_certificate,
};

int root_ca_publisher_new(const struct root_ca_publisher_options *options,
			  struct root_ca_publisher **ret)
{
	assert(options->certificate && ret);
	return controller_new(&root_ca_publisher_class, options, ret);
}

struct root_ca_publisher *root_ca_publisher_free(struct root_ca_publisher *publisher)
{
	return controller_free(publisher);
}
