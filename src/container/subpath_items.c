/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath_items - what one call has to bind; see subpath_items.h
 */
#include "container/subpath_items.h"

#include "base/cleanup.h"
#include "object/kinds/environment.h"
#include "store/store.h"

#include <assert.h>
#include <string.h>

void subpath_items_done(struct subpath_items *items)
{
	assert(items);
	for (size_t i = 0; i < items->count; i++) {
		struct subpath_item *item = &items->items[i];

		subpath_done(&item->subpath);
		free(item->volume_name);
		free(item->volume_path);
		free(item->sub_path);
		free((char *) items->results[i].path);
	}
	free(items->items);
	free(items->results);
	object_unref(items->pod);
	*items = (struct subpath_items){ .count = 0 };
}

/* ---- the pod ---- */

struct pod_search {
	const char *uid;
	const struct object *found;
};

static int compare_uid(const struct object *object, void *userdata)
{
	struct pod_search *search = userdata;

	if (strcmp(object->meta.uid, search->uid) != 0)
		return 0;
	search->found = object;
	return 1;
}

/* Mostly one that wants volumes; the store is searched only for others. */
static const struct object *find_pod(const struct pod_mounts *owner, const char *pod_uid)
{
	struct pod_search search = { .uid = pod_uid };
	const char *name = desired_volume_of_pod(owner->with.tables->desired, pod_uid, 0);

	if (name)
		return desired_find_pod(desired_find(owner->with.tables->desired, name), pod_uid)
			->pod;
	if (*owner->with.store)
		(void) store_list(*owner->with.store, KIND_POD, NULL, compare_uid, &search);
	return search.found;
}

static bool is_meant(const struct pod_container *container, const char *name)
{
	return !name || strcmp(container->name, name) == 0;
}

int subpath_items_check(const struct pod_mounts *owner, const char *pod_uid, const char *container)
{
	const struct object *pod;

	assert(owner && pod_uid);
	pod = find_pod(owner, pod_uid);
	if (!pod)
		return -ENOENT;
	for (size_t i = 0; container && i < pod->pod->container_count; i++)
		if (is_meant(&pod->pod->containers[i], container))
			return 0;
	return container ? -ENOENT : 0;
}

/* ---- the volume of a mount ---- */

struct row_search {
	const char *outer_name;
	struct volume_row row;
};

static int compare_outer_name(const struct volume_row *row, void *userdata)
{
	struct row_search *search = userdata;

	if (strcmp(row->outer_name, search->outer_name) != 0)
		return 0;
	search->row = *row;
	return 1;
}

/* Wanted, mounted, and not on its way out. */
static int find_volume(const struct pod_mounts *owner, const char *pod_uid, const char *outer_name,
		       struct volume_row *ret, struct failure *reterr)
{
	struct row_search search = { .outer_name = outer_name };
	const struct volume_row *row = &search.row;
	struct operation_view view;

	if (volume_rows_of_pod(owner->with.tables, pod_uid, compare_outer_name, &search) == 0)
		return failed_plain(reterr, -EAGAIN, "volume '%s' is not mounted", outer_name);
	if (!row->want)
		return failed_plain(reterr, -EAGAIN, "volume '%s' is being unmounted", outer_name);
	if (!row->have_pod || row->have_pod->state != MOUNT_DONE) {
		volume_row_explain(owner->with.tables, row, reterr);
		return -EAGAIN;
	}
	if (operation_find(*owner->with.tables->operations, row->unique_name, row->pod_uid,
			   &view) &&
	    view.running && view.kind == STEP_UNPUBLISH)
		return failed_plain(reterr, -EAGAIN, "volume '%s' is being unmounted", outer_name);
	*ret = *row;
	return 0;
}

/* ---- the path ---- */

void subpath_item_hide_path(const struct subpath_item *item, struct failure *why)
{
	if (item->is_secret && why->error < 0)
		(void) failed(why, why->error,
			      "a path made from a Secret, which is not shown, cannot be used");
}

struct source_search {
	const struct pod_mounts *owner;
	bool has_read_secret;
};

static const struct object *find_source(void *userdata, enum object_kind kind,
					const char *name_space, const char *name)
{
	struct source_search *search = userdata;

	search->has_read_secret |= kind == KIND_SECRET;
	return *search->owner->with.store
		       ? store_get(*search->owner->with.store, kind, name_space, name)
		       : NULL;
}

static int make_sub_path(const struct pod_mounts *owner, struct subpath_items *items,
			 const struct pod_container *container,
			 const struct pod_volume_mount *mount, struct subpath_item *item,
			 struct failure *reterr)
{
	struct source_search search = { .owner = owner };
	const struct environment_sources sources = { find_source, &search, &items->budget };
	cleanup_free char *path = NULL;
	int r;

	if (*mount->sub_path_expr) {
		r = environment_expand(mount->sub_path_expr, items->pod, container->name, &sources,
				       &path, reterr);
		if (r < 0)
			return failure_prefix(reterr,
					      "cannot expand subPathExpr '%s' of volumeMount "
					      "\"%s\" of container \"%s\"",
					      mount->sub_path_expr, mount->name, container->name);
		item->is_secret = search.has_read_secret;
	} else {
		path = strdup(mount->sub_path);
		if (!path)
			return failed(reterr, -ENOMEM, "cannot keep a subPath");
	}
	r = subpath_check(path, reterr);
	if (r < 0) {
		subpath_item_hide_path(item, reterr);
		return r;
	}
	item->sub_path = TAKE_PTR(path);
	return 0;
}

/* ---- the list ---- */

/* The members are owned by the list as soon as they are in it. */
static int fill_item(const struct pod_mounts *owner, struct subpath_items *items,
		     const struct pod_container *container, size_t mount_index,
		     struct failure *reterr)
{
	const struct pod_volume_mount *mount = &container->mounts[mount_index];
	struct subpath_item *item = &items->items[items->count];
	struct bound_subpath *result = &items->results[items->count];
	struct volume_row row = { .want = NULL };
	int r;

	*item = (struct subpath_item){ .subpath = SUBPATH_EMPTY, .volume_mount = mount->name };
	*result =
		(struct bound_subpath){ .container = container->name, .mount_index = mount_index };
	items->count++;
	r = find_volume(owner, items->pod->meta.uid, mount->name, &row, reterr);
	if (r < 0)
		return r;
	if (row.want->block)
		return failed_plain(reterr, -EINVAL,
				    "cannot find volume \"%s\" to mount into container \"%s\": it "
				    "is a block volume",
				    mount->name, container->name);
	r = make_sub_path(owner, items, container, mount, item, reterr);
	if (r < 0)
		return r;
	item->volume_name = strdup(row.have->spec_name);
	item->volume_path = strdup(row.have_pod->path);
	item->request = (struct subpath_request){
		.root_fd = owner->with.host->root_fd,
		.root_path = owner->with.host->root_dir,
		.pod_uid = items->pod->meta.uid,
		.volume_name = item->volume_name,
		.container = container->name,
		.mount_index = mount_index,
		.volume_path = item->volume_path,
		.mount_id = row.have_pod->mount_id,
		.sub_path = item->sub_path,
	};
	if (item->volume_name && item->volume_path)
		result->path = subpath_target_path(&item->request);
	return result->path ? 0 : failed(reterr, -ENOMEM, "cannot keep a subPath");
}

/* That of an image is the runtime's to do. */
static bool has_sub_path(const struct pod *pod, const struct pod_volume_mount *mount)
{
	for (size_t i = 0; i < pod->volume_count; i++)
		if (strcmp(pod->volumes[i].name, mount->name) == 0 &&
		    pod->volumes[i].source == SOURCE_IMAGE)
			return false;
	return *mount->sub_path || *mount->sub_path_expr;
}

static size_t count_meant(const struct pod *pod, const char *container)
{
	size_t count = 0;

	for (size_t i = 0; i < pod->container_count; i++)
		for (size_t j = 0; j < pod->containers[i].mount_count; j++)
			count += is_meant(&pod->containers[i], container) &&
				 has_sub_path(pod, &pod->containers[i].mounts[j]);
	return count;
}

static int fill_container(const struct pod_mounts *owner, struct subpath_items *items,
			  const struct pod_container *container, struct failure *reterr)
{
	int r = 0;

	for (size_t j = 0; r >= 0 && j < container->mount_count; j++)
		if (has_sub_path(items->pod->pod, &container->mounts[j]))
			r = fill_item(owner, items, container, j, reterr);
	return r;
}

int subpath_items_collect(const struct pod_mounts *owner, const char *pod_uid,
			  const char *container, struct subpath_items *ret, struct failure *reterr)
{
	const struct pod *pod;
	size_t count;
	int r = 0;

	assert(owner && pod_uid && ret && ret->count == 0);
	ret->budget = SUBPATH_READ_BYTES_MAX;
	ret->pod = object_ref(find_pod(owner, pod_uid));
	if (!ret->pod)
		return failed_plain(reterr, -ENOENT, "the pod is gone");
	pod = ret->pod->pod;
	count = count_meant(pod, container);
	if (count == 0)
		return 0;
	ret->items = calloc(count, sizeof(*ret->items));
	ret->results = calloc(count, sizeof(*ret->results));
	if (!ret->items || !ret->results)
		return failed(reterr, -ENOMEM, "cannot prepare %zu subPaths", count);
	for (size_t i = 0; r >= 0 && i < pod->container_count; i++)
		if (is_meant(&pod->containers[i], container))
			r = fill_container(owner, ret, &pod->containers[i], reterr);
	return r;
}
