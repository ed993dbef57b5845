/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_content_source - what a new volume is filled from; see csi_provision_plan.h
 */
#include "controller/csi/csi_provision_plan.h"

#include "controller/snapshot/snapshot_plan.h"
#include "object/json/json.h"
#include "object/kinds/volume_snapshot.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ALLOW_MODE_CHANGE "snapshot.storage.kubernetes.io/allow-volume-mode-change"

const struct object *csi_content_source_claim(struct store *store,
					      const struct persistent_volume_claim *claim)
{
	if (claim->data_source.kind != DATA_SOURCE_CLAIM || claim->data_source.name_space[0])
		return NULL;
	return store_get(store, KIND_PERSISTENT_VOLUME_CLAIM, claim->object->meta.name_space,
			 claim->data_source.name);
}

static bool is_block(const struct persistent_volume_claim *claim)
{
	return claim->mode == VOLUME_MODE_BLOCK;
}

/* ---- another claim ---- */

static int check_claim(const struct persistent_volume_claim *claim, const struct object *source,
		       struct failure *reterr)
{
	if (!source)
		return failed_plain(reterr, -EAGAIN, "there is no claim '%s' to clone",
				    claim->data_source.name);
	if (source->meta.deletes)
		return failed_plain(reterr, -EINVAL,
				    "the claim '%s' is being deleted: no clone is made of it",
				    source->meta.name);
	if (source->claim->phase != CLAIM_BOUND)
		return failed_plain(reterr, -EAGAIN, "the claim '%s' has no volume yet to clone",
				    source->meta.name);
	if (is_block(claim) != is_block(source->claim))
		return failed_plain(reterr, -EINVAL,
				    "a clone has the volumeMode of what it is a clone of, the "
				    "claim '%s'",
				    source->meta.name);
	return 0;
}

static int check_volume(const struct persistent_volume_claim *claim, const struct object *source,
			const struct persistent_volume *volume, const struct csi_driver *driver,
			struct failure *reterr)
{
	const char *name = source->meta.name;

	if (!volume || !volume->csi || strcmp(volume->csi->driver, driver->name) != 0)
		return failed_plain(
			reterr, -EINVAL,
			"the volume of claim '%s' is not of driver '%s': it cannot be cloned", name,
			driver->name);
	if (volume->phase != VOLUME_BOUND || strcmp(volume->claim_uid, source->meta.uid) != 0)
		return failed_plain(reterr, -EAGAIN, "the volume of claim '%s' is not bound to it",
				    name);
	if (quantity_compare(&claim->request, &volume->capacity) < 0)
		return failed_plain(reterr, -EINVAL,
				    "a clone is at least as large as what it is a clone of: claim "
				    "'%s' has %" PRId64 " bytes",
				    name, quantity_value(&volume->capacity));
	return 0;
}

static int find_claim(struct store *store, const struct persistent_volume_claim *claim,
		      const struct csi_driver *driver, struct csi_content *ret,
		      struct failure *reterr)
{
	const struct object *source = csi_content_source_claim(store, claim), *volume;
	int r;

	if (!csi_driver_can(driver, CSI_CAN_CLONE_VOLUME))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "driver '%s' cannot clone volumes (no CLONE_VOLUME)",
				    driver->name);
	r = check_claim(claim, source, reterr);
	if (r < 0)
		return r;
	volume = store_get(store, KIND_PERSISTENT_VOLUME, "", source->claim->volume_name);
	r = check_volume(claim, source, volume ? volume->persistent_volume : NULL, driver, reterr);
	if (r == 0)
		*ret = (struct csi_content){ DATA_SOURCE_CLAIM,
					     volume->persistent_volume->csi->volume_handle };
	return r;
}

/* ---- a snapshot ---- */

static int check_snapshot(const char *name, const struct volume_snapshot *snapshot,
			  struct failure *reterr)
{
	if (!snapshot)
		return failed_plain(reterr, -EAGAIN, "there is no VolumeSnapshot '%s'", name);
	if (snapshot->object->meta.deletes)
		return failed_plain(reterr, -EINVAL,
				    "the VolumeSnapshot '%s' is being deleted: no volume is made "
				    "from it",
				    name);
	if (!snapshot->state.is_ready || !snapshot->bound_content[0])
		return failed_plain(reterr, -EAGAIN, "the VolumeSnapshot '%s' is not ready to use",
				    name);
	return 0;
}

static bool may_change_mode(const struct volume_snapshot_content *content)
{
	cleanup_json struct cJSON *tree = object_tree(content->object);

	return json_text_is(json_get_path(tree, "metadata.annotations"), ALLOW_MODE_CHANGE, "true");
}

static int check_content(const struct persistent_volume_claim *claim,
			 const struct volume_snapshot *snapshot,
			 const struct volume_snapshot_content *content, const char *driver,
			 struct failure *reterr)
{
	const char *name = snapshot->object->meta.name, *mode;
	int r = snapshot_check_content(content, snapshot->object, driver, reterr);

	if (r < 0)
		return r;
	if (quantity_compare(&claim->request, &snapshot->state.restore_size) < 0)
		return failed_plain(reterr, -EINVAL,
				    "the VolumeSnapshot '%s' needs %" PRId64
				    " bytes, more than are asked for",
				    name, quantity_value(&snapshot->state.restore_size));
	mode = content->source_volume_mode;
	if (mode[0] && (strcmp(mode, "Block") == 0) != is_block(claim) && !may_change_mode(content))
		return failed_plain(reterr, -EINVAL,
				    "the VolumeSnapshot '%s' was taken of a volume of mode %s, and "
				    "its content has no annotation that allows another one",
				    name, mode);
	return 0;
}

static int find_snapshot(struct store *store, const struct persistent_volume_claim *claim,
			 const struct csi_driver *driver, struct csi_content *ret,
			 struct failure *reterr)
{
	const char *name = claim->data_source.name;
	const struct object *object, *content;
	const struct volume_snapshot *snapshot;
	int r;

	if (!csi_driver_can(driver, CSI_CAN_CREATE_DELETE_SNAPSHOT))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "driver '%s' has no snapshots (no CREATE_DELETE_SNAPSHOT)",
				    driver->name);
	object = store_get(store, KIND_VOLUME_SNAPSHOT, claim->object->meta.name_space, name);
	snapshot = object ? object->volume_snapshot : NULL;
	r = check_snapshot(name, snapshot, reterr);
	if (r < 0)
		return r;
	content = store_get(store, KIND_VOLUME_SNAPSHOT_CONTENT, "", snapshot->bound_content);
	r = check_content(claim, snapshot, content ? content->volume_snapshot_content : NULL,
			  driver->name, reterr);
	if (r == 0)
		*ret = (struct csi_content){ DATA_SOURCE_SNAPSHOT,
					     content->volume_snapshot_content->snapshot_handle };
	return r;
}

int csi_content_source_find(struct store *store, const struct persistent_volume_claim *claim,
			    const struct csi_driver *driver, struct csi_content *ret,
			    struct failure *reterr)
{
	const struct data_source *source = &claim->data_source;
	int r = claim_check_data_source(claim, reterr);

	assert(store && driver && ret);
	*ret = (struct csi_content){ DATA_SOURCE_NONE, NULL };
	if (source->kind == DATA_SOURCE_NONE || r < 0)
		return r;
	if (source->kind == DATA_SOURCE_CLAIM)
		return find_claim(store, claim, driver, ret, reterr);
	if (source->kind == DATA_SOURCE_SNAPSHOT)
		return find_snapshot(store, claim, driver, ret, reterr);
	return failed_plain(reterr, -EINVAL,
			    "the data source '%s' is neither a claim nor a VolumeSnapshot",
			    source->name);
}
