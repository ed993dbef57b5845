/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi - what the files of the CSI plugin share: csi_device.c (NodeStage), csi_mounter.c
 * (NodePublish), csi_block.c (both for raw devices), csi_plugin.c (the plugin's table)
 */
#pragma once

#include "plugins/csi_message.h"

/* One step of one volume: what every list of stages here has. */
struct csi_step {
	struct csi_volume volume;
	struct csi_caller caller;
	struct csi_contexts contexts;
	char *staging_path, *target_path; /* absolute, as drivers get them; NULL or "" none */
	char *mount_path, *data_path;     /* relative: what struct csi_place points to */
	struct csi_publish publish;       /* while it is published */
	struct csi_place place;
};

void csi_step_done(struct csi_step *step);
/* Of a list whose data is a step and no more. */
void csi_step_free(void *data);

/* What a slot of the plugin is: a list of stages, and what they work on. */
struct csi_slot {
	const struct stage *stages;
	size_t stage_count;
	size_t size; /* of the data, which begins with a step */
	void (*free)(void *data);
	/* Where on disk it is: fills the step's paths and place. */
	int (*take_place)(struct csi_step *step, const struct volume_request *request,
			  struct failure *reterr);
	enum csi_secret secret; /* of a set-up */
	bool tears_down;        /* nothing is known but names */
};

/* A slot's row: stages, the type that its data has, what frees that and what takes its place; then
 * the secret of a set-up, or that it tears down. */
#define CSI_SLOT(stages_, type, free_, take_place_, ...)                                           \
	{                                                                                          \
		.stages = stages_, .stage_count = ARRAY_SIZE(stages_), .size = sizeof(type),       \
		.free = free_, .take_place = take_place_, __VA_ARGS__                              \
	}

/* The list of a slot: its data is zeroed, then the step is filled. Return: 0; else nothing is left
 * of it. */
int csi_slot_begin(const struct csi_slot *slot, const struct volume_request *request,
		   struct stage_list *ret, struct failure *reterr);

/* @mount_path: taken; its neighbour vol_data.json is the file. Return: 0 or -ENOMEM. */
int csi_step_take_place(struct csi_step *step, char *mount_path, enum vol_data_place kind,
			unsigned int kept_levels, struct failure *reterr);
/* The same with the file elsewhere: both are taken. */
void csi_step_take_places(struct csi_step *step, char *mount_path, char *data_path,
			  enum vol_data_place kind, unsigned int kept_levels);
/* Makes the directory at the place, unless something is mounted there. [worker] */
int csi_step_make_directory(const struct csi_step *step, struct failure *reterr);
/* "<root directory>/<relative>". Return: 0 or -ENOMEM. */
int csi_step_path(const struct csi_step *step, const char *relative, char **ret,
		  struct failure *reterr);

/* The stage that comes first of a set-up: checks, then asks what the driver can do. @data begins
 * with a step. */
int csi_step_start_request(void *data, struct stage_report *report,
			   void (*finish)(void *token, int result), void *token);
/* NodePublishVolume, and NodeExpandVolume behind it where the volume is to be larger. */
int csi_step_start_publish(struct csi_step *step, const char *staging_path,
			   const struct csi_stage_end *end);
/* What came of the growth, if there was one. However it failed, the volume is published and stays
 * so, as large as it was. */
void csi_step_note_growth(const struct csi_step *step, struct stage_report *report);
/* NodeStageVolume and NodeUnpublishVolume by the step's paths; a final failure of the first is kept
 * for the stage that follows. */
int csi_step_start_stage(void *data, struct stage_report *report,
			 void (*finish)(void *token, int result), void *token);
int csi_step_start_unpublish(void *data, struct stage_report *report,
			     void (*finish)(void *token, int result), void *token);
/* The stage that unstages; a driver that cannot is asked no more. */
int csi_step_start_unstage(void *data, struct stage_report *report,
			   void (*finish)(void *token, int result), void *token);
/* The first stage of a teardown: whose volume it is, by its place. Where nothing of it is there,
 * STAGE_LIST_DONE. [worker] */
int csi_step_recall(void *data, struct stage_report *report);
/* The last one of a teardown: what is at its place goes. */
int csi_step_clear(void *data, struct stage_report *report);

/* Fills @report with the final failure that the call kept. Return: its error; 0 there was none. */
int csi_step_final(const struct csi_step *step, struct stage_report *report);

/* The file beside the mount, as kubelet writes it. [worker] */
int csi_step_write_data(struct csi_step *step, struct failure *reterr);

stage_list_fn csi_new_device_mounter, csi_new_device_unmounter, csi_new_mounter, csi_new_unmounter,
	csi_new_device_mapper, csi_new_block_mapper, csi_new_block_unmapper,
	csi_new_device_unmapper;

/* ---- csi_stats.c ---- */

/* Slot start_metrics: NodeGetVolumeStats with what kubelet sends, handle and target and no staging
 * path. A driver that has no such call is asked nothing: -EOPNOTSUPP. */
int csi_start_metrics(const struct volume_request *request, const char *path,
		      volume_metrics_fn *done, void *userdata, struct volume_metrics_call **ret);
