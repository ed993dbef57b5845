/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_block - raw devices: SetUpDevice, MapPodDevice and what undoes them
 *
 * The driver puts a device node at a file of its own making for each pod; what containers get is
 * made of that by block_map.h, as for every other plugin. Unlike kubelet nothing is removed
 * recursively: what a driver leaves in its staging directory stays, and is reported.
 */
#include "plugins/csi.h"

#include "base/cleanup.h"
#include "plugins/block_map.h"
#include "plugins/layout.h"

#include <assert.h>
#include <string.h>

enum { BLOCK_KEPT_LEVELS = CSI_BASE_LEVELS + 1 /* and volumeDevices */ };

/* The staging directory, and the file in the data directory. */
static int take_device_place(struct csi_step *step, const struct volume_request *request,
			     struct failure *reterr)
{
	cleanup_free char *data = NULL;
	char *staging = NULL;
	int r = csi_block_path(CSI_BLOCK_DATA, step->volume.name, &data, reterr);

	if (r == 0)
		r = csi_block_path(CSI_BLOCK_STAGING, step->volume.name, &staging, reterr);
	if (r < 0)
		return r;
	csi_step_take_places(step, staging, TAKE_PTR(data), VOL_DATA_BLOCK, BLOCK_KEPT_LEVELS);
	return csi_step_path(step, staging, &step->staging_path, reterr);
}

/* The driver's file for one pod, and the file in the data directory. */
static int take_pod_place(struct csi_step *step, struct failure *reterr)
{
	cleanup_free char *publish = NULL, *data = NULL, *staging = NULL;
	char *target = NULL;
	int r = csi_block_path(CSI_BLOCK_PUBLISH, step->volume.name, &publish, reterr);

	if (r == 0)
		r = csi_block_path(CSI_BLOCK_DATA, step->volume.name, &data, reterr);
	if (r == 0)
		r = csi_block_path(CSI_BLOCK_STAGING, step->volume.name, &staging, reterr);
	if (r == 0)
		r = layout_child(publish, step->volume.pod_uid, &target, reterr);
	if (r < 0)
		return r;
	csi_step_take_places(step, target, TAKE_PTR(data), VOL_DATA_BLOCK, BLOCK_KEPT_LEVELS);
	r = csi_step_path(step, target, &step->target_path, reterr);
	return r < 0 ? r : csi_step_path(step, staging, &step->staging_path, reterr);
}

/* What is left of the pods' files: nothing, if all drivers do as they should. */
static void remove_publish_directory(const struct csi_step *step)
{
	const struct plugin_host *host = step->volume.host;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_free char *path = NULL;

	if (csi_block_path(CSI_BLOCK_PUBLISH, step->volume.name, &path, NULL) == 0 &&
	    place_open(host->root_fd, host->root_dir, path, &place, NULL) == 0)
		(void) remove_directory(&place, NULL);
}

/* ---- SetUpDevice ---- */

/* The file first: from then on a start after a kill knows whose device it is. */
static int prepare_device(void *data, struct stage_report *report)
{
	struct csi_step *step = data;
	bool stages = step->caller.capabilities & CSI_CAN(STAGE_UNSTAGE_VOLUME);
	int r = stages ? csi_volume_check_secret(&step->volume, &report->failure) : 0;

	report->error_class = ERROR_TRANSIENT;
	if (r == 0)
		r = csi_contexts_gather(&step->contexts, &step->volume, stages, &report->failure);
	if (r == 0)
		r = csi_step_write_data(step, &report->failure);
	if (r == 0 && stages)
		r = csi_step_make_directory(step, &report->failure);
	if (r < 0)
		return r;
	return stages ? STAGE_NEXT : STAGE_LIST_DONE;
}

static int end_stage(void *data, struct stage_report *report)
{
	struct csi_step *step = data;

	if (!step->caller.final)
		return STAGE_NEXT;
	if (!step->volume.keeps_traces) {
		remove_publish_directory(step);
		(void) csi_data_remove(&step->place, NULL);
	}
	return csi_step_final(step, report);
}

int csi_new_device_mapper(const struct volume_request *request, struct stage_list *ret,
			  struct failure *reterr)
{
	static const struct stage stages[] = {
		LOOP_STAGE("call GetCapabilities", csi_step_start_request),
		WORKER_STAGE("prepare the staging directory", prepare_device),
		LOOP_STAGE("call NodeStageVolume", csi_step_start_stage),
		WORKER_STAGE("check what was staged", end_stage),
	};
	static const struct csi_slot slot = CSI_SLOT(stages, struct csi_step, csi_step_free,
						     take_device_place, .secret = CSI_SECRET_STAGE);

	return csi_slot_begin(&slot, request, ret, reterr);
}

/* ---- MapPodDevice, UnmapPodDevice ---- */

struct csi_mapper {
	struct csi_step step; /* first: stages of kinds.h take its address */
	char *global_map_path, *pod_map_path;
	struct block_map map;
};

static void mapper_free(void *data)
{
	struct csi_mapper *mapper = data;

	csi_step_done(&mapper->step);
	free(mapper->global_map_path);
	free(mapper->pod_map_path);
	free(mapper);
}

/* The directory around the driver's file, never the file. */
static int prepare_target(void *data, struct stage_report *report)
{
	struct csi_step *step = data;
	const struct plugin_host *host = step->volume.host;
	cleanup(place_done) struct place target = PLACE_EMPTY;
	int r;

	report->error_class = ERROR_TRANSIENT;
	r = csi_contexts_gather(&step->contexts, &step->volume, true, &report->failure);
	if (r == 0)
		r = place_make(host->root_fd, host->root_dir, step->mount_path, 0750, &target,
			       &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

static int start_publish(void *data, struct stage_report *report,
			 void (*finish)(void *token, int result), void *token)
{
	struct csi_step *step = data;
	const struct csi_stage_end end = { report, finish, token };

	return csi_step_start_publish(step, step->staging_path, &end);
}

static int check_device(const struct csi_step *step, struct failure *reterr)
{
	struct mount_facts facts;
	int r = csi_place_facts(&step->place, &facts, reterr);

	if (r == 0 && !S_ISBLK(facts.mode))
		return failed_plain(reterr, -ENOTBLK,
				    "what driver '%s' put at '%s' is not a block device",
				    step->volume.driver, step->target_path);
	return r;
}

static int map_device(void *data, struct stage_report *report)
{
	struct csi_mapper *mapper = data;
	struct csi_step *step = &mapper->step;
	int r;

	r = csi_step_final(step, report);
	if (r < 0)
		return r;
	report->error_class = ERROR_UNCERTAIN; /* whatever happens here, it is published */
	if (strlen(step->target_path) < sizeof(report->device_path))
		(void) snprintf(report->device_path, sizeof(report->device_path), "%s",
				step->target_path);
	r = check_device(step, &report->failure);
	if (r == 0)
		r = block_map_device(&mapper->map, step->target_path, &report->failure);
	if (r < 0)
		return r;
	csi_step_note_growth(step, report);
	return STAGE_NEXT;
}

static int take_map_place(struct csi_step *step, const struct volume_request *request,
			  struct failure *reterr)
{
	struct csi_mapper *mapper = (struct csi_mapper *) step;
	const struct csi_volume *volume = &step->volume;
	int r = csi_block_path(CSI_BLOCK_MAP, volume->name, &mapper->global_map_path, reterr);

	if (r == 0)
		r = layout_pod_path(volume->pod_uid, "volumeDevices", CSI_PLUGIN_NAME, NULL,
				    &mapper->pod_map_path, reterr);
	assert(request->pod_uid);
	mapper->map = (struct block_map){
		.host = volume->host,
		.global_map_path = mapper->global_map_path,
		.pod_map_path = mapper->pod_map_path,
		.volume_name = volume->name,
		.pod_uid = volume->pod_uid,
	};
	return r < 0 ? r : take_pod_place(&mapper->step, reterr);
}

int csi_new_block_mapper(const struct volume_request *request, struct stage_list *ret,
			 struct failure *reterr)
{
	static const struct stage stages[] = {
		LOOP_STAGE("call GetCapabilities", csi_step_start_request),
		WORKER_STAGE("prepare the device's directory", prepare_target),
		LOOP_STAGE("call NodePublishVolume", start_publish),
		WORKER_STAGE("map the device", map_device),
	};
	static const struct csi_slot slot = CSI_SLOT(stages, struct csi_mapper, mapper_free,
						     take_map_place, .secret = CSI_SECRET_PUBLISH);

	return csi_slot_begin(&slot, request, ret, reterr);
}

static int unmap_device(void *data, struct stage_report *report)
{
	const struct csi_mapper *mapper = data;

	report->error_class = ERROR_UNCERTAIN;
	return block_unmap_device(&mapper->map, &report->failure);
}

/* The device's own file stays until all pods are gone. */
static int recall_pod_device(void *data, struct stage_report *report)
{
	struct csi_step *step = data;
	int r = csi_volume_recall(&step->volume, &step->place, &report->failure);

	if (r == -ENODATA)
		return STAGE_LIST_DONE;
	step->caller.driver = step->volume.driver;
	return r < 0 ? r : STAGE_NEXT;
}

static int clear_pod_device(void *data, struct stage_report *report)
{
	const struct csi_step *step = data;
	int r;

	report->error_class = ERROR_UNCERTAIN;
	r = csi_target_remove(&step->place, &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

int csi_new_block_unmapper(const struct volume_request *request, struct stage_list *ret,
			   struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("unmap the device", unmap_device),
		WORKER_STAGE("read what was published", recall_pod_device),
		LOOP_STAGE("call NodeUnpublishVolume", csi_step_start_unpublish),
		WORKER_STAGE("clear the target", clear_pod_device),
	};
	static const struct csi_slot slot = CSI_SLOT(stages, struct csi_mapper, mapper_free,
						     take_map_place, .tears_down = true);

	return csi_slot_begin(&slot, request, ret, reterr);
}

/* ---- TearDownDevice ---- */

/* Not while a pod still has it mapped. */
static int remove_map(void *data, struct stage_report *report)
{
	const struct csi_step *step = data;
	cleanup_free char *path = NULL;
	int r;

	report->error_class = ERROR_TRANSIENT;
	r = csi_block_path(CSI_BLOCK_MAP, step->volume.name, &path, &report->failure);
	if (r == 0)
		r = block_tear_down_device(step->volume.host, path, "", &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

static int clear_device(void *data, struct stage_report *report)
{
	const struct csi_step *step = data;

	remove_publish_directory(step);
	return csi_step_clear(data, report);
}

int csi_new_device_unmapper(const struct volume_request *request, struct stage_list *ret,
			    struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("release the device", remove_map),
		WORKER_STAGE("read what was staged", csi_step_recall),
		LOOP_STAGE("call NodeUnstageVolume", csi_step_start_unstage),
		WORKER_STAGE("clear the staging directory", clear_device),
	};
	static const struct csi_slot slot = CSI_SLOT(stages, struct csi_step, csi_step_free,
						     take_device_place, .tears_down = true);

	return csi_slot_begin(&slot, request, ret, reterr);
}
