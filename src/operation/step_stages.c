/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_stages - which slot of the plugin does a step, and what the step is called; see
 * step_stages.h
 */
#include "operation/step_stages.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "mount/path/subpath.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* [0] file system, [1] block */
struct step_row {
	const char *names[2];
	size_t slots[2];
	bool may_lack; /* a plugin without this slot has nothing to do */
};

#define SLOT(name) offsetof(struct volume_plugin, name)

static const struct step_row step_rows[] = {
	[STEP_UNPUBLISH] = { { "volume_unmount", "unmap_volume" },
			     { SLOT(new_unmounter), SLOT(new_block_unmapper) },
			     true },
	[STEP_STAGE] = { { "mount_device", "mount_device" },
			 { SLOT(new_device_mounter), SLOT(new_device_mapper) },
			 true },
	[STEP_PUBLISH] = { { "volume_mount", "map_volume" },
			   { SLOT(new_mounter), SLOT(new_block_mapper) },
			   false },
	[STEP_UNSTAGE] = { { "unmount_device", "unmap_device" },
			   { SLOT(new_device_unmounter), SLOT(new_device_unmapper) },
			   true },
	[STEP_FORGET] = { { "forget", "forget" }, { 0, 0 }, true },
};
static_assert(ARRAY_SIZE(step_rows) == STEP_KIND_COUNT, "a row for every kind of step");

static bool is_block(const struct step *step)
{
	return step->want ? step->want->block : step->have && step->have->block;
}

static bool is_device_mountable(const struct step *step)
{
	return step->want ? step->want->device_mountable
			  : step->have && step->have->device_mountable;
}

const char *step_operation_name(const struct step *step)
{
	assert(step && step->kind < STEP_KIND_COUNT);
	return step_rows[step->kind].names[is_block(step)];
}

struct operation_key step_key(const struct step *step)
{
	assert(step->unique_name);
	return (struct operation_key){
		.volume = step->unique_name,
		.pod = step->pod_uid ?: "",
		.node = "",
		.alone = step->kind == STEP_PUBLISH && is_device_mountable(step),
	};
}

static stage_list_fn *find_slot(const struct volume_plugin *plugin, const struct step *step)
{
	size_t offset = step_rows[step->kind].slots[is_block(step)];
	stage_list_fn *slot;

	memcpy(&slot, (const char *) plugin + offset, sizeof(slot));
	return slot;
}

/* What a failed set-up leaves as it is in the table: see actual_apply(). */
static bool may_be_there(const struct step *step)
{
	const struct actual_pod *pod;

	if (!step->have)
		return false;
	if (!step->pod_uid)
		return step->have->device_state == MOUNT_DONE || step->have->device_from_rebuild ||
		       step->have->device_may_be_left;
	pod = actual_find_pod(step->have, step->pod_uid);
	return pod && (pod->state == MOUNT_DONE || pod->from_rebuild || pod->may_be_left);
}

static struct volume_request make_request(const struct plugin_host *host, const struct step *step)
{
	struct volume_request request = {
		.host = host,
		.unique_name = step->unique_name,
		.keeps_traces = may_be_there(step),
		.pod_uid = step->pod_uid,
		.volume_name = step->have ? step->have->spec_name : NULL,
		.device_path = step->have && step->have->device_path ? step->have->device_path : "",
		.is_staged = step->have && step->have->device_state == MOUNT_DONE &&
			     !step->have->staged_nothing,
		.staged_nothing = step->have && step->have->staged_nothing,
		.device_mount_path = step->have && step->have->device_mount_path
					     ? step->have->device_mount_path
					     : "",
	};

	if (step->want_pod) {
		request.spec = &step->want_pod->spec;
		request.volume_name = step->want_pod->spec.name;
		request.pod = step->want_pod->pod;
		request.claim = step->want_pod->claim;
	}
	return request;
}

/* Where the device of a stage will be; the tables keep it for the teardown. */
static int find_device_mount_path(const struct volume_plugin *plugin,
				  const struct volume_request *request, char **ret,
				  struct failure *reterr)
{
	char *path;

	if (!plugin->get_device_mount_path) {
		*ret = NULL;
		return 0;
	}
	path = plugin->get_device_mount_path(request);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot build the device's mount path");
	*ret = path;
	return 0;
}

int step_stages(const struct plugin_host *host, const struct object_finder *objects,
		const struct step *step, struct stage_list *ret, char **ret_device_mount_path,
		struct failure *reterr)
{
	const struct volume_plugin *plugin;
	struct volume_request request;
	cleanup_free char *path = NULL;
	stage_list_fn *slot;
	int r;

	assert(host && step && ret && ret_device_mount_path);
	assert(step->kind != STEP_FORGET && (step->want || step->have));
	plugin = step->want ? step->want->plugin : step->have->plugin;
	if (!plugin)
		return failed_plain(reterr, -EOPNOTSUPP, "there is no volume plugin '%s'",
				    step->have->plugin_name);

	request = make_request(host, step);
	request.plugin = plugin;
	request.objects = objects;
	if (step->kind == STEP_STAGE) {
		r = find_device_mount_path(plugin, &request, &path, reterr);
		if (r < 0)
			return r;
	}
	slot = find_slot(plugin, step);
	if (!slot && !step_rows[step->kind].may_lack)
		return failed_plain(reterr, -EOPNOTSUPP, "volume plugin '%s' has no %s volumes",
				    plugin->name, is_block(step) ? "block" : "file system");
	r = slot ? slot(&request, ret, reterr) : 0;
	if (r < 0)
		return r;
	*ret_device_mount_path = TAKE_PTR(path);
	return 0;
}

/* ---- before the plugin's stages ---- */

struct cleaner {
	const struct plugin_host *host;
	char *pod_uid, *volume_name;
	enum unmount_manner manner;
	char *path, *folder; /* NULL while nothing is to be enforced */
	bool memory_only;
};

static void cleaner_free(void *data)
{
	struct cleaner *cleaner = data;

	free(cleaner->pod_uid);
	free(cleaner->volume_name);
	free(cleaner->path);
	free(cleaner->folder);
	free(cleaner);
}

static int enforce(void *data, struct stage_report *report)
{
	const struct cleaner *cleaner = data;
	const struct stuck_volume volume = { .mount_point = cleaner->path,
					     .folder = cleaner->folder,
					     .memory_only = cleaner->memory_only };
	int r = stuck_unmount(cleaner->host->root_fd, cleaner->host->root_dir, &volume,
			      cleaner->manner, &report->enforced, &report->failure);

	return r < 0 ? r : STAGE_NEXT;
}

static int clean_subpaths(void *data, struct stage_report *report)
{
	const struct cleaner *cleaner = data;
	int r = subpath_clean(cleaner->host->root_fd, cleaner->host->root_dir, cleaner->pod_uid,
			      cleaner->volume_name, &report->failure);

	return r < 0 ? r : STAGE_NEXT;
}

static int prepare_enforcing(const struct step *step, struct cleaner *cleaner)
{
	const struct actual_pod *pod = actual_find_pod(step->have, step->pod_uid);
	const struct volume_plugin *plugin = step->have->plugin;

	if (step->manner == UNMOUNT_WAIT || !pod || !plugin)
		return 0;
	cleaner->manner = step->manner;
	cleaner->memory_only = !plugin->mounts_any_type;
	cleaner->path = strdup(pod->path);
	cleaner->folder = new_text("%s/pods/%s/" SUBPATH_FOLDER "/%s", cleaner->host->root_dir,
				   step->pod_uid, step->have->spec_name);
	return cleaner->path && cleaner->folder ? 0 : -ENOMEM;
}

int step_stages_before(const struct plugin_host *host, const struct step *step,
		       struct stage_list *ret, struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("unmount as configured", enforce),
		WORKER_STAGE("clean the sub-paths", clean_subpaths),
	};
	struct cleaner *cleaner;
	size_t skipped;

	assert(host && step && ret);
	*ret = (struct stage_list){ .count = 0 };
	if (step->kind != STEP_UNPUBLISH || is_block(step) || !step->have)
		return 0;
	cleaner = calloc(1, sizeof(*cleaner));
	if (!cleaner)
		return failed(reterr, -ENOMEM, "cannot clean the sub-paths");
	cleaner->host = host;
	cleaner->pod_uid = strdup(step->pod_uid);
	cleaner->volume_name = strdup(step->have->spec_name);
	if (prepare_enforcing(step, cleaner) == 0 && cleaner->pod_uid && cleaner->volume_name) {
		skipped = cleaner->path ? 0 : 1;
		*ret = (struct stage_list){ stages + skipped, ARRAY_SIZE(stages) - skipped, cleaner,
					    cleaner_free };
		return 0;
	}
	cleaner_free(cleaner);
	return failed(reterr, -ENOMEM, "cannot clean the sub-paths");
}
