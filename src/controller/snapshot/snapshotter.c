/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshotter - watch snapshots and what they are made of, and write; see snapshotter.h
 */
#include "controller/snapshot/snapshotter_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <string.h>

enum {
	KINDS = 1 << KIND_VOLUME_SNAPSHOT | 1 << KIND_VOLUME_SNAPSHOT_CLASS |
		1 << KIND_VOLUME_SNAPSHOT_CONTENT | 1 << KIND_PERSISTENT_VOLUME |
		1 << KIND_PERSISTENT_VOLUME_CLAIM,
	KEY_BYTES = 512, /* of a namespace and a name */
};

#define RETRY_FIRST_USEC (1 * USEC_PER_SEC)
#define RETRY_MAX_USEC   (300 * USEC_PER_SEC)

struct snapshotter *snapshotter_of(const struct snapshot_item *item)
{
	return work_queue_userdata(item->work.queue);
}

/* ---- telling and writing ---- */

void snapshot_tell(struct snapshot_item *item, const struct object *about, const char *type,
		   const char *reason, const char *text)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;

	if (!work_item_is_news(&item->work, text))
		return;
	options->event_fn(options->userdata, about, type, reason, text);
}

void snapshot_write(struct snapshot_item *item, const struct object *object,
		    const struct object *made, int r)
{
	const struct store_precondition expected = { .uid = object->meta.uid,
						     .resource_version =
							     object->meta.resource_version };
	cleanup_object const struct object *taken = made;

	if (r == 0)
		r = store_update(snapshotter_of(item)->options.store, taken, &expected,
				 work_item_written, item);
	work_item_queued(&item->work, r);
}

void snapshot_create(struct snapshot_item *item, const struct object *made)
{
	cleanup_object const struct object *taken = made;

	work_item_queued(&item->work, store_create(snapshotter_of(item)->options.store, taken,
						   work_item_written, item));
}

void snapshot_delete(struct snapshot_item *item, const struct object *object)
{
	const struct store_key key = { object->kind, object->meta.name_space, object->meta.name };
	const struct store_precondition expected = { .uid = object->meta.uid };

	work_item_queued(&item->work, store_delete(snapshotter_of(item)->options.store, &key,
						   &expected, work_item_written, item));
}

/* ---- watching ---- */

static int make_due(struct work_queue *queue, const char *name)
{
	struct work_item *work = work_queue_item(queue, name);

	if (!work)
		return -ENOMEM;
	work_item_due(work);
	return 0;
}

static int take_snapshot(const struct object *object, void *userdata)
{
	struct snapshotter *snapshotter = userdata;
	char key[KEY_BYTES];

	(void) snprintf(key, sizeof(key), "%s/%s", object->meta.name_space, object->meta.name);
	return make_due(snapshotter->snapshots, key);
}

/* It and the snapshot that it is one of. */
static int take_content(const struct object *object, void *userdata)
{
	const struct volume_snapshot_content *content = object->volume_snapshot_content;
	struct snapshotter *snapshotter = userdata;
	char key[KEY_BYTES];

	(void) snprintf(key, sizeof(key), "%s/%s", content->snapshot_namespace,
			content->snapshot_name);
	if (store_get(snapshotter->options.store, KIND_VOLUME_SNAPSHOT, content->snapshot_namespace,
		      content->snapshot_name) &&
	    make_due(snapshotter->snapshots, key) < 0)
		return -ENOMEM;
	return make_due(snapshotter->contents, object->meta.name);
}

static void make_waiting_due(struct work_item *work)
{
	if (((const struct snapshot_item *) work)->waits)
		work_item_due(work);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct snapshotter *snapshotter = userdata;

	if (change->object->kind == KIND_VOLUME_SNAPSHOT)
		return take_snapshot(change->object, snapshotter);
	if (change->object->kind == KIND_VOLUME_SNAPSHOT_CONTENT)
		return take_content(change->object, snapshotter);
	work_queue_walk(snapshotter->snapshots, make_waiting_due);
	return 0;
}

static void run(void *userdata)
{
	struct snapshotter *snapshotter = userdata;

	work_queue_run(snapshotter->snapshots);
	work_queue_run(snapshotter->contents);
}

static void begin(void *userdata)
{
	struct snapshotter *snapshotter = userdata;

	work_queue_all_due(snapshotter->snapshots);
	work_queue_all_due(snapshotter->contents);
}

static int watch(struct snapshotter *snapshotter)
{
	static const struct reflector_list lists[] = {
		{ KIND_VOLUME_SNAPSHOT, take_snapshot },
		{ KIND_VOLUME_SNAPSHOT_CONTENT, take_content },
	};

	return reflector_new(&(struct reflector_options){ .event = snapshotter->options.event,
							  .priority = snapshotter->options.priority,
							  .store = snapshotter->options.store,
							  .kinds = KINDS,
							  .lists = lists,
							  .list_count = ARRAY_SIZE(lists),
							  .what = "snapshots",
							  .begin = begin,
							  .take_change = take_change,
							  .act = run,
							  .userdata = snapshotter },
			     &snapshotter->reflector);
}

/* ---- life ---- */

static int new_queue(struct snapshotter *snapshotter, bool (*look)(struct work_item *work),
		     struct work_queue **ret)
{
	const struct work_queue_options options = {
		.event = snapshotter->options.event,
		.priority = snapshotter->options.priority,
		.item_bytes = sizeof(struct snapshot_item),
		.retry_first_usec = RETRY_FIRST_USEC,
		.retry_max_usec = RETRY_MAX_USEC,
		.what = "snapshot",
		.look = look,
		.userdata = snapshotter,
	};

	return work_queue_new(&options, ret);
}

int snapshotter_new(const struct snapshotter_options *options, struct snapshotter **ret)
{
	struct snapshotter *snapshotter = calloc(1, sizeof(*snapshotter));
	int r;

	assert(options->store && options->event_fn && options->backend && ret);
	if (!snapshotter)
		return -ENOMEM;
	snapshotter->options = *options;
	r = new_queue(snapshotter, snapshot_look, &snapshotter->snapshots);
	if (r == 0)
		r = new_queue(snapshotter, content_look, &snapshotter->contents);
	if (r == 0)
		r = watch(snapshotter);
	if (r < 0) {
		(void) snapshotter_free(snapshotter);
		return r;
	}
	*ret = snapshotter;
	run(snapshotter);
	return 0;
}

void snapshotter_all_due(struct snapshotter *snapshotter)
{
	if (!snapshotter || snapshotter->is_stopped)
		return;
	work_queue_all_due(snapshotter->snapshots);
	work_queue_all_due(snapshotter->contents);
	run(snapshotter);
}

void snapshotter_look_again(struct snapshotter *snapshotter)
{
	const struct snapshotter_options *options;

	if (!snapshotter || snapshotter->was_complete)
		return;
	options = &snapshotter->options;
	snapshotter->was_complete = options->is_complete(options->userdata);
	if (snapshotter->was_complete)
		snapshotter_all_due(snapshotter);
}

void snapshotter_stop(struct snapshotter *snapshotter)
{
	if (!snapshotter)
		return;
	snapshotter->is_stopped = true;
	work_queue_stop(snapshotter->snapshots);
	work_queue_stop(snapshotter->contents);
}

struct snapshotter *snapshotter_free(struct snapshotter *snapshotter)
{
	if (!snapshotter)
		return NULL;
	(void) reflector_free(snapshotter->reflector);
	(void) work_queue_free(snapshotter->snapshots);
	(void) work_queue_free(snapshotter->contents);
	free(snapshotter);
	return NULL;
}
