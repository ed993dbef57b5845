/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_device - MountDevice and UnmountDevice of a plugin's volume: its calls stage and unstage
 *
 * A plugin may mount at the staging directory, attach something and mount nothing, or have no such
 * call. What it mounted is unmounted before it is asked to unstage, so it never has to.
 */
#include "plugins/exec/exec.h"

#include "base/cleanup.h"
#include "plugins/pod_target.h"

/* Mounted already means done: nothing is stacked. */
static int stage_volume(void *data, struct stage_report *report)
{
	static const struct mount_attributes no_attributes = { 0 };
	const struct exec_step *step = data;
	cleanup(place_done) struct place staging = PLACE_EMPTY;
	int staging_fd = -EBADF;
	cleanup_close int mount_fd = -EBADF;
	int r;

	r = exec_step_make_place(step, step->staging_path, &staging, &staging_fd, report);
	if (r < 0 || report->mount_id != 0)
		return r;
	r = exec_step_invoke(step,
			     &(struct exec_call){ .name = "stage",
						  .target = &staging,
						  .ret_mount_fd = &mount_fd },
			     report);
	if (r == EXEC_DONE && mount_fd >= 0) {
		report->error_class = ERROR_UNCERTAIN;
		r = plugin_mount_attach(mount_fd, staging_fd, &no_attributes, &report->failure);
	}
	(void) close(staging_fd); /* it would keep the mount busy */
	if (r == EXEC_DONE && mount_fd >= 0)
		return pod_target_note_mount(&staging, report);
	if (r == EXEC_UNSUPPORTED || (r < 0 && report->error_class != ERROR_UNCERTAIN))
		(void) cleanup_mount_point(&staging, NULL);
	return r < 0 ? r : STAGE_NEXT;
}

int exec_new_device_mounter(const struct volume_request *request, struct stage_list *ret,
			    struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("probe the plugin", exec_step_probe),
		WORKER_STAGE("call the plugin's stage", stage_volume),
	};

	return exec_step_begin(request, stages, ARRAY_SIZE(stages), true, ret, reterr);
}

static int unmount_staging(void *data, struct stage_report *report)
{
	const struct exec_step *step = data;
	int r = exec_step_unmount(step, step->staging_path, report);

	return r < 0 ? r : STAGE_NEXT;
}

static int unstage_volume(void *data, struct stage_report *report)
{
	int r = exec_step_call(data, "unstage", report);

	return r < 0 ? r : STAGE_NEXT;
}

int exec_new_device_unmounter(const struct volume_request *request, struct stage_list *ret,
			      struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("unmount the staging directory", unmount_staging),
		WORKER_STAGE("call the plugin's unstage", unstage_volume),
	};

	return exec_step_begin(request, stages, ARRAY_SIZE(stages), false, ret, reterr);
}
