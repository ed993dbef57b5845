/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_target - a pod's own mount, found, unmounted and its directory removed; see pod_target.h
 */
#include "plugins/pod_target.h"

#include "base/cleanup.h"
#include "mount/mount.h"
#include "plugins/layout.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int pod_target_note_mount(const struct place *target, struct stage_report *report)
{
	struct mount_facts facts;

	if (place_facts(target, &facts, NULL) < 0)
		return 0;
	if (!facts.is_mount_root) {
		report->error_class = ERROR_UNCERTAIN;
		return failed_plain(
			&report->failure, -ESTALE,
			"'%s' was unmounted by another process as soon as it was mounted",
			target->path);
	}
	report->mount_id = facts.mount_id;
	report->mount_mark = mount_mark(facts.mount_id, facts.device, facts.inode);
	return 0;
}

int64_t pod_target_growth(const struct volume_request *request)
{
	const struct persistent_volume *pv = spec_pv(request->spec);
	const struct quantity *has =
		request->claim ? &request->claim->claim->status_capacity : NULL;

	if (!pv || !has || !has->is_set || request->spec->read_only ||
	    quantity_compare(&pv->capacity, has) <= 0)
		return 0;
	return quantity_value(&pv->capacity);
}

char *pod_target_get_path(const struct volume_request *request)
{
	const char *folder = request->spec && request->spec->block ? "volumeDevices" : "volumes";
	cleanup_free char *relative = NULL;

	if (layout_pod_path(request->pod_uid, folder, request->plugin->name, request->volume_name,
			    &relative, NULL) < 0)
		return NULL;
	return layout_absolute(request->host->root_dir, relative);
}

int pod_target_construct_volume_spec(const struct plugin_host *host, const char *pod_uid,
				     const char *volume_name, bool block, struct volume_spec *ret,
				     struct failure *reterr)
{
	if (!layout_is_component(volume_name))
		return failed_plain(reterr, -EINVAL, "'%s' is not a volume name", volume_name);
	*ret = (struct volume_spec){ .name = volume_name, .block = block };
	return 0;
}

/* ---- its fsGroup ---- */

void pod_target_take_group(struct pod_target_group *group, const struct pod *pod)
{
	if (pod && pod->has_fs_group)
		group->ownership = (struct ownership){
			.gid = pod->fs_group,
			.on_root_mismatch =
				pod->fs_group_change_policy == FS_GROUP_CHANGE_ON_ROOT_MISMATCH,
		};
}

void pod_target_group_done(struct pod_target_group *group)
{
	group->job = ownership_job_free(group->job);
}

static int group_failed(const struct pod_target_group *group, const char *path,
			struct failure *failure)
{
	return failure_prefix(failure, "cannot give '%s' to group %lu", path,
			      (unsigned long) group->ownership.gid);
}

int pod_target_give_group(struct pod_target_group *group, int fd, uint64_t io_slot,
			  const char *path, struct stage_report *report)
{
	int r;

	group->ownership.progress = report->progress;
	r = ownership_begin(fd, &group->ownership, report->cancelled, &group->job,
			    &report->failure);
	if (r < 0)
		return group_failed(group, path, &report->failure);
	report->io_slot = io_slot;
	if (r == 0)
		report->unfinished = UNFINISHED_OWNERSHIP;
	return r > 0 ? STAGE_LIST_DONE : STAGE_NEXT;
}

int pod_target_finish_group(struct pod_target_group *group, const char *path,
			    struct stage_report *report)
{
	report->error_class = ERROR_UNCERTAIN;
	if (ownership_finish(group->job, report->cancelled, &report->failure) < 0)
		return group_failed(group, path, &report->failure);
	return STAGE_NEXT;
}

/* ---- TearDownAt ---- */

struct unmounter {
	const struct plugin_host *host;
	char *target_path;
};

static void unmounter_free(void *data)
{
	struct unmounter *unmounter = data;

	if (unmounter)
		free(unmounter->target_path);
	free(unmounter);
}

static int take_target_away(void *data, struct stage_report *report)
{
	const struct unmounter *unmounter = data;
	const struct plugin_host *host = unmounter->host;
	cleanup(place_done) struct place target = PLACE_EMPTY;
	int r;

	r = place_open(host->root_fd, host->root_dir, unmounter->target_path, &target,
		       &report->failure);
	if (r == 0)
		r = cleanup_mount_point(&target, &report->failure);
	if (r < 0 && r != -ENOENT)
		return r;

	r = remove_empty_parents(host->root_fd, unmounter->target_path, 1, &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

int pod_target_new_unmounter(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("unmount the volume", take_target_away),
	};
	struct unmounter *unmounter;
	int r;

	assert(request->host && request->plugin && request->volume_name && request->pod_uid);

	unmounter = calloc(1, sizeof(*unmounter));
	if (!unmounter)
		return failed(reterr, -ENOMEM, "cannot unmount volume '%s'", request->volume_name);
	unmounter->host = request->host;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), unmounter, unmounter_free };
	r = layout_pod_path(request->pod_uid, "volumes", request->plugin->name,
			    request->volume_name, &unmounter->target_path, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}
