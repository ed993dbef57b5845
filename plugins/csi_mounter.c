/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_mounter - SetUpAt and TearDownAt: NodePublishVolume and NodeUnpublishVolume
 *
 * The driver makes the target and mounts it; podvold makes what is around, writes beforehand who
 * the volume is, and looks afterwards at what is there without following it. A driver may need the
 * same call again and again (requiresRepublish): such a repetition changes nothing of what podvold
 * knows, however it ends.
 */
#include "plugins/csi.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "plugins/pod_target.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

/* kubelet publishes again at each look at the pod, every minute and up to half of it more. */
enum { REPUBLISH_SECONDS = 75 };

enum { TARGET_KEPT_LEVELS = 1 /* "pods" */ };

/* ---- SetUpAt ---- */

struct csi_mounter {
	struct csi_step step; /* first: stages of kinds.h take its address */
	struct pod_target_group group;
};

static void mounter_free(void *data)
{
	struct csi_mounter *mounter = data;

	pod_target_group_done(&mounter->group);
	csi_step_done(&mounter->step);
	free(mounter);
}

/* A mount has one label: with another one it would have to be staged again, which needs the pod
 * before to be gone. */
static int check_staged_label(const struct csi_step *step, struct failure *reterr)
{
	const struct csi_volume *volume = &step->volume;
	cleanup(vol_data_done) struct vol_data data = { .driver_name = NULL };
	cleanup_free char *mount_path = NULL, *data_path = NULL;
	struct csi_place place = { .host = volume->host, .kind = VOL_DATA_STAGING };
	const char *label = volume->selinux_label ?: "";
	int r;

	if (!volume->host->has_selinux || volume->is_ephemeral ||
	    !(step->caller.capabilities & CSI_CAN(STAGE_UNSTAGE_VOLUME)))
		return 0;
	r = csi_staging_path(volume->driver, volume->handle, &mount_path, reterr);
	if (r == 0 && !(data_path = csi_path_beside(mount_path, VOL_DATA_FILE)))
		r = failed(reterr, -ENOMEM, "cannot publish volume '%s'", volume->name);
	place.mount_path = mount_path;
	place.data_path = data_path;
	if (r == 0)
		r = csi_data_read(&place, &data, reterr);
	if (r == -ENODATA || r == -ENOENT)
		return 0; /* it was lost, and the driver knows better */
	if (r == 0 && strcmp(data.selinux_mount_context, label) != 0)
		r = failed_plain(
			reterr, -EBUSY,
			"volume '%s' is staged with the SELinux label '%s', not '%s': it is "
			"unstaged once no pod wants it",
			volume->name, data.selinux_mount_context, label);
	return r;
}

/* Nothing is made before all that is needed is there. The target is the driver's to make. */
static int prepare_volume(void *data, struct stage_report *report)
{
	struct csi_step *step = &((struct csi_mounter *) data)->step;
	int r;

	report->error_class = ERROR_TRANSIENT;
	r = csi_contexts_gather(&step->contexts, &step->volume, true, &report->failure);
	if (r == 0)
		r = check_staged_label(step, &report->failure);
	if (r == 0)
		r = csi_step_write_data(step, &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

static int start_publish(void *data, struct stage_report *report,
			 void (*finish)(void *token, int result), void *token)
{
	struct csi_step *step = &((struct csi_mounter *) data)->step;
	const struct csi_stage_end end = { report, finish, token };
	bool stages = step->caller.capabilities & CSI_CAN(STAGE_UNSTAGE_VOLUME);

	return csi_step_start_publish(step, stages && step->staging_path ? step->staging_path : "",
				      &end);
}

/* A link would be followed by the runtime. */
static int check_target(const struct csi_step *step, struct stage_report *report)
{
	struct mount_facts facts;
	int r = csi_place_facts(&step->place, &facts, &report->failure);

	report->error_class = ERROR_UNCERTAIN;
	if (r == -ENOENT)
		return failed_plain(&report->failure, -ENOENT,
				    "driver '%s' reports '%s' as published, but nothing is there",
				    step->volume.driver, step->target_path);
	if (r < 0)
		return r;
	if (S_ISLNK(facts.mode))
		return failed_plain(&report->failure, -ELOOP,
				    "driver '%s' made '%s' a symbolic link: it is not followed",
				    step->volume.driver, step->target_path);
	if (facts.is_mount_root)
		report->mount_id = facts.mount_id;
	return 0;
}

/* When a token is due earlier than that, it is not waited for here: the driver asked for the
 * period.
 */
static void note_republish(const struct csi_step *step, struct stage_report *report)
{
	const struct csi_driver_spec *driver = csi_volume_driver(&step->volume);

	if (driver && driver->requires_republish)
		report->renew_usec = realtime_usec() + REPUBLISH_SECONDS * USEC_PER_SEC;
}

static int check_place(void *data, struct stage_report *report)
{
	struct csi_mounter *mounter = data;
	struct csi_step *step = &mounter->step;
	int r;

	note_republish(step, report);
	r = csi_step_final(step, report);
	if (r < 0) {
		if (!step->volume.keeps_traces)
			(void) csi_data_remove(&step->place, NULL);
		return r;
	}
	r = check_target(step, report);
	if (r < 0)
		return r;
	csi_step_note_growth(step, report);
	return csi_volume_wants_ownership(&step->volume, step->caller.capabilities)
		       ? STAGE_NEXT
		       : STAGE_LIST_DONE;
}

static int open_target(const struct csi_step *step, struct failure *reterr)
{
	const struct plugin_host *host = step->volume.host;
	cleanup(place_done) struct place target = PLACE_EMPTY;
	int r = place_open(host->root_fd, host->root_dir, step->mount_path, &target, reterr);

	return r < 0 ? r
		     : open_beneath(target.parent_fd, target.name, O_PATH | O_DIRECTORY,
				    PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
}

static int apply_ownership(void *data, struct stage_report *report)
{
	struct csi_mounter *mounter = data;
	cleanup_close int fd = open_target(&mounter->step, &report->failure);
	struct mount_facts facts;
	int r;

	report->error_class = ERROR_UNCERTAIN; /* whatever happens here, it is published */
	if (fd < 0)
		return fd;
	r = fd_facts(fd, &facts, &report->failure);
	return r < 0 ? r
		     : pod_target_give_group(&mounter->group, fd, facts.device,
					     mounter->step.target_path, report);
}

static int finish_ownership(void *data, struct stage_report *report)
{
	struct csi_mounter *mounter = data;

	return pod_target_finish_group(&mounter->group, mounter->step.target_path, report);
}

static int take_unmount_place(struct csi_step *step, const struct volume_request *request,
			      struct failure *reterr)
{
	char *target = NULL;
	int r = csi_target_path(request->pod_uid, request->volume_name, &target, reterr);

	assert(request->pod_uid);
	if (r == 0)
		r = csi_step_take_place(step, target, VOL_DATA_POD, TARGET_KEPT_LEVELS, reterr);
	return r < 0 ? r : csi_step_path(step, step->mount_path, &step->target_path, reterr);
}

static int take_mount_place(struct csi_step *step, const struct volume_request *request,
			    struct failure *reterr)
{
	struct csi_mounter *mounter = (struct csi_mounter *) step;
	const struct csi_volume *volume = &step->volume;
	cleanup_free char *staging = NULL;
	int r = take_unmount_place(step, request, reterr);

	pod_target_take_group(&mounter->group, request->pod ? request->pod->pod : NULL);
	if (r < 0 || volume->is_ephemeral)
		return r;
	r = csi_staging_path(volume->driver, volume->handle, &staging, reterr);
	return r < 0 ? r : csi_step_path(step, staging, &step->staging_path, reterr);
}

int csi_new_mounter(const struct volume_request *request, struct stage_list *ret,
		    struct failure *reterr)
{
	static const struct stage stages[] = {
		LOOP_STAGE("call GetCapabilities", csi_step_start_request),
		WORKER_STAGE("prepare the volume", prepare_volume),
		LOOP_STAGE("call NodePublishVolume", start_publish),
		WORKER_STAGE("check what was published", check_place),
		WORKER_STAGE("apply ownership", apply_ownership),
		{ .name = "apply ownership to a large volume",
		  .place = STAGE_LONG,
		  .run = finish_ownership },
	};
	static const struct csi_slot slot =
		CSI_SLOT(stages, struct csi_mounter, mounter_free, take_mount_place,
			 .secret = CSI_SECRET_PUBLISH);

	return csi_slot_begin(&slot, request, ret, reterr);
}

/* ---- TearDownAt ---- */

int csi_new_unmounter(const struct volume_request *request, struct stage_list *ret,
		      struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("read what was published", csi_step_recall),
		LOOP_STAGE("call NodeUnpublishVolume", csi_step_start_unpublish),
		WORKER_STAGE("clear the target", csi_step_clear),
	};
	static const struct csi_slot slot = CSI_SLOT(stages, struct csi_step, csi_step_free,
						     take_unmount_place, .tears_down = true);

	return csi_slot_begin(&slot, request, ret, reterr);
}
