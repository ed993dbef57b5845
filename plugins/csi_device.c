/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_device - MountDevice and UnmountDevice: NodeStageVolume and NodeUnstageVolume
 *
 * The staging directory and the file that says whose it is are there before the driver is called,
 * and go only after the driver said that the volume is no longer staged, or that it never was. A
 * driver without STAGE_UNSTAGE_VOLUME gets both too, as kubelet does it: the teardown goes by them.
 */
#include "plugins/csi.h"

#include "base/cleanup.h"

#include <string.h>

enum { STAGING_KEPT_LEVELS = CSI_BASE_LEVELS + 1 /* and the driver's directory */ };

/* ---- MountDevice ---- */

static int prepare_staging(void *data, struct stage_report *report)
{
	struct csi_step *step = data;
	bool stages = step->caller.capabilities & CSI_CAN(STAGE_UNSTAGE_VOLUME);
	int r = stages ? csi_volume_check_secret(&step->volume, &report->failure) : 0;

	report->error_class = ERROR_TRANSIENT;
	if (r == 0)
		r = csi_contexts_gather(&step->contexts, &step->volume, stages, &report->failure);
	if (r == 0)
		r = csi_step_make_directory(step, &report->failure);
	if (r == 0)
		r = csi_step_write_data(step, &report->failure);
	if (r < 0)
		return r;
	return stages ? STAGE_NEXT : STAGE_LIST_DONE;
}

/* What was never staged leaves nothing; what may have been staged before keeps its file. */
static int check_staging(void *data, struct stage_report *report)
{
	struct csi_step *step = data;
	struct mount_facts facts;

	if (step->caller.final) {
		if (!step->volume.keeps_traces)
			(void) csi_data_remove(&step->place, NULL);
		return csi_step_final(step, report);
	}
	/* Not knowing the mount only means that it is not watched; a driver need not have one. */
	if (csi_place_facts(&step->place, &facts, NULL) == 0 && facts.is_mount_root)
		report->mount_id = facts.mount_id;
	return STAGE_NEXT;
}

static int take_staging_place(struct csi_step *step, const struct volume_request *request,
			      struct failure *reterr)
{
	char *path = NULL;
	int r = csi_staging_path(step->volume.driver, step->volume.handle, &path, reterr);

	if (r == 0)
		r = csi_step_take_place(step, path, VOL_DATA_STAGING, STAGING_KEPT_LEVELS, reterr);
	return r < 0 ? r : csi_step_path(step, step->mount_path, &step->staging_path, reterr);
}

int csi_new_device_mounter(const struct volume_request *request, struct stage_list *ret,
			   struct failure *reterr)
{
	static const struct stage stages[] = {
		LOOP_STAGE("call GetCapabilities", csi_step_start_request),
		WORKER_STAGE("prepare the staging directory", prepare_staging),
		LOOP_STAGE("call NodeStageVolume", csi_step_start_stage),
		WORKER_STAGE("check what was staged", check_staging),
	};
	static const struct csi_slot slot =
		CSI_SLOT(stages, struct csi_step, csi_step_free, take_staging_place,
			 .secret = CSI_SECRET_STAGE);

	return csi_slot_begin(&slot, request, ret, reterr);
}

/* ---- UnmountDevice ---- */

/* The recorded path decides where there is one, because volumes known from disk alone have no other
 * name; only what has kubelet's form is used. */
static int find_staging_path(const struct volume_request *request, char **ret,
			     struct failure *reterr)
{
	const char *recorded = request->device_mount_path ? request->device_mount_path : "";
	cleanup_free char *driver = NULL, *handle = NULL;
	size_t root = strlen(request->host->root_dir);
	int r;

	if (strncmp(recorded, request->host->root_dir, root) == 0 && recorded[root] == '/' &&
	    csi_is_staging_path(recorded + root + 1)) {
		*ret = strdup(recorded + root + 1);
		return *ret ? 0
			    : failed(reterr, -ENOMEM, "cannot unstage '%s'", request->volume_name);
	}
	r = csi_split_unique_name(request->unique_name, &driver, &handle);
	if (r < 0)
		return failed(reterr, r, "cannot determine where volume '%s' is staged",
			      request->volume_name);
	return csi_staging_path(driver, handle, ret, reterr);
}

static int find_staging_place(struct csi_step *step, const struct volume_request *request,
			      struct failure *reterr)
{
	char *path = NULL;
	int r = find_staging_path(request, &path, reterr);

	if (r == 0)
		r = csi_step_take_place(step, path, VOL_DATA_STAGING, STAGING_KEPT_LEVELS, reterr);
	return r < 0 ? r : csi_step_path(step, step->mount_path, &step->staging_path, reterr);
}

int csi_new_device_unmounter(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("read what was staged", csi_step_recall),
		LOOP_STAGE("call NodeUnstageVolume", csi_step_start_unstage),
		WORKER_STAGE("clear the staging directory", csi_step_clear),
	};
	static const struct csi_slot slot = CSI_SLOT(stages, struct csi_step, csi_step_free,
						     find_staging_place, .tears_down = true);

	return csi_slot_begin(&slot, request, ret, reterr);
}
