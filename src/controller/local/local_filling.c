/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_filling - what a claim's new directory is filled from; see local_item.h
 */
#include "controller/local/local_item.h"

#include "controller/local/local_reclaim.h"
#include "controller/snapshot/local_snapshotter.h"
#include "controller/snapshot/snapshot_plan.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void local_filling_done(struct local_filling *source)
{
	free(source->base_path);
	free(source->name);
	*source = (struct local_filling){ .volume = NULL };
}

static int check_size(const struct persistent_volume_claim *claim, const struct quantity *needed,
		      struct failure *reterr)
{
	if (quantity_compare(&claim->request, needed) >= 0)
		return 0;
	return failed_plain(reterr, -EINVAL, "'%s' has %" PRId64 " bytes, more than are asked for",
			    claim->data_source.name, quantity_value(needed));
}

/* ---- another claim ---- */

static int find_volume(struct store *store, const struct persistent_volume_claim *claim,
		       const struct persistent_volume **ret, struct failure *reterr)
{
	const char *name = claim->data_source.name;
	const struct object *source = store_get(store, KIND_PERSISTENT_VOLUME_CLAIM,
						claim->object->meta.name_space, name);
	const struct object *object = NULL;

	if (!source || source->meta.deletes)
		return failed_plain(reterr, -EAGAIN, "there is no claim '%s' to clone", name);
	if (source->claim->phase == CLAIM_BOUND)
		object = store_get(store, KIND_PERSISTENT_VOLUME, "", source->claim->volume_name);
	if (!object || strcmp(object->persistent_volume->claim_uid, source->meta.uid) != 0)
		return failed_plain(reterr, -EAGAIN, "the claim '%s' has no volume yet to clone",
				    name);
	*ret = object->persistent_volume;
	return 0;
}

int local_filling_of_volume(const struct persistent_volume *volume, struct local_filling *ret,
			    struct failure *reterr)
{
	struct local_place place = { 0 };
	int r = local_place_of(volume, &place, reterr);

	if (r < 0)
		return r;
	ret->base_path = strdup(place.base_path);
	ret->name = strdup(place.name);
	if (!ret->base_path || !ret->name)
		return failed(reterr, -ENOMEM, "cannot keep a path");
	ret->volume = volume;
	ret->from = (struct directory_source){ .base_path = ret->base_path,
					       .name = ret->name,
					       .mark = persistent_volume_mark(volume),
					       .capacity = volume->origin.capacity };
	return 0;
}

static int find_clone(struct store *store, const struct persistent_volume_claim *claim,
		      struct local_filling *ret, struct failure *reterr)
{
	const struct persistent_volume *volume = NULL;
	int r = find_volume(store, claim, &volume, reterr);

	if (r < 0)
		return r;
	if (strcmp(snapshot_driver_of(volume), LOCAL_SNAPSHOT_DRIVER) != 0)
		return failed_plain(reterr, -EINVAL,
				    "the volume of claim '%s' was not made by '%s': no clone can "
				    "be made of it here",
				    claim->data_source.name, LOCAL_SNAPSHOT_DRIVER);
	r = check_size(claim, &volume->capacity, reterr);
	return r < 0 ? r : local_filling_of_volume(volume, ret, reterr);
}

/* ---- a snapshot ---- */

static int find_snapshot(struct store *store, const struct persistent_volume_claim *claim,
			 struct local_filling *ret, struct failure *reterr)
{
	const char *name = claim->data_source.name;
	const struct object *object =
		store_get(store, KIND_VOLUME_SNAPSHOT, claim->object->meta.name_space, name);
	const struct volume_snapshot *snapshot = object ? object->volume_snapshot : NULL;
	const struct volume_snapshot_content *content;
	struct local_snapshot_place place = { .base_path = NULL };
	int r;

	if (!snapshot || object->meta.deletes || !snapshot->state.is_ready)
		return failed_plain(reterr, -EAGAIN,
				    "there is no VolumeSnapshot '%s' that is ready", name);
	object = store_get(store, KIND_VOLUME_SNAPSHOT_CONTENT, "", snapshot->bound_content);
	content = object ? object->volume_snapshot_content : NULL;
	r = snapshot_check_content(content, snapshot->object, LOCAL_SNAPSHOT_DRIVER, reterr);
	if (r == 0)
		r = check_size(claim, &snapshot->state.restore_size, reterr);
	if (r == 0)
		r = local_snapshot_place(content->snapshot_handle, &place, reterr);
	if (r < 0)
		return r;
	ret->base_path = place.base_path;
	ret->from = (struct directory_source){ .base_path = place.base_path,
					       .name = place.name,
					       .mark = place.name,
					       .is_snapshot = true,
					       .capacity = "" };
	return 0;
}

int local_filling_find(struct store *store, const struct persistent_volume_claim *claim,
		       struct local_filling *ret, struct failure *reterr)
{
	const struct data_source *source = &claim->data_source;
	int r = claim_check_data_source(claim, reterr);

	assert(store && ret);
	*ret = (struct local_filling){ .volume = NULL };
	if (source->kind == DATA_SOURCE_NONE || r < 0)
		return r;
	if (source->kind == DATA_SOURCE_CLAIM)
		return find_clone(store, claim, ret, reterr);
	if (source->kind == DATA_SOURCE_SNAPSHOT)
		return find_snapshot(store, claim, ret, reterr);
	return failed_plain(reterr, -EINVAL,
			    "the dataSource '%s' is neither a claim nor a VolumeSnapshot",
			    source->name);
}
