/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshotter - watch snapshots and what they are made of, and write; see snapshotter.h
 */
#include "controller/snapshot/snapshotter_internal.h"

#include <assert.h>

enum { KEY_BYTES = 512 }; /* of a namespace and a name */

struct snapshotter *snapshotter_of(const struct snapshot_item *item)
{
	return work_queue_userdata(item->work.queue);
}

struct store *snapshot_store(const struct snapshot_item *item)
{
	return snapshotter_of(item)->options.common.store;
}

/* ---- reports ---- */

void snapshot_report(struct snapshot_item *item, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;

	if (!work_item_is_news(&item->work, text))
		return;
	options->common.event_fn(options->common.userdata, about, type, reason, text);
}

/* ---- watching ---- */

static int take_snapshot(const struct object *object, void *userdata)
{
	struct snapshotter *snapshotter = userdata;
	char key[KEY_BYTES];

	(void) snprintf(key, sizeof(key), "%s/%s", object->meta.name_space, object->meta.name);
	return work_queue_due(snapshotter->base.queues[SNAPSHOTS], key);
}

/* It and the snapshot that it is one of. */
static int take_content(const struct object *object, void *userdata)
{
	const struct volume_snapshot_content *content = object->volume_snapshot_content;
	struct snapshotter *snapshotter = userdata;
	char key[KEY_BYTES];

	(void) snprintf(key, sizeof(key), "%s/%s", content->snapshot_namespace,
			content->snapshot_name);
	if (store_get(snapshotter->options.common.store, snapshotter->words->snapshot,
		      content->snapshot_namespace, content->snapshot_name) &&
	    work_queue_due(snapshotter->base.queues[SNAPSHOTS], key) < 0)
		return -ENOMEM;
	return work_queue_due(snapshotter->base.queues[CONTENTS], object->meta.name);
}

static void make_waiting_due(struct work_item *work)
{
	if (((const struct snapshot_item *) work)->waits)
		work_item_due(work);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct snapshotter *snapshotter = userdata;

	if (change->object->kind == snapshotter->words->snapshot)
		return take_snapshot(change->object, snapshotter);
	if (change->object->kind == snapshotter->words->content)
		return take_content(change->object, snapshotter);
	work_queue_walk(snapshotter->base.queues[SNAPSHOTS], make_waiting_due);
	return 0;
}

/* ---- life ---- */

static int open_snapshotter(void *userdata)
{
	struct snapshotter *snapshotter = userdata;

	snapshotter->words =
		snapshot_words(snapshotter->options.are_groups ? KIND_VOLUME_GROUP_SNAPSHOT
							       : KIND_VOLUME_SNAPSHOT);
	return 0;
}

#define QUEUES                                                                                     \
	{                                                                                          \
		[SNAPSHOTS] = { .what = "snapshot",                                                \
				.item_bytes = sizeof(struct snapshot_item),                        \
				.sync = snapshot_sync },                                           \
		[CONTENTS] = { .what = "snapshot",                                                 \
			       .item_bytes = sizeof(struct snapshot_item),                         \
			       .sync = content_sync },                                             \
	}

static const struct controller_class snapshotter_class = {
	CONTROLLER_OF(snapshotter),
	.what = "snapshots",
	.kinds = 1 << KIND_VOLUME_SNAPSHOT | 1 << KIND_VOLUME_SNAPSHOT_CLASS |
		 1 << KIND_VOLUME_SNAPSHOT_CONTENT | 1 << KIND_VOLUME_GROUP_SNAPSHOT |
		 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM,
	.lists = { { KIND_VOLUME_SNAPSHOT, take_snapshot },
		   { KIND_VOLUME_SNAPSHOT_CONTENT, take_content } },
	.queues = QUEUES,
	.open = open_snapshotter,
	.take_change = take_change,
};

/* Its snapshots and their contents are watched, too: a group goes after them. */
static const struct controller_class group_snapshotter_class = {
	CONTROLLER_OF(snapshotter),
	.what = "group snapshots",
	.kinds = 1 << KIND_VOLUME_GROUP_SNAPSHOT | 1 << KIND_VOLUME_GROUP_SNAPSHOT_CLASS |
		 1 << KIND_VOLUME_GROUP_SNAPSHOT_CONTENT | 1 << KIND_VOLUME_SNAPSHOT |
		 1 << KIND_VOLUME_SNAPSHOT_CONTENT | 1 << KIND_PERSISTENT_VOLUME |
		 1 << KIND_PERSISTENT_VOLUME_CLAIM,
	.lists = { { KIND_VOLUME_GROUP_SNAPSHOT, take_snapshot },
		   { KIND_VOLUME_GROUP_SNAPSHOT_CONTENT, take_content } },
	.queues = QUEUES,
	.open = open_snapshotter,
	.take_change = take_change,
};

int snapshotter_new(const struct snapshotter_options *options, struct snapshotter **ret)
{
	assert(options->common.event_fn && options->backend && ret);
	return controller_new(options->are_groups ? &group_snapshotter_class : &snapshotter_class,
			      options, ret);
}

void snapshotter_all_due(struct snapshotter *snapshotter)
{
	if (!snapshotter || snapshotter->is_stopped)
		return;
	controller_all_due(snapshotter);
}

void snapshotter_resync(struct snapshotter *snapshotter)
{
	const struct snapshotter_options *options;

	if (!snapshotter || snapshotter->was_complete)
		return;
	options = &snapshotter->options;
	snapshotter->was_complete = options->common.is_complete(options->common.userdata);
	if (snapshotter->was_complete)
		snapshotter_all_due(snapshotter);
}

void snapshotter_stop(struct snapshotter *snapshotter)
{
	if (!snapshotter)
		return;
	snapshotter->is_stopped = true;
	work_queue_stop(snapshotter->base.queues[SNAPSHOTS]);
	work_queue_stop(snapshotter->base.queues[CONTENTS]);
}

struct snapshotter *snapshotter_free(struct snapshotter *snapshotter)
{
	return controller_free(snapshotter);
}
