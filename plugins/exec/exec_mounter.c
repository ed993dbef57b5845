/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_mounter - SetUpAt and TearDownAt of a plugin's volume: its calls publish and unpublish
 *
 * A plugin without publish has its staged volume bound to the pod's directory. A pod always gets a
 * mount: without one a container would write to the node's own disk. It is read-only where the pod
 * says so, whatever the plugin did, and gets the pod's fsGroup.
 */
#include "plugins/exec/exec.h"

#include "base/cleanup.h"
#include "plugins/pod_target.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/mount.h>

/* ---- SetUpAt ---- */

struct exec_mounter {
	struct exec_step step; /* first: the stages of exec_step.c take its address */
	struct place target;
	struct pod_target_group group;
	bool gives_group;
};

static void mounter_free(void *data)
{
	struct exec_mounter *mounter = data;

	if (!mounter)
		return;
	pod_target_group_done(&mounter->group);
	place_done(&mounter->target);
	exec_step_done(&mounter->step);
	free(mounter);
}

static int bind_staged(const struct exec_step *step, int target_fd,
		       const struct mount_attributes *attributes, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	struct mount_facts facts;
	int r;

	fd = open_beneath(step->host->root_fd, step->staging_path, O_PATH | O_DIRECTORY,
			  PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	r = fd < 0 ? fd : fd_facts(fd, &facts, reterr);
	if (r == -ENOENT || (r == 0 && !facts.is_mount_root))
		return failed_plain(reterr, -ENODEV,
				    "plugin '%s' has no call publish, and mounted nothing when it "
				    "staged volume '%s'",
				    step->name, step->handle);
	return r < 0 ? r : bind_at(fd, target_fd, attributes, reterr);
}

static int publish(struct exec_mounter *mounter, int target_fd, struct stage_report *report)
{
	const struct exec_step *step = &mounter->step;
	const struct mount_attributes attributes = {
		.set = step->read_only ? MOUNT_ATTR_RDONLY : 0,
	};
	cleanup_close int mount_fd = -EBADF;
	const struct exec_call call = { .name = "publish",
					.target = &mounter->target,
					.ret_mount_fd = &mount_fd };
	int r = exec_step_invoke(step, &call, report);

	if (r < 0)
		return r;
	if (r == EXEC_UNSUPPORTED) {
		report->error_class = ERROR_FINAL;
		return bind_staged(step, target_fd, &attributes, &report->failure);
	}
	report->error_class = ERROR_UNCERTAIN; /* it says that it did */
	if (mount_fd < 0)
		return failed_plain(&report->failure, -ENODEV,
				    "plugin '%s' says that it published volume '%s', and mounted "
				    "nothing at '%s'",
				    step->name, step->handle, mounter->target.path);
	return plugin_mount_attach(mount_fd, target_fd, &attributes, &report->failure);
}

/* Of what did not happen nothing remains. */
static void clear_target(struct exec_mounter *mounter, struct stage_report *report)
{
	const struct exec_step *step = &mounter->step;

	if (cleanup_mount_point(&mounter->target, NULL) < 0 ||
	    remove_empty_parents(step->host->root_fd, step->target_path, 1, NULL) < 0)
		report->error_class = ERROR_UNCERTAIN;
}

static int publish_volume(void *data, struct stage_report *report)
{
	struct exec_mounter *mounter = data;
	int target_fd = -EBADF, r;

	r = exec_step_make_place(&mounter->step, mounter->step.target_path, &mounter->target,
				 &target_fd, report);
	if (r < 0)
		return r;
	if (target_fd >= 0) {
		r = publish(mounter, target_fd, report);
		(void) close(target_fd); /* it would keep the mount busy */
		if (r < 0 && report->error_class != ERROR_UNCERTAIN)
			clear_target(mounter, report);
		if (r == 0)
			r = pod_target_note_mount(&mounter->target, report);
	}
	return r < 0 ? r : STAGE_NEXT;
}

static int apply_ownership(void *data, struct stage_report *report)
{
	struct exec_mounter *mounter = data;
	cleanup_close int fd = -EBADF;
	struct mount_facts facts;
	int r;

	if (!mounter->gives_group)
		return STAGE_LIST_DONE;
	fd = open_beneath(mounter->target.parent_fd, mounter->target.name, O_PATH | O_DIRECTORY,
			  PATH_NO_SYMLINKS_ANY_MOUNT, &report->failure);
	r = fd < 0 ? fd : fd_facts(fd, &facts, &report->failure);
	report->error_class = ERROR_UNCERTAIN; /* whatever happens here, it is published */
	return r < 0 ? r
		     : pod_target_give_group(&mounter->group, fd, facts.device,
					     mounter->target.path, report);
}

static int finish_ownership(void *data, struct stage_report *report)
{
	struct exec_mounter *mounter = data;

	return pod_target_finish_group(&mounter->group, mounter->target.path, report);
}

int exec_new_mounter(const struct volume_request *request, struct stage_list *ret,
		     struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("call the plugin's publish", publish_volume),
		WORKER_STAGE("call the plugin's expand", exec_step_expand),
		WORKER_STAGE("apply ownership", apply_ownership),
		{ .name = "apply ownership to a large volume",
		  .place = STAGE_LONG,
		  .run = finish_ownership },
	};
	const struct pod *pod = request->pod ? request->pod->pod : NULL;
	struct exec_mounter *mounter = calloc(1, sizeof(*mounter));
	int r;

	assert(request->spec && request->pod_uid);
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->volume_name);
	mounter->target = PLACE_EMPTY;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, mounter_free };
	r = exec_step_init(&mounter->step, request, true, reterr);
	if (r < 0) {
		stage_list_done(ret);
		return r;
	}
	mounter->gives_group = pod && pod->has_fs_group && !mounter->step.read_only;
	pod_target_take_group(&mounter->group, pod);
	return 0;
}

/* ---- TearDownAt ---- */

static int unmount_target(void *data, struct stage_report *report)
{
	const struct exec_step *step = data;
	int r = exec_step_unmount(step, step->target_path, report);

	return r < 0 ? r : STAGE_NEXT;
}

static int unpublish_volume(void *data, struct stage_report *report)
{
	const struct exec_step *step = data;
	int r = exec_step_call(step, "unpublish", report);

	if (r >= 0)
		r = remove_empty_parents(step->host->root_fd, step->target_path, 1,
					 &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

int exec_new_unmounter(const struct volume_request *request, struct stage_list *ret,
		       struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("unmount the volume", unmount_target),
		WORKER_STAGE("call the plugin's unpublish", unpublish_volume),
	};

	assert(request->pod_uid);
	return exec_step_begin(request, stages, ARRAY_SIZE(stages), false, ret, reterr);
}
