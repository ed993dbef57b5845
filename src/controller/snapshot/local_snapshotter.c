/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_snapshotter - snapshots of local volumes; see local_snapshotter.h
 */
#include "controller/snapshot/local_snapshotter.h"

#include "base/cleanup.h"
#include "controller/local/local_reclaim.h"
#include "controller/snapshot/snapshot_plan.h"
#include "controller/snapshot/snapshotter.h"

#include <assert.h>
#include <string.h>

struct local_snapshotter {
	struct local_provisioner_options options;
	struct snapshotter *snapshotter;
};

/* One order under way. */
struct local_order {
	struct local_snapshotter *owner;
	char *content_name, *handle;
	int64_t bytes;
	bool was_in_use;
	enum snapshot_deed deed;
	snapshot_done_fn *done;
	void *userdata;
};

static struct local_order *order_free(struct local_order *order)
{
	if (!order)
		return NULL;
	free(order->content_name);
	free(order->handle);
	free(order);
	return NULL;
}

int local_snapshot_place(const char *handle, struct local_snapshot_place *ret,
			 struct failure *reterr)
{
	const char *slash = strrchr(handle, '/');

	if ((handle[0] != '/' &&
	     strncmp(handle, LOCAL_PLUGIN_PREFIX, strlen(LOCAL_PLUGIN_PREFIX)) != 0) ||
	    slash == handle ||
	    strncmp(slash + 1, LOCAL_SNAPSHOT_PREFIX, strlen(LOCAL_SNAPSHOT_PREFIX)) != 0)
		return failed_plain(reterr, -EINVAL,
				    "'%s' is not a handle of a local snapshot, such as "
				    "/base/" LOCAL_SNAPSHOT_PREFIX "UID",
				    handle);
	ret->base_path = strndup(handle, (size_t) (slash - handle));
	ret->name = slash + 1;
	return ret->base_path ? 0 : failed(reterr, -ENOMEM, "cannot keep a path");
}

/* ---- answers ---- */

/* What was copied while it could be written to is of no one moment: who relies on it has to
 * know. */
static void report_if_torn(const struct local_order *order, const struct directory_choice *choice)
{
	const struct local_provisioner_options *options = &order->owner->options;
	const struct object *content = store_get(
		options->common.store, KIND_VOLUME_SNAPSHOT_CONTENT, "", order->content_name);

	if (content && order->was_in_use && !choice->is_atomic)
		options->common.event_fn(
			options->common.userdata, content, "Warning", "SnapshotNotAtomic",
			"the volume was in use while it was copied, file by file: the "
			"files are not from one point in time");
}

static void on_done(void *userdata, int error, const struct directory_choice *choice,
		    const struct failure *why)
{
	struct local_order *order = userdata;
	struct snapshot_result result = { .is_ready = true };
	struct snapshot_end end = { .error = error, .is_final = error != -EINPROGRESS, .why = why };

	if (error == 0 && order->deed != SNAPSHOT_REMOVE) {
		result.handle = order->handle;
		result.bytes = order->bytes;
		result.creation_nsec = choice->creation_nsec;
		end.result = &result;
		if (order->deed == SNAPSHOT_TAKE)
			report_if_torn(order, choice);
	}
	order->done(order->userdata, &end);
	(void) order_free(order);
}

/* ---- orders ---- */

static int start_order(struct local_order *order, const struct volume_snapshot_content *content,
		       const struct local_snapshot_place *place,
		       const struct directory_source *source,
		       const struct persistent_volume *volume, struct failure *reterr)
{
	static const enum directory_deed deeds[] = {
		[SNAPSHOT_TAKE] = DIRECTORY_SNAPSHOT,
		[SNAPSHOT_QUERY] = DIRECTORY_SNAPSHOT_QUERY,
		[SNAPSHOT_REMOVE] = DIRECTORY_REMOVE,
	};
	const struct local_provisioner_options *options = &order->owner->options;
	const char *base_path = place->base_path;
	const struct directory_order directory = {
		.deed = deeds[order->deed],
		.base_paths = &base_path,
		.base_count = 1,
		.name = place->name,
		.mark = place->name,
		.source = source,
		.about = { KIND_VOLUME_SNAPSHOT, content->snapshot_namespace,
			   content->snapshot_name },
		.storage_class = volume ? volume->storage_class : "",
		.flex = volume ? volume->program.flex : NULL,
	};
	int r = options->start(options->start_userdata, &directory, on_done, order);

	return r < 0 ? failed(reterr, r, "cannot begin a snapshot") : 0;
}

static int start_take(struct local_order *order, const struct volume_snapshot_content *content,
		      struct failure *reterr)
{
	const struct local_provisioner_options *options = &order->owner->options;
	const struct object *object = store_get(options->common.store, KIND_PERSISTENT_VOLUME, "",
						content->volume_handle);
	const struct persistent_volume *volume = object ? object->persistent_volume : NULL;
	cleanup_free char *base_path = NULL;
	struct local_place from = { 0 };
	struct local_snapshot_place place;
	struct directory_source source;
	char name[SNAPSHOT_NAME_BYTES];
	int r;

	if (!volume || strcmp(snapshot_driver_of(volume), LOCAL_SNAPSHOT_DRIVER) != 0)
		return failed_plain(reterr, -ENOENT, "local volume '%s' not found",
				    content->volume_handle);
	r = local_place_of(volume, &from, reterr);
	if (r < 0)
		return r;
	base_path = strdup(volume->origin.base_path);
	if (!base_path ||
	    asprintf(&order->handle, "%s/%s", base_path, snapshot_name(content, name)) < 0) {
		order->handle = NULL;
		return failed(reterr, -ENOMEM, "cannot begin a snapshot");
	}
	order->bytes = quantity_value(&volume->capacity);
	order->was_in_use = options->common.is_in_use(options->common.userdata, volume);
	place = (struct local_snapshot_place){ .base_path = base_path, .name = name };
	source = (struct directory_source){ .base_path = from.base_path,
					    .name = from.name,
					    .mark = persistent_volume_mark(volume),
					    .capacity = volume->origin.capacity };
	return start_order(order, content, &place, &source, volume, reterr);
}

/* By the handle that is stored. */
static int start_other(struct local_order *order, const struct volume_snapshot_content *content,
		       struct failure *reterr)
{
	const char *handle =
		order->deed == SNAPSHOT_QUERY ? content->given_handle : content->snapshot_handle;
	struct local_snapshot_place place = { .base_path = NULL };
	int r;

	order->handle = strdup(handle);
	if (!order->handle)
		return failed(reterr, -ENOMEM, "cannot inspect a snapshot");
	r = local_snapshot_place(handle, &place, reterr);
	if (r == 0)
		r = start_order(order, content, &place, NULL, NULL, reterr);
	free(place.base_path);
	return r;
}

/* ---- the backend ---- */

static bool serves(void *backend, const char *driver)
{
	return strcmp(driver, LOCAL_SNAPSHOT_DRIVER) == 0;
}

static int start(void *backend, const struct snapshot_order *asked, snapshot_done_fn *done,
		 void *done_userdata, struct failure *reterr)
{
	struct local_order *order = calloc(1, sizeof(*order));
	int r;

	if (order)
		order->content_name = strdup(asked->content->object->meta.name);
	if (!order || !order->content_name) {
		(void) order_free(order);
		return failed(reterr, -ENOMEM, "cannot begin a snapshot");
	}
	order->owner = backend;
	order->deed = asked->deed;
	order->done = done;
	order->userdata = done_userdata;
	r = asked->deed == SNAPSHOT_TAKE ? start_take(order, asked->content, reterr)
					 : start_other(order, asked->content, reterr);
	if (r < 0)
		(void) order_free(order);
	return r;
}

static const struct snapshot_backend backend = { .serves = serves, .start = start };

/* ---- life ---- */

int local_snapshotter_new(const struct local_provisioner_options *options,
			  struct local_snapshotter **ret)
{
	struct local_snapshotter *snapshotter = calloc(1, sizeof(*snapshotter));
	struct snapshotter_options inner = {
		.common = options->common,
		.backend = &backend,
		.backend_userdata = snapshotter,
		.managed_by = options->in_cluster ? options->common.node_name : NULL,
	};
	int r;

	assert(options->start && options->common.is_in_use && ret);
	if (!snapshotter)
		return -ENOMEM;
	snapshotter->options = *options;
	r = snapshotter_new(&inner, &snapshotter->snapshotter);
	if (r < 0) {
		free(snapshotter);
		return r;
	}
	*ret = snapshotter;
	return 0;
}

void local_snapshotter_resync(struct local_snapshotter *snapshotter)
{
	if (snapshotter)
		snapshotter_resync(snapshotter->snapshotter);
}

void local_snapshotter_stop(struct local_snapshotter *snapshotter)
{
	if (snapshotter)
		snapshotter_stop(snapshotter->snapshotter);
}

struct local_snapshotter *local_snapshotter_free(struct local_snapshotter *snapshotter)
{
	if (!snapshotter)
		return NULL;
	(void) snapshotter_free(snapshotter->snapshotter);
	free(snapshotter);
	return NULL;
}
