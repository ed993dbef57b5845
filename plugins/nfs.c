/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nfs - a directory of an NFS server: kubelet's nfs plugin
 *
 * The pod's mount is one of its own, made by mount.nfs of nfs-common. A server decides who may do
 * what, often by other users than root (root squash), so nothing is asked of it here, and neither
 * owners nor labels are changed. Mounted already means done. What a dead server holds up holds up a
 * thread, as with any volume: src/base/worker.h, src/inuse/stuck_policy.c.
 */
#include "plugins/plugin.h"

#include "base/cleanup.h"
#include "mount/bind/options.h"
#include "mount/filesystem/helper.h"
#include "object/kinds/volume_source.h"
#include "plugins/layout.h"
#include "plugins/pod_target.h"

#include <assert.h>
#include <string.h>

#define NFS_PLUGIN_NAME "kubernetes.io/nfs"

static const struct nfs_source *source_of(const struct volume_spec *spec)
{
	return spec_pv(spec) ? spec_pv(spec)->program.nfs : spec->source ? spec->source->nfs : NULL;
}

/* ---- SetUpAt ---- */

struct nfs_mounter {
	const struct plugin_host *host;
	char *source, *options;
	char *target_path; /* relative to the root directory */
	struct place target;
};

static void nfs_mounter_free(void *data)
{
	struct nfs_mounter *mounter = data;

	if (!mounter)
		return;
	free(mounter->source);
	free(mounter->options);
	free(mounter->target_path);
	place_done(&mounter->target);
	free(mounter);
}

/* Looks by statx alone, which asks no server. */
static int prepare_target(void *data, struct stage_report *report)
{
	struct nfs_mounter *mounter = data;
	const struct plugin_host *host = mounter->host;
	struct mount_facts facts;
	int fd, r;

	r = place_make(host->root_fd, host->root_dir, mounter->target_path, 0750, &mounter->target,
		       &report->failure);
	if (r < 0)
		return r;
	r = place_facts(&mounter->target, &facts, &report->failure);
	if (r == 0 && facts.is_mount_root) {
		report->mount_id = facts.mount_id;
		return STAGE_LIST_DONE;
	}
	if (is_corrupted_mount_error(r)) {
		report->error_class = ERROR_UNCERTAIN;
		return r;
	}
	if (r < 0 && r != -ENOENT)
		return r;
	fd = make_directory(&mounter->target, 0750, NULL, &report->failure);
	if (fd < 0)
		return fd;
	(void) close(fd);
	return STAGE_NEXT;
}

static int mount_export(void *data, struct stage_report *report)
{
	struct nfs_mounter *mounter = data;
	const struct helper_request request = {
		.type = "nfs",
		.source = mounter->source,
		.options = mounter->options,
		.target = &mounter->target,
		.terms = { .limit_usec = mounter->host->tool_limit_usec,
			   .cancelled = report->cancelled,
			   .pid = report->tool_pid },
	};
	int r = mount_by_helper(&request, &report->mount_id, &report->failure);

	if (r == 0)
		return STAGE_NEXT;
	if (cleanup_mount_point(&mounter->target, NULL) < 0)
		report->error_class = ERROR_UNCERTAIN;
	return r;
}

/* Copies: a worker reads them while the loop goes on and objects change. */
static int copy_source(const struct volume_request *request, struct nfs_mounter *mounter,
		       struct failure *reterr)
{
	const struct persistent_volume *pv = spec_pv(request->spec);
	const struct nfs_source *nfs = source_of(request->spec);
	const char *read_only = request->spec->read_only ? "ro" : "";

	if (!nfs || !*nfs->server || !*nfs->path)
		return failed_plain(reterr, -EINVAL, "volume '%s' has no nfs source",
				    request->spec->name);
	mounter->source = strdup(nfs->export);
	mounter->options = mount_options_join(pv ? pv->mount_options : NULL,
					      pv ? pv->mount_option_count : 0, read_only);
	if (!mounter->source || !mounter->options)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	return 0;
}

static int nfs_new_mounter(const struct volume_request *request, struct stage_list *ret,
			   struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("prepare the target", prepare_target),
		WORKER_STAGE("mount the export", mount_export),
	};
	struct nfs_mounter *mounter;
	int r;

	assert(request->host && request->spec && request->pod_uid);

	mounter = calloc(1, sizeof(*mounter));
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	mounter->host = request->host;
	mounter->target = PLACE_EMPTY;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, nfs_mounter_free };
	r = copy_source(request, mounter, reterr);
	if (r == 0)
		r = layout_pod_path(request->pod_uid, "volumes", NFS_PLUGIN_NAME,
				    request->spec->name, &mounter->target_path, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

/* ---- queries of the loop ---- */

static bool nfs_can_support(const struct volume_spec *spec)
{
	if (spec_pv(spec))
		return spec_pv(spec)->source == PV_SOURCE_NFS;
	return spec->source && spec->source->source == SOURCE_NFS;
}

static int nfs_get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	const struct nfs_source *nfs = source_of(spec);

	if (!nfs || asprintf(ret, "%s/%s", nfs->server, nfs->path) < 0)
		return failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
	return 0;
}

static const char *nfs_get_source(const struct volume_spec *spec)
{
	return source_of(spec)->export;
}

static bool nfs_inline_read_only(const struct volume_spec *spec)
{
	return source_of(spec)->read_only;
}

static struct volume_attributes nfs_get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .read_only = spec->read_only };
}

const struct volume_plugin nfs_volume_plugin = {
	.name = NFS_PLUGIN_NAME,
	.can_support = nfs_can_support,
	.get_volume_name = nfs_get_volume_name,
	.get_attributes = nfs_get_attributes,
	.get_source = nfs_get_source,
	.inline_read_only = nfs_inline_read_only,
	.supports_mount_options = true,
	.mounts_any_type = true,
	.new_mounter = nfs_new_mounter,
	.new_unmounter = pod_target_new_unmounter,
	.get_path = pod_target_get_path,
	.construct_volume_spec = pod_target_construct_volume_spec,
};
